"""Put the use cases to ETALIS and to retewave: `python -m retewave.bench usecases`, or `retewave bench usecases`."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.harness import Machine, shown
from retewave.bench.usecases.questions import QUESTIONS
from retewave.bench.usecases.versus import Versus, by_etalis, by_etalis_from_triples, by_retewave, versus

__all__ = ["main"]


def _table(all_: Sequence[Versus], machine: Machine) -> Table:
    table = Table(title=f"{machine.cpu}, {machine.cores} cores, {machine.system}, commit {machine.commit}")
    for name in ("use case", "policy", "SEQ", "events", "matches", "ETALIS", "retewave", "×", "longer", "×", "note"):
        table.add_column(name, justify="left" if name in ("use case", "policy", "SEQ", "note") else "right")
    for each in all_:
        rates = [shown(statistics.median(one)) if one else "–" for one in (each.theirs, each.ours, each.long)]
        ratios = ["" if one is None else f"{one:,.0f}" for one in (each.ratio(each.ours), each.ratio(each.long))]
        asked = each.question
        told = [asked.name, asked.policy, asked.sequence, f"{each.events:,}", f"{each.matches:,}"]
        table.add_row(*told, rates[0], rates[1], ratios[0], rates[2], ratios[1], each.failure)
    return table


def main(
    events: Annotated[int, typer.Option(help="of each stream that both get", min=100)] = 2000,
    longer: Annotated[int, typer.Option(help="of the stream that retewave alone gets as well; 0: none", min=0)] = 60000,
    repetitions: Annotated[int, typer.Option(help="runs of each", min=1)] = 3,
    only: Annotated[str, typer.Option(help="use cases or policies, with commas; all unless given")] = "",
    triples: Annotated[bool, typer.Option("--triples", help="ETALIS gets triples, as EP-SPARQL has it")] = False,
    out: Annotated[Path, typer.Option(help="the figures as JSON")] = Path("bench/out/versus.json"),
) -> None:
    """Measure retewave and ETALIS on the use cases of the SPAseq paper."""
    wanted = {each.strip() for each in only.split(",") if each.strip()}
    known = {each.name for each in QUESTIONS} | {each.policy for each in QUESTIONS}
    if unknown := sorted(wanted - known):
        raise typer.BadParameter(f"no use case or policy {unknown[0]!r}; there are {', '.join(sorted(known))}")
    asked = [each for each in QUESTIONS if not wanted or {each.name, each.policy} & wanted]
    asked = [each for each in asked if not (triples and each.numbered)]
    runners = by_retewave, by_etalis_from_triples if triples else by_etalis
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for each in asked:
            print(f"{each.name}, {each.policy}", file=sys.stderr, flush=True)
            found.append(versus(each, (events, longer), repetitions, Path(folder), runners))
    machine = Machine.here()
    out.parent.mkdir(parents=True, exist_ok=True)
    told = {"machine": asdict(machine), "rows": [each.to_dict() for each in found]}
    out.write_text(json.dumps(told, indent=1) + "\n")
    Console(width=None if sys.stdout.isatty() else 200).print(_table(found, machine))
    if any(each.failure.startswith("WRONG") for each in found):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
