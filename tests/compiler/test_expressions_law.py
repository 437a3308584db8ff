"""The laws of expressions: kernel, evaluator and an independent engine agree.

* What the kernel decides is what the evaluator says; what it leaves open is no answer.
* What the evaluator says is what Oxigraph says, on the values where both follow the specification.
"""

from __future__ import annotations

from unittest.mock import patch

import pytest
from cases.filters import ABC, VERDICTS, Kernel, code_of, evaluated, expression_of, said_by_oxigraph
from cases.many import many
from helpers.oxigraph import compare_as_oxigraph
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from retewave.compiler.expressions import evaluate
from retewave.compiler.expressions.tree import variables
from retewave.rete.filters import codes as op

CASES = many(2_000)
XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(kind: str, *lexicals: str) -> list[str]:
    return [f'"{lexical}"^^<{XSD}{kind}>' for lexical in lexicals]


# Values on which Oxigraph and the specification agree.  Numbers are in canonical form: to Oxigraph 1.0 and 1 are
# the same term.  Times without a zone are days from those with one: Oxigraph says that they differ where nobody
# can tell.
COMMON = [
    "<urn:x>",
    "<urn:y>",
    '"x"',
    '"y"',
    '""',
    '"5"^^<urn:unknown>',
    '"6"^^<urn:unknown>',
    *typed("integer", "0", "1", "2", "-3"),
    *typed("decimal", "0.1", "0.2", "0.3", "1", "2.5"),
    *typed("double", "0.0E0", "1.0E0", "2.5E0", "NaN", "INF", "-INF", "1.0E-1"),
    *typed("dateTime", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2021-06-01T12:30:00.5Z"),
    *typed("dateTime", "2018-01-01T00:00:00", "2022-01-01T00:00:00"),
    *typed("date", "2020-01-01", "2020-01-02"),
]
# Values at the edges: precision, overflow, ill-typed literals, derived types, zones, durations.
EDGES = [
    '"x"@en',
    '"x"@fr',
    '""@en',
    *typed("integer", "00", "+1", "9007199254740993", "9007199254740992", "123456789012345678901234567890", "x"),
    *typed("integer", "1_000", " 5", "", "9" * 5_000),
    *typed("decimal", "1e4", "1_0.5", "9" * 5_000 + ".5", "0." + "0" * 5_000 + "1"),
    *typed("decimal", "1.0", "0.30000000000000000001", "100000000000000000000.1", "-0.0", "INF", "1.", ".5"),
    *typed("double", "1e308", "-0", "4.9E-324", "1E400", "x", "+INF"),
    *typed("float", "0.1", "1.5", "16777217", "NaN", "INF"),
    *typed("boolean", "true", "false", "1", "0", "TRUE"),
    *typed("byte", "5", "300", "-128", "-129", "+127", "0127"),
    *typed("unsignedLong", "18446744073709551615", "18446744073709551616"),
    *typed("nonNegativeInteger", "5", "-5"),
    *typed(
        "dateTime",
        "2020-01-01T00:00:00",
        "2020-01-01T24:00:00Z",
        "2019-12-31T24:00:00Z",
        "2020-02-30T00:00:00Z",
        "-0044-03-15T00:00:00Z",
    ),
    *typed("dateTime", "2020-01-01T00:00:00.000000001Z", "12020-01-01T00:00:00Z", "2020-01-01T00:00:00+14:00"),
    *typed("date", "2020-01-01Z", "2020-01-01+01:00", "2020-13-01"),
    *typed("time", "12:00:00", "12:00:00Z"),
    *typed("dayTimeDuration", "P1D", "PT24H", "PT0S", "-PT1H"),
    *typed("yearMonthDuration", "P1Y", "P12M", "P0M"),
    *typed("duration", "P1D", "P1Y", "P1M", "P31D", "PT0S"),
]


BLANK = ["_:b"]  # a binding only: no expression can write a blank node


@st.composite
def expressions(draw: st.DrawFn, depth: int, constants: list[str]) -> str:
    if depth == 0:
        return draw(st.sampled_from(["?a", "?b", "?c"]) | st.sampled_from(constants))
    one, other = (draw(expressions(depth - 1, constants)) for _ in range(2))
    shape = st.sampled_from(
        ["{} {} {}"] * 6
        + ["!({})", "-({})", "+({})", "BOUND(?a)", "isIRI({})", "isBLANK({})", "isLITERAL({})", "isNUMERIC({})"]
        + ["sameTerm({}, {})", "{} IN ({}, 1)", "{} NOT IN ({}, 2.5)", "IF({}, {}, ?a)", "COALESCE({}, {})"]
    )
    found = draw(shape)
    if found == "{} {} {}":
        symbols = ["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "&&", "||"]
        return f"(({one}) {draw(st.sampled_from(symbols))} ({other}))"
    return "(" + found.format(f"({one})", f"({other})") + ")"


@st.composite
def values(draw: st.DrawFn, depth: int) -> str:
    """An expression that is no truth value: Oxigraph gives these no order."""
    if depth == 0:
        return draw(st.sampled_from(["?a", "?b", "?c"]) | st.sampled_from(COMMON))
    one, other = draw(values(depth - 1)), draw(values(depth - 1))
    shapes = ["({} + {})", "({} - {})", "({} * {})", "({} / 2)", "COALESCE({}, {})", "IF(BOUND(?a), {}, {})"]
    return draw(st.sampled_from(shapes)).format(one, other)


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> str:
    """An expression for a truth value."""
    if depth == 0:
        symbol = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
        one, other = draw(values(1)), draw(values(1))
        shapes = [f"({{}} {symbol} {{}})"] * 4 + ["sameTerm({}, {})", "({} IN ({}, 1))", "({} NOT IN ({}, 2.5))"]
        return draw(st.sampled_from([*shapes, "isNUMERIC({})", "isIRI({})", "BOUND(?b)", "{}"])).format(one, other)
    one, other = draw(conditions(depth - 1)), draw(conditions(depth - 1))
    return draw(st.sampled_from(["({} && {})", "({} || {})", "(!{})", "({} = {})", "IF({}, {}, false)"])).format(
        one, other
    )


def bindings(pool: list[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from("abc"), st.sampled_from(pool), max_size=3)


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions(2, COMMON + EDGES), bindings(COMMON + EDGES + BLANK), st.booleans())
def test_what_the_kernel_decides_is_what_the_evaluator_says(text: str, given_: dict[str, str], remember: bool) -> None:
    verdict = Kernel(text, remember).verdict(given_)
    assume(verdict != op.UNDECIDED)
    assert VERDICTS[verdict] is evaluated(text, given_)


TIMES = [each for each in COMMON + EDGES if "date" in each or "uration" in each] + ['"5"^^<' + XSD + "integer>", '"x"']


@st.composite
def time_sums(draw: st.DrawFn, depth: int) -> str:
    """A sum or difference of moments and durations, mostly: of others, an error."""
    if depth == 0:
        return draw(st.sampled_from(["?a", "?b", "?c"]) | st.sampled_from(TIMES))
    one, other = draw(time_sums(depth - 1)), draw(time_sums(draw(st.integers(0, depth - 1))))
    return f"({one} {draw(st.sampled_from('+-+-+-*'))} {other})"


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(time_sums(1), time_sums(0) | time_sums(1), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), bindings(TIMES))
def test_of_sums_of_times_the_kernel_decides_what_the_evaluator_says(
    one: str, other: str, symbol: str, given_: dict[str, str]
) -> None:
    text = f"{one} {symbol} {other}"
    verdict = Kernel(text, remember=False).verdict(given_)
    assume(verdict != op.UNDECIDED)
    assert VERDICTS[verdict] is evaluated(text, given_)


NOON, LATER = typed("dateTime", "2024-02-29T12:00:00Z", "2024-02-29T13:00:00.25+00:30")
HALF_AN_HOUR, PLAIN, MONTHS = (
    typed("dayTimeDuration", "PT30M")[0],
    typed("duration", "PT30M")[0],
    typed("duration", "P1M")[0],
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"?a + {HALF_AN_HOUR} < ?b", op.TRUE),
        (f"{HALF_AN_HOUR} + ?a >= ?b", op.FALSE),
        (f"?b - {PLAIN} > ?a", op.TRUE),
        (f"?b - ?a <= {HALF_AN_HOUR}", op.FALSE),
        (f"?b - ?a > {PLAIN}", op.TRUE),
        (f"?b - ?a + {HALF_AN_HOUR} + ?a > ?b", op.TRUE),
        (f"?a + {MONTHS} > ?b", op.UNDECIDED),
        ("?a - 5 < ?b", op.ERROR),
        ("?a * ?b < ?b", op.ERROR),
        (f"{PLAIN} = {HALF_AN_HOUR}", op.TRUE),
        (f"{MONTHS} <= {MONTHS}", op.UNDECIDED),
    ],
)
def test_the_kernel_calculates_with_times(text: str, verdict: int) -> None:
    assert Kernel(text, remember=False).verdict({"a": NOON, "b": LATER}) == verdict


@settings(max_examples=many(500), deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions(2, COMMON + EDGES), st.sampled_from(COMMON + EDGES + BLANK))
def test_a_remembered_filter_on_one_variable_is_always_decided(text: str, term: str) -> None:
    assume(variables(expression_of(text)) == {ABC[0]})
    assert Kernel(text, remember=True).verdict({"a": term}) == code_of(evaluated(text, {"a": term}))


@pytest.mark.parametrize("text", ["!?a IN (?a + %s, 1)", "!?a IN (-%s + ?a, 1)", "!(?a * %s = true)"])
def test_what_the_evaluator_does_not_calculate_with_the_kernel_does_not_either(text: str) -> None:
    (long,) = typed("decimal", "0." + "0" * 5_000 + "1")
    (zero,) = typed("integer", "0")
    assert Kernel(text % long, remember=True).verdict({"a": zero}) == code_of(evaluated(text % long, {"a": zero}))


@pytest.mark.parametrize(
    ("text", "given_", "verdict"),
    [
        ("?a > 30", {"a": typed("integer", "31")[0]}, op.TRUE),
        ("?a > 30.5", {"a": typed("decimal", "30.4")[0]}, op.FALSE),
        ("?a * 1.1 < 100", {"a": typed("decimal", "12.34")[0]}, op.TRUE),
        ("?a + ?b = 5", {"a": typed("integer", "2")[0], "b": typed("integer", "3")[0]}, op.TRUE),
        ("?a = ?b", {"a": "<urn:x>", "b": "<urn:y>"}, op.FALSE),
        ("?a != ?b", {"a": '"x"', "b": '"y"'}, op.TRUE),
        ("?a < ?b", {"a": '"x"', "b": '"y"'}, op.TRUE),
        ("?a < 5", {"a": '"x"'}, op.ERROR),
        ("?a < 5 || true", {"a": '"x"'}, op.TRUE),
        ("!(?a < 5)", {"a": '"x"'}, op.ERROR),
        ("?a > 1", {}, op.ERROR),
        ('REGEX(?a, "x.")', {"a": '"x"'}, op.UNDECIDED),
        ('REGEX(?a, "x.") && ?b > 5', {"a": '"x"', "b": typed("integer", "1")[0]}, op.FALSE),
        ("1 / 0 = 1", {}, op.ERROR),
        ("1.0E0 / 0 > 5", {}, op.TRUE),
        (
            "?a < ?b",
            {"a": typed("dateTime", "2020-01-01T00:00:00Z")[0], "b": typed("dateTime", "2020-01-01T00:00:01Z")[0]},
            op.TRUE,
        ),
    ],
)
def test_the_kernel_decides_what_it_should(text: str, given_: dict[str, str], verdict: int) -> None:
    assert Kernel(text, remember=False).verdict(given_) == verdict


# An independent engine


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(conditions(0) | conditions(1) | conditions(2), bindings(COMMON))
def test_the_evaluator_says_what_oxigraph_says(text: str, given_: dict[str, str]) -> None:
    note(text)
    with patch.object(evaluate, "compare", compare_as_oxigraph):
        assert evaluated(text, given_) is said_by_oxigraph(text, given_)


def test_a_decimal_that_is_written_otherwise_is_another_term() -> None:
    assert evaluated("sameTerm(1.0, 2 / 2)", {}) is False
    assert evaluated("1.0 = 2 / 2", {}) is True
