"""Who reads a stream: the engine's own thread, or one beside it."""

from __future__ import annotations

import threading
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_refuted import ONE, Silent

import retewave as rw
from retewave import lanes


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
