"""The parts of a view that it keeps from report to report, and the parts that it evaluates at each report.

Data's way: leaves of a view -> **words** -> explanations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retewave.compiler.algebra import (
    Distinct,
    Exists,
    ExistsValue,
    Extend,
    Filter,
    Grouped,
    Join,
    LeftJoin,
    Minus,
    Ordered,
    Query,
    Sliced,
    Union,
)
from retewave.compiler.algebra.walk import operands
from retewave.compiler.rewrite.kept import GroupsFound, goes_by_changes, groups_in, with_groups
from retewave.compiler.rewrite.leaves import LeafFound, MatchFound, PathFound, ViewLeaves

__all__ = ["NOTHING", "evaluated_of", "kept_of"]

NOTHING = "nothing more"  # is evaluated at reports

_NAMED: dict[type, str] = {
    Join: "joins of parts",
    LeftJoin: "OPTIONAL",
    Minus: "MINUS",
    Exists: "EXISTS",
    ExistsValue: "EXISTS",
    Union: "UNION",
    Filter: "FILTER or HAVING",
    Extend: "expressions",
    Grouped: "GROUP BY",
    Distinct: "DISTINCT",
    Ordered: "ORDER BY",
    Sliced: "LIMIT or OFFSET",
    PathFound: "paths",
    MatchFound: "MATCH",
}


def kept_of(split: ViewLeaves, part: int) -> str:
    """Say what a view keeps of a leaf: solutions, and perhaps groups of them."""
    leaf = split.leaves[part]
    if leaf.presence:
        return "when its triples come and go"
    if leaf.event is not None:
        return "its solutions, by events"
    groups = (each for each in groups_in(with_groups(split.pattern)) if each.leaf.leaf == part)
    return ", and ".join(("its solutions", *dict.fromkeys(map(_spelled, groups))))


def _spelled(groups: GroupsFound) -> str:
    keys = " ".join(map(str, groups.keys))
    named = (f"{call.function} DISTINCT" if call.distinct else call.function for _, call in groups.aggregates)
    calls = ", ".join(dict.fromkeys(named))
    return f"groups{' by ' if keys else ''}{keys}{' with ' if calls else ''}{calls}"


def evaluated_of(split: ViewLeaves, query: Query) -> str:
    """Say what of a view is evaluated at each report."""
    pattern = with_groups(split.pattern)
    named = ", ".join(dict.fromkeys(_names(pattern))) or NOTHING
    if goes_by_changes(pattern, query):
        return f"{named}, of what has come and gone"
    return named


def _names(pattern: Any) -> Iterator[str]:
    """Yield the operators that a report evaluates, from the outside in."""
    if type(pattern) in _NAMED:
        yield _NAMED[type(pattern)]
    if isinstance(pattern, PathFound):
        yield from _names(pattern.path.step)
    elif not isinstance(pattern, LeafFound | GroupsFound | MatchFound):
        for each in operands(pattern):
            yield from _names(each)
