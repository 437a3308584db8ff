"""What an engine's queries may be spread by: what the planner of shares is told of them.

Data's way: engine -> **keys** -> `retewave.compiler.shares`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retewave.compiler import algebra
from retewave.compiler.algebra import BlankNode, Variable, walk
from retewave.compiler.algebra.detections import CompositeEvent
from retewave.compiler.expressions.tree import IMPURE, mentions
from retewave.compiler.lower.levels import fed_queries
from retewave.compiler.plan.plan import tested
from retewave.compiler.plan.shape import Shape, shapes_of
from retewave.compiler.rewrite.leaves import ViewLeaves
from retewave.compiler.rule_keys import keys_of_rules
from retewave.compiler.shares import Alone, names_for
from retewave.compiler.view_keys import key_of_view, reason_of_view
from retewave.compiler.view_parts import ViewPart, part_of_view
from retewave.engine.compiled import fed_atoms
from retewave.engine.engine import Engine
from retewave.query import Query

__all__ = ["QueryKeys", "keys_of_queries", "looks_at_events", "parts_of_views", "static_atoms"]

_READS = "it may read what a rule builds, which is in the rule's shard"
_BUILDS = "what a rule builds comes in again in its own shard, and who may read it has another key, or none"
_NEW = "a rule that makes new terms has them all in one shard"


@dataclass(frozen=True)
class QueryKeys:
    """What the planner of shares is told of queries, by their numbers."""

    compared: Mapping[int, frozenset[str]]  # those that compare their rows, and in which variables
    alone: Mapping[int, Alone]  # those that are in one shard as a whole
    anywhere: frozenset[tuple[int, int]]  # (query, branch) that may be in any shards
    feeding: frozenset[int]  # those that build triples or may read these


def keys_of_queries(engine: Engine, shapes: Sequence[Shape], parts: Mapping[str, ViewPart]) -> QueryKeys:
    """Return the keys of an engine's queries; `parts`: the views of which it runs the shards' stage, by name."""
    views = _view_keys(engine, shapes)
    views |= {query.number: parts[query.name].key for query in engine.queries if query.name in parts}
    meant = {query.number: _compared(query, views.get(query.number)) for query in engine.queries}
    compared = {number: names for number, names in meant.items() if names is not None}
    reasons = {
        query.number: None if query.name in parts else _reason(query.parsed, views.get(query.number))
        for query in engine.queries
    }
    alone = {number: Alone(reason) for number, reason in reasons.items() if reason is not None}
    rules = {query.number for query in engine.queries if query.parsed.is_rule}
    feeding = rules | {*fed_queries(engine.matcher.current().lowered)}
    chosen = _rule_keys(engine, shapes, feeding, compared) if feeding and not feeding & alone.keys() else None
    if chosen is None:
        alone |= {number: Alone(_alone_by_rules(reasons[number], number in rules)) for number in feeding}
    else:
        compared |= {number: frozenset((name,)) for number, name in chosen.items()}
    anywhere = frozenset(
        each
        for query in engine.queries
        for each in _anywhere(query, views.get(query.number), in_parts=query.name in parts)
    )
    return QueryKeys(compared, alone, anywhere, frozenset(feeding))


def static_atoms(engine: Engine) -> Collection[Any]:
    """Return the atoms that static data have triples of."""
    return fed_atoms(engine.datasets.static, engine.matcher.current().dispatch, engine.terms)


def looks_at_events(query: Query) -> bool:
    """Tell whether a query looks at each event by itself: no composite event relates it to others."""
    events = query.parsed.events
    return events is not None and not any(isinstance(each, CompositeEvent) for each in events.events)


# ---- rules ----
def _rule_keys(
    engine: Engine, shapes: Sequence[Shape], feeding: Collection[int], compared: Mapping[int, frozenset[str]]
) -> dict[int, str] | None:
    """Return a key for each query that builds triples or may read these; None: they are in one shard."""
    if any(engine.registry.queries[number].is_view for number in feeding):
        return None
    allowed = {
        number: names_for(shapes, number) & compared.get(number, names_for(shapes, number)) for number in feeding
    }
    return keys_of_rules(shapes, engine.matcher.current().dispatch, allowed)


def _alone_by_rules(reason: str | None, is_rule: bool) -> str:
    return reason or (_BUILDS if is_rule else _READS)


def _makes_terms(parsed: algebra.Query) -> bool:
    """Tell whether a rule makes terms that are new for each of its solutions."""
    parts = (part for triple in parsed.template for part in (triple.subject, triple.predicate, triple.object))
    expressions = (getattr(each, name, None) for each in walk(parsed.where) for name in ("expression", "condition"))
    return any(isinstance(part, BlankNode) for part in parts) or any(
        each is not None and mentions(each, IMPURE) for each in expressions
    )


# ---- views ----
def _view_keys(engine: Engine, shapes: Sequence[Shape]) -> dict[int, Variable | None]:
    """Return for each view the variable that it may be spread by."""
    views = _split_views(engine, shapes)
    return {query.number: key_of_view(query.parsed, split, streamed) for query, split, streamed in views}


def parts_of_views(engine: Engine) -> dict[str, ViewPart]:
    """Return how views that have no key run in two stages, by name, where they can."""
    if any(query.parsed.is_rule for query in engine.queries):
        return {}  # who reads what a rule builds is in the rule's shard
    found = dict[str, ViewPart]()
    for query, split, streamed in _split_views(engine, shapes_of(engine.registry.listeners())):
        if key_of_view(query.parsed, split, streamed) is None:
            part = part_of_view(query.parsed, split, [frozenset(map(Variable, each)) for each in streamed])
            found |= {} if part is None else {query.name: part}
    return found


def _split_views(engine: Engine, shapes: Sequence[Shape]) -> Iterator[tuple[Query, ViewLeaves, list[set[str]]]]:
    """Yield each view with its leaves, and for each leaf the variables of patterns that static data do not match."""
    fed, streamed = static_atoms(engine), dict[tuple[int, int], set[str]]()
    for shape in shapes:
        came = [{*of.columns} for of in map(tested, shape.patterns) if of.test.atom not in fed]
        for member in shape.members:
            names = {each.name for each, number in member.numbers.items() if any(number in part for part in came)}
            streamed[member.listener.number, member.branch] = names
    for query in engine.queries:
        if query.leaves is not None:
            yield query, query.leaves, [streamed[query.number, leaf] for leaf in range(len(query.leaves.leaves))]


def _anywhere(query: Query, key: Variable | None, *, in_parts: bool) -> Iterator[tuple[int, int]]:
    """Yield, as (query, branch), what only tells that a window has content, of triples that lack the view's key.

    Where there is a solution to report there are triples with its key, too, and those tell that.  In the parts of a
    view the solutions themselves do.
    """
    if query.leaves is None or (key is None and not in_parts):
        return
    for number, leaf in enumerate(query.leaves.leaves):
        if leaf.presence and (in_parts or key not in leaf.variables):
            yield query.number, number


# ---- all queries ----
def _compared(query: Query, key: Variable | None) -> frozenset[str] | None:
    """Return the variables in which a query compares its rows, if it does: equal rows must meet.

    Where DISTINCT compares solutions that are told once anyway, equal rows have equal solutions.  A view puts
    solutions together that have the same key.
    """
    if query.is_view:
        return None if key is None else frozenset((key.name,))
    if query.parsed.distinct:
        return frozenset(query.compared)
    return frozenset(query.solved) if query.parsed.solutions == "set" else None


def _reason(parsed: algebra.Query, key: Variable | None) -> str | None:
    """Return why a query is not spread, whatever its variables; None if that depends on these."""
    if parsed.is_rule and _makes_terms(parsed):
        return _NEW
    if parsed.view is not None:
        return reason_of_view(parsed) if key is None else None
    if parsed.events is not None:
        return "detections are related to each other whatever their individuals are"
    if parsed.policy.consumes:
        return f"POLICY {parsed.policy} uses up events, of which other shards may have triples, too: KEEP would not"
    return None
