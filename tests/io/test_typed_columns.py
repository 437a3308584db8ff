"""Matches as columns: typed where every term has a value of one type, N-Triples text otherwise; nothing is lost."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef

import retewave as rw
from retewave.match import Matches
from retewave.rete.terms.dictionary import Terms
from retewave.windows.times import Clock

XSD = "http://www.w3.org/2001/XMLSchema#"
SECONDS = Clock("float")
QUERY = rw.Engine().register("SELECT ?x ?y WHERE { ?x <http://e/p> ?y }")


def literal(lexical: str, datatype: str) -> str:
    return f'"{lexical}"^^<{XSD}{datatype}>'


def matches(*texts: str | None, clock: Clock = SECONDS, terms: Terms | None = None) -> Matches:
    terms = Terms(seed=1) if terms is None else terms
    ids = np.array([[0, terms.intern(text.encode()) if text else 0] for text in texts]).reshape(-1, 2)
    times = np.arange(len(texts)) * 500_000
    return Matches(QUERY, terms, clock, ids, times, times)


def column(*texts: str | None) -> pa.ChunkedArray:
    return matches(*texts).to_arrow()["y"]


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        ([literal("5", "integer"), literal("-07", "byte"), None], pa.int64(), [5, -7, None]),
        ([literal("9007199254740993", "integer"), literal("1", "int")], pa.int64(), [9007199254740993, 1]),
        ([literal("5", "integer"), literal("2.50", "decimal"), literal("1e3", "double")], pa.float64(), [5, 2.5, 1000]),
        ([literal("-INF", "double"), literal("0.1", "float")], pa.float64(), [float("-inf"), 0.1]),
        ([literal("0.1000000000000000055511151231257827", "double")], pa.float64(), [0.1]),
        ([literal("true", "boolean"), literal("0", "boolean"), None], pa.bool_(), [True, False, None]),
        (
            [literal("2012-07-16T12:00:00+02:00", "dateTime"), literal("2012-07-16T10:00:00.25Z", "dateTime")],
            pa.timestamp("us", tz="UTC"),
            [datetime(2012, 7, 16, 10, tzinfo=UTC), datetime(2012, 7, 16, 10, 0, 0, 250_000, tzinfo=UTC)],
        ),
        ([literal("2012-07-16T10:00:00", "dateTime")], pa.timestamp("us"), [datetime(2012, 7, 16, 10)]),
        (
            [literal("1969-12-31", "date"), literal("2008-06-20", "date")],
            pa.date32(),
            [date(1969, 12, 31), date(2008, 6, 20)],
        ),
        ([literal("-PT1.5S", "dayTimeDuration")], pa.duration("us"), [timedelta(seconds=-1.5)]),
    ],
)
def test_columns_of_one_kind_have_its_type(texts: list[str | None], kind: pa.DataType, values: list[object]) -> None:
    found = column(*texts)
    assert (found.type, found.to_pylist()) == (kind, values)


@pytest.mark.parametrize(
    "texts",
    [
        [literal("5", "integer"), "<http://e/five>"],  # kinds that have no type in common
        [literal("5", "integer"), '"5"'],
        [literal("5", "integer"), literal("true", "boolean")],
        [literal("2012-07-16T10:00:00", "dateTime"), literal("2012-07-16T10:00:00Z", "dateTime")],
        [literal("5", "integer"), literal("1_000", "integer")],  # ill-typed literals
        [literal("200", "byte")],
        [literal("1e4", "decimal")],
        [literal("yes", "boolean")],
        [literal("2012-02-30T10:00:00Z", "dateTime")],
        [literal("9223372036854775808", "integer")],  # what a type cannot hold
        [literal("1" * 5_000, "integer")],
        [literal("0.12345678901234567890", "decimal")],
        [literal("9007199254740993", "integer"), literal("0.5", "decimal")],
        [literal("2008-06-20+02:00", "date")],
        [literal("2012-07-16T10:00:00.0000001Z", "dateTime")],
        [literal("P1Y", "yearMonthDuration")],
        ["<http://e/a>", "_:b", '"tea"@en', literal("12.05", "USD"), None],
        [None],
    ],
)
def test_columns_of_mixed_kinds_and_what_no_type_holds_stay_text(texts: list[str | None]) -> None:
    found = column(*texts)
    assert (found.type, found.to_pylist()) == (pa.string(), texts)


LEXICAL = st.one_of(st.integers(), st.decimals(allow_nan=False, allow_infinity=False), st.floats(), st.booleans()).map(
    str
)
DATATYPES = st.sampled_from(["integer", "byte", "decimal", "double", "boolean", "dateTime"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.none(), st.builds(literal, LEXICAL, DATATYPES)), max_size=4))
def test_no_number_is_a_wrong_one_and_none_is_lost(texts: list[str | None]) -> None:
    table = matches(*texts).to_arrow()
    assert matches(*texts).to_arrow(typed=False)["y"].to_pylist() == texts
    if table["y"].type == pa.string():
        assert table["y"].to_pylist() == texts
        return
    for text, value in zip(texts, table["y"].to_pylist(), strict=True):
        lexical, _, rest = (text or '""').partition("^^")
        known = Literal(lexical.strip('"'), datatype=URIRef(rest.strip("<>"))).toPython() if text else None
        known = (
            float(known) if isinstance(known, Decimal) else known
        )  # which only one decimal of 15 digits is nearest to
        assert value == known or (value != value and known != known), text


def test_integers_and_booleans_stay_such_in_pandas_beside_what_is_unbound() -> None:
    found = matches(literal("9007199254740993", "integer"), None).to_pandas()["y"]
    assert (str(found.dtype), found[0], found.isna().tolist()) == ("Int64", 9007199254740993, [False, True])
    assert str(matches(literal("true", "boolean"), None).to_pandas()["y"].dtype) == "boolean"
    assert str(matches(literal("1", "integer")).to_pandas()["y"].dtype) == "int64"
    assert matches(literal("1", "integer")).to_pandas(typed=False)["y"].tolist() == [literal("1", "integer")]


@pytest.mark.parametrize(
    ("clock", "typed", "told"),
    [
        (Clock("float"), pa.float64(), [0.0, 0.5]),
        (Clock("int"), pa.float64(), [0, 0.5]),
        (Clock("text"), pa.timestamp("us", tz="UTC"), ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.5Z"]),
        (Clock("datetime"), pa.timestamp("us"), [datetime(1970, 1, 1), datetime(1970, 1, 1, 0, 0, 0, 500_000)]),
        (
            Clock("datetime64", unit="ms"),
            pa.timestamp("ms"),
            [datetime(1970, 1, 1), datetime(1970, 1, 1, 0, 0, 0, 500_000)],
        ),
    ],
)
def test_starts_and_ends_are_columns_of_times(clock: Clock, typed: pa.DataType, told: list[object]) -> None:
    batch = matches('"a"', '"b"', clock=clock)
    assert batch.to_arrow()["start"].type == typed
    assert batch.to_arrow(typed=False)["end"].to_pylist() == told


def test_a_querys_columns_are_those_of_its_last_matches_sealed_or_not() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT ?x ?y WHERE { ?x <http://e/p> ?y }", keep=3)
    held = []
    for n in range(6):
        held.append(engine.push((f"http://e/s{n}", "http://e/p", n), time=n))
        if n == 4:
            held[4][0]._batch.seal()
    table = query.to_arrow()
    assert table.num_rows == 3
    assert table["y"].to_pylist() == [3, 4, 5]
    assert table["x"].to_pylist() == ["<http://e/s3>", "<http://e/s4>", "<http://e/s5>"]
    assert table["start"].to_pylist() == [3, 4, 5]
    assert rw.Engine().register("SELECT ?x WHERE { ?x ?p ?y }").to_arrow().column_names == ["start", "end", "x"]


def test_batch_gives_its_columns_as_terms_texts_and_ids() -> None:
    terms = Terms(seed=1)
    batch = matches("<http://e/a>", None, '"b"', "<http://e/a>", terms=terms)
    columns = batch.columns()
    assert columns == {"x": [None] * 4, "y": [URIRef("http://e/a"), None, Literal("b"), URIRef("http://e/a")]}
    assert batch.columns("?y") == {"y": columns["y"]}
    assert batch.texts("y") == [b"<http://e/a>", None, b'"b"', b"<http://e/a>"]
    assert terms.text(int(batch.ids[2, 1])) == b'"b"'
    batch.seal()
    assert batch.columns() == columns


def test_term_that_several_matches_have_is_decoded_once() -> None:
    batch = matches(literal("5", "integer"), literal("5", "integer"))
    assert batch[0]["y"] is batch[1]["y"] is batch.columns()["y"][0]
