"""Rows that a filter compares before they are combined: what is told is what is told without, and what is meant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from cases.temporal import SUBJECTS, Case
from helpers.telling import bag, changes_kept, law, listening, named, poured, pushed, registered, told
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected
from naive.streams import Item

import retewave as rw
from retewave.compiler import algebra
from retewave.compiler.parse import parse
from retewave.windows.times import Clock

XSD = "http://www.w3.org/2001/XMLSchema#"
LITERALS = [  # (lexical form, datatype): around each other, at the edge of what doubles tell apart, and no numbers
    ("1", "integer"), ("2", "integer"), ("-1", "integer"), ("0", "integer"), ("10", "integer"),
    ("1.0", "decimal"), ("0.7", "decimal"), ("1.4", "decimal"), ("1.40", "decimal"), ("-0.0", "decimal"),
    ("1.4e0", "double"), ("1", "double"), ("NaN", "double"), ("INF", "double"), ("-INF", "double"),
    ("1e-320", "double"), ("9007199254740993", "integer"), ("9007199254740992", "integer"),
    ("1" + "0" * 120, "integer"), ("0.1234567890123456789", "decimal"), ("0.12345678901234567891", "decimal"),
    ("1e200", "double"), ("1.4", "float"), ("x", "integer"), ("1", "string"), ("true", "boolean"),
    ("2020-01-01T00:00:00Z", "dateTime"),
]  # fmt: skip
TERMS = [f'"{lexical}"^^<{XSD}{name}>'.replace(f"^^<{XSD}string>", "").encode() for lexical, name in LITERALS]
TERMS += [b'"1"@en', b"<http://e/a>"]
FACTORS = ["0.7", "1.4", "2", "-1", "0", "1e0", "0.5", "1e-40", "1e35", "-0.1", f'"1.4"^^<{XSD}float>', "(1 - 1)"]
RELATIONS = ["SEQ", "AFTER", "EQUALS", "MEETS", "OVERLAPS", "DURING", "STARTED_BY"]

sides = st.recursive(
    st.sampled_from(["?a", "?b", "?a", "?b", "?c", *FACTORS]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/*"), inner),
        st.builds("(- {})".format, inner),
    ),
    max_leaves=3,
)
comparisons = st.builds("{} {} {}".format, sides, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), sides)
conditions = st.one_of(
    comparisons,
    comparisons,
    st.builds("({}) && ({})".format, comparisons, comparisons),
    st.builds("({}) || ({})".format, comparisons, comparisons),
    st.builds("! ({})".format, comparisons),
)


def query_of(relation: str, third: str, condition: str, width: int) -> algebra.Query:
    """Return a query on prices of one thing, or on two kinds of them."""
    groups = f"{{ ?x <http://e/p> ?a }} {relation} {{ ?x <http://e/p> ?b }}{third}"
    return parse(
        f"SELECT * FROM STREAM <http://e/s1> [RANGE {width}ms] WHERE {{ {groups} FILTER ({condition}) }}", source="law"
    )


queries = st.builds(
    query_of,
    st.sampled_from([*RELATIONS, "SEQ", "SEQ"]),
    st.sampled_from(["", " SEQ { ?x <http://e/q> ?c }", " SEQ NOT { ?x <http://e/q> ?c } WITHIN 2ms"]),
    conditions,
    st.sampled_from([2, 4, 9]),
)


@st.composite
def items(draw: st.DrawFn, terms: list[bytes] = TERMS) -> list[Item]:
    """Draw numbers of two things, some of them lasting, in the order of their ends."""
    found, end = [], 0
    few = draw(st.lists(st.sampled_from(terms), min_size=1, max_size=4))
    for _ in range(draw(st.integers(0, 14))):
        end += draw(st.sampled_from([0, 1000, 1000, 2000]))
        start = end - draw(st.sampled_from([0, 0, 0, 1000, 2000]))
        predicate = draw(st.sampled_from([b"<http://e/p>", b"<http://e/p>", b"<http://e/q>"]))
        term = draw(st.sampled_from(few))
        found.append(Item((draw(st.sampled_from(SUBJECTS)), predicate, term), start, end, "http://e/s1"))
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a query that compares numbers, and what it is asked of."""
    query, stream = draw(queries), draw(items())
    return Case(replace(query, solutions="bag"), stream, frozenset())


NEAR = [  # multiples of each other, so that both sides of a comparison are often equal
    f'"{number}"^^<{XSD}{kind}>'.encode()
    for number in ("0.7", "1.4", "2.8", "-0.7", "-1.4")
    for kind in ("decimal", "double")
]
equal_sides = st.builds(
    "{} * ?a {} {} * ?b".format,
    st.sampled_from(["1", "2", "-1"]),
    st.sampled_from(["<=", ">=", "="]),
    st.sampled_from(["1", "0.5", "2", "-2"]),
)


@st.composite
def near_cases(draw: st.DrawFn) -> Case:
    """Draw a comparison of numbers that are often equal."""
    query = query_of(draw(st.sampled_from(["SEQ", "EQUALS"])), "", draw(equal_sides), 9)
    return Case(replace(query, solutions="bag"), draw(items(NEAR)), frozenset())


def all_found(case: Case, *, counting: bool, cut: int = 0) -> Counter:
    """Return what is told of a stream that is poured in two parts; an engine that counts compares nothing early."""
    engine, _ = listening(case, stats=counting)
    engine.clock = Clock("float")
    found = told(engine.flush()) + told(poured(engine, case.stream[:cut]))
    return found + told(poured(engine, case.stream[cut:])) + told(engine.flush())


@law(400)
@given(cases())
def test_filters_that_compare_rows_tell_what_is_meant(case: Case) -> None:
    assert all_found(case, counting=False) == bag(detected(case.query, case.stream, case.static))


@law(300)
@given(near_cases())
def test_numbers_that_are_equal_but_for_rounding_are_not_refused(case: Case) -> None:
    assert all_found(case, counting=False) == bag(detected(case.query, case.stream, case.static))


@law(400)
@given(cases(), st.integers(0, 14))
def test_to_compare_rows_before_they_are_combined_changes_nothing(case: Case, cut: int) -> None:
    assert all_found(case, counting=False, cut=cut) == all_found(case, counting=True, cut=cut)


@law(120)
@given(cases(), cases(), st.integers(0, 14), st.booleans())
def test_readings_are_right_when_other_queries_come(case: Case, other: Case, cut: int, apart: bool) -> None:
    engine, query = listening(case)
    engine.clock = Clock("float")
    with changes_kept(apart):
        found = [match for item in case.stream[:cut] for match in pushed(engine, item)]
        registered(engine, other.query)
        found += [match for item in case.stream[cut:] for match in pushed(engine, item)]
        found += engine.flush()
    of_case = told(match for match in found if match.query is query)
    assert of_case == bag(detected(case.query, case.stream, case.static))


@law(60)
@given(case=cases(), cut=st.integers(0, 14), counting=st.tuples(st.booleans(), st.booleans()))
def test_readings_are_right_in_an_engine_that_is_restored(
    tmp_path_factory: pytest.TempPathFactory, case: Case, cut: int, counting: tuple[bool, bool]
) -> None:
    engine, _ = listening(case, stats=counting[0])
    engine.clock = Clock("float")
    found = told(match for item in case.stream[:cut] for match in pushed(engine, item))
    path: Path = tmp_path_factory.mktemp("snapshots") / "snapshot"
    engine.snapshot(path)
    with named(case.query):
        restored = rw.Engine.restore(path, stats=counting[1], max_future=None, keep=None)
    found += told(match for item in case.stream[cut:] for match in pushed(restored, item))
    assert found + told(restored.flush()) == bag(detected(case.query, case.stream, case.static))
