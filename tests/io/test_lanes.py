"""Who reads a stream: the engine's own thread, or one beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import accumulate

import pytest
from helpers.refuted import ONE, Silent
from hypothesis import given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.engine import lanes


def test_what_a_piece_completes_is_told_before_the_next_piece_is_asked_for() -> None:
    engine, silent = rw.Engine(), Silent()
    engine.register(ONE)
    matches = engine.run(rw.read(silent, format="nt", rate=1))
    assert next(matches).text("x") == b"<http://e/s>"
    assert not silent.asked.is_set()
    silent.released.set()
    assert [match.text("x") for match in matches] == [b"<http://e/late>"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 9), max_size=30), st.integers(1, 9))
def test_a_thread_comes_when_there_is_much_and_goes_when_there_is_little(sizes: list[int], much: int) -> None:
    engine, before = rw.Engine(), set(threading.enumerate())
    query = engine.register(ONE)
    lines = [b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(sum(sizes))]
    ends = list(accumulate(sizes))
    pieces = [b"".join(lines[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "MUCH", much)
        found = [match.text("x") for match in engine.run(rw.read(pieces, format="nt", rate=1))]
    assert found == [b"<http://e/s%d>" % n for n in range(sum(sizes))]
    assert query.matched == engine.triples == sum(sizes)
    assert set(threading.enumerate()) == before


def test_a_thread_that_cannot_start_ends_the_run_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    engine, line = rw.Engine(), b"<http://e/s> <http://e/p> <http://e/o> .\n"
    query = engine.register(ONE)
    monkeypatch.setattr(lanes, "MUCH", 2)
    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(RuntimeError, match="start new thread"):
        list(engine.run(rw.read([line, 2 * line, line], format="nt", rate=1)))
    with pytest.raises(RuntimeError, match="start new thread"):
        list(engine.run(*(rw.read([line], format="nt", rate=1) for _ in range(2))))
    engine.flush()
    assert query.matched == engine.triples == 3


def test_an_interrupt_in_the_source_reaches_the_caller() -> None:
    def interrupted() -> Iterator[bytes]:
        yield b"<http://e/s> <http://e/p> <http://e/o> .\n"
        raise KeyboardInterrupt

    engine = rw.Engine()
    query = engine.register(ONE)
    with pytest.raises(KeyboardInterrupt):
        list(engine.run(rw.read(interrupted(), format="nt", rate=1)))
    engine.flush()
    assert query.matched == engine.triples == 1
