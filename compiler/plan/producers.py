"""What a plan is made of: producers that refer to each other by number, and the ends of shapes.

Data's way: shapes -> planner -> **producers** -> `lower` -> the records of the network.
Equal producers are one: the number of an α test is found by its test, the number of a join by its inputs, keys and
filters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from retewave.compiler.expressions.tree import Expression
from retewave.compiler.plan.shape import Shape, Streams
from retewave.epsilon.atoms import Atom

__all__ = ["AlphaTest", "End", "Input", "Join", "Open", "Plan", "Producer", "SlotFilter", "Table"]


@dataclass(frozen=True)
class AlphaTest:
    """What single triples must pass."""

    atom: Atom  # constants
    equal: tuple[tuple[int, int], ...]  # places that must be equal (a variable that occurs twice)
    streams: Streams  # streams it hears; None: all
    columns: tuple[int, ...]  # places that are not one constant: what a memory behind it keeps


@dataclass(frozen=True)
class Table:
    """Inline data: rows that are there before the stream."""

    columns: int  # how many
    rows: tuple[tuple[bytes, ...], ...]  # a bag


@dataclass(frozen=True)
class SlotFilter:
    """A filter on the way into a memory, over the producer's columns."""

    expression: Expression  # with variables named `c0`, `c1`, … for the columns
    columns: frozenset[int]  # the columns it looks at


@dataclass(frozen=True)
class Input:
    """One input of a join: a producer, read under a key."""

    producer: int  # number of the producer
    keys: tuple[int, ...]  # the producer's columns that make the key
    filters: tuple[SlotFilter, ...] = ()  # what its tuples must pass first


@dataclass(frozen=True)
class Join:
    """A keyed join of two or more inputs; its columns are the key's, then each input's others, input by input."""

    inputs: tuple[Input, ...]  # sorted by producer, so that equal joins are equal
    origins: tuple[tuple[int, int], ...]  # a column: (input, the producer's column); (-1, i) for the key's i-th


Producer: TypeAlias = AlphaTest | Table | Join


@dataclass
class End:
    """Where a shape's complete tuples arrive."""

    producer: int  # number of the producer
    shape: Shape  # the shape
    columns: dict[int, int]  # the shape's variable -> the producer's column
    parameters: tuple[int, ...]  # the producer's columns that hold the open constants, by their numbers
    pushed: frozenset[Expression]  # filters, over the shape's variables, that the plan holds before its end
    leaves: tuple[int, ...]  # the leaves below, depth first: which pattern of the branch, or table behind them, each is


@dataclass
class Plan:
    """A graph of producers, and the ends of all shapes."""

    producers: list[Producer] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    _numbers: dict[Producer, int] = field(default_factory=dict)

    def number(self, producer: Producer) -> int:
        """Return the number of a producer; equal producers have one."""
        if producer not in self._numbers:
            self._numbers[producer] = len(self.producers)
            self.producers.append(producer)
        return self._numbers[producer]


@dataclass(frozen=True)
class Open:
    """A producer that waits to be joined."""

    producer: int  # its number
    columns: dict[int, int]  # the shape's variable -> the producer's column
    parameters: dict[int, int]  # the open constant's number -> the producer's column
    static: bool  # has rows before the stream starts
    leaves: tuple[int, ...]  # see End
