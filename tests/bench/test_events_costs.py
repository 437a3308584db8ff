"""What the event workloads cost beside their speed: laps, deadlines, classes; each run finds what is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retewave.bench import classes
from retewave.bench.events import deadlines, paired, soak, streams
from retewave.bench.events.engine import counted, engine_of, reader_of
from retewave.bench.events.expected import expected
from retewave.bench.events.soak import Laps, matches_of, renamed
from retewave.bench.events.streams import EventColumns, columns, make
from retewave.bench.events.task import WORKLOADS

made_here = pytest.mark.skipif(bool(streams.absent()), reason=streams.absent())
LINE = b"<http://example.org/cep#e7> <http://example.org/cep#response> <http://example.org/cep#r5>"


def test_a_lap_of_requests_has_names_and_a_minute_of_its_own() -> None:
    assert renamed("W3", LINE, 61) == LINE.replace(b"#e7", b"#e10617").replace(b"#r5", b"#1061r5")
    assert renamed("W3", b'"2024-01-01T00:00:07Z"', 61) == b'"2024-01-01T01:01:07Z"'
    assert renamed("W2", LINE, 61) == LINE.replace(b"#e7", b"#e10617")
    assert renamed("W2", b'"2024-01-01T00:00:07Z"', 61) == b'"2024-03-02T00:00:07Z"'
    assert renamed("W1", LINE, 61) == LINE


def test_the_matches_of_laps_are_those_of_one_long_stream() -> None:
    stream = EventColumns(*(np.array(each) for each in ([0, 100, 200], [4, 4, 4], [101, 51, 201], [0, 0, 0])))
    step = 100_000_000  # microseconds: the window of 500 s reaches into the next lap
    lap = EventColumns(stream.time * 1_000_000, stream.key, stream.value, stream.kind)
    tiled = (np.tile(each, 4) for each in (lap.key, lap.value, lap.kind))
    whole = expected("W1", EventColumns(np.arange(12) * step, *tiled)).matches
    assert matches_of("W1", lap, step, 4) == whole > 4 * expected("W1", lap).matches


@made_here
@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_engine_finds_the_matches_of_all_laps(workload: str, tmp_path: Path) -> None:
    task = make(workload, 1000, tmp_path, rdf=True)
    laps = Laps(task, 3)
    engine = engine_of(WORKLOADS[workload].query())
    batches = engine.run_batches(reader_of(task, laps.file()))
    found = sum(len(matches) for batch in batches for matches in batch)
    assert found == matches_of(workload, columns(task.csv), task.step, 3)
    assert found > counted(task, WORKLOADS[workload].query()).matches
    assert laps.samples[-1][0] == 3 * task.rows


@made_here
def test_the_engine_pairs_what_queues_by_hand_pair(tmp_path: Path) -> None:
    task = make("W4", 30_000, tmp_path, rdf=True)
    laps = Laps(task, 3)
    batches = engine_of(paired.QUERY.read_text()).run_batches(reader_of(task, laps.file()))
    found = sum(len(matches) for batch in batches for matches in batch)
    counts = paired.paired(columns(task.csv), task.step, 3)
    assert found == counts[2] > counts[1] > counts[0] > 0


@made_here
def test_the_command_says_that_memory_has_risen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = iter(range(10**6, 10**9, 10**6))
    monkeypatch.setattr(soak, "resident", lambda: next(held))
    with pytest.raises(SystemExit, match="not flat"):
        soak.main(events=3000, workloads="W4", size=1000, data=tmp_path)


@made_here
def test_deadlines_and_the_join_beside_them_find_what_is_there(tmp_path: Path) -> None:
    stream, task = columns(make("W3", 1000, tmp_path).csv), make("W3", 1000, tmp_path, rdf=True)
    query = WORKLOADS["W3"].query()
    told = deadlines.pushed(stream, query)
    assert told.matches == expected("W3", stream).matches
    assert len(told.wall) == len(told.busy) == 1000
    absence, join = deadlines.poured_by_turns(task, (query, deadlines.JOIN.read_text()), 2)
    assert [matches for matches, _ in absence] == [expected("W3", stream).matches] * 2
    assert [matches for matches, _ in join] == [deadlines.answered(stream)] * 2


def test_with_and_without_reasoning_every_instance_is_found() -> None:
    told = classes.stream(300, 100)
    reasoning, plain = classes.by_turns(told, 100)
    assert reasoning.matches == plain.matches == len(reasoning.wall) == 300


def test_forty_thousand_subclasses_are_eight_levels_deep() -> None:
    above = {low: high for low, _, high in classes.classes(classes.SUBCLASSES)}
    deepest, levels = f"<http://example.org/ethan#C{classes.SUBCLASSES}>".encode(), 0
    while deepest in above:
        deepest, levels = above[deepest], levels + 1
    assert levels == 8
