"""What is evaluated at reports, over 100,000 live solutions; single pushes; pattern 1 as a view and as a detector.

`python -m retewave.bench.views.live`.  Every answer is compared with a plain computation.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer

import retewave as rw
from retewave.bench.dataset import draw
from retewave.bench.engine import percentiles
from retewave.bench.expected import expected_matches
from retewave.bench.harness import Machine
from retewave.bench.patterns import pattern_text
from retewave.bench.question import Question
from retewave.bench.task import Task
from retewave.bench.views.readings import EX
from retewave.bench.workload import Workload, prepare
from retewave.match import Matches

__all__ = ["main"]

_NEW = 1000  # solutions that come between two reports
_Known = Callable[[np.ndarray], int]  # (for each subject, which it is) -> how many rows there are

_FORMS: dict[str, tuple[str, _Known]] = {
    "OPTIONAL": ("?x :p ?v OPTIONAL { ?x :q ?w }", len),
    "MINUS": ("?x :p ?v MINUS { ?x :q ?w }", lambda each: int((each % 2 == 1).sum())),
    "EXISTS": ("?x :p ?v FILTER EXISTS { ?x :q ?w }", lambda each: int((each % 2 == 0).sum())),
    "NOT EXISTS": ("?x :p ?v FILTER NOT EXISTS { ?x :q ?w }", lambda each: int((each % 2 == 1).sum())),
    "ORDER BY, LIMIT 10": ("?x :p ?v } ORDER BY DESC(?v) LIMIT 10 #", lambda _: 10),
}


def _lines(subjects: range) -> list[tuple[str, str, str]]:
    """Return a triple of each subject, and another of every second one."""
    found = []
    for each in subjects:
        found.append(
            (f"{EX}{each}", f"{EX}p", f'"{each * 7919 % 1_000_003}"^^<http://www.w3.org/2001/XMLSchema#integer>')
        )
        if each % 2 == 0:
            found.append((f"{EX}{each}", f"{EX}q", f"{EX}w{each}"))
    return found


def _reports(form: str, live: int, count: int) -> None:
    where, known = _FORMS[form]
    engine = rw.Engine()
    text = f"PREFIX : <{EX}> SELECT * FROM STREAM :s [RANGE 1000s STEP 1s] WHERE {{ {where}\n}}"
    query = engine.register(text.replace("#\n}", ""), keep=0)
    spent = list[float]()
    gc.freeze()  # what other modules have made is no part of a report
    for number in range(count + 1):
        some = range(live) if not number else range(live + (number - 1) * _NEW, live + number * _NEW)
        engine.push(_lines(some), time=number + 0.5, stream=f"{EX}s")
        started = time.process_time()
        engine.advance(number + 1.25)
        spent.append(time.process_time() - started)
        told = len(list(engine.reports(query))[-1])
        if told != known(np.arange(some.stop)):
            raise SystemExit(f"WRONG: {form}: {told} rows")
    print(f"| {form} | {1000 * statistics.median(spent[1:]):.1f} ms | {1000 * max(spent[1:]):.1f} ms |", flush=True)


def _pushes(told: str, sensors: int, count: int) -> None:
    """Print how long single pushes take that change a mean, and so make a report."""
    engine = rw.Engine()
    engine.register(
        f"""PREFIX : <{EX}> REGISTER {told} :out AS SELECT ?s (AVG(?v) AS ?mean) (MAX(?v) AS ?most)
        FROM STREAM :s [RANGE 10s] REPORT CONTENT CHANGE WHERE {{ ?s :reads ?v }} GROUP BY ?s""",
        keep=0,
    )
    draw_ = np.random.default_rng(1)
    taken, rows = list[float](), 0
    for number in range(count):
        value = f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        triple = (f"{EX}s{draw_.integers(sensors)}", f"{EX}reads", value)
        started = time.thread_time()
        found = engine.push(triple, time=number / 1000, stream=f"{EX}s")
        taken.append(time.thread_time() - started)
        rows += len(found)
    late = percentiles(taken[count // 2 :])
    print(f"content change, {told}, {sensors:,} sensors, {count:,} pushes, {rows:,} rows; of the processor: ", end="")
    print(f"median {late['p50'] * 1e6:.0f} µs, p99 {late['p99'] * 1e6:.0f} µs", flush=True)


def _pattern(offers: int, turns: int) -> None:
    """Print how fast pattern 1 is as a view, by turns with itself as a detector."""
    question = Question(1, 2, 5_000_000)
    with TemporaryDirectory() as folder:
        task, _ = prepare(Workload(question, offers), Path(folder))
        spent: dict[str, list[float]] = {"detector": [], "view": []}
        for turn in range(turns + 1):
            kept = {name: _run_pattern(task, question, name, each) for name, each in spent.items()}
            if turn == 0:
                _check_pattern(kept, expected_matches(draw(10_000, offers, seed=1), question))
            rows = sum(map(len, kept["view"]))
            gc.collect()
    ratio = statistics.median(one / other for one, other in zip(*(each[1:] for each in spent.values()), strict=True))
    print(f"pattern 1, STEP 1 s, of the detector's speed: {ratio:.0%} ({rows:,} rows of ISTREAM)")


def _run_pattern(task: Task, question: Question, name: str, spent: list[float]) -> list[Matches]:
    """Return what the detector or the view finds; note the processor's seconds."""
    text = pattern_text(question)
    if name == "view":
        text = text.replace("[RANGE 5s]", "[RANGE 5s STEP 1s]").replace("REGISTER QUERY", "REGISTER ISTREAM")
    engine = rw.Engine(schema=[str(task.schema)] if task.schema else [])
    engine.register(text, keep=0)
    started = time.process_time()
    batches = engine.run_batches(rw.read(str(task.offers), rate=question.rate))
    kept = [found for batch in batches for found in batch]
    spent.append(time.process_time() - started)
    return kept


def _check_pattern(kept: dict[str, list[Matches]], right: int) -> None:
    """Compare the detector's matches with those that were drawn, and the view's rows with the offers among them."""
    known = [
        (end, offer) for found in kept["detector"] for end, offer in zip(found.ends, found.texts("offer"), strict=True)
    ]
    last = max(found.reported[1] for found in kept["view"] if found.reported)
    offers = len({offer for end, offer in known if end <= last})
    rows = sum(map(len, kept["view"]))
    if (len(known), offers) != (right, rows):
        raise SystemExit(f"WRONG: {len(known)} matches of {right}, {rows} rows of {offers}")


def main(
    live: Annotated[int, typer.Option(help="solutions", min=1000)] = 100_000,
    reports: Annotated[int, typer.Option(min=1)] = 10,
    pushes: Annotated[int, typer.Option(min=100)] = 20_000,
    offers: Annotated[int, typer.Option(help="of pattern 1", min=1000)] = 50_000,
) -> None:
    """Measure reports over live solutions, single pushes, and pattern 1 as a view."""
    machine = Machine.here()
    print(f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}")
    print(f"{live:,} live solutions, {_NEW:,} new ones a report; seconds of the processor")
    print("| evaluated at the report | median | slowest |", "|---|---|---|", sep="\n")
    for form in _FORMS:
        _reports(form, live, reports)
    for told in ("ISTREAM", "DSTREAM"):
        _pushes(told, 1000, pushes)
    _pattern(offers, 3)


if __name__ == "__main__":
    typer.run(main)
