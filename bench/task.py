"""What is measured, and what came out: the protocol between the harness and whatever it measures.

Where it stands: `harness` makes a Task, starts a process for it (`run`), which hands it to an Adapter (the
engine, or a peer) and prints the Result.  Both are JSON on the way.  Invariant: an adapter excludes its
own warm-up (compilation, imports) from `seconds`, and counts every match.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from retewave.bench.question import Question

__all__ = ["Adapter", "Result", "Task"]


@dataclass(frozen=True)
class Task:
    """One thing to measure."""

    offers: Path  # the stream, N-Triples
    warm_up: Path  # a short stream of the same kind
    schema: Path | None  # the hierarchy; None to leave reasoning out
    static: Path | None  # static triples
    classes: Path  # the target and its subclasses, one IRI in brackets a line: for peers without inference
    queries: tuple[str, ...]  # the patterns' texts
    question: Question  # what they ask, for peers that read no query
    triples: int  # in the stream
    # run: bytes to matches; spelled: to matches as text; network: encoded input; latency: paced; pushes: back to back;
    # or one of `costs.COSTS` or `written.WRITTEN`
    mode: str = "run"
    batch: int = 1  # triples a push, in mode latency
    stats: bool = False  # the engine counts by memory and join
    slide: int = 1_000_000  # µs between evaluations, for peers that re-evaluate the window

    def to_json(self) -> str:
        """Return the task as one line."""
        return json.dumps(asdict(self), default=str)

    @staticmethod
    def from_json(text: str) -> Task:
        """Read a task from its line."""
        fields = json.loads(text)
        for name in ("offers", "warm_up", "schema", "static", "classes"):
            fields[name] = None if fields[name] is None else Path(fields[name])
        levels = fields["question"]["levels"]
        fields["question"]["levels"] = None if levels is None else tuple(levels)
        fields["question"] = Question(**fields["question"])
        fields["queries"] = tuple(fields["queries"])
        return Task(**fields)

    def files(self) -> list[Path]:
        """Return what a run reads."""
        return [path for path in (self.offers, self.warm_up, self.schema, self.static, self.classes) if path]

    def target_classes(self) -> set[bytes]:
        """Return the target and its subclasses, in brackets."""
        return set(self.classes.read_bytes().splitlines())


@dataclass(frozen=True)
class Result:
    """What came out of one run."""

    matches: int  # all that were found
    seconds: float  # from the first byte to the last match
    read_seconds: float | None = None  # of them reading, where it can be told apart
    match_seconds: float | None = None  # of them matching
    peak_rss: int | None = None  # bytes, of the measured process; the runner fills it in
    latencies: dict[str, float] = field(default_factory=dict)  # percentile -> seconds, in mode latency
    stages: dict[str, float] = field(default_factory=dict)  # further stages and their seconds
    costs: dict[str, tuple[float, str]] = field(default_factory=dict)  # what is no throughput: a figure and its unit


@dataclass(frozen=True)
class Adapter:
    """Something that can be measured."""

    name: str  # in tables and plots
    cannot: str  # what it cannot do, in a few words
    run: Callable[[Task], Result]  # do the task
    requires: tuple[str, ...] = ()  # modules that must be importable
    missing: Callable[[], str] = lambda: ""  # why it cannot run here, if not for a module
    most_offers: int | None = None  # with more it takes too long: it is measured on so many
    distinct: bool = False  # it has set semantics: it counts an offer once
    patterns: tuple[int, ...] = (1,)  # of the paper's, those that it implements
