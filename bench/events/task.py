"""An event workload, what a run of it is told, and what it found: the protocol between harness and peers.

Where it stands: `streams` makes an EventTask, `measure` starts a process for it (`run`), which hands it to an
EventPeer and prints what it EventFound.  Both are JSON on the way.  Invariant: a peer has all events in memory, parsed,
before its clock starts, and its compilation is over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["WITHIN", "WORKLOADS", "EventFound", "EventPeer", "EventTask", "EventWorkload", "clocked"]

WITHIN = {"W1": 500_000_000, "W2": 60_000_000, "W3": 5_000_000, "W4": 10_000_000}  # µs; the bound itself is inside
_QUERIES = Path(__file__).parents[1] / "queries"
_CEP = "http://example.org/cep#"


@dataclass(frozen=True)
class EventWorkload:
    """One of the generator's streams, and what is looked for in it."""

    name: str  # as the generator calls it
    what: str  # in a few words
    rdf: str  # the suffix of its RDF
    time_property: str | None = None  # that says a graph's time; None: triples have a nominal rate
    language: str = "rq"  # the suffix of its query

    def query(self) -> str:
        """Return the text of what is looked for."""
        return self.file.read_text()

    @property
    def file(self) -> Path:
        """The file of what is looked for."""
        return _QUERIES / f"{self.name.lower()}.{self.language}"


WORKLOADS = {
    each.name: each
    for each in (
        EventWorkload("W1", "a price that falls below 70 % and recovers beyond 105 %, within 500 s", "nt"),
        EventWorkload(
            "W2",
            "a price that falls from event to event, and the next is above its height, within 60 s",
            "nq",
            f"{_CEP}at",
            "spaseq",
        ),
        EventWorkload("W3", "a request without a response within 5 s", "nq", f"{_CEP}at"),
        EventWorkload("W4", "A then C of one key within 10 s, no B of the key between", "nt"),
    )
}


@dataclass(frozen=True)
class EventTask:
    """One run of a workload."""

    workload: str  # its name
    csv: Path  # time_us,key,value,kind, in the order of time
    rows: int  # in the CSV
    step: int  # µs between rows, where the RDF has a nominal rate
    rdf: Path | None = None  # the same stream; None where nobody reads it

    def to_json(self) -> str:
        """Return the task as one line."""
        return json.dumps(asdict(self), default=str)

    @staticmethod
    def from_json(text: str) -> EventTask:
        """Read a task from its line."""
        fields = json.loads(text)
        for name in ("csv", "rdf"):
            fields[name] = None if fields[name] is None else Path(fields[name])
        return EventTask(**fields)

    def files(self) -> list[Path]:
        """Return what a run reads."""
        return [path for path in (self.csv, self.rdf) if path]


@dataclass(frozen=True)
class EventFound:
    """What came out of one run."""

    matches: int  # all that were found
    seconds: float  # from the first event to the last match
    busy: float  # seconds of the processor in that time, all threads: what others do on the machine is not in it
    sum: int | None = None  # of the matches' rows: 1a + 3b + 5c by their places, modulo 2^64
    dues: int | None = None  # of the deadlines, in microseconds, modulo 2^64


def clocked(work: Callable[[], tuple[int, int | None, int | None]]) -> EventFound:
    """Let a loop find matches, their sum and that of their deadlines, by the clock."""
    started, busy = time.perf_counter(), time.process_time()
    matches, total, dues = work()
    return EventFound(matches, time.perf_counter() - started, time.process_time() - busy, total, dues)


@dataclass(frozen=True)
class EventPeer:
    """Something that can be measured."""

    name: str  # in tables
    cannot: str  # what it cannot do, in a few words
    run: Callable[[EventTask], EventFound]  # do the task
    missing: Callable[[str], str] = lambda workload: ""  # why it cannot run a workload here; builds what it needs
    workloads: tuple[str, ...] = tuple(WORKLOADS)  # those that it has a formulation of
    reads_rdf: bool = False  # it reads the RDF, not the CSV
    as_set: bool = False  # matches that show the same at the same times are one
