"""Measure events that an ontology defines: `python -m retewave.bench ontology`."""

from __future__ import annotations

import resource
import statistics
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from retewave.bench.harness import Machine
from retewave.bench.ontology.data import definitions
from retewave.bench.ontology.engine import OntologyFound, OntologyRun, found, registered
from retewave.bench.ontology.peers import by_hermit, by_owlrl
from retewave.epsilon.classes import reasoner

__all__ = ["main"]

_OPEN = (
    "@prefix : <http://example.org/plant#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :r0 a owl:FunctionalProperty . "
    ":L5 rdfs:subClassOf [ owl:unionOf ( :M1 :M2 ) ] . "
)


def _own_process(asking: OntologyRun) -> OntologyFound:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply_async(_measured, (asking,)).get(timeout=1200)


def _measured(asking: OntologyRun) -> OntologyFound:
    with tempfile.TemporaryDirectory() as folder:
        return found(asking, Path(folder))


def _registering(more: str) -> float:
    """Return how long it takes to register 100 definitions: seconds of the processor, Java's included."""
    reasoner.forget()
    text = definitions(100, 10, "RETURN ALL AS EVENT STREAM")[1]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, seconds = registered(text, more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _rows(events: int) -> dict[str, OntologyRun]:
    return {
        "100 logical events, nothing is found": OntologyRun(100, events, 0.0),
        "100 logical events, 1 of 100 events is found": OntologyRun(100, events, 0.01),
        "the same with justifications (RDF STREAM)": OntologyRun(100, events, 0.01, form="RDF"),
        "100 logical events, 1 of 10 events is found": OntologyRun(100, events, 0.1),
        "1 of 10 with justifications (RDF STREAM)": OntologyRun(100, events, 0.1, form="RDF"),
        "100 logical events, any role behind any, 1 of 100": OntologyRun(100, events, 0.01, mixed=True),
        "1,000 logical events, 1 of 100 events is found": OntologyRun(1000, events, 0.01),
        "1,000 logical events, any role behind any, 1 of 100": OntologyRun(1000, events, 0.01, mixed=True),
    }


def _print_rates(rows: dict[str, OntologyRun], repetitions: int) -> dict[str, float]:
    taken: dict[str, list[OntologyFound]] = {name: [] for name in rows}
    for _ in range(repetitions):
        for name, asking in rows.items():
            taken[name].append(_own_process(asking))
    print("| what | detections | M triples/s of the processor, bytes to detections | from | to |")
    print("|---|---|---|---|---|")
    for name, runs in taken.items():
        rates = [each.rate / 1e6 for each in runs]
        middle = statistics.median(rates)
        print(f"| {name} | {runs[0].detections:,} | {middle:.2f} | {min(rates):.2f} | {max(rates):.2f} |")
    return {name: statistics.median(each.rate for each in runs) for name, runs in taken.items()}


def _print_peers(rate: float, counts: Sequence[int]) -> None:
    _, events = OntologyRun(100, max(counts), 0.5).draw()
    print("| re-reasoning of each event | seconds an event | times as long |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, seconds in (
            ("owlrl", by_owlrl(events[: counts[0]])),
            ("HermiT", by_hermit(events[: counts[1]], Path(folder))),
        ):
            said = f"{seconds:.3f} | {seconds * rate / 10:,.0f}" if seconds else f"{reasoner.missing()} | –"
            print(f"| {name} | {said} |", flush=True)


def main(
    events: Annotated[int, typer.Option(help="of the stream", min=1000)] = 100_000,
    repetitions: Annotated[int, typer.Option(help="runs of each row", min=1)] = 3,
    rows: Annotated[str, typer.Option(help="only rows whose names have this text")] = "",
    peers: Annotated[bool, typer.Option(help="measure owlrl and HermiT, too")] = True,
) -> None:
    """Measure rates, registration and what re-reasoning costs."""
    machine = Machine.here()
    print(f"{machine.cpu}, {machine.cores} cores, commit {machine.commit}")
    print("1,000 classes, 10 composites, events of 10 triples", flush=True)
    rates = _print_rates({name: each for name, each in _rows(events).items() if rows in name}, repetitions)
    registered(definitions(1, 0, "")[1])
    print(f"registration with 1,000 classes, own closure: {_registering(''):.2f} s", flush=True)
    if not reasoner.missing():
        print(f"registration with 1,000 classes, with the reasoner: {_registering(_OPEN):.2f} s", flush=True)
    if peers and rates:
        _print_peers(max(rates.values()), (2, 40))


if __name__ == "__main__":
    typer.run(main)
