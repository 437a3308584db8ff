"""Data cannot break a run: whatever term comes, a function gives a value or SPARQL's error, soon, and nothing else."""

from __future__ import annotations

import logging
from typing import Any
from unittest.mock import patch

import pytest
from cases.functions import ILL_TYPED, OF_ONE, OF_TWO, TERMS, UNBOUND, XSD, typed
from cases.many import many
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef
from rdflib.plugins.sparql.operators import register_custom_function, unregister_custom_function

import retewave as rw
from retewave.compiler.algebra import Extend
from retewave.compiler.expressions import evaluate, faults
from retewave.compiler.expressions.evaluate import Evaluator, term_of, text_of
from retewave.compiler.expressions.faults import contained
from retewave.compiler.parse import parse
from retewave.compiler.terms import literal

CASES = many(1_000)
DATATYPES = [
    *("integer", "decimal", "float", "double", "boolean", "string", "byte", "unsignedLong", "dateTime", "date", "time"),
    *("duration", "dayTimeDuration", "yearMonthDuration", "gYear", "hexBinary", "base64Binary", "token", "anyURI"),
]
HUGE = [
    *typed("decimal", "1e9999999", "9" * 5_000 + ".5", "0." + "0" * 5_000 + "1", "-" + "9" * 100_000),
    *typed("integer", "1" * 4_301, "-" + "1" * 100_000, "0" * 100_000 + "7"),
    *typed("double", "1e9999999", "1e-9999999", "9" * 10_000, "-1E308"),
    *typed("float", "1e9999999", "3.5e38"),
    *typed(
        "dateTime", "9" * 5_000 + "-01-01T00:00:00Z", "2020-01-01T00:00:00." + "1" * 5_000, "-9999-12-31T24:00:00-14:00"
    ),
    *typed("date", "9" * 5_000 + "-02-29", "-0001-01-01+14:00"),
    *typed("time", "23:59:59." + "9" * 5_000),
    *typed("dayTimeDuration", "P" + "9" * 5_000 + "D", "PT0." + "1" * 5_000 + "S"),
    *typed("yearMonthDuration", "P" + "9" * 5_000 + "Y"),
]
PATTERNS = ['"("', '"a**"', '"[z-a]"', '"(a+)+b"', '"\\\\p{Lu}"', '"a{999999999}"', f'"{200 * "("}"', f'"{999 * "a"}"']
TAGS = ['"not a lang"', '"en-"', '"-"', '"é"', '"\u0000"']

lexicals = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
lexicals |= st.from_regex(r"[-+0-9.:eEINFaTZPYMDHS_ ]{0,12}", fullmatch=True)
any_literal = st.builds(lambda text, kind: literal(text, f"{XSD}{kind}").decode(), lexicals, st.sampled_from(DATATYPES))
tagged = st.builds(lambda text, tag: literal(text, language=tag).decode(), lexicals, st.sampled_from(["en", "de-at"]))
terms = st.sampled_from(TERMS + HUGE + PATTERNS + TAGS) | any_literal | tagged


@pytest.fixture(autouse=True)
def _untold() -> Any:
    with patch.object(faults, "_told", set()):
        yield


def evaluator(text: str) -> Evaluator:
    where = parse(f"SELECT ({text} AS ?r) {{ VALUES (?a ?b) {{}} }}").where
    assert isinstance(where, Extend)
    return Evaluator(where.expression)


def given_(a: str, b: str) -> dict[str, Any]:
    return {name: term_of(term.encode()) for name, term in (("a", a), ("b", b)) if term != UNBOUND}


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(OF_ONE + OF_TWO), terms, terms)
@example('LANG(STRLANG("hi", ?a))', '"not a lang"', UNBOUND)
def test_any_function_of_any_terms_has_a_value_or_is_an_error(text: str, a: str, b: str) -> None:
    with patch.object(faults, "_tell") as told:
        found = evaluator(text).value(given_(a, b))
        assert found is None or text_of(term_of(text_of(found))) == text_of(found)
        assert evaluator(text).truth(given_(a, b)) in (True, False, None)
    assert told.mock_calls == []


@pytest.mark.parametrize("text", OF_ONE + OF_TWO)
def test_a_function_of_huge_numbers_and_times_gives_back(text: str) -> None:
    asked = evaluator(text)
    with patch.object(faults, "_tell") as told:
        for a in HUGE:
            for b in (HUGE[0], HUGE[1], HUGE[5], a, '"5"'):
                asked.value(given_(a, b))
    assert told.mock_calls == []


@pytest.mark.parametrize(
    ("text", "a", "expected"),
    [
        ("CEIL(?a)", typed("decimal", "1e9999999"), None),
        ("CEIL(?a)", typed("decimal", "9" * 5_000 + ".5"), "1" + "0" * 5_000),
        ("ABS(?a)", typed("integer", "-" + "1" * 100_000), "1" * 100_000),
        ("isNUMERIC(?a)", typed("integer", "1" * 100_000), "true"),
        ("isNUMERIC(?a)", typed("decimal", "1e9999999"), "false"),
        ("?a > 5", typed("integer", "1" * 100_000), "true"),
        ("?a + 1", typed("integer", "1" * 100_000), None),
        (f"<{XSD}double>(?a)", typed("integer", "1" * 100_000), "INF"),
        (f"<{XSD}integer>(?a)", typed("decimal", "9" * 5_000 + ".5"), "9" * 5_000),
        ("YEAR(?a)", typed("date", "9" * 5_000 + "-01-01"), "9" * 5_000),
        ("?a = ?a", typed("date", "9" * 5_000 + "-01-01"), None),
        ("CONCAT(?a, ?a)", ['"' + "x" * (1 << 25) + 'y"'], None),
    ],
)
def test_a_number_of_many_digits_is_compared_and_rounded_but_not_calculated_with(
    text: str, a: list[str], expected: str | None
) -> None:
    found = evaluator(text).value(given_(a[0], UNBOUND))
    assert (None if found is None else str(found)) == expected


# Through an engine


def pushed(query: str, objects: list[str]) -> list[Any]:
    engine = rw.Engine()
    engine.register(query)
    found = []
    for number, term in enumerate(objects):
        found += engine.push((f"<http://e/{number}>", "<http://e/p>", term), time=number)
    return found


def test_a_language_tag_that_is_none_is_an_error_of_its_match_and_not_of_the_run() -> None:
    query = 'SELECT ?x ?l { ?x <http://e/p> ?y BIND(LANG(STRLANG("hi", ?y)) AS ?l) }'
    assert [match.get("l") for match in pushed(query, ['"not a lang"', '"fr"'])] == [None, Literal("fr")]


@pytest.mark.jit
def test_terms_of_every_kind_go_through_every_function_of_a_running_query() -> None:
    nasty = [term for term in (*TERMS, *HUGE, *PATTERNS, *TAGS) if term != UNBOUND]
    binds = " ".join(f"BIND({text.replace('?a', '?y')} AS ?r{number})" for number, text in enumerate(OF_ONE))
    with patch.object(faults, "_tell") as told:
        assert len(pushed(f"SELECT * {{ ?x <http://e/p> ?y {binds} }}", nasty)) == len(nasty)
    assert told.mock_calls == []


@pytest.mark.jit
def test_the_kernel_and_python_take_the_same_literals_for_numbers() -> None:
    numbers = [term for term in (*TERMS, *HUGE) if term.startswith('"')]
    for text in ("isNUMERIC(?y)", "?y = ?y + 0", "?y < 7 || ?y >= 7", "!(?y)"):
        in_kernel = {match["x"] for match in pushed(f"SELECT ?x {{ ?x <http://e/p> ?y FILTER({text}) }}", numbers)}
        asked = evaluator(text.replace("?y", "?a"))
        in_python = {URIRef(f"http://e/{n}") for n, term in enumerate(numbers) if asked.truth(given_(term, UNBOUND))}
        assert in_kernel == in_python
    assert all(term not in [numbers[int(x[9:])] for x in in_kernel] or "!" in text for term in ILL_TYPED)


# The one place


def test_what_a_function_raises_is_an_error_and_is_told_once_with_its_name(caplog: pytest.LogCaptureFixture) -> None:
    def broken(term: Any) -> Any:
        raise KeyError(term)

    with patch.dict(vars(evaluate)["FUNCTIONS"], {"STRLEN": broken}), caplog.at_level(logging.WARNING, "retewave"):
        asked = evaluator("COALESCE(STRLEN(?a), 7)")
        assert [str(asked.value(given_(term, UNBOUND))) for term in ('"a"', '"b"')] == ["7", "7"]
    (record,) = caplog.records
    assert record.name == "retewave.functions"
    assert "STRLEN raised KeyError" in record.getMessage()


def test_an_error_of_sparql_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    assert evaluator("STRLEN(?a)").value(given_("<http://e/x>", UNBOUND)) is None
    assert caplog.records == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_no_failure_passes(kind: type[BaseException]) -> None:
    def interrupted() -> None:
        raise kind

    with pytest.raises(kind):
        contained("STR", interrupted)()


def test_a_function_of_the_user_that_raises_or_gives_no_term_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    name = URIRef("urn:odd")
    wrong = {"iri": URIRef("a b"), "datatype": Literal("x", datatype=URIRef("a b")), "good": Literal(5)}
    odd: Any = lambda term: wrong[str(term)]  # noqa: E731 (called with terms, not with its tree)
    register_custom_function(name, odd)
    try:
        query = "SELECT ?x ?z { ?x <http://e/p> ?y BIND(<urn:odd>(?y) AS ?z) }"
        found = [match.get("z") for match in pushed(query, ['"raise"', '"iri"', '"datatype"', '"good"', '"raise"'])]
    finally:
        unregister_custom_function(name)
    assert found == [None, None, None, Literal(5), None]
    told = [record for record in caplog.records if record.name.startswith("retewave")]
    assert [record.getMessage().split(";")[0] for record in told] == ["<urn:odd> raised KeyError: 'raise'"]
