"""What a query is looked at for before it is registered: what would drop or keep rows in a way that nobody meant."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import retewave as rw
from retewave.cli.app import app
from retewave.engine.registry import UnboundedWarning

PREFIX = "PREFIX e: <http://e/>\n"
RANGE = "FROM STREAM <http://e/s> [RANGE 5s]"
A, B, C = (f"{{ ?x e:{name} ?{name} }}" for name in "abc")
SHORT = 'FILTER(getDURATION() <= "PT5S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>)'


def query(where: str, streams: str = "", name: str = "") -> str:
    register = f"REGISTER QUERY {name} AS " if name else ""
    return f"{PREFIX}{register}SELECT * {streams} WHERE {{ {where} }}"


def warned(where: str, streams: str = "", name: str = "") -> list[str]:
    """Return what registering a query warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        rw.Engine().register(query(where, streams, name))
    assert {each.category for each in found} <= {UnboundedWarning}
    return [str(each.message) for each in found]


# Rows that are kept for ever


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        (f"{A} SEQ {B}", "{ ?x <http://e/a> ?a }"),
        (f"{A} SEQ NOT {B} SEQ {C}", "{ ?x <http://e/b> ?b } and { ?x <http://e/a> ?a }"),
        (f"{A} MET_BY {B}", "{ ?x <http://e/a> ?a } and { ?x <http://e/b> ?b }"),
        (f"?x e:a ?a OPTIONAL {B}", "{ ?x <http://e/a> ?a } and { ?x <http://e/b> ?b }"),
        (f"?x e:a ?a MINUS {B}", "{ ?x <http://e/b> ?b }"),
        (f"?x e:a ?a FILTER NOT EXISTS {B}", "{ ?x <http://e/b> ?b }"),
        (f"LAST {A} SEQ {B}", "{ ?x <http://e/a> ?a }"),
        (f"{{ {A} WITHIN 5s }} SEQ {B}", "{ ?x <http://e/a> ?a }"),
        (f"NOT {A} SEQ {B} WITHIN 5s SEQ {C}", "{ ?x <http://e/b> ?b }"),
    ],
)
def test_what_nothing_bounds_is_told(where: str, kept: str) -> None:
    (said,) = warned(where, name="endless")
    assert said.startswith(f"endless: what is found of {kept} is kept for ever, as nothing bounds it: ")
    assert said.endswith("write FROM STREAM <…> [RANGE 1h], or put WITHIN 1h behind the groups")


@pytest.mark.parametrize(
    "where",
    [
        f"{A} SEQ {B} WITHIN 5s",
        f"{{ {A} SEQ {B} {SHORT} }}",
        f"NOT {A} SEQ {B} WITHIN 5s",
        f"{A} SEQ NOT {B} WITHIN 5s",
        f"{{ ?x e:a ?a OPTIONAL {B} }} WITHIN 5s",
        f"{{ LAST {A} SEQ {B} }} WITHIN 5s",
        f"{A} UNION {{ NOT {B} SEQ {C} WITHIN 5s }}",
        f"?x e:a ?a {SHORT}",  # one pattern: nothing is kept
        "?x e:a ?a . ?x e:b ?b",  # as before: a join that no window bounds is meant so
        f"{{ ?x e:a ?a . ?x e:b ?b }} UNION {{ {A} SEQ {C} WITHIN 5s }}",
    ],
)
def test_what_is_bounded_or_keeps_nothing_needs_no_word(where: str) -> None:
    assert warned(where) == []


def test_range_of_every_stream_bounds_all() -> None:
    assert warned(f"{A} SEQ {B}", RANGE) == []
    (said,) = warned(f"{A} SEQ {B}", f"{RANGE} FROM STREAM <http://e/t>")
    assert "write FROM STREAM <http://e/t> [RANGE 1h]" in said


def test_side_that_reads_a_stream_with_a_range_is_bounded() -> None:
    streams = f"{RANGE} FROM STREAM <http://e/t>"
    assert warned(f"STREAM <http://e/s> {A} SEQ STREAM <http://e/t> {B}", streams) == []
    (said,) = warned(f"STREAM <http://e/t> {A} SEQ STREAM <http://e/s> {B}", streams)
    assert "what is found of { ?x <http://e/a> ?a } is kept" in said


def test_warning_that_is_an_error_registers_nothing() -> None:
    engine = rw.Engine()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnboundedWarning)
        with pytest.raises(UnboundedWarning):
            engine.register(query(f"{A} SEQ {B}", name="one"))
        assert engine.queries == []
        assert engine.register(query(f"{A} SEQ {B} WITHIN 5s", name="one")).name == "one"


def test_snapshot_was_warned_of_before(tmp_path: Path) -> None:
    engine = rw.Engine()
    with pytest.warns(UnboundedWarning):
        engine.register(query(f"{A} SEQ {B}"))
    engine.snapshot(tmp_path / "snapshot")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rw.Engine.restore(tmp_path / "snapshot")


def test_command_line_warns_on_stderr(tmp_path: Path) -> None:
    text, stream = tmp_path / "endless.rq", tmp_path / "s.nt"
    text.write_text(query(f"{A} SEQ {B}", name="endless"))
    stream.write_text('<http://e/x> <http://e/a> "1" .\n')
    done = CliRunner().invoke(app, ["run", str(text), "--stream", str(stream), "--rate", "1"])
    assert done.exit_code == 0
    assert "retewave: warning: endless: what is found of { ?x <http://e/a> ?a } is kept for ever" in done.stderr


# Rows that are dropped


@pytest.mark.parametrize(
    ("where", "operator"),
    [
        (f"?x e:a ?a OPTIONAL {B}", "OPTIONAL"),
        (f"?x e:a ?a MINUS {B}", "MINUS"),
        (f"?x e:a ?a FILTER NOT EXISTS {B}", "NOT EXISTS"),
        (f"{A} SEQ NOT {B} SEQ {C}", "NOT"),
        (f"{{ NOT {A} SEQ {B} WITHIN 5s }} SEQ {C}", "NOT"),
        (f"{A} SEQ NOT {B} WITHIN 5s", "NOT"),
        (f"LAST {A}", "LAST"),
        (f"{{ {A} OPTIONALSEQ {B} }} EQUALS {C}", "OPTIONALSEQ"),
    ],
)
def test_dropped_rows_are_not_taken_for_what_never_came(where: str, operator: str) -> None:
    text = query(where, RANGE)
    rw.Engine(max_live_rows=10).register(text)
    engine = rw.Engine(max_live_rows=10, at_limit="shed")
    with pytest.raises(rw.QueryError) as refused:
        engine.register(text)
    assert refused.value.what == (
        f'{operator} tells of what is not there, and under at_limit="shed" that may be a triple that was dropped'
    )
    assert 'at_limit="error"' in refused.value.hint
    assert "narrower window" in refused.value.hint
    assert refused.value.place is not None
    assert engine.queries == []


@pytest.mark.parametrize(
    "where", [f"{A} SEQ {B}", f"?x e:a ?a FILTER EXISTS {B}", "?x e:a ?a . ?x e:b ?b", f"{A} SEQ {B} WITHIN 3s"]
)
def test_who_loses_matches_only_may_drop_rows(where: str) -> None:
    engine = rw.Engine(max_live_rows=10, at_limit="shed")
    assert engine.register(query(where, RANGE)) in engine.queries


def test_command_line_refuses_to_drop_rows_of_an_absence(tmp_path: Path) -> None:
    text, stream = tmp_path / "absence.rq", tmp_path / "s.nt"
    text.write_text(query(f"?x e:a ?a MINUS {B}", RANGE))
    stream.write_text("")
    said = CliRunner().invoke(
        app,
        ["run", str(text), "--stream", str(stream), "--rate", "1", "--max-live-rows", "10", "--at-limit", "shed"],
    )
    assert said.exit_code == 2
    assert "MINUS tells of what is not there" in said.stderr
    assert "--at-limit error" in said.stderr
