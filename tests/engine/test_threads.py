"""An engine is safe to call from any thread: nothing is lost, found twice, or told out of its order."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from helpers.inside import sweep
from helpers.threads import LINES, ONE, PAIRS, together, triple

import retewave as rw
from retewave.engine import telling

pytestmark = pytest.mark.usefixtures("in_each_others_way")

PUSHERS, EACH = 6, 60


def items(pusher: int) -> list[list[tuple[str, str, object]]]:
    """Return what one thread pushes: halves of pairs with its own numbers, of subjects that all have in common."""
    return [
        [triple(f"s{n % 10}", "pq"[n % 2], pusher * EACH + n), triple(f"own{pusher}.{n}", "p", f'"{"x" * n}"')]
        for n in range(EACH)
    ]


def as_texts(matches: list[rw.Match]) -> Counter[tuple[bytes | None, ...]]:
    return Counter(tuple(match.text(name) for name in match.query.variables) for match in matches)


def expected(query: str) -> Counter[tuple[bytes | None, ...]]:
    engine = rw.Engine()
    engine.register(query)
    return as_texts([m for n in range(PUSHERS) for item in items(n) for m in engine.push(item, time=0)])


def test_many_threads_that_push_find_what_one_finds() -> None:
    engine = rw.Engine()
    told: list[rw.Match] = []
    returned: list[rw.Match] = []
    query = engine.register(PAIRS, keep=None, on_match=told.append)

    def push(n: int) -> None:
        for each in items(n):
            returned.extend(engine.push(each, time=0))

    together(*(partial(push, n) for n in range(PUSHERS)))
    assert as_texts(told) == as_texts(returned) == as_texts(query.matches) == expected(PAIRS)
    assert engine.stats()["triples"] == 2 * PUSHERS * EACH


def test_threads_may_push_at_any_time_where_items_wait_for_late_ones() -> None:
    engine = rw.Engine(lateness="1h", on_late=lambda items: pytest.fail("nothing is late"))
    query = engine.register(PAIRS, keep=None)
    together(*(lambda n=n: [engine.push(each, time=n) for each in items(n)] for n in range(PUSHERS)))
    engine.flush()
    assert as_texts(query.matches) == expected(PAIRS)


def test_queries_come_and_go_and_snapshots_are_taken_while_others_push(tmp_path: Path) -> None:
    engine = rw.Engine(stats=True)
    query = engine.register(PAIRS, keep=None)

    def come_and_go() -> None:
        for _ in range(20):
            guest = engine.register(ONE)
            engine.encode([triple("guest", "p", 1)])
            engine.why_not(guest, {"x": "http://e/nobody"})
            engine.remove(guest)

    def look() -> None:
        for _ in range(5):
            engine.snapshot(tmp_path / "snapshot")
            engine.explain()
            engine.graph()
            assert engine.stats()["triples"] % 2 == 0, "an item is in, or it is not"
            assert query.to_arrow().num_rows <= query.matched

    together(come_and_go, look, *(lambda n=n: [engine.push(i, time=0) for i in items(n)] for n in range(PUSHERS)))
    assert as_texts(query.matches) == expected(PAIRS)
    restored = rw.Engine.restore(tmp_path / "snapshot")
    assert restored.queries[0].matched <= query.matched


def test_runs_in_several_threads_and_pushes_beside_them_find_what_one_finds() -> None:
    engine = rw.Engine(lateness="3650d")
    found: list[rw.Match] = []
    query = engine.register(ONE, keep=None)

    def run(name: str) -> None:
        pieces = (b"<http://e/%s%d> <http://e/p> <http://e/o> .\n" % (name.encode(), n) for n in range(60))
        found.extend(engine.run(rw.read(pieces, format="nt", rate=1, start=0)))

    def push() -> None:
        for n in range(60):
            found.extend(engine.push(triple(f"c{n}", "p", 1), time=1e6))

    together(lambda: run("a"), lambda: run("b"), push)
    found.extend(engine.flush())
    assert len(found) == query.matched == len(as_texts(query.matches)) == 180
    assert engine.stats()["late"] == 0


def test_a_match_may_be_looked_at_while_the_dictionary_is_swept() -> None:
    engine = rw.Engine()
    query = engine.register(ONE, keep=50)
    done = threading.Event()

    def push() -> None:
        for n in range(150):
            engine.push(triple(f"s{n}", "p", 1), time=n)
            with engine.lock:
                sweep(engine)
                engine.terms.intern(b"<http://e/other%d>" % n)
        done.set()

    def look() -> None:
        while not done.is_set():
            for match in query.matches:
                assert match.text("x") == b"<http://e/s%d>" % cast(float, match.end)

    together(push, look)


# ---- callbacks ----
def test_what_a_callback_pushes_is_returned_to_it_and_told_behind_what_was_found_before() -> None:
    engine = rw.Engine()
    told: list[bytes | None] = []
    returned: list[bytes | None] = []

    def answer(match: rw.Match) -> None:
        told.append(match.text("x"))
        if match.text("x") == b"<http://e/a>":
            returned.extend(found.text("x") for found in engine.push(triple("c", "p", 1), time=2))
            assert told == [b"<http://e/a>"]

    engine.register(ONE, on_match=answer)
    found = engine.push([triple("a", "p", 1), triple("b", "p", 1)], time=1)
    assert told == [b"<http://e/a>", b"<http://e/b>", b"<http://e/c>"]
    assert [match.text("x") for match in found] == [b"<http://e/a>", b"<http://e/b>"]
    assert returned == [b"<http://e/c>"]


def test_callbacks_that_push_and_push_again_need_no_deeper_stack() -> None:
    engine, told = rw.Engine(), []

    def again(match: rw.Match) -> None:
        told.append(match)
        if len(told) < 3000:
            engine.push(triple(f"s{len(told)}", "p", 1), time=1)

    engine.register(ONE, on_match=again)
    engine.push(triple("s0", "p", 1), time=1)
    assert len(told) == 3000


def test_callbacks_come_one_at_a_time_whoever_pushes() -> None:
    engine, at_work, most = rw.Engine(), [], []

    def count(match: rw.Match) -> None:
        at_work.append(match)
        most.append(len(at_work))
        at_work.pop()

    engine.register(ONE, on_match=count)
    together(*(lambda n=n: [engine.push(each, time=0) for each in items(n)] for n in range(PUSHERS)))
    assert set(most) == {1}


def test_a_callback_may_wait_for_a_thread_that_looks_or_changes_queries() -> None:
    engine = rw.Engine()

    def other() -> None:
        engine.stats()
        engine.explain()
        engine.remove(engine.register(PAIRS))

    engine.register(ONE, on_match=lambda match: together(other))
    assert len(engine.push(triple("a", "p", 1), time=1)) == 1


def test_a_thread_that_waits_long_for_a_callback_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "PATIENCE", 0.01)
    engine, said, called = rw.Engine(), threading.Event(), threading.Event()

    def stuck(match: rw.Match) -> None:
        if match.text("x") == b"<http://e/a>":
            called.set()
            assert said.wait(60)

    def note(message: Warning | str, *rest: object, **more: object) -> None:
        assert "for on_match of stuck to return" in str(message)
        said.set()

    engine.register(ONE, name="stuck", on_match=stuck)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        together(
            lambda: engine.push(triple("a", "p", 1), time=1),
            lambda: called.wait(60) and engine.push(triple("b", "p", 1), time=1),
        )
    assert said.is_set()


def test_what_on_late_pushes_goes_in_behind_the_block_at_hand() -> None:
    engine = rw.Engine(on_late=lambda late: [engine.push(item.triple, time=50) for item in late])
    query = engine.register(ONE)
    engine.push(triple("a", "p", 1), time=10)
    engine.push([triple("b", "p", 1), triple("c", "p", 1)], time=5)
    assert engine.push(triple("d", "p", 1), time=60) != []
    assert [(match.text("x"), match.end) for match in query.matches] == [
        (b"<http://e/a>", 10), (b"<http://e/b>", 50), (b"<http://e/c>", 50), (b"<http://e/d>", 60),
    ]  # fmt: skip


# ---- snapshots ----
def test_a_snapshot_of_another_thread_waits_until_what_was_found_is_told(tmp_path: Path) -> None:
    engine, told, called = rw.Engine(), [], threading.Event()

    def tell(match: rw.Match) -> None:
        called.set()
        told.append(match.text("x"))

    query = engine.register(ONE, on_match=tell)

    def keep() -> None:
        assert called.wait(60)
        engine.snapshot(tmp_path / "snapshot", note=None)
        kept.append(len(told))

    kept: list[int] = []
    together(keep, lambda: engine.push([triple(f"s{n}", "p", 1) for n in range(100)], time=1))
    assert kept == [query.matched]
    assert rw.Engine.restore(tmp_path / "snapshot").queries[0].matched == 100


def test_a_snapshot_of_another_thread_holds_each_row_that_its_positions_are_behind(tmp_path: Path) -> None:
    engine, path = rw.Engine(), tmp_path / "snapshot"
    engine.register(ONE, keep=0)
    lines, started, done = LINES * 30, threading.Event(), threading.Event()

    def pieces() -> Iterator[bytes]:
        for n in range(0, len(lines), 50):
            yield lines[n : n + 50]
            started.set()

    def run() -> None:
        list(engine.run(rw.read(pieces(), format="nt", rate=1, name="s")))
        done.set()

    def keep() -> None:
        started.wait(60)
        while not done.is_set():
            engine.snapshot(path)
            other = rw.Engine.restore(path)
            [position] = other.positions
            assert other.triples == position.line - 1
            other.flush()
            assert other.queries[0].matched == other.triples

    together(run, keep)
