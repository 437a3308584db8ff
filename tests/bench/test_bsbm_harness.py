"""The harness: runs are checked, rows survive their file, targets are judged, peers count right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import pytest

from retewave import Engine
from retewave.bench import changes, harness
from retewave.bench.dataset import draw
from retewave.bench.engine import drain, encode, engine_of, percentiles
from retewave.bench.expected import expected_matches
from retewave.bench.generate import hierarchy_nt, offers_nt
from retewave.bench.harness import Machine, Measured, Point, Row, measure_all, read_rows, rows_of, write_rows
from retewave.bench.patterns import pattern_text, watch_text
from retewave.bench.peers.limit import WRITES
from retewave.bench.plots import PLOTS
from retewave.bench.profile import STAGES, ladder
from retewave.bench.question import FOREVER, Question
from retewave.bench.report import TABLES, write_report
from retewave.bench.run import ADAPTERS, SPARK, adapter, measure, why_missing
from retewave.bench.string_filters import FILTERS, NONE, NUMBER, PYTHON, SLOWEST
from retewave.bench.sweeps import SWEEPS, points
from retewave.bench.targets import TARGETS, rows_of_targets
from retewave.bench.task import Adapter, Result, Task
from retewave.bench.workload import Workload, _dataset, prepare, sleepers, watchers
from retewave.bench.written import WRITTEN, through

ASK = Question(1, 2, window=50_000, rate=100_000)
SMALL = Workload(ASK, offers=600)


def quiet(_: str) -> None:
    pass


@pytest.mark.parametrize("name", [name for name in ADAPTERS if name != "retewave" and name not in SPARK])
@pytest.mark.parametrize("window", [10_000, 11_000, 500_000, FOREVER])
def test_a_peer_finds_the_expected_matches(name: str, window: int, tmp_path: Path) -> None:
    peer = adapter(name)
    if why_missing(peer):
        pytest.skip(why_missing(peer))
    question = replace(ASK, window=window, rate=1_000, distinct=peer.distinct)
    if peer.distinct and window < 1_000_000:
        pytest.skip("a store asked once a second knows no shorter windows")
    task, expected = prepare(Workload(question, offers=600), tmp_path)
    result = measure(peer, task)
    assert result.matches == expected
    assert result.seconds > 0 and (result.peak_rss or 0) > 1_000_000


def test_c_counts_every_window_as_expected(tmp_path: Path) -> None:
    limit = adapter("c")
    if why_missing(limit):
        pytest.skip(why_missing(limit))
    for window in (9_000, 10_000, 20_000, 21_000, 100_000, 1_000_000, FOREVER):
        for target in (1, 2, 9, 10, 74):
            task, expected = prepare(Workload(Question(1, target, window, rate=1_000), offers=2_000), tmp_path)
            assert limit.run(task).matches == expected, (window, target)


def test_c_writes_the_lines_that_the_engine_writes(tmp_path: Path) -> None:
    limit = adapter("c")
    if why_missing(limit):
        pytest.skip(why_missing(limit))
    task, expected = prepare(replace(SMALL, mode=WRITES), tmp_path)
    run: Any = limit.run  # the C program's says where it writes, too
    assert run(task, tmp_path / "c").matches == expected
    with (tmp_path / "engine").open("wb") as file:
        assert through(task, task.offers, "ndjson", file)[0] == expected
    ours, theirs = (sorted((tmp_path / name).read_bytes().splitlines()) for name in ("engine", "c"))
    assert ours == theirs


def test_the_c_program_refuses_a_line_that_is_no_triple(tmp_path: Path) -> None:
    limit = adapter("c")
    if why_missing(limit):
        pytest.skip(why_missing(limit))
    task, _ = prepare(SMALL, tmp_path)
    task.offers.write_bytes(b"<a> <b>\n")
    with pytest.raises(subprocess.CalledProcessError):
        limit.run(task)


def test_a_peer_that_is_not_installed_is_skipped_with_its_reason() -> None:
    absent = Adapter("absent", cannot="", run=lambda task: Result(0, 1.0), requires=("no_such_module_anywhere",))
    assert why_missing(absent) == "no_such_module_anywhere is not installed"


def test_runs_happen_in_a_process_each_and_are_checked(tmp_path: Path) -> None:
    right = Point("window", "right", 1, "python", SMALL)
    wrong = Point("window", "wrong", 1, "python", replace(SMALL, other_matches=1))
    done = measure_all([right, wrong], 2, tmp_path, quiet)
    assert len(done[0].results) == 2 and not done[0].failure
    assert not done[1].results and done[1].failure.startswith("WRONG: ")
    assert [row.repetitions for row in rows_of(done[1])] == [0]
    assert {row.metric for row in rows_of(done[0])} == {"throughput", "memory"}


def test_a_run_that_may_compile_kernels_comes_first_and_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, Path | None]] = []

    def counted(name: str, task: Task, version: Path | None = None) -> tuple[Result, str]:
        ran.append((name, version))
        return Result(matches=expected, seconds=1.0), ""

    _, expected = prepare(SMALL, tmp_path)
    monkeypatch.setattr(harness, "_run_once", counted)
    points = [Point("window", name, 1, name, SMALL) for name in ("python", "retewave", "retewave")]
    older = replace(points[1], version=tmp_path)
    done = measure_all([*points, older], 2, tmp_path, quiet)
    assert sorted(ran[:2], key=str) == [("retewave", None), ("retewave", tmp_path)]
    assert len(ran) == 2 + 2 * 4 and [len(each.results) for each in done] == [2] * 4


def _is_cached(path: Path) -> bool:
    """Tell whether the file's end can be read without waiting for the disk."""
    with path.open("rb") as file:
        try:
            return os.preadv(file.fileno(), [bytearray(1)], path.stat().st_size - 1, os.RWF_NOWAIT) == 1
        except BlockingIOError:
            return False


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="this system does not tell what is in its page cache")
def test_files_are_in_the_page_cache_when_a_run_begins(tmp_path: Path) -> None:
    path = tmp_path / "stream.nt"
    path.write_bytes(bytes(8 << 20))
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if _is_cached(path):
        pytest.skip("this file system keeps all in its cache")
    harness._cache([path])
    assert _is_cached(path)


def test_importing_the_runner_imports_nothing_that_is_measured() -> None:
    code = "import sys, retewave.bench.run; print([m for m in ('numba', 'numpy', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_task_survives_its_way_to_the_process(tmp_path: Path) -> None:
    task, _ = prepare(Workload(replace(ASK, pattern=3, levels=(1,), reasoning=False), offers=20), tmp_path)
    assert Task.from_json(task.to_json()) == task
    json.loads(task.to_json())


def test_rows_survive_their_file(tmp_path: Path) -> None:
    rows = [Row("peers", "a, b", 5.0, "throughput", "triples/s", 3, 2.5, 1.0, 4.0, "≥ 1", 200, "x; y")]
    machine = Machine.here()
    write_rows(rows, machine, tmp_path / "results.csv")
    assert read_rows(tmp_path / "results.csv") == (rows, machine)


COSTS = {  # what the costs' modes tell of
    "rows": {
        "arena in use, a live row": (46.0, "bytes"),
        "arena reserved, a live row": (60.0, "bytes"),
        "live rows": (9.0, "rows"),
    },
    "start": {"import retewave": (300.0, "ms"), "process start to first match": (1200.0, "ms")},
    "load": {"static data, read and loaded": (1.3, "s")},
    "counters": {
        "network alone, counters on against off": (99.0, "%"),
        "network alone, counters off against off again": (100.0, "%"),
    },
    "filters": dict.fromkeys((SLOWEST, *FILTERS, NONE, NUMBER, PYTHON), (2e6, "triples/s")),
    "first": {"schema read and query registered to first match, warm process": (40.0, "ms")},
}

WRITTEN_COSTS = {
    "written, pipe": {"matches of ten terms into a pipe": (2e6, "matches/s")},
    "written, cold": {"process start to its end": (0.8, "s"), "processor time": (0.8, "s")},
}


@pytest.mark.parametrize("mode", COSTS)
def test_every_cost_is_told_of_a_run_whose_matches_are_right(mode: str, tmp_path: Path) -> None:
    question = replace(ASK, pattern=2, static=1_000) if mode == "load" else ASK
    task, expected = prepare(Workload(question, offers=600, mode=mode), tmp_path)
    result = measure(adapter("retewave"), task)
    assert result.matches == expected
    assert {name: unit for name, (_, unit) in result.costs.items()} == {n: unit for n, (_, unit) in COSTS[mode].items()}
    assert all(value > 0 for value, _ in result.costs.values())
    rows = rows_of(Measured(Point("costs", "one", 0, "retewave", SMALL), 1, expected, (result,)))
    assert {row.metric for row in rows} == result.costs.keys()


@pytest.mark.parametrize("mode", WRITTEN)
def test_every_way_of_writing_writes_every_match(mode: str, tmp_path: Path) -> None:
    task, expected = prepare(replace(SMALL, mode=mode), tmp_path)
    result = measure(adapter("retewave"), task)
    assert result.matches == expected
    assert result.seconds > 0
    assert result.costs.keys() == WRITTEN_COSTS.get(mode, {}).keys()


def test_queries_that_come_and_go_are_measured_beside_others_of_each_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "COUNTS", (0, 5))
    monkeypatch.setattr(changes, "CYCLES", 2)
    monkeypatch.setattr(changes, "MANY", 6)
    task, expected = prepare(Workload(ASK, offers=600, mode="changes"), tmp_path)
    result = measure(adapter("retewave"), task)
    assert result.matches == expected
    assert len(result.costs) == 2 + 4 + 2 and all(unit == "ms" for _, unit in result.costs.values())


def test_a_task_can_be_measured_with_the_counters_on(tmp_path: Path) -> None:
    for counting in (False, True):
        task, expected = prepare(replace(SMALL, stats=counting), tmp_path)
        engine = engine_of(Task.from_json(task.to_json()))
        assert drain(engine, str(task.offers), ASK.rate) == expected
        assert ("network" in engine.stats()) is counting


def test_the_network_alone_finds_the_expected_matches(tmp_path: Path) -> None:
    task, expected = prepare(replace(SMALL, mode="network"), tmp_path)
    assert encode(Task.from_json(task.to_json())).pour() == expected


def test_matches_that_are_spelled_out_are_as_many(tmp_path: Path) -> None:
    task, expected = prepare(replace(SMALL, mode="spelled"), tmp_path)
    assert measure(adapter("retewave"), Task.from_json(task.to_json())).matches == expected > 0


def speed(sweep: str, series: str, x: float, seconds: list[float]) -> Measured:
    results = tuple(Result(1, s, match_seconds=s / 2, peak_rss=300_000_000) for s in seconds)
    return Measured(Point(sweep, series, x, "retewave", SMALL), triples=3_000_000, expected=1, results=results)


def test_targets_are_judged_repetition_by_repetition() -> None:
    measured = [
        speed("window", "retewave", 5, [1.0, 2.0, 0.9]),
        speed("window", "C, by hand", 5, [0.9, 1.8, 0.1]),
        speed("window", "retewave", 1, [0.5, 0.5, 0.5]),
        speed("window", "retewave", 25, [1.0, 1.0, 1.0]),
    ]
    measured.append(speed("network", "retewave", 5, [1.0, 2.0, 0.9]))
    verdicts: dict[str, tuple[str, Any]] = {row.series: (row.note, row.median) for row in rows_of_targets(measured)}
    assert verdicts["bytes to matches, window 5 s"] == ("reached", 3e6)
    assert verdicts["bytes to matches, of the C program's"] == ("reached", pytest.approx(90))
    assert verdicts["window 25 s against 1 s"] == ("missed", pytest.approx(50))
    assert verdicts["network alone, window 5 s"] == ("missed", pytest.approx(6e6))
    assert verdicts["resident memory, window 25 s"] == ("reached", 300)
    assert verdicts["10,000 registered patterns against one"][0] == "not measured"


def test_every_target_is_measured_by_some_sweep() -> None:
    measured = []
    for point in points(list(SWEEPS), full=False):
        told = (COSTS | WRITTEN_COSTS).get(point.workload.mode, {})
        result = Result(1, 1.0, 0.5, 0.5, 1, latencies={"p99": 1.0}, costs=told)
        measured.append(Measured(point, 1, 1, (result,)))
    assert [row.note for row in rows_of_targets(measured) if row.note == "not measured"] == []
    assert len(rows_of_targets(measured)) == len(TARGETS)


def test_full_sweeps_hold_every_quick_point() -> None:
    for name, sweep in SWEEPS.items():
        quick = {(p.series, p.x) for p in sweep(False)}
        assert quick <= {(p.series, p.x) for p in sweep(True)}, name


def test_percentiles_are_those_of_the_sorted_values() -> None:
    assert percentiles([i / 1000 for i in range(1000)]) == {
        "p50": 0.5,
        "p90": 0.9,
        "p99": 0.99,
        "p99.9": 0.999,
        "max": 0.999,
    }


def test_pattern_texts_say_what_is_asked() -> None:
    text = pattern_text(Question(3, 9, window=2_500_000, distinct=True))
    assert "SELECT DISTINCT ?offer" in text and "[RANGE 2500ms]" in text and "ProductType9 ." in text
    assert text.count("downlode.org/rdf/iso-3166/countries#") == 2
    assert "$" not in text
    with pytest.raises(ValueError, match="whole milliseconds"):
        pattern_text(Question(1, 2, window=1_500))


def test_watched_products_are_named_as_in_the_stream(tmp_path: Path) -> None:
    texts, matches = watchers(600, ASK.window, 10_000)
    task, _ = prepare(SMALL, tmp_path)
    stream = task.offers.read_text()
    named = [text.partition("bsbm-voc:product <")[2].partition(">")[0] for text in texts]
    assert sum(stream.count(f"product> <{iri}>") for iri in named) == matches == 600
    assert watch_text(_dataset(600, 10_000), 1, ASK.window) == texts[0]


def test_sleepers_ask_for_types_that_no_schema_has() -> None:
    texts = sleepers(ASK, 3)
    assert len(set(texts)) == 3
    assert all("ProductType100000" in text for text in texts)


def test_the_report_shows_targets_plots_and_failures(tmp_path: Path) -> None:
    rows = [
        Row(name, series, x, metric, "u", 3, 2e6, 1e6, 3e6, offers=100)
        for name in SWEEPS
        for series in ("retewave", "C, by hand")
        for x in (0.0, 1.0, 10.0)
        for metric in ("throughput", "memory", *(f"latency {p}" for p in ("p50", "p90", "p99", "p99.9", "max")))
    ]
    rows += rows_of_targets([])
    rows.append(Row("peers", "broken <one>", 1, "throughput", "u", 0, 0, 0, 0, note="WRONG: 1 matches instead of 2"))
    page = write_report(rows, Machine.here(), tmp_path).read_text()
    for name in TABLES:
        assert f"<h2>{TABLES[name][0]}</h2>" in page
    assert PLOTS.keys() | TABLES.keys() == SWEEPS.keys()
    for name in PLOTS:
        assert f'src="{name}.png"' in page
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "WRONG: 1 matches instead of 2" in page and "broken &lt;one&gt;" in page
    assert all(escape(target.what) in page for target in TARGETS)
    assert "Runs without a figure" in page


def test_every_stage_of_the_profile_runs(tmp_path: Path) -> None:
    task, _ = prepare(Workload(replace(ASK, window=5_000_000), offers=50), tmp_path)
    seconds = ladder(task, task, repetitions=1)
    assert list(seconds) == list(STAGES)
    assert all(0 < spent < 60 for spent in seconds.values())


@pytest.mark.parametrize("pattern", [1, 2, 3])
@pytest.mark.parametrize("distinct", [False, True])
def test_the_engine_finds_the_expected_matches(pattern: int, distinct: bool, tmp_path: Path) -> None:
    for window in (200_000, 5_000_000):
        question = Question(pattern, 1, window, rate=10_000, distinct=distinct)
        task, expected = prepare(Workload(question, offers=20_000), tmp_path)
        assert drain(engine_of(task), str(task.offers), question.rate) == expected
        assert expected > 0


def test_the_engine_without_a_schema_finds_what_it_finds_with_one(tmp_path: Path) -> None:
    counts = []
    for question in (ASK, replace(ASK, levels=(1,), reasoning=False)):
        task, expected = prepare(Workload(question, offers=2_000), tmp_path)
        counts.append(drain(engine_of(task), str(task.offers), question.rate))
        assert counts[-1] == expected
    assert counts[0] == counts[1] > 0


def test_many_patterns_match_no_more_and_no_less(tmp_path: Path) -> None:
    texts, matches = watchers(2_000, ASK.window, 500)
    workload = Workload(ASK, offers=2_000, others=texts + sleepers(ASK, 50), other_matches=matches)
    task, expected = prepare(workload, tmp_path)
    assert drain(engine_of(task), str(task.offers), ASK.rate) == expected
    assert matches > 0


@pytest.mark.parametrize(("window", "reports"), [(1_000, 2_079), (2_000, 2_000)])
def test_distinct_matches_that_were_lost_are_reported_again(window: int, reports: int) -> None:
    """With 1 ms an offer loses the type that came before it just as its own type comes; with 2 ms it does not."""
    dataset = draw(products=30, offers=2_000, seed=3, type_scale=100)
    question = Question(1, 1, window, rate=10_000, distinct=True)
    engine = Engine(schema=[hierarchy_nt(dataset)])
    engine.register(pattern_text(question))
    found = drain(engine, b"".join(offers_nt(dataset)), question.rate)
    assert found == expected_matches(dataset, question) == reports
