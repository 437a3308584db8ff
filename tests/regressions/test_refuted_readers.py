"""What was once found wrong with readers and their threads: each test failed on the code as it was."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.refuted import ONE, TWO, Counted, Silent

import retewave as rw
from retewave.engine import lanes, pump
from retewave.engine.lanes import Lane
from retewave.io.reading.position import BEGINNING
from retewave.io.reading.reader import Chunk
from retewave.rete.words.rows import END, ROW_WIDTH
from retewave.windows.doubt import FAR, Doubt


def test_a_reader_that_has_ended_holds_the_others_back_until_its_last_chunk_is_taken() -> None:
    def rows(*times: int) -> np.ndarray:
        found = np.zeros((len(times), ROW_WIDTH), dtype=np.int64)
        found[:, END] = times
        return found

    changed = threading.Condition()
    reader: Any = SimpleNamespace(rate=1.0, time_property=None)
    ended, other = (Lane(reader, 0, 0, changed, threading.Lock()) for _ in range(2))
    ended.rows, ended.ended = rows(1, 2), True
    ended.chunks.append(Chunk(rows(3, 4), newest=None, tells=False, triples=2, bytes=0, scanned=BEGINNING, times={}))
    other.rows, other.ended = rows(5, 6), True
    of_all = pump._Pump([ended, other], changed, Doubt(FAR))
    assert of_all._merged()[:, END].tolist() == [1, 2]
    assert [time for arrived in of_all.arrivals() for time in arrived.rows[:, END].tolist()] == [3, 4, 5, 6]


@pytest.fixture(params=["a thread reads", "the caller reads"])
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one triple at once be enough for a thread, or nothing."""
    monkeypatch.setattr(lanes, "MUCH", 1 if request.param == "a thread reads" else 1 << 40)


@pytest.mark.usefixtures("reading")
def test_what_was_scanned_ahead_waits_when_the_bound_on_live_rows_ends_a_run() -> None:
    engine = rw.Engine(max_live_rows=3)
    seen = engine.register(ONE)
    pairs = engine.register(TWO)
    source = Counted(50)
    with pytest.raises(rw.LimitError, match="3 live rows"):
        list(engine.run(rw.read(source, format="nt", rate=1)))
    assert source.taken == engine.triples == seen.matched + len(engine.matcher.waiting) < 50
    engine.remove(pairs)
    engine.flush()
    assert [match.text("x") for match in seen.matches] == [b"<http://e/s%d>" % (1 + i) for i in range(source.taken)]


@pytest.mark.usefixtures("reading")
def test_what_was_scanned_ahead_waits_when_a_run_is_left() -> None:
    engine = rw.Engine()
    query, source = engine.register(ONE), Counted(50)
    matches = engine.run(rw.read(source, format="nt", rate=1))
    next(matches)
    matches.close()  # type: ignore[attr-defined]
    engine.flush()
    assert query.matched == engine.triples == source.taken


def test_the_threads_of_a_run_that_is_left_have_ended() -> None:
    engine = rw.Engine()
    engine.register(ONE)
    before = set(threading.enumerate())
    matches = engine.run(*(rw.read(Counted(500, each), format="nt", rate=1) for each in "abc"))
    next(matches)
    assert set(threading.enumerate()) > before
    matches.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) == before


@pytest.mark.usefixtures("reading")
def test_the_threads_have_ended_when_a_callback_ends_a_run_and_its_error_is_kept() -> None:
    def broken(match: rw.Match) -> None:
        raise ValueError("broken")

    engine = rw.Engine()
    engine.register(ONE, on_match=broken)
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="broken"):
        list(engine.run(rw.read(Counted(500), format="nt", rate=1)))
    assert set(threading.enumerate()) == before


def test_a_source_that_is_silent_does_not_keep_a_run_from_being_left_and_is_read_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes, "MUCH", 1)
    engine, silent = rw.Engine(), Silent()
    query = engine.register(ONE)
    before = set(threading.enumerate())
    matches = engine.run(rw.read(silent, format="nt", rate=1))
    next(matches)
    assert silent.asked.wait(30)
    matches.close()  # type: ignore[attr-defined]
    (reading,) = set(threading.enumerate()) - before
    silent.released.set()
    reading.join(30)
    assert not reading.is_alive()
    engine.flush()
    assert query.matched == engine.triples == 1
    assert engine.terms.find(b"<http://e/late>") == 0


def test_no_triple_of_several_readers_is_late_for_having_been_scanned_beside_another() -> None:
    engine = rw.Engine()
    query = engine.register(ONE)
    for _ in engine.run(*(rw.read(Counted(300, each), format="nt", arrival=True) for each in "abc")):
        pass
    assert (query.matched, engine.order.late) == (900, 0)


@pytest.mark.parametrize("times", [{"rate": 1}, {"arrival": True}])
def test_the_first_error_of_several_readers_reaches_the_caller_and_the_others_end(times: dict[str, Any]) -> None:
    engine, silent = rw.Engine(), Silent()
    query = engine.register(ONE)
    before = set(threading.enumerate())
    good = b"<http://e/good> <http://e/p> <http://e/o> .\n"
    with pytest.raises(rw.MalformedInput, match="expected"):
        list(
            engine.run(
                rw.read(silent, format="nt", **times),
                rw.read([good, b"no triple\n"], format="nt", on_error="raise", **times),
                rw.read(Counted(500), format="nt", on_error="raise", **times),
            )
        )
    silent.released.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    assert set(threading.enumerate()) == before
    engine.flush()
    assert b"<http://e/good>" in {match.text("x") for match in query.matches}
    assert query.matched == engine.triples
