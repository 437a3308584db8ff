"""The laws of filters on strings: kernel, evaluator and an independent engine agree; and what the kernel leaves open.

The strings have what is escaped in canonical texts, characters of one to four bytes, combining ones, and those whose
other case is, or looks like, ASCII.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from cases.filters import VERDICTS, Kernel, evaluated, said_by_oxigraph
from cases.many import many
from helpers.oxigraph import compare_as_oxigraph
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.compiler.expressions import evaluate
from retewave.compiler.expressions.evaluate import Evaluator
from retewave.compiler.terms import XSD, literal
from retewave.rete.filters import codes as op
from retewave.rete.terms.dictionary import Terms
from retewave.rete.terms.strings import AS_WRITTEN, LOWER, UPPER, comparable, finds
from retewave.rete.words.bytes import address_of

CASES = many(2_000)
LETTERS = 'abnrAKk"\\\n\r-. '
FOREIGN = "éÉ€\u0301\U0001d11eΣ"
PECULIAR = "ßİıſ\u212aﬁ"
TAGS = ["en", "en-gb", "fr"]
ALL = LETTERS + FOREIGN + PECULIAR
PATTERNS = [
    "a",
    "^a",
    "a$",
    "^a$",
    "",
    "^",
    "$",
    "a|^b|n$",
    r"\\",
    "A\\.",
    ".*b",
    "^a.*",
    'n"',
    "é",
    "a.b",
    "[ab]+",
    "k",
    "s",
]

ROUNDS = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))


def strings(letters: str) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(letters), max_size=5)


def terms(letters: str, ours: bool = True) -> st.SearchStrategy[str]:
    """Literals of all sorts, and IRIs, as canonical texts, which are SPARQL as well."""
    simple = strings(letters).map(literal)
    tagged = st.builds(lambda text, tag: literal(text, language=tag), strings(letters), st.sampled_from(TAGS))
    typed = [literal("12", f"{XSD}integer"), literal("true", f"{XSD}boolean"), literal("1.5", f"{XSD}decimal")]
    typed += [
        b"<http://a.org/b>",
        b"<urn:a>",
        b"<urn:en>",
        *[literal('b"', "urn:d"), literal("a", f"{XSD}byte")] * ours,
    ]
    return (simple | simple | tagged | tagged | st.sampled_from(typed)).map(bytes.decode)


@st.composite
def values(draw: st.DrawFn, letters: str, ours: bool, depth: int = 2) -> str:
    """An expression for a string, more or less."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["?a", "?b", "?c", "?a", "?b"]) | terms(letters, ours))
    shape = draw(st.sampled_from(["STR({})", "LANG({})", "LCASE({})", "UCASE({})", "STR({})", "DATATYPE({})"]))
    return shape.format(draw(values(letters, ours, depth - 1)))


@st.composite
def conditions(draw: st.DrawFn, letters: str, ours: bool = True, depth: int = 1) -> str:
    """An expression for a truth value.

    To Oxigraph, strings with a language have an order, and no truth value, and every datatype is known.
    """
    if depth and draw(st.booleans()):
        shape = draw(st.sampled_from(["({} && {})", "({} || {})", "(!{})"]))
        return shape.format(draw(conditions(letters, ours, depth - 1)), draw(conditions(letters, ours, depth - 1)))
    one, other = draw(values(letters, ours)), draw(values(letters, ours))
    symbol = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    asked = literal(draw(st.sampled_from(["en", "EN", "en-gb", "fr", "*", "e", "en-"]))).decode()
    pattern, flags = literal(draw(st.sampled_from(PATTERNS))).decode(), draw(st.sampled_from(["", ', "i"', ', "q"']))
    shapes = [f"({{0}} {symbol} {{1}})"] * ours + [
        "({0} = {1})",
        f"(STR({{0}}) {symbol} STR({{1}}))",
        "CONTAINS({0}, {1})",
        "STRSTARTS({0}, {1})",
        "STRENDS({0}, {1})",
    ]
    shapes += [f"(STRLEN({{0}}) {symbol} STRLEN({{1}}))", f"(STRLEN({{0}}) {symbol} 3)", "({0} IN ({1}, 'a', 'b'))"]
    shapes += [
        f"REGEX({{0}}, {pattern}{flags})",
        f"LANGMATCHES(LANG({{0}}), {asked})",
        f"LANGMATCHES(STR({{0}}), {asked})",
    ]
    shapes += [
        "sameTerm({0}, {1})",
        f"(DATATYPE({{0}}) = <{XSD}string>)",
        "isIRI({0})",
        "isLITERAL({0})",
        *["({0})"] * ours,
    ]
    return draw(st.sampled_from(shapes)).format(one, other)


def bindings(letters: str, ours: bool = True) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from("abc"), terms(letters, ours), max_size=3)


@ROUNDS
@given(conditions(ALL), bindings(ALL), st.booleans(), st.booleans())
def test_what_the_kernel_decides_of_strings_is_what_the_evaluator_says(
    text: str, given_: dict[str, str], remember: bool, blank: bool
) -> None:
    given_ = given_ | ({"a": "_:b"} if blank and len(given_) < 3 else {})
    verdict = Kernel(text, remember).verdict(given_)
    if verdict != op.UNDECIDED:
        assert VERDICTS[verdict] is evaluated(text, given_)


@ROUNDS
@given(conditions(ALL, ours=False), bindings(ALL, ours=False))
def test_what_the_evaluator_says_of_strings_is_what_oxigraph_says(text: str, given_: dict[str, str]) -> None:
    note(text)
    with patch.object(evaluate, "compare", compare_as_oxigraph):
        assert evaluated(text, given_) is said_by_oxigraph(text, given_)


TAGGED, KELVIN = '"Chat \\"noir\\"\\n"@fr', '"\u212aelvin"'


@pytest.mark.parametrize(
    ("text", "given_", "verdict"),
    [
        ('CONTAINS(?a, "noir")', {"a": TAGGED}, op.TRUE),
        ('CONTAINS(?a, "n\\n")', {"a": '"n\\\\n"'}, op.FALSE),
        ('STRENDS(?a, "n")', {"a": TAGGED}, op.FALSE),
        ('STRENDS(?a, "\\n")', {"a": TAGGED}, op.TRUE),
        ("STRENDS(?a, ?b)", {"a": '"a\\\\"', "b": '"\\\\"'}, op.TRUE),
        ('STRSTARTS(?a, "Chat"@en)', {"a": TAGGED}, op.ERROR),
        ("CONTAINS(?a, 5)", {"a": TAGGED}, op.ERROR),
        ("CONTAINS(?a, ?b)", {"a": '"abc"', "b": '"bc"'}, op.TRUE),
        ("STRLEN(?a) = 12", {"a": TAGGED}, op.TRUE),
        ("STRLEN(?a) * 2 = 4", {"a": '"\U0001d11e\u0301"'}, op.TRUE),
        ('LANG(?a) = "fr"', {"a": TAGGED}, op.TRUE),
        ('LANG(?a) IN ("de", "")', {"a": '"5"'}, op.TRUE),
        ('LANGMATCHES(LANG(?a), "EN")', {"a": '"x"@en-gb'}, op.TRUE),
        ('LANGMATCHES(LANG(?a), "e")', {"a": '"x"@en-gb'}, op.FALSE),
        ('LANGMATCHES(LANG(?a), "*")', {"a": '"x"'}, op.FALSE),
        ('STRSTARTS(STR(?a), "http://a")', {"a": "<http://a.org/>"}, op.TRUE),
        ('STRSTARTS(?a, "http://a")', {"a": "<http://a.org/>"}, op.ERROR),
        ('STR(?a) = "05"', {"a": literal("05", f"{XSD}integer").decode()}, op.TRUE),
        ("DATATYPE(?a) = <urn:d>", {"a": '"x"^^<urn:d>'}, op.TRUE),
        (f"DATATYPE(?a) = <{XSD}string>", {"a": '"x"'}, op.TRUE),
        ('LCASE(?a) = "chat"', {"a": '"ChAt"'}, op.TRUE),
        ('CONTAINS(LCASE(?a), "chat")', {"a": '"Été CHAT €"'}, op.TRUE),
        ('UCASE(?a) = "CHAT"@fr', {"a": '"chat"@fr'}, op.TRUE),
        ('REGEX(?a, "NOIR", "i")', {"a": TAGGED}, op.TRUE),
        ('REGEX(STR(?a), "^http://a\\\\.|b$")', {"a": "<http://a.org/>"}, op.TRUE),
        ('REGEX(?a, "n$")', {"a": '"n\\n"'}, op.FALSE),
        ('REGEX(?a, "C.A[", "qi")', {"a": '"c.a["'}, op.TRUE),
        ('STR(?a) = "b"', {"a": "_:b"}, op.ERROR),
        ('?a < "b"', {"a": '"a\\n"'}, op.TRUE),
        ('?a > "a!"', {"a": '"a\\""'}, op.TRUE),
        ("?a < ?b", {"a": '"\uffff"', "b": '"\U0001d11e"'}, op.TRUE),
        ("?a < ?b", {"a": '"a"@en', "b": '"b"@en'}, op.ERROR),
        ("?a", {"a": '""'}, op.FALSE),
        ("?a && LANG(?a)", {"a": '"x"@en'}, op.TRUE),
    ],
)
def test_functions_of_strings_are_decided_by_the_kernel(text: str, given_: dict[str, str], verdict: int) -> None:
    assert Kernel(text, remember=False).verdict(given_) == verdict
    assert VERDICTS[verdict] is evaluated(text, given_)


@pytest.mark.parametrize(
    ("text", "given_"),
    [
        ('CONTAINS(LCASE(?a), "kel")', {"a": KELVIN}),
        ('REGEX(?a, "kel", "i")', {"a": KELVIN}),
        ('CONTAINS(LCASE(?a), "é")', {"a": '"É"'}),
        ("STRLEN(UCASE(?a)) = 2", {"a": '"ß"'}),
        ("STRLEN(LCASE(?a)) = 1", {"a": '"É"'}),
        ('UCASE(?a) = "A\\n"', {"a": '"a\\n"'}),
        ('REGEX(?a, "[ab]")', {"a": '"a"'}),
        ('REGEX(?a, "É", "i")', {"a": '"é"'}),
        ("REGEX(?a, ?b)", {"a": '"a"', "b": '"a"'}),
        ('LANGMATCHES(LANG(?a), "*-gb")', {"a": '"x"@en-gb'}),
        ('LANGMATCHES(?a, "en")', {"a": '" en"'}),
        ('STR(?a + 1) = "2"', {"a": literal("1", f"{XSD}integer").decode()}),
    ],
)
def test_what_takes_the_tables_of_unicode_or_another_language_is_left_to_python(
    text: str, given_: dict[str, str]
) -> None:
    assert Kernel(text, remember=False).verdict(given_) == op.UNDECIDED


def string(text: str, case: int) -> tuple[np.ndarray, tuple[int, int, int]]:
    """Return a string in memory; it stays as long as the array does."""
    memory = np.frombuffer(text.encode(), np.uint8).copy()
    return memory, (address_of(memory), len(memory), case)


def test_whatever_has_an_ascii_letter_in_its_other_case_is_not_compared_with_ascii() -> None:
    memory, plain = string("k", AS_WRITTEN)
    others = [chr(code) for code in [*range(0x80, 0xD800), *range(0xE000, 0x20000)]]  # beyond, no letter has a case
    matched = set(re.findall("[a-zA-Z]", "".join(others), re.IGNORECASE))
    for case, changed in ((LOWER, str.lower), (UPPER, str.upper)):
        found = [each for each in others if min(changed(each)).isascii() or each in matched]
        assert len(found) > 3
        for each in found:
            memory, foreign = string(each, case)
            assert not comparable(foreign, plain) and not comparable(plain, foreign), each
    assert len(memory)


def test_a_search_that_would_take_quadratic_time_is_left_to_a_better_method() -> None:
    text, hay = string("a" * 5_000, AS_WRITTEN)
    part, needle = string("a" * 2_000 + "b", AS_WRITTEN)
    short, few = string("ab", AS_WRITTEN)
    assert finds(hay, needle) == -1
    assert finds(hay, few) == 0
    assert len(text) + len(part) + len(short)


@pytest.mark.jit
def test_without_the_jit_the_same_is_decided() -> None:
    told = "decided_by_the_kernel or left_to_python or quadratic"
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", told, __file__]
    done = subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.jit
def test_filters_on_new_strings_are_decided_while_the_dictionary_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(Evaluator, "truth", lambda self, *given: calls.append(given))
    text = "SELECT ?x { ?x <http://e/p> ?y . ?x <http://e/q> ?z FILTER(CONTAINS(?y, '77') && STRENDS(?y, ?z)) }"
    engine = rw.Engine()
    engine.register(text, keep=0)
    many = 40_000
    lines = [f'<http://e/{n}> <http://e/p> "a \\"{n}" .\n<http://e/{n}> <http://e/q> "\\"{n}" .\n' for n in range(many)]
    found = sum(len(each) for batch in engine.run_batches(rw.read("".join(lines).encode())) for each in batch)
    assert found == sum("77" in str(n) for n in range(many))
    assert engine.terms.nbytes > Terms().nbytes and calls == []
