"""The shard plan: the variables that spread each query, and the triples sent for it; as data and as text.

Data's way: shapes, schemes -> **shard plan** -> text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from retewave.compiler.algebra import Query
from retewave.compiler.plan.plan import tested
from retewave.compiler.plan.shape import Shape
from retewave.compiler.shares import Scheme
from retewave.compiler.view_parts import ViewPart
from retewave.viz.explain.names import MOST_LISTED, Prefixes, listed, pattern_parts

__all__ = ["PatternShare", "QueryShares", "ShardPlan", "describe_shares", "explain_shares", "of_events"]


@dataclass(frozen=True)
class PatternShare:
    """The shards to which the triples of a pattern go."""

    pattern: str  # in the query's variables
    shards: int  # the number of shards that a triple goes to
    lacks: tuple[str, ...]  # the share variables that it does not have


@dataclass(frozen=True)
class QueryShares:
    """How the queries of a shape are spread."""

    queries: tuple[str, ...]  # the first of them
    count: int  # how many they are
    shares: dict[str, int]  # variable -> the parts that its terms are divided into
    cells: int  # shards that have work
    busiest: float  # the busiest shard's part of the triples that the patterns take
    replication: float  # the shards that such a triple goes to, on average
    reason: str | None  # why the whole query is in one shard, if it is
    shard: int  # the number of that shard
    patterns: tuple[PatternShare, ...]  # in the order written
    decided: tuple[str, ...]  # the operators whose decisions look at other solutions, in the order met
    stages: tuple[tuple[str, str, str], ...] = ()  # views in two stages: name, what a shard sends, what is left to do
    by_event: bool = False  # events are spread by their instants, each whole


@dataclass(frozen=True)
class ShardPlan:
    """How all queries are spread."""

    shards: int  # how many there are
    prefixes: dict[str, str]  # label -> namespace, of the shortened names
    queries: tuple[QueryShares, ...]  # one item a shape


def describe_shares(
    shapes: Sequence[Shape], spread: Sequence[Scheme], queries: Mapping[int, tuple[str, Query]], shards: int,
    parts: Mapping[str, ViewPart] = MappingProxyType({}),
) -> ShardPlan:  # fmt: skip
    """Return how queries, by number (name, query), are spread over shards; `parts`: views in two stages, by name."""
    prefixes = Prefixes.of(pair for _, query in queries.values() for pair in query.prefixes)
    names = {number: name for number, (name, _) in queries.items()}
    found = tuple(_of_shape(*each, names, prefixes, parts) for each in zip(shapes, spread, strict=True))
    return ShardPlan(shards, dict(sorted(prefixes.used.items())), found)


def _of_shape(
    shape: Shape, scheme: Scheme, names: Mapping[int, str], prefixes: Prefixes, parts: Mapping[str, ViewPart]
) -> QueryShares:
    users = tuple(dict.fromkeys(names[member.listener.number] for member in shape.members))
    variables = {number: str(variable) for variable, number in shape.members[0].numbers.items()}
    patterns = []
    for pattern, copies in zip(shape.patterns, scheme.copies, strict=True):
        of = tested(pattern)
        places = {place: variables[number] for number, place in of.columns.items()}
        places |= {place: f"${number + 1}" for number, place in of.parameters.items()}
        missing = tuple(variables[v] for v, _ in scheme.shares if v not in of.columns)
        patterns.append(PatternShare(" ".join(pattern_parts(of.test, places, prefixes)), round(copies), missing))
    shares = {variables[variable]: parts for variable, parts in scheme.shares}
    staged = ((name, parts[name]) for name in users if name in parts)
    stages = [(name, part.sends, part.rest) for name, part in staged if part.outer is not None]
    return QueryShares(
        users[:MOST_LISTED], len(users), shares, scheme.cells, scheme.share_of_stream, scheme.replication,
        scheme.reason, scheme.first, tuple(patterns), _decided(shape),
        tuple(stages[:MOST_LISTED]),
    )  # fmt: skip


def _decided(shape: Shape) -> tuple[str, ...]:
    """Return the operators of a shape that need all rows that they look at in one shard."""
    if shape.branch is None:
        return ()
    found = [each.operator for each in shape.branch.all_probes if each.operator]
    return tuple(dict.fromkeys([*found, *(["the sequence"] if shape.branch.has_runs else [])]))


def of_events(plan: ShardPlan) -> ShardPlan:
    """Return the plan of queries that look at each event by itself: its triples are in one shard."""
    queries = (replace(each, reason=None, by_event=True, cells=plan.shards) for each in plan.queries)
    return replace(plan, queries=tuple(queries))


def explain_shares(plan: ShardPlan) -> str:
    """Return a shard plan as text."""
    lines = [_many(plan.shards)]
    lines += [f"  PREFIX {label}: <{namespace}>" for label, namespace in plan.prefixes.items()]
    for each in plan.queries:
        lines += _lines(each, plan.shards)
    return "\n".join(lines) + "\n"


def _lines(of: QueryShares, shards: int) -> Iterator[str]:
    yield ""
    yield f"{'query' if of.count == 1 else 'queries'} {listed(of.queries, of.count)}"
    yield f"  {_spread(of, shards)}"
    if of.decided and of.reason is None and of.shares:
        one = len(of.decided) == 1
        yield (
            f"  {' and '.join(of.decided)} {'is' if one else 'are'} decided in the shard of {' and '.join(of.shares)}, "
            f"which has all that {'it looks' if one else 'they look'} at"
        )
    for name, sends, rest in of.stages:
        yield f"  {name} in two stages: at each report a shard sends {sends}, and a last task does {rest}"
    for each in of.patterns:
        why = f", it has no {' and no '.join(each.lacks)}" if each.lacks else ""
        yield f"    {each.pattern}  -> {_many(each.shards)}{why}"


def _spread(of: QueryShares, shards: int) -> str:
    if of.reason is not None:
        return f"in shard {of.shard} only: {of.reason}"
    if of.by_event:
        return f"by the instant: all events of one are whole in one of {_many(shards)}"
    if not of.shares:
        return "in one shard"
    shares = " × ".join(f"{variable} in {parts:,} parts" for variable, parts in of.shares.items())
    idle = f" ({shards - of.cells} without work)" if of.cells < shards else ""
    return (
        f"by {shares}: {of.cells:,} of {_many(shards)}{idle}; the busiest gets {of.busiest:.0%} of what the "
        f"patterns take, a triple goes to {of.replication:.2f} shards"
    )


def _many(shards: int) -> str:
    return f"{shards:,} shard{'s' if shards != 1 else ''}"
