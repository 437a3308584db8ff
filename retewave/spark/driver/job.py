"""A job: all that a worker needs to know, in one value that can be sent to it.

Data's way: queries, schema, static data (driver) -> **job** -> routers and shards (workers).
A job is self-contained: it holds the parsed queries, the schema's axioms and the packed static data, and no path of the
driver's machine.  Invariant: every worker that makes an engine of a job makes the same one, with the same hash of every
term, so all agree on what belongs to which shard.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from retewave.compiler.algebra import Policy, ReportPolicy
from retewave.compiler.algebra import Query as Parsed
from retewave.compiler.plan.shape import Listener, shapes_of
from retewave.compiler.shares import Scheme, owned
from retewave.compiler.view_parts import ViewPart
from retewave.engine import image
from retewave.engine.engine import Engine
from retewave.engine.registry import Registry, read_query
from retewave.epsilon.axioms import Axiom
from retewave.epsilon.prefixes import absolute
from retewave.epsilon.schema import Schema
from retewave.epsilon.vocabulary import Triple
from retewave.errors import UsageError
from retewave.io.sinks.lists import joined
from retewave.query import Query
from retewave.repetitions import RepeatedPattern, repeated
from retewave.rete.pack import pack, unpack
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, OBJECT, PREDICATE, ROW_WIDTH, START, SUBJECT
from retewave.spark.driver.query_keys import looks_at_events, parts_of_views
from retewave.spark.driver.spread import check_on_shards, follows, queries_of, spread
from retewave.viz.explain.names import listed
from retewave.viz.explain.shards import ShardPlan, explain_shares, of_events
from retewave.windows.intervals import STATIC_END, STATIC_START, UNBOUNDED
from retewave.windows.times import Clock

__all__ = ["Image", "Job", "OneShardWarning", "Stated"]

KEPT_EXPLAINED = 10_000  # matches of an explained query that are kept, as those of rules explain what they have built
_FORMAT = 5  # of the state that shards keep; another format is another job


class OneShardWarning(UserWarning):
    """A query runs in one shard, because it cannot be spread."""


@dataclass(frozen=True)
class Image:
    """The state of a shard's network at a time."""

    arrays: Mapping[str, np.ndarray]  # by name
    counts: Mapping[str, Any]  # how far it had come
    fingerprint: str  # of a network that can go on from it


@dataclass(frozen=True)
class Stated:
    """A query as its author stated it."""

    parsed: Parsed  # the query
    name: str  # its name in the output
    part: ViewPart | None = None  # a view in two stages: what shards evaluate of it, and what is left for a last task

    def on_shard(self, shard: int | None) -> Parsed:
        """Return what a shard evaluates."""
        if self.part is None:
            return self.parsed
        inner = self.part.inner
        if shard != 0 or inner.view is None:
            return inner
        return replace(inner, view=replace(inner.view, part="first"))


@dataclass(frozen=True)
class Job:
    """Queries over a schema and static data, spread over shards."""

    queries: tuple[Stated, ...]  # in the order given
    axioms: tuple[Axiom, ...]  # the schema
    ontology: tuple[Triple, ...]  # the schema's triples, for queries that define events by them
    static: bytes  # packed static triples
    shards: int  # how many
    spread: tuple[Scheme, ...]  # how each shape is spread
    announces: bool  # static data alone makes matches: every shard reports its own at its first step
    follows: bool  # what a network holds follows from the rows of its windows; else its store has an image of it
    clocked: bool  # a view is spread: each shard needs the time of the latest item, also of those that others get
    plan: ShardPlan  # the description of it for people
    rate: float | None = None  # triples a second, if times are nominal
    start: int = 0  # microseconds: the time of the first triple at a rate
    time_property: str | None = None  # the IRI that tells a graph's time, if graphs tell it
    on_error: Literal["count", "raise"] = "count"  # the way to treat a malformed line
    lines: str | None = None  # the format in which shards write matches; None: they pack terms
    by_event: bool = False  # each event is whole in the shard of its instant; nothing relates events of two instants
    explained: bool = False  # matches tell what they are made of; only lines have a place for that

    @classmethod
    def of(
        cls,
        queries: Any,
        *,
        schema: Any = (),
        static: Any = (),
        shards: int = 8,
        rate: float | None = None,
        start: int = 0,
        time_property: str | None = None,
        allow_cartesian: bool = False,
        language: str | None = None,
        on_error: Literal["count", "raise"] = "count",
        sample: Any = None,
        policy: str | Policy | None = None,
        report: str | ReportPolicy | None = None,
        explain: bool = False,
        **options: Any,
    ) -> Job:
        """Plan queries (texts, paths, or a mapping from names to them) for a number of shards.

        `sample` is some of the stream, in any form that static data has: from it the planner learns how much of the
        stream each pattern takes and how uneven its terms are.  `policy`, and `report` for the views among them, hold
        for all queries.  `options` are those of `Engine` that concern data: datasets, imports, closure.
        """
        engine = Engine(schema, static, seed=0, allow_cartesian=allow_cartesian, **options)
        _register(engine, queries, language, report, policy=policy, explain=explain)
        facts = engine.datasets.static
        parts = {} if explain or shards == 1 else parts_of_views(engine)
        schemes, plan = spread(engine, shards, sample, rate)
        job = cls(
            tuple(Stated(query.parsed, query.name) for query in engine.queries),
            engine.datasets.schema.axioms,
            engine.datasets.schema.ontology if any(query.plan is not None for query in engine.queries) else (),
            pack(engine.terms, facts[:, [SUBJECT, PREDICATE, OBJECT]].T, []),
            shards,
            schemes,
            any(True for _ in engine.matcher.pour(np.empty((0, ROW_WIDTH), np.int64), Clock("float"))),
            all(follows(listener, query) for listener, query in queries_of(engine)),
            any(_views_of(engine, schemes)),
            plan,
            rate,
            start,
            None if time_property is None else absolute(time_property, "a time property"),
            on_error,
            explained=explain,
        )
        job = job._in_parts(parts, sample)
        if shards > 1 and not job.announces and all(looks_at_events(query) for query in engine.queries):
            job = replace(job, by_event=True, plan=of_events(plan))
        for each in job.plan.queries:
            if each.reason is not None:
                what = f"{listed(each.queries, each.count)} runs in one shard: {each.reason}"
                warnings.warn(what, OneShardWarning, stacklevel=2)
        return job

    def _in_parts(self, parts: Mapping[str, ViewPart], sample: Any) -> Job:
        """Return the job with views in two stages, as far as the shards' stage is spread."""
        while parts:
            queries = tuple(Stated(each.parsed, each.name, parts.get(each.name)) for each in self.queries)
            made = replace(self, queries=queries)
            engine = made.engine()
            schemes, plan = spread(engine, self.shards, sample, self.rate, parts)
            idle = {query.name for query in _in_one_shard(engine, schemes)} & parts.keys()
            if not idle:
                return replace(made, spread=schemes, plan=plan, clocked=any(_views_of(engine, schemes)))
            parts = {name: part for name, part in parts.items() if name not in idle}
        return self

    @property
    def last(self) -> bool:
        """Whether there are views of which a last task puts together what the shards send."""
        return any(each.part is not None and each.part.outer is not None for each in self.queries)

    @cached_property
    def digest(self) -> str:
        """A name of the job's meaning: equal jobs of different runs have the same name."""
        said = hashlib.sha256(self.static)
        said.update(Schema(self.axioms).digest.encode())
        said.update(repr(self.ontology).encode())
        for query in self.queries:
            parsed = query.parsed
            frame = None if parsed.view is None else (str(parsed.view.reporting), parsed.view.t0)
            said.update(repr(None if query.part is None else (query.part.inner.where, query.part.outer)).encode())
            said.update(repr((query.name, parsed.text, parsed.language, str(parsed.policy), frame)).encode())
        times = self.rate, self.start, self.time_property
        said.update(repr((_FORMAT, self.shards, self.spread, self.by_event, self.explained, *times)).encode())
        return said.hexdigest()

    @cached_property
    def format(self) -> str:
        """The format of its matches as text: that of `retewave run`, which writes ndjson where queries differ."""
        queries = self.engine(whole=True).queries
        if self.explained:
            return "ndjson"
        if all(query.plan is not None and query.plan.definitions.form == "RDF" for query in queries):
            return "nq"
        return "nt" if all(query.is_construct for query in queries) else "ndjson"

    @cached_property
    def tells_more(self) -> bool:
        """Whether matches as text tell more than terms: repetitions, a boolean, a detection with its parts, or why."""
        queries = self.engine(whole=True).queries
        return self.explained or any(
            query.plan is not None or query.repeated or query.parsed.form == "ASK" for query in queries
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold terms: one a projected variable of any query, then s, p and o if some query builds."""
        names = dict.fromkeys(name for each in self.queries for name in each.parsed.projection)
        if any(each.parsed.form == "CONSTRUCT" for each in self.queries):
            names |= dict.fromkeys(("s", "p", "o"))
        return tuple(names)

    @cached_property
    def repeated(self) -> tuple[RepeatedPattern, ...]:
        """The event patterns that sequences repeat: a column of lists each."""
        return joined(pattern for each in self.queries for pattern in repeated(each.parsed))

    @cached_property
    def retention(self) -> int:
        """How long a triple may matter, in microseconds."""
        widths = [listener.width for listener in self.engine().registry.listeners()]
        return max(widths, default=0)

    @property
    def unbounded(self) -> bool:
        """Whether some query has no window, so that rows are kept for ever; an image has no old rows."""
        return self.follows and self.retention >= UNBOUNDED

    def explain(self) -> str:
        """Return how the queries are spread, for people."""
        return explain_shares(self.plan)

    def engine(self, shard: int | None = None, kept: Image | None = None, *, whole: bool = False) -> Engine:
        """Make an engine that runs the queries: a shard's, or one that keeps everything; it may go on from an image.

        Of a view in two stages it runs the shards' stage, if not `whole`.
        """
        engine = Engine(seed=int(self.digest[:15], 16))
        if shard is not None:
            engine.registry = engine.matcher.registry = _Owned(self, shard, engine.registry)
        if kept is not None:
            image.put_terms(engine, kept.arrays)
        static = self._static(engine.terms) if kept is None else kept.arrays["static"]
        engine.datasets.put(Schema(self.axioms, ontology=self.ontology), static, ())
        for query in self.queries:
            engine.registry.add(
                query.parsed if whole else query.on_shard(shard), name=query.name, on_match=None,
                keep=KEPT_EXPLAINED if self.explained else 0, allow_cartesian=True, explained=self.explained,
                quiet=True,
            )  # fmt: skip
        if kept is not None and not image.put_network(engine, kept.arrays, kept.counts, kept.fingerprint):
            raise UsageError("this version plans the queries in another way than the one that wrote the checkpoint")
        return engine

    def _static(self, terms: Terms) -> np.ndarray:
        """Return the static data as rows."""
        ids, _ = unpack(terms, self.static)
        rows = np.zeros((ids.shape[1], ROW_WIDTH), np.int64)
        rows[:, : OBJECT + 1] = ids.T
        rows[:, START], rows[:, END] = STATIC_START, STATIC_END
        terms.pin(np.unique(ids))
        return rows


class _Owned(Registry):
    """The queries as one shard runs them."""

    def __init__(self, job: Job, shard: int, whole: Registry) -> None:
        super().__init__(network=whole.network, plan=whole.plan)
        self._job, self._shard = job, shard

    def listeners(self, numbers: Iterable[int] | None = None) -> list[Listener]:
        """Return the queries with the filters that keep the shard's own matches."""
        found = super().listeners(numbers)
        return (
            found
            if self._job.by_event
            else owned(found, shapes_of(found), self._job.spread, self._shard, self._job.shards)
        )


def _in_one_shard(engine: Engine, schemes: Iterable[Scheme]) -> Iterator[Query]:
    """Yield the queries of which some shape is not spread."""
    for shape, scheme in zip(shapes_of(engine.registry.listeners()), schemes, strict=True):
        if scheme.cells == 1:
            yield from (engine.registry.queries[member.listener.number] for member in shape.members)


def _register(
    engine: Engine, queries: Any, language: str | None, report: str | ReportPolicy | None, **options: Any
) -> None:
    """Register queries in any form that a user may give, if shards can run them; a report policy is for views."""
    for name, query in _named(queries):
        parsed = query if isinstance(query, Parsed) else read_query(query, language)
        reported = None if parsed.view is None else report
        check_on_shards(engine.register(parsed, name=name, keep=0, report=reported, **options))
    if report is not None and not any(query.is_view for query in engine.queries):
        raise UsageError("a report policy is for views, and all queries detect")


def _views_of(engine: Engine, schemes: Iterable[Scheme]) -> Iterator[bool]:
    """Yield, for each shape that is spread, whether a view has it."""
    for shape, scheme in zip(shapes_of(engine.registry.listeners()), schemes, strict=True):
        if scheme.cells > 1:
            yield any(engine.registry.queries[member.listener.number].is_view for member in shape.members)


def _named(queries: Any) -> list[tuple[str | None, str | Path | Parsed]]:
    """Return (name, query) of a query in any form that a user may give."""
    if isinstance(queries, str | Path | Parsed):
        return [(None, queries)]
    if hasattr(queries, "items"):
        return list(queries.items())
    return [(None, query) for query in queries]
