"""Where the time goes: the same bytes through ever more of the engine.

`python -m retewave.bench.profile` plays the offers up a ladder of stages; each stage does what the one before does
and one thing more, so that the difference is what the thing adds to the wall clock.  (Reading and matching
overlap on two cores: what hides behind the other adds nothing.)
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.engine import drain, engine_of
from retewave.bench.question import Question
from retewave.bench.task import Task
from retewave.bench.workload import Workload, prepare, sleepers

__all__ = ["STAGES", "ladder"]

NOTHING = "SELECT ?s FROM STREAM <http://bsbm.org/stream> [RANGE 5s] WHERE { ?s <http://example.org/never> ?o }"


def _bytes(task: Task) -> None:
    """Read the file."""
    with task.offers.open("rb") as file:
        while file.read(1 << 20):
            pass


def _scan(task: Task) -> None:
    """Find the lines' terms, look predicates up, accept none."""
    drain(engine_of(replace(task, queries=(NOTHING,))), str(task.offers), task.question.rate)


def _intern(task: Task) -> None:
    """Read with everything accepted: each term looked up in the dictionary or put there."""
    rw: Any = import_module("retewave")
    terms: Any = import_module("retewave.rete.terms.dictionary").Terms()
    for _ in rw.read(str(task.offers), rate=task.question.rate).chunks(terms):
        pass


def _store(task: Task) -> None:
    """Match a target that never comes: dispatch, joins of the offers' ten triples, collection, but no match."""
    queries = sleepers(task.question, 1)
    drain(engine_of(replace(task, queries=queries)), str(task.offers), task.question.rate)


def _match(task: Task) -> None:
    """Match the target."""
    drain(engine_of(task), str(task.offers), task.question.rate)


def _decode(task: Task) -> None:
    """Match the target and decode one variable of every match to its text."""
    rw: Any = import_module("retewave")
    for batch in engine_of(task).run_batches(rw.read(str(task.offers), rate=task.question.rate)):
        for found in batch:
            found.texts("offer")


STAGES: dict[str, Callable[[Task], None]] = {
    "file read": _bytes,
    "scanned, nothing accepted": _scan,
    "interned, everything accepted": _intern,
    "dispatched, joined, collected; no match": _store,
    "matched": _match,
    "matched, one variable decoded": _decode,
}


def ladder(task: Task, warm_up: Task, repetitions: int) -> dict[str, float]:
    """Return the seconds of each stage, the fastest of several runs."""
    best = dict.fromkeys(STAGES, float("inf"))
    for repetition in range(repetitions + 1):
        for name, stage in STAGES.items():
            started = time.perf_counter()
            stage(task if repetition else warm_up)
            if repetition:
                best[name] = min(best[name], time.perf_counter() - started)
    return best


def main(
    offers: Annotated[int, typer.Option(help="offers in the stream, 11 triples each", min=1)] = 100_000,
    window: Annotated[float, typer.Option(help="of the pattern, in seconds", min=0)] = 5.0,
    repetitions: Annotated[int, typer.Option(help="of each stage, the fastest counts", min=1)] = 3,
) -> None:
    """Print the cost of each stage."""
    question = Question(1, 2, int(window * 1_000_000))
    with tempfile.TemporaryDirectory() as folder:
        task, _ = prepare(Workload(question, offers), Path(folder))
        seconds = ladder(task, replace(task, offers=task.warm_up), repetitions)
    table = Table(title=f"pattern 1, window {window:g} s, {task.triples:,} triples")
    for name, side in [("up to", "left"), ("s", "right"), ("ns a triple", "right"), ("M triples/s", "right")]:
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for name, spent in seconds.items():
        each = spent / task.triples
        table.add_row(name, f"{spent:.3f}", f"{each * 1e9:,.0f}", f"{1e-6 / each:.1f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
