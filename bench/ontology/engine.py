"""retewave as what finds the events: from bytes to counted detections, and how long registration takes.

Invariant: what is found is what was drawn; the network, its kernels and the reader have seen a beginning of the stream
before the clock starts.
"""

from __future__ import annotations

import gc
import time
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import retewave as rw
from retewave.bench.ontology.data import AT, DrawnEvent, definitions, draw, nquads, schema

__all__ = ["OntologyFound", "OntologyRun", "expected", "found", "registered"]

_COMPOSITES = 10
_WARM_UP = 200  # events
_WITHIN = 20_000  # microseconds, as the definitions say
_FORMS = {"EVENT": "RETURN ALL AS EVENT STREAM", "RDF": "RETURN ALL AS RDF STREAM"}


@dataclass(frozen=True)
class OntologyRun:
    """One run."""

    definitions: int  # logical events
    events: int  # in the stream
    share: float  # of them that are drawn for a definition
    mixed: bool = False  # any role follows any
    form: str = "EVENT"  # or RDF: with justifications

    def draw(self) -> tuple[str, list[DrawnEvent]]:
        """Return the text of the definitions, and the events."""
        asked, text = definitions(self.definitions, _COMPOSITES, _FORMS[self.form], mixed=self.mixed)
        return text, list(draw(self.events, asked, self.share, mixed=self.mixed))


@dataclass(frozen=True)
class OntologyFound:
    """What a run took, and found."""

    seconds: float  # of the processor
    triples: int  # that were read, but for those that say the time
    detections: int

    @property
    def rate(self) -> float:
        """Triples a second."""
        return self.triples / self.seconds


def expected(events: list[DrawnEvent]) -> int:
    """Return how many detections there are: one of each event that was drawn for a definition, and pairs in time."""
    times: dict[int, list[int]] = {}
    for each in events:
        if each.found is not None:
            times.setdefault(each.found, []).append(each.time)
    pairs = 0
    for number in range(_COMPOSITES):
        later = times.get(2 * number + 1, [])
        for at in times.get(2 * number, []):
            pairs += bisect_right(later, at + _WITHIN) - bisect_left(later, at + 1)
    return sum(map(len, times.values())) + pairs


def registered(text: str, more: str = "") -> tuple[rw.Engine, float]:
    """Return an engine with the definitions, and the seconds of the processor that registering took."""
    triples = [(s.encode(), p.encode(), o.encode()) for s, p, o in schema()]
    engine = rw.Engine(schema=[triples, more.encode()] if more else [triples], seed=1)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine.register(text, language="obep", keep=0)
    return engine, time.process_time() - started


def found(asking: OntologyRun, folder: Path) -> OntologyFound:
    """Read the stream's bytes, and count the detections."""
    text, events = asking.draw()
    path, beginning = folder / "stream.nq", folder / "beginning.nq"
    beginning.write_text("".join(nquads(events[:_WARM_UP])))
    path.write_text("".join(nquads(events)))
    list(_batches(text, beginning))
    gc.collect()
    batches = _batches(text, path)
    next(batches)
    started = time.process_time()
    detections = sum(batches)
    seconds = time.process_time() - started
    if detections != expected(events):
        raise SystemExit(f"WRONG: {asking}: {detections:,} detections instead of {expected(events):,}")
    return OntologyFound(seconds, 10 * len(events), detections)


def _batches(text: str, path: Path) -> Iterator[int]:
    """Yield nothing found, once all is ready, and then how many detections each batch has."""
    engine, _ = registered(text)
    engine.flush()  # makes the network
    reader = rw.read(path, time_property=AT)
    yield 0
    for batches in engine.run_batches(reader):
        yield sum(map(len, batches))
