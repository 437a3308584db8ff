"""Callbacks that raise, and runs that are left: what was found is returned by the next call, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.threads import LINES, ONE, PAIRS, triple

import retewave as rw
from retewave.engine import telling

pytestmark = pytest.mark.usefixtures("in_each_others_way")


def raising(error: BaseException, told: list[bytes | None]) -> Callable[[rw.Match], None]:
    """Return a callback that raises at the first match of a."""

    def callback(match: rw.Match) -> None:
        told.append(match.text("x"))
        if match.text("x") == b"<http://e/a>":
            raise error

    return callback


TWO = [triple("a", "p", 1), triple("b", "p", 1)]


def test_a_callback_that_raises_keeps_no_match_from_it_or_from_another_query() -> None:
    engine = rw.Engine()
    first: list[bytes | None] = []
    second: list[bytes | None] = []
    engine.register(ONE, name="broken", on_match=raising(ValueError("broken"), first))
    engine.register(ONE, on_match=lambda match: second.append(match.text("x")))
    with pytest.raises(ValueError, match="broken") as raised:
        engine.push(TWO, time=1)
    assert first == second == [b"<http://e/a>", b"<http://e/b>"]
    assert "raised by on_match of broken" in raised.value.__notes__[0]
    assert len(engine.push(triple("c", "p", 1), time=2)) == 6, "what push could not return, the next call returns"


def test_the_first_error_of_several_callbacks_is_raised_and_names_the_others() -> None:
    engine = rw.Engine()
    for name in ("one", "two", "three"):
        engine.register(ONE, name=name, on_match=raising(ValueError(name), []))
    with pytest.raises(ValueError, match="one") as raised:
        engine.push(TWO, time=1)
    assert "ValueError('two') by on_match of two, ValueError('three') by on_match of three" in raised.value.__notes__[1]


def test_an_interrupt_in_a_callback_ends_at_once_and_the_next_call_tells_the_rest() -> None:
    engine = rw.Engine()
    first: list[bytes | None] = []
    second: list[bytes | None] = []
    engine.register(ONE, on_match=raising(KeyboardInterrupt(), first))
    engine.register(ONE, on_match=lambda match: second.append(match.text("x")))
    with pytest.raises(KeyboardInterrupt):
        engine.push(TWO, time=1)
    assert (first, second) == ([b"<http://e/a>"], [])
    assert len(engine.flush()) == 4
    assert first == second == [b"<http://e/a>", b"<http://e/b>"]


def test_on_late_that_raises_loses_neither_the_block_nor_its_matches() -> None:
    def broken(late: list[rw.LateItem]) -> None:
        raise ValueError("broken")

    engine = rw.Engine(on_late=broken)
    query = engine.register(ONE)
    engine.push(triple("a", "p", 1), time=10)
    with pytest.raises(ValueError, match="broken"):
        engine.push(triple("b", "p", 1), time=5)
    assert engine.stats()["late"] == 1
    assert len(engine.push(triple("c", "p", 1), time=11)) == 1
    assert query.matched == 2


def names(matches: list[rw.Match]) -> list[int]:
    return [int((match.text("x") or b"").removeprefix(b"<http://e/s").removesuffix(b">")) for match in matches]


def test_a_run_that_is_left_is_taken_up_again_where_it_was_kept() -> None:
    engine = rw.Engine()
    engine.register(ONE)
    matches = engine.run(rw.read(LINES, format="nt", rate=1))
    found = []
    for match in matches:
        found.append(match)
        if len(found) == 3:
            break
    assert names([*found, *matches]) == list(range(10))


@pytest.mark.parametrize("queries", [1, 2])
def test_what_a_run_that_was_broken_off_has_found_is_returned_by_the_next_call(queries: int) -> None:
    engine = rw.Engine()
    for _ in range(queries):
        engine.register(ONE)
    found = []
    for match in engine.run(rw.read(LINES, format="nt", rate=1)):
        found.append(match)
        break
    assert names([*found, *engine.flush()]) == [n for n in range(10) for _ in range(queries)]
    assert engine.flush() == []


def test_what_a_run_that_was_broken_off_has_found_is_yielded_by_the_next_run_in_batches() -> None:
    engine = rw.Engine()
    engine.register(ONE)
    for _ in engine.run(rw.read(LINES, format="nt", rate=1)):
        break
    again = rw.read(LINES, format="nt", rate=1, start=100_000_000)
    rest = [match for batches in engine.run_batches(again) for batch in batches for match in batch]
    assert names(rest) == [*range(1, 10), *range(10)]


def test_what_a_push_found_before_the_bound_on_live_rows_is_returned_by_the_next_call() -> None:
    engine = rw.Engine(max_live_rows=2)
    engine.register(ONE)
    pairs = engine.register(PAIRS)
    with pytest.raises(rw.LimitError):
        engine.push([triple(f"s{n}", "p", 1) for n in range(4)], time=1)
    engine.remove(pairs)
    assert names(engine.flush()) == [0, 1, 2, 3]


def test_a_run_that_ends_beside_another_leaves_what_waits_for_late_items_to_that() -> None:
    engine = rw.Engine(static=[[triple("static", "p", 1)]], lateness="100s")
    query = engine.register(ONE)
    other = engine.run_batches(rw.read(LINES, format="nt", rate=1))
    next(other)
    list(engine.run(rw.read(LINES, format="nt", rate=2)))
    assert query.matched == 1, "the other may still bring earlier items"
    list(other)
    assert (query.matched, engine.stats()["late"]) == (21, 0)


def test_what_waits_to_be_returned_is_bounded_and_what_is_dropped_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MOST_LEFT", 5)
    engine = rw.Engine()
    told: list[bytes | None] = []
    query = engine.register(ONE, on_match=raising(ValueError("broken"), told))
    for n in range(10):
        with pytest.raises(ValueError, match="broken"):
            engine.push([triple("a", "p", n), triple(f"b{n}", "p", n)], time=n)
    query.on_match = None
    assert [match.end for match in engine.flush()] == [8, 8, 9, 9], "those that were found last"
    assert engine.stats()["unreturned"] == 16
    assert engine.flush() == []
    assert len(told) == query.matched == 20, "each was told"
