"""Temporal patterns: operators that look at the intervals of the solutions that they combine.

Data's way: text -> parse -> **algebra** -> normal form -> plan -> network.
l and r are solutions of two patterns, n one of a pattern that must not be there.  `in the window` means: starts no
earlier than the time of the decision less the width of the innermost `Within` around the operator, and less the
query's range.  Bounds are inclusive.  When each operator decides stands beside it: at the arrival of the solution that
completes it, at the close of the instant, or at a deadline.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from retewave.compiler.algebra.graph import Algebra
from retewave.compiler.expressions.tree import Expression
from retewave.errors import Place

__all__ = [
    "After",
    "Before",
    "Between",
    "First",
    "Last",
    "OptionalBefore",
    "OptionalEquals",
    "Relate",
    "Within",
]


@dataclass(frozen=True)
class Relate:
    """SEQ, EQUALS and Allen's relations: both sides, compatible, whose intervals are so related.  At arrival."""

    left: Algebra  # written first
    relation: int  # a code of retewave.windows.relations
    right: Algebra  # written second
    place: Place | None = field(default=None, compare=False, repr=False)  # where the operator is written


@dataclass(frozen=True)
class Within:
    """{ … } WITHIN width: the solutions whose end less their start is at most the width.  At arrival."""

    pattern: Algebra  # the solutions whose length is bounded
    width: int  # microseconds
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class OptionalBefore:
    """optional OPTIONALSEQ pattern: each r with every compatible l in the window, l.end < r.start; or r alone.

    Decides at the arrival of r.
    """

    optional: Algebra  # l: written first, may be missing
    pattern: Algebra  # r: written second
    condition: Expression | None = None  # the optional group's own filters: they see the joined solution
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class OptionalEquals:
    """pattern EQUALSOPTIONAL optional: each l with every compatible r of equal bounds; or l alone.

    Decides at the close of the instant at which l ends.
    """

    pattern: Algebra  # l: written first
    optional: Algebra  # r: written second, may be missing
    condition: Expression | None = None  # the optional group's own filters: they see the joined solution
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Between:
    """before SEQ NOT absent SEQ after: l SEQ r without a compatible n, l.end < n.start and n.end < r.start.

    Decides at the arrival of r.
    """

    before: Algebra  # l
    absent: Algebra  # n
    after: Algebra  # r
    condition: Expression | None = None  # the absent group's own filters: they see all three; times are n's
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Before:
    """NOT absent SEQ pattern WITHIN width: r without a compatible n, r.end - width <= n.start and n.end < r.start.

    Decides at the arrival of r.  A solution that is longer than the width gives nothing.
    """

    absent: Algebra  # n
    pattern: Algebra  # r
    width: int  # microseconds
    condition: Expression | None = None  # the absent group's own filters: they see both; times are n's
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class After:
    """pattern SEQ NOT absent WITHIN width: l without a compatible n, l.end < n.start and n.end <= l.start + width.

    Decides at the deadline l.start + width, which is the end of the solution.  A longer solution gives nothing.
    """

    pattern: Algebra  # l
    absent: Algebra  # n
    width: int  # microseconds
    condition: Expression | None = None  # the absent group's own filters: they see both; times are n's
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class First:
    """FIRST { … }: the solutions such that no other solution in the window is earlier: by end, then by start.

    Decides at the instant of the whole pattern; as the left side of SEQ, among those before r and compatible with r.
    """

    pattern: Algebra  # the solutions among which is chosen
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class Last:
    """LAST { … }: the solutions such that no other solution in the window is later: by end, then by start.

    Decides at the instant of the whole pattern; as the left side of SEQ, among those before r and compatible with r.
    """

    pattern: Algebra  # the solutions among which is chosen
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written
