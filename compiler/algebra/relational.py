"""Operators that only views have: solutions as relations, graphs by name, paths without a bound.

Data's way: text -> parse -> **algebra** -> plan of a view -> reports.
Each of them looks at all solutions of a report at once, so none has a meaning for single tokens: a query that has one
of them is a view.  Meanings are those of SPARQL 1.1, section 18.
An operator reads its *active graph*: the default graph (background data, and the windows without a name), or what the
innermost `InWindow` or `InGraph` around it names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from retewave.compiler.algebra.graph import Algebra, Term
from retewave.compiler.expressions.tree import Expression, Variable
from retewave.errors import Place

__all__ = [
    "RELATIONAL",
    "AggregateCall",
    "AggregateName",
    "Distinct",
    "ExistsValue",
    "Grouped",
    "InGraph",
    "InWindow",
    "Matched",
    "Ordered",
    "PathClosure",
    "Projected",
    "SingleEvent",
    "Sliced",
    "SortKey",
]

AggregateName: TypeAlias = Literal[
    "COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT",
    "PARTIAL_SUM",  # SUM of a part, that no rounding has touched; no language has it
    "WHOLE_SUM",  # SUM, of partial sums
]  # fmt: skip


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate function with its argument."""

    function: AggregateName  # which
    argument: Expression | None  # the expression whose values are aggregated; None: COUNT(*)
    distinct: bool = False  # of different values only
    separator: str = " "  # between the strings of GROUP_CONCAT


@dataclass(frozen=True)
class Grouped:
    """GROUP BY, and every query with an aggregate: one solution for each group.

    An expression as a key is an `Extend` inside `pattern`.  HAVING is a `Filter` around it.
    """

    pattern: Algebra  # the solutions that are grouped
    keys: tuple[
        Variable, ...
    ]  # solutions that agree in these are a group; none: all are one group, also if there are none
    aggregates: tuple[tuple[Variable, AggregateCall], ...]  # bound beside the keys
    implicit: bool = False  # no GROUP BY is written: no solutions are one empty group


@dataclass(frozen=True)
class SortKey:
    """One condition of ORDER BY."""

    expression: Expression  # the expression whose values are compared
    descending: bool = False  # the greatest first


@dataclass(frozen=True)
class Ordered:
    """ORDER BY: the same solutions, in order."""

    pattern: Algebra  # the solutions that are ordered
    keys: tuple[SortKey, ...]  # the first decides, then the second …


@dataclass(frozen=True)
class Projected:
    """SELECT of a subquery, and of a view: no other variables are seen outside."""

    pattern: Algebra  # the solutions that are projected
    variables: tuple[Variable, ...]  # the variables that stay


@dataclass(frozen=True)
class Distinct:
    """SELECT DISTINCT: each different solution once, at its first place."""

    pattern: Algebra  # the solutions that may have duplicates


@dataclass(frozen=True)
class Sliced:
    """LIMIT and OFFSET."""

    pattern: Algebra  # the solutions that are cut
    offset: int = 0  # how many solutions are left out at the beginning
    limit: int | None = None  # how many there are at most; None: all


@dataclass(frozen=True)
class PathClosure:
    """A path with `*`, `+` or `?`: pairs of terms that steps connect, each pair once.

    `step` has the variables `source` and `target`: its solutions are the pairs that one step connects.
    """

    start: Term  # where the path begins
    end: Term  # where it ends
    step: Algebra  # one step; reads the active graph
    source: Variable  # in `step`: where the step begins
    target: Variable  # in `step`: where it ends
    least: Literal[0, 1] = 1  # how many steps there are at least: 0 for `*` and `?`
    most: Literal[1] | None = None  # how many there are at most: 1 for `?`; None: any number
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class ExistsValue:
    """EXISTS inside an expression: each solution, with a variable that says whether a group has a compatible one."""

    pattern: Algebra  # the solutions that are kept
    group: Algebra  # the group that is looked for
    variable: Variable  # bound to true or false; hidden
    condition: Expression | None = None  # the group's own filters: they see both sides
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class InWindow:
    """WINDOW name { … }: the pattern, read from the content of a window; a variable ranges over all named windows."""

    window: Term  # the window's IRI, or a variable, which is bound to it
    pattern: Algebra  # the pattern that is read there
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class InGraph:
    """GRAPH name { … }: the pattern, read from a named background graph; a variable ranges over all of them."""

    graph: Term  # the graph's IRI, or a variable, which is bound to it
    pattern: Algebra  # the pattern that is read there
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class SingleEvent:
    """EVENT ON window { … }: the pattern, read from each event of a window alone; solutions have the event's time.

    It stands in `Matched` only, alone or under `Relate` (SEQ), `First` and `Last`.
    """

    window: bytes  # the window's IRI
    pattern: Algebra  # the pattern that is looked for in each event
    name: str | None = None  # AS: its name in MATCH
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Matched:
    """MATCH { … }: the solutions of event patterns, as a set of (bindings, start, end), without their times."""

    pattern: Algebra  # `SingleEvent`s under `Relate`, `First` and `Last`
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


RELATIONAL = (Grouped, Ordered, Projected, Distinct, Sliced, PathClosure, ExistsValue, InWindow, InGraph, Matched)
