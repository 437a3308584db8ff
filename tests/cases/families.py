"""Kinds of queries in time, by what they are made of: together they try almost everything that can be drawn."""

from __future__ import annotations

from cases.temporal import ANYWHERE, OPERATORS

FILTERED = frozenset({"filter", "times"})
FAMILIES = {  # what a query is made of; together they try almost six thousand queries
    "all, two deep": (OPERATORS, 2),
    "all, four deep": (OPERATORS, 4),
    "order": (frozenset({"seq", "relate", "within", "join", "union", "values", "first", "last"}) | FILTERED, 4),
    "absence": (frozenset({"seq", "between", "before", "after", "within", "join"}) | FILTERED, 4),
    "may be missing": (frozenset({"optional", "minus", "exists", "join", "seq", "union", "extend"}) | FILTERED, 4),
    "choices": (
        frozenset({ANYWHERE, "first", "last", "seq", "between", "optionalseq", "relate", "within", "join"}) | FILTERED,
        4,
    ),
    "choices looked at": (
        frozenset(
            {ANYWHERE, "first", "last", "optional", "minus", "exists", "between", "seq", "join", "union", "within"}
        )
        | FILTERED,
        4,
    ),
    "choices at the ends": (
        frozenset(
            {ANYWHERE, "first", "last", "before", "after", "optionalseq", "equalsoptional", "seq", "join", "within"}
        )
        | FILTERED,
        3,
    ),
    "may be earlier": (frozenset({"optionalseq", "equalsoptional", "seq", "relate", "within", "join"}) | FILTERED, 4),
}
