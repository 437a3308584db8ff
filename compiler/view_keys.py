"""The variable by which a view may be spread: each part of a report is made in the shard that has its key.

Data's way: algebra of a view with its leaves apart -> **its keys** -> schemes (`shares`).
A key is bound in all solutions that are put together, kept or grouped.  So each report is the union of what the shards
report, each of the content that has its part of the key.  The times of reports and the bounds of windows must not hang
on what came, for that may have come to another shard.  And each solution needs a triple that has come: a shard passes
over the reports of which it has nothing in its windows.
Left out: what has no key of its own, but parts that can be put together (`view_parts`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from retewave.compiler.algebra import (
    Ago,
    Distinct,
    Exists,
    ExistsValue,
    Extend,
    Extent,
    Filter,
    Fixed,
    Grouped,
    Inside,
    Join,
    Landmark,
    LeftJoin,
    Minus,
    Projected,
    Query,
    Sliding,
    Triples,
    Union,
    Values,
    Variable,
    ViewFrame,
)
from retewave.compiler.rewrite.leaves import LeafFound, ViewLeaves

__all__ = ["key_among", "key_of_view", "keys_within", "reason_of_frame", "reason_of_view", "shown"]


@dataclass(frozen=True)
class _Keys:
    """The variables that may be the key of a part of a view."""

    every: frozenset[Variable]  # all solutions that are put together agree in them
    streamed: frozenset[Variable]  # some triple that has come has it in each solution; among `every`


_NONE = _Keys(frozenset(), frozenset())


def key_of_view(query: Query, split: ViewLeaves, streamed: Sequence[Collection[str]]) -> Variable | None:
    """Return the variable by which a view may be spread; None: it is in one shard.  Most of its leaves have it.

    `streamed` has for each leaf the variables of those of its patterns that static data do not match.

    >>> from retewave.compiler.parse import parse
    >>> from retewave.compiler.rewrite.leaves import leaves_of
    >>> asked = "SELECT ?s (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 9s STEP 3s] { ?s <urn:p> ?o } GROUP BY ?s"
    >>> query = parse(asked)
    >>> str(key_of_view(query, leaves_of(query), [("s", "o")])), key_of_view(query, leaves_of(query), [()])
    ('?s', None)
    """
    if query.form == "ASK" or reason_of_frame(query.view) is not None:
        return None
    return key_among(_keys(query, split, [frozenset(map(Variable, each)) for each in streamed]), split)


def key_among(keys: Collection[Variable], split: ViewLeaves) -> Variable | None:
    """Return the key that most leaves of a view have."""
    leaves = [{*leaf.variables} for leaf in split.leaves]
    return max(keys, key=lambda key: (sum(key in each for each in leaves), key.name), default=None)


def keys_within(pattern: Any, streamed: Sequence[frozenset[Variable]]) -> frozenset[Variable]:
    """Return the variables that may be the key of a part of a view, each of whose solutions has a triple that came."""
    found = _keys_of(pattern, streamed)
    return frozenset() if found is None else found.streamed


def reason_of_view(query: Query) -> str:
    """Return why a view without a key is in one shard."""
    if query.form == "ASK":
        return "ASK looks at the whole content of the windows"
    return reason_of_frame(query.view) or (
        "no variable is in all that the view puts together and tells: GROUP BY such a variable, and select it"
    )


def _keys(query: Query, split: ViewLeaves, streamed: Sequence[frozenset[Variable]]) -> frozenset[Variable]:
    """Return the variables that may be the key of a whole view."""
    assert query.view is not None
    pattern, told = split.pattern, query.view.told
    if told == "RSTREAM" and isinstance(pattern, Projected):
        pattern = pattern.pattern  # rows are not compared, so they need not show their key
    found = _keys_of(pattern, streamed) or _NONE
    return found.streamed if told == "RSTREAM" else found.streamed & {Variable(name) for name in shown(query)}


def shown(query: Query) -> Collection[str]:
    """Return the names of the variables in which rows of two reports are compared."""
    if query.form == "SELECT":
        return query.projection
    parts = (part for triple in query.template for part in (triple.subject, triple.predicate, triple.object))
    return {part.name for part in parts if isinstance(part, Variable)}


def _keys_of(pattern: Any, streamed: Sequence[frozenset[Variable]]) -> _Keys | None:
    """Return the keys of a part of a view; None: it has the same solutions in all shards."""
    match pattern:
        case LeafFound(leaf, variables):
            return _Keys(frozenset(variables), streamed[leaf])
        case Triples(()) | Values():
            return None
        case Join(left, right):
            return _joined(_keys_of(left, streamed), _keys_of(right, streamed))
        case Union(left, right):
            mine, its = _keys_of(left, streamed), _keys_of(right, streamed)
            return None if mine is its else _united(mine or _NONE, its or _NONE)
        case LeftJoin(left, right) | Minus(left, right) | Exists(left, right) | ExistsValue(left, right):
            mine, its = _keys_of(left, streamed), _keys_of(right, streamed)
            return mine if its is None else _among(mine or _NONE, its.every)
        case Filter(_, inner) | Extend(inner) | Distinct(inner):
            return _keys_of(inner, streamed)
        case Projected(inner, shown) | Grouped(inner, shown):
            found = _keys_of(inner, streamed)
            return None if found is None else _among(found, frozenset(shown))
    return _NONE  # order, limits, paths, MATCH and f:timestamp look at everything


def _joined(one: _Keys | None, other: _Keys | None) -> _Keys | None:
    """Return the keys of a join: one streamed side is enough."""
    if one is None or other is None:
        return one or other
    both = one.every & other.every
    return _Keys(both, (one.streamed | other.streamed) & both)


def _united(one: _Keys, other: _Keys) -> _Keys:
    """Return the keys of two parts whose solutions are all there."""
    return _Keys(one.every & other.every, one.streamed & other.streamed)


def _among(keys: _Keys, shown: frozenset[Variable]) -> _Keys:
    return _Keys(keys.every & shown, keys.streamed & shown)


def reason_of_frame(frame: ViewFrame | None) -> str | None:
    """Return why the windows and reports of a view hang on what comes to all shards; None: they do not."""
    assert frame is not None
    moved = next((each.extent for each in frame.windows if not _is_fixed(each.extent)), None)
    if moved is not None:
        return f"what is in the window {moved} hangs on all items that come"
    if frame.reporting.policy == "change":
        return "REPORT CONTENT CHANGE: any change makes a report of everything; REPORT PERIODIC would not"
    if frame.reporting.non_empty and frame.told != "RSTREAM":
        return f"NON EMPTY with {frame.told}: whether there is a report hangs on all items that come"
    return None


def _is_fixed(extent: Extent) -> bool:
    """Tell whether the bounds of a window follow from the clock alone."""
    match extent:
        case Inside(outer, inner):
            return _is_fixed(outer) and _is_fixed(inner)
    return isinstance(extent, Sliding | Ago | Landmark | Fixed)
