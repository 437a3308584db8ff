"""Windows that what comes moves, by name: those that count, and NOW; and items that come late."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import retewave as rw
from retewave.views.running import RunningView

E = "http://e/"


def view(window: str, report: str = "", **options: object) -> tuple[rw.Engine, rw.Query]:
    """Return an engine with a view that counts the different triples of a window."""
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    text = f"PREFIX : <{E}> REGISTER RSTREAM :o AS SELECT (COUNT(*) AS ?n) FROM STREAM :s [{window}] {report}"
    return engine, engine.register(text + " { ?x :p ?y }")


def push(engine: rw.Engine, time: float, *names: str, predicate: str = "p", stream: str = "s") -> None:
    engine.push([(E + name, E + predicate, 1) for name in names], time=time, stream=E + stream)


def counts(engine: rw.Engine, query: rw.Query) -> list[tuple[object, int]]:
    engine.flush()
    return [(report.time, int(next(iter(report))["n"])) for report in engine.reports(query)]


def test_every_arrival_counts_also_one_that_no_pattern_uses_and_one_that_comes_again() -> None:
    engine, query = view("TRIPLES 3 STEP 1")
    push(engine, 1, "a")
    push(engine, 2, "b")
    push(engine, 3, "a")  # comes again: two different triples among three arrivals
    push(engine, 4, "x", predicate="other")
    push(engine, 5, "c")
    push(engine, 6, "d", stream="another")  # counts nowhere
    assert counts(engine, query) == [(1, 1), (2, 2), (3, 2), (4, 2), (5, 2)]


def test_the_oldest_instant_is_in_the_window_whole() -> None:
    engine, query = view("TRIPLES 3 STEP 1")
    push(engine, 1, "a", "b", "c")
    push(engine, 2, "d")
    push(engine, 3, "e", "f")
    assert counts(engine, query) == [(1, 3), (2, 4), (3, 3)]


def test_a_step_is_a_report_at_each_so_many_arrivals_and_one_where_an_instant_passes_several() -> None:
    engine, query = view("TRIPLES 2 STEP 2")
    push(engine, 1, "a")
    push(engine, 2, "b")
    push(engine, 3, "c", "d", "e", "f")
    push(engine, 4, "g")
    push(engine, 5, "h")
    assert counts(engine, query) == [(2, 2), (3, 4), (5, 2)]


def test_tumbling_triples_are_told_once() -> None:
    engine, query = view("RANGE TRIPLES 2 TUMBLING")
    for time in range(1, 6):
        push(engine, time, str(time))
    assert counts(engine, query) == [(2, 2), (4, 2)]


def test_elements_are_events_of_one_push_each() -> None:
    engine, query = view("ELEMENTS 2 STEP 1")
    push(engine, 1, "a", "b")
    push(engine, 2, "c", "d", "e")
    push(engine, 3, "f")
    assert counts(engine, query) == [(1, 2), (2, 5), (3, 4)]


def test_now_is_left_at_the_next_instant_of_any_stream() -> None:
    engine, query = view("NOW")
    push(engine, 1, "a", "b")
    push(engine, 4, "z", stream="another")
    push(engine, 5, "z", stream="another")
    push(engine, 7, "c")
    assert counts(engine, query) == [(1, 2), (4, 0), (7, 1)]


def test_now_is_the_latest_instant_at_a_report_of_a_period() -> None:
    engine, query = view("NOW", "REPORT PERIODIC 5s")
    push(engine, 3, "a")
    push(engine, 12, "z", stream="another")
    push(engine, 16, "b")
    assert counts(engine, query) == [(5, 1), (10, 1), (15, 0)]


def test_rows_begin_with_the_oldest_item_that_counts_and_at_the_report_itself_for_now() -> None:
    for window, starts in (("TRIPLES 2 STEP 1", [1, 1, 4]), ("NOW", [1, 4, 6])):
        engine, query = view(window)
        for time in (1, 4, 6):
            push(engine, time, str(time))
        engine.flush()
        assert [next(iter(report)).start for report in engine.reports(query)] == starts


def test_what_counts_goes_on_behind_a_snapshot(tmp_path: Path) -> None:
    for window in ("ELEMENTS 2 STEP 1", "NOW", "TRIPLES 3"):
        engine, query = view(window)
        push(engine, 1, "a")
        push(engine, 2, "b")
        engine.snapshot(tmp_path / "kept")
        again = rw.Engine.restore(tmp_path / "kept")
        for each in (engine, again):
            push(each, 2, "c")
            push(each, 3, "d", "e")
            push(each, 4, "f")
        (restored,) = again.queries
        assert counts(engine, query)[-3:] == counts(again, restored)[-3:]


def test_items_within_lateness_enter_the_windows_that_are_still_open() -> None:
    engine, query = view("RANGE 10s STEP 5s", lateness=4)
    push(engine, 3, "a")
    push(engine, 8, "b")
    push(engine, 4, "c")  # late, and the report at 5 waits for it
    push(engine, 12, "d")
    push(engine, 9, "e")  # likewise for the report at 10
    push(engine, 2, "f")  # too late
    assert counts(engine, query) == [(5, 2), (10, 4)]


def test_joins_in_a_window_that_counts_find_all_pairs() -> None:
    engine = rw.Engine()
    text = "SELECT ?x ?z FROM NAMED WINDOW :w ON :s [TRIPLES 3 STEP 1] { WINDOW :w { ?x :p ?y . ?y :p ?z } }"
    query = engine.register(f"PREFIX : <{E}> {text}")
    for time, link in enumerate(("ab", "bc", "cd", "xy", "yz")):
        engine.push((E + link[0], E + "p", f"<{E}{link[1]}>"), time=time, stream=E + "s")
    engine.flush()
    told = [
        (report.time, sorted(f"{row['x']}{row['z']}".replace(E, "") for row in report))
        for report in engine.reports(query)
    ]
    assert told == [(0, []), (1, ["ac"]), (2, ["ac", "bd"]), (3, ["bd"]), (4, ["xz"])]


@pytest.mark.parametrize("of", ["FROM 0 TO 3", "RANGE 3s"])
def test_a_window_that_counts_stands_in_others(of: str) -> None:
    engine, query = view(f"{of}] OF [TRIPLES 3")
    for time in range(1, 6):
        push(engine, time, str(time))
    wanted = (
        [(1, 1), (2, 2), (3, 3), (4, 2), (5, 1)] if of == "FROM 0 TO 3" else [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3)]
    )
    assert counts(engine, query) == wanted


def test_that_something_came_is_told_once_between_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    take = RunningView.take

    def counted(self: RunningView, columns: np.ndarray, rows: np.ndarray) -> None:
        nonlocal taken
        taken += len(rows)
        take(self, columns, rows)

    monkeypatch.setattr(RunningView, "take", counted)
    engine = rw.Engine()
    query = engine.register(
        f"PREFIX : <{E}> SELECT * FROM STREAM :s [RANGE 3s STEP 2s] REPORT WINDOW CLOSE NON EMPTY {{ ?x :p ?y; :q ?z }}"
    )
    for tenth in range(80):
        push(engine, tenth / 10, f"x{tenth}")  # half of a solution each
    push(engine, 30, "x", predicate="other")
    assert taken == 9  # stretches end at each whole second; the first is 0 alone
    assert [report.time for report in engine.reports(query)] == [0, 2, 4, 6, 8, 10]


def test_a_query_that_comes_later_makes_no_view_forget_what_came() -> None:
    engine = rw.Engine()
    window = "FROM STREAM :s [RANGE 4s STEP 4s] REPORT WINDOW CLOSE NON EMPTY"
    text = f"PREFIX : <{E}> SELECT * {window} {{ ?x :p ?y; :q ?z }}"
    push(engine, 1, "a")
    before = engine.register(text)
    push(engine, 2, "b")
    engine.register(f"PREFIX : <{E}> SELECT * FROM STREAM :s [RANGE 1h] {{ ?x :p ?y }}")
    after = engine.register(text)
    push(engine, 3, "c")
    push(engine, 9, "d", predicate="other")
    assert [report.time for report in engine.reports(before)] == [4]
    assert [report.time for report in engine.reports(after)] == [4]


@pytest.mark.parametrize(
    "pattern", ["?x :p ?y", "?x :p ?y . ?x :q ?z", "?x :p ?y OPTIONAL { ?x :q ?z }"], ids=["one", "joined", "optional"]
)
def test_an_interval_is_in_a_window_by_its_end(pattern: str) -> None:
    engine = rw.Engine()
    query = engine.register(f"PREFIX : <{E}> SELECT * FROM STREAM :s [RANGE 10s STEP 10s] {{ {pattern} }}")
    engine.push((E + "a", E + "p", 1), time=(1, 12), stream=E + "s")
    engine.push((E + "a", E + "q", 1), time=(2, 13), stream=E + "s")
    engine.push((E + "a", E + "p", 2), time=(13, 21), stream=E + "s")  # with q of 13: no window has both
    engine.push((E + "z", E + "p", 3), time=60, stream=E + "s", event=None)
    told = [(int(str(report.time)), [int(row["y"]) for row in report]) for report in engine.reports(query)]
    alone = [] if "." in pattern else [2]
    assert told[:3] == [(20, [1]), (30, alone), (40, [])][: len(told)]


def test_an_interval_beside_a_detector_keeps_its_start_there() -> None:
    engine = rw.Engine()
    view = engine.register(f"PREFIX : <{E}> SELECT * FROM STREAM :s [RANGE 10s STEP 10s] {{ ?x :p ?y }}")
    detector = engine.register(f"PREFIX : <{E}> SELECT * FROM STREAM :s [RANGE 10s] {{ ?x :p ?y }}")
    found = engine.push((E + "a", E + "p", 1), time=(1, 9), stream=E + "s")
    assert [(match.query, match.start, match.end) for match in found] == [(detector, 1, 9)]
    push(engine, 30, "z", predicate="other")
    assert [(int(str(report.time)), len(report)) for report in engine.reports(view)][:1] == [(10, 1)]
