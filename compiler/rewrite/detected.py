"""The branches of a query about events, as records: the rows that each of them finds, and how these are read.

Data's way: definitions + proofs -> **branches, by what they find** (`detections.py`) -> plan -> network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from retewave.compiler.algebra import (
    TemplateTriple,
    TriplePattern,
    Variable,
)
from retewave.compiler.algebra.detections import (
    CompositeEvent,
    Definitions,
    EventExpression,
    EventsInTime,
    operands_of,
)
from retewave.compiler.rewrite.branch import Branch
from retewave.epsilon.classes.unfolding import Atom, Part, Proof
from retewave.windows import relations

__all__ = ["BACKGROUND", "OWN", "BranchFound", "Detecting", "GuardUse", "Kind", "token_of"]

BACKGROUND = b"<urn:retewave:background>"  # the source of a pattern that static data alone must match
OWN = b"<urn:retewave:events:"  # how the names of predicates begin by which detections come in again

Kind: TypeAlias = Literal["logical", "composite", "came", "used", "rest", "told", "contradiction"]


@dataclass(frozen=True)
class BranchFound:
    """The rows that a branch finds."""

    kind: Kind  # how its rows are read
    event: int  # the number of the definition; of NOT: of the NOT; of a contradiction: of its pattern
    individual: Part = b""  # of a logical event: the term, or the number of the variable
    expression: EventExpression | None = None  # of a composite, and of the events that NOT takes away
    aliases: tuple[str, ...] = ()  # the parts that the branch has


@dataclass(frozen=True)
class GuardUse:
    """The patterns of a guard on an event's justifications."""

    number: int  # of all uses in the query
    event: int  # the number of the definition
    patterns: tuple[TriplePattern, ...]  # they are matched on the justification
    variables: tuple[Variable, ...]  # in the order of appearance


@dataclass
class Detecting:
    """The branches of a query about events, and how their rows are read."""

    definitions: Definitions  # the query's definitions
    base: str  # how the names of its own predicates and of its detections begin
    proofs: dict[bytes, tuple[Proof, ...]]  # of each logical event
    in_background: Callable[[Atom], bool]  # tells which patterns static data may match
    branches: list[Branch] = field(default_factory=list)
    found: list[BranchFound] = field(default_factory=list)  # by branch
    templates: list[tuple[TemplateTriple, ...]] = field(default_factory=list)  # by branch: triples that come in again
    axioms: list[tuple[str, ...]] = field(default_factory=list)  # by branch: axioms of its proof, but for ε's
    uses: list[GuardUse] = field(default_factory=list)  # of all guards
    hidden: list[str] = field(default_factory=list)  # the names of variables that rows must show
    notices: list[str] = field(default_factory=list)  # parts of the text that will hardly do what was meant

    @property
    def stream(self) -> bytes:
        """The stream on which detections come in again."""
        return f"<{self.base}>".encode()

    @cached_property
    def read(self) -> frozenset[bytes]:
        """The predicates of its own that its patterns name: nothing else comes in again."""
        patterns = (pattern for branch in self.branches for pattern in branch.all_patterns)
        return frozenset(each.predicate for each in patterns if isinstance(each.predicate, bytes))

    @cached_property
    def has_own_times(self) -> bool:
        """Whether a detection may tell another interval than its parts span: DURING tells its left side's."""
        composed = (each.pattern for each in self.definitions.events if isinstance(each, CompositeEvent))
        return any(_has_during(each) for each in composed)

    def predicate(self, kind: str, number: int, variable: str = "") -> bytes:
        """Return one of the query's own predicates."""
        return f"<{self.base}#{kind}{number}{'.' if variable else ''}{variable}>".encode()


def token_of(alias: str) -> Variable:
    """Return the variable of a part's token."""
    return Variable(f"_:.token.{alias}")


def _has_during(expression: EventExpression) -> bool:
    if isinstance(expression, EventsInTime) and expression.relation == relations.DURING:
        return True
    return any(map(_has_during, operands_of(expression)))
