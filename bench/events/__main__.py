"""Run the event workloads: `python -m retewave.bench events`, which is `retewave bench events`."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.events.measure import Contest, contests, play
from retewave.bench.events.run import PEERS, peer
from retewave.bench.events.streams import absent
from retewave.bench.events.task import WORKLOADS
from retewave.bench.harness import Machine, shown

__all__ = ["main"]


def _names(text: str, known: Sequence[str], what: str) -> list[str]:
    """Return the names of a list with commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise typer.BadParameter(f"no {what} {unknown[0]!r}; there are {', '.join(known)}")
    return names


def _sizes(text: str) -> list[int]:
    sizes = [size.strip().replace("_", "") for size in text.split(",")]
    if not all(size.isdecimal() and int(size) >= 1000 for size in sizes):
        raise typer.BadParameter(f"{text!r} is no list of sizes: 100000, or 10000,100000; the least is 1000")
    return [int(size) for size in sizes]


def _table(all_: Sequence[Contest], machine: Machine) -> Table:
    table = Table(title=f"{machine.cpu}, {machine.cores} cores, {machine.system}, commit {machine.commit}")
    for name in ("stream", "what", "events", "matches", "events/s", "from", "to", "busy", "runs", "note"):
        table.add_column(name, justify="left" if name in ("stream", "what", "note") else "right")
    for each in all_:
        rates = each.rates()
        told = [shown(f(rates)) for f in (statistics.median, min, max)] if rates else ["–", "", ""]
        busy = each.rates_busy()
        told.append(shown(statistics.median(busy)) if busy else "")
        counts = [f"{each.task.rows:,}", f"{each.matches:,}"]
        stream = f"{each.workload}-{each.size}"
        table.add_row(stream, peer(each.peer).name, *counts, *told, str(len(rates)), each.failure)
    return table


def main(
    sizes: Annotated[str, typer.Option(help="events of each stream (in W3 requests), with commas")] = "100000",
    workloads: Annotated[str, typer.Option(help=f"of {', '.join(WORKLOADS)}")] = ",".join(WORKLOADS),
    peers: Annotated[str, typer.Option(help=f"of {', '.join(PEERS)}")] = ",".join(PEERS),
    repetitions: Annotated[int, typer.Option(help="runs of each", min=1)] = 3,
    data: Annotated[Path, typer.Option(help="where the streams are made; those that are there are kept")] = Path(
        "bench/data/events"
    ),
    out: Annotated[Path, typer.Option(help="the figures as JSON")] = Path("bench/out/events.json"),
) -> None:
    """Measure retewave, loops by hand and engines for events on the event workloads."""
    asked = _names(workloads, tuple(WORKLOADS), "workload"), _sizes(sizes), _names(peers, PEERS, "peer")
    if why := absent():
        print(f"skipped: {why}", file=sys.stderr)
        return
    found = list(contests(*asked, data))
    play(found, repetitions, lambda text: print(text, file=sys.stderr, flush=True))
    machine = Machine.here()
    out.parent.mkdir(parents=True, exist_ok=True)
    told = {"machine": asdict(machine), "rows": [each.to_dict() for each in found]}
    out.write_text(json.dumps(told, indent=1) + "\n")
    Console(width=None if sys.stdout.isatty() else 200).print(_table(found, machine))
    failed = [each for each in found if each.failure and not each.failure.startswith("skipped")]
    for each in failed:
        print(f"{each.workload}-{each.size}: {peer(each.peer).name}: {each.failure}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
