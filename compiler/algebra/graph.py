"""Graph patterns: the operators that SPARQL has, without its syntax.

Data's way: text -> parse -> **algebra** -> normal form -> plan -> network.
Nodes are immutable and say nothing about order of evaluation; multiplicities are SPARQL's (bags).  A
constant is its canonical N-Triples text (`bytes`), a variable a `Variable`.
A solution has an interval: that of a triple is its item's, and what joins solutions takes the earliest start and the
latest end.  Which of the operators look at time, and how, is said beside each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from typing import Union as Either

from retewave.compiler.expressions.tree import Expression, Variable
from retewave.errors import Place

if TYPE_CHECKING:
    from retewave.compiler.algebra.relational import (
        Distinct,
        ExistsValue,
        Grouped,
        InGraph,
        InWindow,
        Matched,
        Ordered,
        PathClosure,
        Projected,
        SingleEvent,
        Sliced,
    )
    from retewave.compiler.algebra.sequence import Sequence
    from retewave.compiler.algebra.temporal import (
        After,
        Before,
        Between,
        First,
        Last,
        OptionalBefore,
        OptionalEquals,
        Relate,
        Within,
    )

__all__ = [
    "Algebra",
    "Exists",
    "Extend",
    "Filter",
    "Join",
    "LeftJoin",
    "Minus",
    "Row",
    "Term",
    "TriplePattern",
    "Triples",
    "Union",
    "Values",
]

Term: TypeAlias = bytes | Variable  # a constant's canonical text, or a variable
Row: TypeAlias = tuple[bytes | None, ...]  # a line of VALUES; None is UNDEF


@dataclass(frozen=True)
class TriplePattern:
    """A triple with variables in it.

    >>> str(TriplePattern(Variable("x"), b"<urn:p>", b'"5"'))
    '?x <urn:p> "5"'
    """

    subject: Term  # the term that the triple's subject must be
    predicate: Term  # its predicate
    object: Term  # its object
    source: bytes | None = None  # the IRI of the stream that must deliver it; None: any, or static data
    event: Variable | None = None  # the event that must have brought it; None: any, or static data
    streams: tuple[bytes, ...] = ()  # likewise the IRIs of streams, of which one must deliver it; none: any
    graph: bytes | None = None  # the IRI of the background graph that must hold it; None: any, or a stream
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written

    @property
    def terms(self) -> tuple[Term, Term, Term]:
        """Return subject, predicate and object."""
        return self.subject, self.predicate, self.object

    @property
    def variables(self) -> frozenset[Variable]:
        """Return the variables, hidden ones and that of the event included."""
        named = (self.event,) if self.event is not None else ()
        return frozenset((*(term for term in self.terms if isinstance(term, Variable)), *named))

    def __str__(self) -> str:
        return " ".join(term.decode() if isinstance(term, bytes) else str(term) for term in self.terms)


@dataclass(frozen=True)
class Triples:
    """A basic graph pattern: all of its triple patterns at once; none of them is the empty solution."""

    patterns: tuple[TriplePattern, ...]  # in the order written


@dataclass(frozen=True)
class Join:
    """Both sides, where they agree on the variables that they share."""

    left: Algebra  # written first
    right: Algebra  # written second


@dataclass(frozen=True)
class LeftJoin:
    """OPTIONAL: each left solution with every right one that ends no later; alone where there is none.

    Certain when the instant of the left solution's end is closed.
    """

    left: Algebra  # written first
    right: Algebra  # the side that may be missing
    condition: Expression | None = None  # the optional group's own filters: they see both sides
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Minus:
    """The left solutions that no right one ending no later is like, in at least one variable that both bind.

    Certain when the instant of the left solution's end is closed.
    """

    left: Algebra  # the solutions that are kept
    right: Algebra  # the solutions that are taken away
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Exists:
    """FILTER [NOT] EXISTS: the solutions for which a group has (or lacks) a compatible one that ends no later.

    Certain when the instant of the solution's end is closed.
    """

    pattern: Algebra  # the solutions that are kept
    group: Algebra  # the group that is looked for
    condition: Expression | None = None  # the group's own filters: they see both sides
    negated: bool = False  # NOT EXISTS
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Union:
    """The solutions of either side, with their multiplicities."""

    left: Algebra  # written first
    right: Algebra  # written second


@dataclass(frozen=True)
class Filter:
    """The solutions for which the expression is true; an error is not true."""

    expression: Expression  # sees the variables of `pattern` only
    pattern: Algebra  # the solutions that are filtered


@dataclass(frozen=True)
class Extend:
    """BIND: every solution with one variable more, which an error leaves unbound."""

    pattern: Algebra  # the solutions that are extended
    variable: Variable  # not visible in `pattern`
    expression: Expression  # sees the variables of `pattern` only


@dataclass(frozen=True)
class Values:
    """Inline data: one solution a row."""

    variables: tuple[Variable, ...]  # the columns
    rows: tuple[Row, ...]  # a bag


Algebra: TypeAlias = Either[
    Triples, Join, LeftJoin, Minus, Exists, Union, Filter, Extend, Values,
    "Relate", "Within", "OptionalBefore", "OptionalEquals", "Between", "Before", "After", "First", "Last", "Sequence",
    "Grouped", "Ordered", "Projected", "Distinct", "Sliced", "PathClosure", "ExistsValue", "InWindow", "InGraph",
    "SingleEvent", "Matched",
]  # fmt: skip
