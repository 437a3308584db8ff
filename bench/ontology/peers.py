"""Re-reasoning each event, as the published prototype does: by owlrl, and by HermiT.

Where it stands: beside the engine, on a few events of the same stream.  Each event is put beside the ontology, and all
is closed, or classified with its individuals, again.  Looking into what that says is not counted.
"""

from __future__ import annotations

import resource
import subprocess
import time
from pathlib import Path

import owlrl
import rdflib

from retewave.bench.ontology.data import DrawnEvent, Text, schema
from retewave.epsilon.classes import reasoner

__all__ = ["by_hermit", "by_owlrl"]


def by_owlrl(events: list[DrawnEvent]) -> float:
    """Return the seconds of the processor for an event."""
    started = time.process_time()
    for each in events:
        graph = rdflib.Graph().parse(data=_text((*schema(), *each.triples)), format="nt")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    return (time.process_time() - started) / len(events)


def by_hermit(events: list[DrawnEvent], folder: Path) -> float | None:
    """Return the seconds of the processor for an event: what more events take more, so without the start of Java."""
    if reasoner.missing():
        return None
    paths = []
    for each in events:
        paths.append(folder / f"event{each.number}.nt")
        paths[-1].write_text(_text((*_declared(), *schema(), *each.triples)))
    few = max(1, len(paths) // 8)
    return (_classified(paths) - _classified(paths[:few])) / (len(paths) - few)


def _classified(paths: list[Path]) -> float:
    command = [*reasoner.command(2_000), "-c", "-I", *(path.as_uri() for path in paths)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _declared() -> list[Text]:
    base, kind = "http://example.org/plant#", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    owl = "http://www.w3.org/2002/07/owl#"
    found = [(f"<{base}s{n}>", kind, f"<{owl}ObjectProperty>") for n in range(20)]
    return found + [(f"<{base}value{n}>", kind, f"<{owl}DatatypeProperty>") for n in range(5)]


def _text(triples: tuple[Text, ...]) -> str:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples)
