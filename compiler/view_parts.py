"""A view in two stages: what each shard evaluates of it, and what is left for a last task.

Data's way: algebra of a view without a key -> **its part in the shards, and the rest** -> schemes (`shares`); Spark.
From the outside in, the algebra is a chain: LIMIT, DISTINCT, SELECT, ORDER BY, HAVING, GROUP BY, and then what finds
solutions.  Somewhere in the chain the solutions can be spread: by a key (`view_keys`), or as each is found by itself,
in one shard.  That part runs in the shards.  At each report a shard sends what the rest needs of it:

* partial aggregates of its groups, where these can be put together: COUNT, SUM, AVG, MIN, MAX, SAMPLE, GROUP_CONCAT;
* where LIMIT cuts rows in order, as many of its own first rows; where there is DISTINCT, each row once;
* where rows are only compared with those of the report before, the rows that have come and gone: their balance over
  all shards is what is new or gone;
* else its solutions, with the variables that the rest looks at.

Invariant: evaluated over what all shards send of a report, the rest gives the rows of the whole view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from retewave.compiler.algebra import (
    AggregateCall,
    Distinct,
    Extend,
    Filter,
    Grouped,
    Join,
    Ordered,
    Projected,
    Query,
    Sliced,
    Triples,
    Union,
    Values,
    visible,
)
from retewave.compiler.expressions.tree import Call, Constant, Operation, Variable, variables
from retewave.compiler.rewrite.leaves import LeafFound, ViewLeaves
from retewave.compiler.view_keys import key_among, keys_within, reason_of_frame, shown

__all__ = ["ViewPart", "part_of_view"]

_CHAIN = (Projected, Distinct, Sliced, Ordered, Grouped, Filter, Extend)
_REPEATABLE = ("MIN", "MAX", "SAMPLE")  # the same with each value once, or many times
_AGAIN = {"COUNT": "SUM", "SUM": "WHOLE_SUM", "MIN": "MIN", "MAX": "MAX", "SAMPLE": "SAMPLE"}
_NOTHING = Constant(b'"0"^^<http://www.w3.org/2001/XMLSchema#integer>')


@dataclass(frozen=True)
class ViewPart:
    """A view in two stages."""

    inner: Query  # what each shard evaluates; its rows are sent
    outer: Any  # what the last task evaluates over `LeafFound(0, …)`: all rows that were sent; None: they are the rows
    key: Variable | None  # by which the shards' part is spread; None: by shares of any variables
    sends: str  # what a shard sends at a report, for people
    rest: str  # what the last task does, for people; nothing where there is none


def part_of_view(query: Query, split: ViewLeaves, streamed: Sequence[frozenset[Variable]]) -> ViewPart | None:
    """Return how a view without a key runs in two stages; None: it is in one shard.

    `streamed` has for each leaf the variables of those of its patterns that static data do not match.

    >>> from retewave.compiler.parse import parse
    >>> from retewave.compiler.rewrite.leaves import leaves_of
    >>> query = parse("SELECT (AVG(?o) AS ?n) FROM STREAM <urn:s> [RANGE 9s STEP 3s] { ?s <urn:p> ?o }")
    >>> part = part_of_view(query, leaves_of(query), [frozenset((Variable("s"),))])
    >>> part.sends, part.rest
    ('partial aggregates', 'GROUP BY')
    """
    if reason_of_frame(query.view) is not None:
        return None
    found = _base(query.where, split.pattern, split, streamed)
    if found is None:
        return None
    above, base, key = found
    if not any(isinstance(each, Grouped | Ordered | Distinct | Sliced) for each in above) and query.form != "ASK":
        return _of_rows(query, key)
    first = above[-1] if above else None
    if isinstance(first, Grouped):
        partial = _partial(first, base)
        sent, rest, sends = partial or _all_solutions(above, base, query)
        rest = rest if partial is None else _around(above[:-1], rest)
    else:
        sent, rest, sends = _cut(above, base, query)
    return ViewPart(_inner(query, sent), rest, key, sends, _words(above, query))


def _base(
    raw: Any, split: Any, leaves: ViewLeaves, streamed: Sequence[frozenset[Variable]]
) -> tuple[list[Any], Any, Variable | None] | None:
    """Return the outermost part that can be spread, its key, and the chain above it from the outside in."""
    above: list[Any] = []
    while True:
        if _is_linear(split, streamed):
            return above, raw, None
        if keys := keys_within(split, streamed):
            return above, raw, key_among(keys, leaves)
        if type(raw) is not type(split) or not isinstance(raw, _CHAIN):
            return None
        above.append(raw)
        raw, split = raw.pattern, split.pattern


def _is_linear(pattern: Any, streamed: Sequence[frozenset[Variable]]) -> bool:
    """Tell whether each solution is found by itself, with a triple that has come."""
    match pattern:
        case LeafFound(leaf):
            return bool(streamed[leaf])
        case Filter(_, inner) | Extend(inner) | Projected(inner):
            return _is_linear(inner, streamed)
        case Union(left, right):
            return _is_linear(left, streamed) and _is_linear(right, streamed)
        case Join(left, Values() | Triples(())):
            return _is_linear(left, streamed)
        case Join(Values() | Triples(()), right):
            return _is_linear(right, streamed)
    return False


def _inner(query: Query, sent: Any) -> Query:
    """Return the query of the shards, which shows all that it sends."""
    assert query.view is not None
    names = tuple(each.name for each in visible(sent))
    frame = replace(query.view, told="RSTREAM", part="other")
    return replace(query, form="SELECT", where=sent, projection=names, template=(), distinct=False, view=frame)


# ---- rows that are told, or compared, as they are ----
def _of_rows(query: Query, key: Variable | None) -> ViewPart:
    """Return the parts of a view of which all rows are found in the shards."""
    assert query.view is not None
    if query.view.told == "RSTREAM":
        return ViewPart(replace(query, view=replace(query.view, part="other")), None, key, "its rows", "")
    rows = tuple(map(Variable, sorted(shown(query)) if query.form != "SELECT" else query.projection))
    inner = _inner(query, Projected(query.where, rows))
    assert inner.view is not None
    inner = replace(inner, view=replace(inner.view, told="CHANGES"))
    return ViewPart(inner, LeafFound(0, rows), key, "the rows that have come and gone", query.view.told)


# ---- groups ----
def _partial(grouped: Grouped, base: Any) -> tuple[Any, Any, str] | None:
    """Return GROUP BY in two stages; None: some aggregate has no parts that can be put together."""
    mine: list[tuple[Variable, AggregateCall]] = []
    whole: list[tuple[Variable, AggregateCall]] = []
    means: list[tuple[Variable, Variable, Variable]] = []

    def part(variable: Variable, what: str, inner: AggregateCall, again: AggregateCall) -> None:
        own = Variable(f"_:.part.{what}.{variable.name}")
        mine.append((own, inner))
        whole.append((variable, replace(again, argument=own)))

    for variable, call in grouped.aggregates:
        if call.distinct and call.function not in _REPEATABLE:
            return None
        if call.function == "AVG":
            total, count = (Variable(f"_:.{what}.{variable.name}") for what in ("sum", "count"))
            part(total, "of", replace(call, function="PARTIAL_SUM"), replace(call, function="WHOLE_SUM"))
            part(count, "of", AggregateCall("COUNT", None), AggregateCall("SUM", None))
            means.append((variable, total, count))
        elif call.function == "GROUP_CONCAT":
            part(variable, "of", call, call)
        else:
            inner = replace(call, function="PARTIAL_SUM") if call.function == "SUM" else call
            part(variable, "of", inner, AggregateCall(_AGAIN[call.function], None))  # type: ignore[arg-type]
    sent = Grouped(base, grouped.keys, tuple(mine))
    received: Any = LeafFound(0, visible(sent))
    rest: Any = Grouped(received, grouped.keys, tuple(whole), grouped.implicit)
    for variable, total, count in means:
        none = Operation("=", (count, _NOTHING))
        rest = Extend(rest, variable, Call("IF", (none, _NOTHING, Operation("/", (total, count)))))
    return sent, rest, "partial aggregates"


def _all_solutions(above: Sequence[Any], base: Any, query: Query) -> tuple[Any, Any, str]:
    """Return the parts of a view whose rest needs all solutions."""
    sent = Projected(base, _needed(above, base, query))
    return sent, _around(above, LeafFound(0, sent.variables)), "its solutions"


# ---- order, DISTINCT, LIMIT ----
def _cut(above: Sequence[Any], base: Any, query: Query) -> tuple[Any, Any, str]:
    """Return the parts of a view whose rows are put in order, made different or cut; shards do so with their own."""
    if query.form == "ASK":
        return Sliced(Projected(base, ()), 0, 1), LeafFound(0, ()), "whether it has a solution"
    needed = _needed(above, base, query)
    words, found, projected = ["its"], base, False
    for each in reversed(above):
        if isinstance(each, Ordered) and not projected:
            found = Ordered(found, each.keys)
        elif isinstance(each, Projected):
            projected = True  # an order of what it shows is not that of what it hides
        elif isinstance(each, Distinct) and {*needed} <= {*visible(each)}:
            found = Distinct(Projected(found, needed))
            words.append("different")
        elif isinstance(each, Sliced) and each.limit is not None:
            found = Sliced(found, 0, each.offset + each.limit)
            words.insert(0, f"the first {each.offset + each.limit} of")
            break
        else:
            break
    sent = Projected(found, needed)
    return sent, _around(above, LeafFound(0, needed)), f"{' '.join(words)} solutions"


def _needed(above: Sequence[Any], base: Any, query: Query) -> tuple[Variable, ...]:
    """Return the variables of solutions that the chain above them looks at, or shows."""
    needed = {Variable(name) for name in shown(query)}
    everything = False
    for each in above:
        match each:
            case Projected(_, names):
                needed, everything = {*names}, False
            case Distinct():
                everything = True
            case Ordered(_, keys):
                needed |= {name for key in keys for name in variables(key.expression)}
            case Filter(expression) | Extend(_, _, expression):
                needed |= variables(expression)
            case Grouped(_, names, aggregates):
                needed, everything = {*names}, False
                for _, call in aggregates:
                    needed |= set() if call.argument is None else variables(call.argument)
                    everything = everything or (call.argument is None and call.distinct)
    return tuple(each for each in visible(base) if everything or each in needed)


def _around(above: Sequence[Any], rest: Any) -> Any:
    """Return a chain around another pattern than its own."""
    for each in reversed(above):
        rest = replace(each, pattern=rest)
    return rest


def _words(above: Sequence[Any], query: Query) -> str:
    """Name what the last task does, for people."""
    assert query.view is not None
    names: dict[type, str] = {
        Grouped: "GROUP BY", Filter: "HAVING", Ordered: "ORDER BY", Distinct: "DISTINCT", Sliced: "LIMIT",
    }  # fmt: skip
    found = [names[type(each)] for each in reversed(above) if type(each) in names]
    found += ["ASK"] if query.form == "ASK" else []
    found += [query.view.told] if query.view.told != "RSTREAM" else []
    return ", ".join(dict.fromkeys(found))
