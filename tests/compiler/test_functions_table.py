"""The table of all functions, operators and casts against all kinds of arguments: Oxigraph and the specification judge.

Where Oxigraph says something else than we do, SPARQL 1.1 (and XPath, to which it refers) has to be on our side: every
such departure is listed here with its reason, and a reason that is no longer needed is a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from unittest.mock import patch

import pyoxigraph
import pytest
from cases.filters import VERDICTS, Kernel
from cases.functions import BLANK, ILL_TYPED, INTEGERS, UNBOUND, XSD, cells

from retewave.compiler.algebra import Extend
from retewave.compiler.expressions import faults
from retewave.compiler.expressions.evaluate import Evaluator, term_of, text_of
from retewave.compiler.parse import parse
from retewave.rete.filters.codes import UNDECIDED

OF_TIME = ("time>", "ime>", "date>", "uration>")
NO_FUNCTION = ("BOUND", "!", "&&", "||", "IF", "COALESCE")


def kind(term: str) -> str:
    """Return the last part of a literal's datatype, or nothing."""
    return term.rpartition("#")[2][:-1] if term.startswith('"') and XSD in term else ""


def is_derived(term: str) -> bool:
    return kind(term) in INTEGERS


def is_truth(text: str) -> bool:
    return any(sign in text for sign in ("!?", "&&", "||", "IF("))


def is_order(text: str) -> bool:
    return any(f"?a {sign} ?b" == text for sign in ("<", "<=", ">", ">="))


def written(term: str) -> str:
    return term[1 : term.rindex('"')] if term.startswith('"') else term


@dataclass(frozen=True)
class Departure:
    """Cells of the table in which Oxigraph is not followed."""

    reason: str  # why
    holds: Callable[[str, str, str], bool]  # the expression and its two terms


def given(*tests: Callable[[str], bool]) -> Callable[[str, str, str], bool]:
    """A departure wherever one of the terms is of a kind."""
    return lambda text, a, b: any(test(term) for test in tests for term in (a, b))


DEPARTURES = [
    Departure(
        "Oxigraph makes an xsd:integer of every type derived from it",
        lambda text, a, b: (
            (is_derived(a) and text == "DATATYPE(?a)") or ("sameTerm" in text and (is_derived(a) or is_derived(b)))
        ),
    ),
    Departure(
        "To Oxigraph the types derived from xsd:integer have no bounds",
        given(lambda t: is_derived(t) and t in ILL_TYPED),
    ),
    Departure(
        "Oxigraph's integers have 64 bits, and more than that is no number", given(lambda t: "1234567890123" in t)
    ),
    Departure("Oxigraph takes inf for INF", given(lambda t: written(t) == "inf")),
    Departure(
        "Oxigraph forgets how a number is written, and casts doubles without exponents",
        lambda text, a, b: kind(a) == "double" and text in ("STR(?a)", f"<{XSD}string>(?a)"),
    ),
    Departure("Oxigraph makes 00:00:00 of the next day of 24:00:00", lambda text, a, b: "T24:00" in a),
    Departure("A label may be any string (17.4.2.9)", lambda text, a, b: text == "BNODE(?a)"),
    Departure(
        "A function of dateTime takes a dateTime (17.4.5); YEAR, MONTH and DAY take a date, too, as in Oxigraph",
        lambda text, a, b: kind(a) in ("date", "time") and text[:2] in ("HO", "MI", "SE", "TI", "TZ"),
    ),
    Departure(
        "xsd:dateTime is cast from a string or a dateTime only (17.5)",
        lambda text, a, b: text == f"<{XSD}dateTime>(?a)" and kind(a) == "date",
    ),
    Departure(
        "xsd:string is cast from a simple literal, an IRI, or a value that 17.5 names",
        lambda text, a, b: text == f"<{XSD}string>(?a)" and ("@" in a or "unknown" in a or a in ILL_TYPED),
    ),
    Departure(
        "A cast to xsd:decimal or xsd:integer is exact (XPath 17.1.3); Oxigraph's have 18 digits behind the point",
        lambda text, a, b: kind(a) == "double" and ("decimal" in text or "integer" in text),
    ),
    Departure(
        "A plain literal with a language has a truth value, as any other (17.2.2)",
        lambda text, a, b: is_truth(text) and "@" in a + b,
    ),
    Departure(
        "An ill-typed number or boolean is false (17.2.2)",
        lambda text, a, b: is_truth(text) and (a in ILL_TYPED or b in ILL_TYPED),
    ),
    Departure(
        "Durations of different kinds have no sum (XPath 10.6), and SPARQL has no other operators for them",
        lambda text, a, b: "uration" in a + b and text in ("+?a", "-?a", "?a + ?b", "?a - ?b", "?a * ?b", "?a / ?b"),
    ),
    Departure("Oxigraph gives IN () no value; it is false (17.4.1.9)", lambda text, a, b: text == "?a IN ()"),
    Departure(
        "Every string of letters is a language tag to us, not only those that are registered or well built",
        lambda text, a, b: text == "STRLANG(?a, ?b)" and b == '"b"',
    ),
    Departure("The blank nodes of ?a and ?b are two to Oxigraph here", lambda text, a, b: BLANK == a == b),
    Departure(
        "An IRI, a literal with a language and the like have no order, not even with themselves",
        lambda text, a, b: is_order(text) and (a == b or ("@" in a and "@" in b)),
    ),
    Departure(
        "No number is less or greater than NaN, and that is false, not an error (XPath 6.3)",
        lambda text, a, b: is_order(text) and "NaN" in a + b,
    ),
    Departure(
        "Durations of months and of seconds have no order (XPath 10.4)",
        lambda text, a, b: is_order(text) and "uration" in a and "uration" in b,
    ),
    Departure(
        "Nothing divided by something is nothing (XPath 6.2.4)",
        lambda text, a, b: text == "?a / ?b" and written(a) == "0",
    ),
    Departure(
        "REPLACE refuses a pattern that matches the empty string (XPath 7.6.3)",
        lambda text, a, b: text.startswith("REPLACE(?a, ?b") and b == '""',
    ),
    Departure(
        "Two different literals of which one has an unknown value are not known to be different (17.4.1.7)",
        lambda text, a, b: "=" in text or "IN (" in text,
    ),
]


@cache
def evaluator(text: str) -> Evaluator:
    where = parse(f"SELECT ({text} AS ?r) {{ VALUES (?a ?b) {{}} }}").where
    assert isinstance(where, Extend)
    return Evaluator(where.expression)


def ours(text: str, a: str, b: str) -> str | None:
    found = evaluator(text).value({name: term_of(t.encode()) for name, t in (("a", a), ("b", b)) if t != UNBOUND})
    return None if found is None else text_of(found).decode()


def said_by_oxigraph(text: str, pairs: list[tuple[str, str]]) -> list[str | None]:
    rows = [" ".join("<urn:blank>" if term == BLANK else term for term in pair) for pair in pairs]
    values = " ".join(f"({number} {row})" for number, row in enumerate(rows))
    blanks = "".join(
        f"BIND(IF(sameTerm(?{given}, <urn:blank>), BNODE(), ?{given}) AS ?{name})" for given, name in ("xa", "yb")
    )
    found = pyoxigraph.Store().query(f"SELECT ?i ({text} AS ?r) {{ VALUES (?i ?x ?y) {{ {values} }} {blanks} }}")
    assert isinstance(found, pyoxigraph.QuerySolutions)
    said: list[str | None] = [None] * len(pairs)
    for row in found:
        said[int(row["i"].value)] = None if row["r"] is None else str(row["r"])
    return said


def value(text: str | None) -> object:
    """Return what a term is, however its number is written."""
    if text is None or text.startswith("_:"):
        return text and BLANK
    plain = "integer" if is_derived(text) else kind(text)
    read = {"double": float, "float": float, "decimal": Decimal, "integer": Decimal}.get(plain)
    try:
        return text if read is None else (plain, repr(read(written(text)) + 0))
    except (ValueError, ArithmeticError):  # ill-typed: it is itself
        return text


def reason(text: str, a: str, b: str) -> str | None:
    return next((each.reason for each in DEPARTURES if each.holds(text, a, b)), None)


def differences(text: str, pairs: list[tuple[str, str]]) -> list[tuple[str, str, str | None, str | None]]:
    """Return the cells in which Oxigraph says something else: the terms, what we say, and what it says."""
    said = zip(pairs, said_by_oxigraph(text, pairs), strict=True)
    both = [(a, b, ours(text, a, b), theirs) for (a, b), theirs in said]
    return [cell for cell in both if value(cell[2]) != value(cell[3])]


TABLE = dict(cells())


@pytest.mark.parametrize("text", TABLE)
def test_a_function_gives_what_oxigraph_gives_or_departs_from_it_for_a_reason(text: str) -> None:
    assert [cell for cell in differences(text, TABLE[text]) if reason(text, *cell[:2]) is None] == []


@pytest.mark.jit
def test_every_reason_to_depart_from_oxigraph_is_still_needed() -> None:
    used = {reason(text, *cell[:2]) for text in TABLE for cell in differences(text, TABLE[text])}
    assert [each.reason for each in DEPARTURES if each.reason not in used] == []


def test_no_function_fails_in_a_way_that_its_author_did_not_mean() -> None:
    with patch.object(faults, "_tell") as told:
        for text, pairs in TABLE.items():
            for pair in pairs:
                ours(text, *pair)
    assert told.mock_calls == []


@pytest.mark.parametrize("text", TABLE)
def test_what_the_kernel_decides_of_a_function_is_what_the_evaluator_says(text: str) -> None:
    kernel = Kernel(text, remember=False)
    for a, b in TABLE[text]:
        terms = {name: term for name, term in (("a", a), ("b", b)) if term != UNBOUND}
        verdict = kernel.verdict(terms)
        if verdict != UNDECIDED:
            truth = evaluator(text).truth({name: term_of(term.encode()) for name, term in terms.items()})
            assert (VERDICTS[verdict], a, b) == (truth, a, b)
