"""Gaps in a stream, and clocks that are wrong: what is believed, what is set aside, and who is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.inside import sweep
from typer.testing import CliRunner

import retewave as rw
from retewave.cli.app import app
from retewave.engine.late import LateItem

E = "http://e/"
DAY = 86_400
AT = f"{E}at"
QUERY = f"SELECT ?x WHERE {{ ?x <{E}p> ?y }}"
PAIR = f"SELECT ?x FROM STREAM <{E}s> [RANGE 1h] WHERE {{ ?x <{E}p> 1 . ?x <{E}q> 2 }}"
FRIDAY, MONDAY = "2024-05-03T18:00:00Z", "2024-05-06T08:00:00Z"


def quads(*times: str) -> bytes:
    """A graph a time: one triple, and the time itself."""
    lines = [
        f'<{E}x{n}> <{E}p> 1 <{E}g{n}> .\n<{E}g{n}> <{AT}> "{time}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
        for n, time in enumerate(times)
    ]
    return "".join(lines).replace(" 1 <", ' "1"^^<http://www.w3.org/2001/XMLSchema#integer> <').encode()


def found(*documents: bytes, **options: Any) -> tuple[list[str], rw.Engine]:
    engine = rw.Engine(**options)
    engine.register(QUERY)
    readers = [rw.read(document, format="nq", time_property=AT) for document in documents]
    return [str(match["x"]).removeprefix(E) for match in engine.run(*readers)], engine


def left_out(engine: rw.Engine) -> tuple[int, int]:
    stats = engine.stats()
    return stats["late"], stats["future"]


def push(engine: rw.Engine, name: str, time: float) -> list[str]:
    return [str(match["x"]).removeprefix(E) for match in engine.push((E + name, E + "p", 1), time=time)]


def test_readings_a_day_and_more_apart_are_all_matched() -> None:
    times = [f"2024-05-{day:02}T08:{day:02}:00Z" for day in range(1, 28)]
    matches, engine = found(quads(*times))
    assert len(matches) == 27
    assert left_out(engine) == (0, 0)


def test_a_stream_goes_on_behind_a_quiet_weekend() -> None:
    matches, engine = found(quads(FRIDAY, MONDAY, "2024-05-06T08:00:01Z", "2024-05-06T08:00:02Z"))
    assert matches == ["x0", "x1", "x2", "x3"]
    assert left_out(engine) == (0, 0)


@pytest.mark.filterwarnings("ignore:.*max_future:RuntimeWarning")
@pytest.mark.parametrize("wrong", ["2099-01-01T00:00:00Z", "2025-01-01T00:00:00Z"])
def test_a_wrong_clock_at_the_very_beginning_makes_nothing_late(wrong: str) -> None:
    late: list[LateItem] = []
    matches, engine = found(quads(wrong, FRIDAY, "2024-05-03T18:00:01Z", MONDAY), on_late=late.extend)
    assert matches == ["x1", "x2", "x3"]
    assert left_out(engine) == (0, 1)
    assert [(item.why, str(item.subject)) for item in late] == [("future", E + "x0")]


@pytest.mark.filterwarnings("ignore:.*max_future:RuntimeWarning")
def test_a_wrong_clock_in_one_stream_does_not_put_the_rest_of_it_behind_the_others() -> None:
    seconds = [f"2024-05-03T18:00:{second:02}Z" for second in range(20)]
    one, other = quads(*seconds[:3], "2099-01-01T00:00:00Z", *seconds[3:]), quads(*seconds)
    matches, engine = found(one, other, lateness="1s")
    assert left_out(engine) == (0, 1)
    assert len(matches) == 40


def test_a_gap_in_one_of_two_streams_is_merged_by_time() -> None:
    one, other = quads(FRIDAY, MONDAY), quads(FRIDAY, "2024-05-04T18:00:00Z", "2024-05-05T18:00:00Z", MONDAY)
    matches, engine = found(one, other)
    assert len(matches) == 6
    assert left_out(engine) == (0, 0)


def test_a_push_gives_its_match_at_once_and_one_behind_a_gap_with_the_next() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    assert push(engine, "a", 10) == ["a"]
    assert push(engine, "b", 10 + DAY) == ["b"]  # the bound is inside
    assert push(engine, "c", 20 + 3 * DAY) == []
    assert push(engine, "d", 21 + 3 * DAY) == ["c", "d"]
    assert push(engine, "e", 9e8) == []
    assert [str(match["x"]) for match in engine.flush()] == [E + "e"]
    assert left_out(engine) == (0, 0)


def test_a_first_push_from_beyond_the_clock_waits_for_the_second() -> None:
    late: list[LateItem] = []
    engine = rw.Engine(on_late=late.extend)
    engine.register(QUERY)
    assert push(engine, "a", 1e11) == []
    with pytest.warns(RuntimeWarning, match="further ahead than max_future"):
        assert push(engine, "b", 1.7e9) == ["b"]
    assert [item.end for item in late] == [1e11]


def test_triples_of_one_push_do_not_confirm_each_other() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    push(engine, "a", 10)
    assert engine.push([(E + "b", E + "p", 1), (E + "c", E + "p", 1)], time=9e8) == []
    with pytest.warns(RuntimeWarning, match="2 triples"):
        assert push(engine, "d", 11) == ["d"]


@pytest.mark.filterwarnings("ignore:.*max_future:RuntimeWarning")
@pytest.mark.parametrize(("next_time", "matched"), [(12, ["d"]), (9e8 + 1, ["b", "d"])])
def test_a_snapshot_carries_what_waits_for_the_next_item(next_time: float, matched: list[str], tmp_path: Path) -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    push(engine, "a", 10)
    push(engine, "b", 9e8)
    engine.snapshot(tmp_path / "s")
    again = rw.Engine.restore(tmp_path / "s")
    assert push(engine, "d", next_time) == push(again, "d", next_time) == matched
    assert left_out(engine) == left_out(again)


def test_terms_of_what_waits_are_not_swept() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    push(engine, "a", 10)
    push(engine, "waiting", 9e8)
    sweep(engine)
    push(engine, "other", 9e8)
    assert [str(match["x"]) for match in engine.flush()] == [E + "waiting", E + "other"]


def test_windows_are_over_behind_a_gap_and_hold_before_a_wrong_clock() -> None:
    engine = rw.Engine()
    engine.register(PAIR)
    engine.push((E + "a", E + "p", 1), time=0)
    engine.push((E + "b", E + "p", 1), time=9e8)
    with pytest.warns(RuntimeWarning):
        assert len(engine.push((E + "a", E + "q", 2), time=60)) == 1
    engine.push((E + "a", E + "q", 2), time=9e8)
    assert engine.push((E + "a", E + "q", 2), time=9e8 + 1) == []


def test_the_command_line_tells_of_what_was_left_out_and_why(tmp_path: Path) -> None:
    stream = tmp_path / "s.nq"
    stream.write_bytes(quads(FRIDAY, "2099-01-01T00:00:00Z", "2024-05-03T18:00:01Z", MONDAY))
    run = ["run", QUERY, "--stream", str(stream), "--time-property", AT, "--stats", str(tmp_path / "stats.json")]
    ended = CliRunner().invoke(app, run)
    assert ended.exit_code == 0, ended.output
    assert [json.loads(line)["bindings"]["x"]["value"] for line in ended.stdout.splitlines()] == [
        E + "x0", E + "x2", E + "x3",
    ]  # fmt: skip
    assert "1 triples are further ahead than --max-future allows, and what came next was not" in ended.stderr
    assert json.loads((tmp_path / "stats.json").read_text())["future"] == 1


def test_the_command_line_says_so_when_most_of_a_stream_is_left_out(tmp_path: Path) -> None:
    stream = tmp_path / "s.nq"
    stream.write_bytes(quads("2098-01-01T00:00:00Z", "2099-01-01T00:00:00Z", *[FRIDAY] * 9))
    ended = CliRunner().invoke(app, ["run", QUERY, "--stream", str(stream), "--time-property", AT])
    assert "9 triples came later than --lateness allows: they are left out; more than were let in" in ended.stderr
