"""Build the sequence of a query: its steps, each with the patterns of its GPMs and their conditions.

Data's way: steps as written + definitions -> **sequence** -> normal form.
Laws: patterns are read from the left, so that each knows what earlier ones can bind; conditions are read when all
patterns are known.  A group variable is bound by a step that repeats, by none before it, and partitions nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from retewave.compiler.algebra import Both, Either, Occurs, Operand, Sequence, SequenceStep, Variable, visible
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule, token, trees_of
from retewave.compiler.languages.spaseq.checks import check_ends, check_partition, tell_rebound, tell_twice
from retewave.compiler.languages.spaseq.clauses import Clauses
from retewave.compiler.languages.spaseq.conditions import Sight, conditioned
from retewave.compiler.languages.spaseq.context import SequenceContext
from retewave.compiler.languages.spaseq.definitions import Definition, defined, no_such_gpm, tell_unused
from retewave.compiler.languages.spaseq.events import Read, read_event
from retewave.compiler.languages.spaseq.steps import WrittenStep, names_in, written_steps

__all__ = ["sequence"]

_KINDS: dict[str, type[Both] | type[Either]] = {"both": Both, "either": Either}


@dataclass(frozen=True)
class _Connected:
    """Operands that & or | connects."""

    kind: type[Both] | type[Either]  # which of the two
    left: _Reading  # written first
    right: _Reading  # written second


_Reading: TypeAlias = Read | _Connected


def sequence(seq: ParseTree, gpms: list[ParseTree], clauses: Clauses, context: SequenceContext) -> Sequence:
    """Build the sequence of a query; what stands around it sees the group variables that the context then has."""
    definitions = defined(gpms, clauses.streams, context)
    written = written_steps(seq, context)
    names = [name for step in written for name in names_in(step.operand)]
    for name in names:
        if name not in definitions:
            raise no_such_gpm(name, definitions, context)
    tell_unused(definitions, names, context)
    tell_twice(names, context)
    check_ends(written, clauses.width, seq, context)
    return _Builder(definitions, written, clauses, context).built(seq)


class _Builder:
    """The state of building the steps."""

    def __init__(
        self, definitions: dict[str, Definition], written: list[WrittenStep], clauses: Clauses, context: SequenceContext
    ) -> None:
        self.definitions = definitions
        self.written = written
        self.clauses = clauses
        self.context = context
        self.readings: list[_Reading] = []  # of each step
        self.bound: list[dict[Variable, str]] = []  # by step: variable of earlier steps -> a GPM that binds it

    def built(self, seq: ParseTree) -> Sequence:
        bound: dict[Variable, str] = {}
        for step in self.written:
            reading = self._read(step.operand, bound)
            self.readings.append(reading)
            self.bound.append(bound)
            if step.occurs is not Occurs.NEVER:
                bound = {**_binds(reading), **bound}
        check_partition(self.clauses.partition, list(self._reads()), self.context)
        steps = tuple(self._step(number) for number in range(len(self.written)))
        clauses = self.clauses
        return Sequence(
            steps,
            tuple(dict.fromkeys(stream.iri for stream in clauses.streams.values())),
            tuple(clauses.partition),
            clauses.width,
            clauses.tumbling,
            clauses.past_last,
            self.context.source.place(seq),
        )

    def _reads(self) -> Iterator[Read]:
        for reading in self.readings:
            yield from _reads(reading)

    def _read(self, tree: ParseTree, before: dict[Variable, str]) -> _Reading:
        """Read the patterns of a step."""
        if rule(tree) == "gpm_name":
            return read_event(self.definitions[token(tree)], before, self.context)
        kind, (first, *others) = _KINDS[rule(tree)], trees_of(tree)
        whole = self._read(first, before)
        for other in others:
            known = {**_binds(whole), **before} if kind is Both else before
            whole = _Connected(kind, whole, self._read(other, known))
        return whole

    def _step(self, number: int) -> SequenceStep:
        """Build a step, whose conditions see what the steps before it bind."""
        step, before = self.written[number], self.bound[number]
        binds, context = _binds(self.readings[number]), self.context
        if step.occurs is not Occurs.NEVER:
            tell_rebound(binds, context.groups, step.at, context)
        context.repeated = frozenset()
        if step.occurs in (Occurs.SOME, Occurs.MOST):
            anew = {
                each: name for each, name in binds.items() if each not in before and each not in self.clauses.partition
            }
            context.repeated = frozenset(anew)
            context.groups |= anew
        operand = self._conditioned(self.readings[number], self._sight(number))
        context.repeated = frozenset()
        return SequenceStep(operand, step.occurs, step.follows, step.between, context.source.place(step.at))

    def _sight(self, number: int) -> Sight:
        """Return what the conditions of a step see."""
        seen, later = dict(self.bound[number]), dict[Variable, str]()
        absent = self.written[number].occurs is Occurs.NEVER
        for step, reading in zip(self.written[number + 1 :], self.readings[number + 1 :], strict=True):
            if step.occurs is not Occurs.NEVER:
                (seen if absent else later).update({**_binds(reading), **(seen if absent else later)})
                absent = False
        return Sight(seen, later)

    def _conditioned(self, reading: _Reading, sight: Sight) -> Operand:
        if isinstance(reading, Read):
            return conditioned(reading, sight, self.context)
        left, right = sight, sight
        if reading.kind is Both:
            right = sight.beside(_binds(reading.left))
            left = Sight(sight.seen, {**_binds(reading.right), **sight.later})
        return reading.kind(self._conditioned(reading.left, left), self._conditioned(reading.right, right))


def _reads(reading: _Reading) -> Iterator[Read]:
    if isinstance(reading, Read):
        yield reading
    else:
        yield from _reads(reading.left)
        yield from _reads(reading.right)


def _binds(reading: _Reading) -> dict[Variable, str]:
    """Return the variables that a step can bind, and for each of them a GPM that does."""
    found: dict[Variable, str] = {}
    for read in _reads(reading):
        for each in visible(read.pattern):
            if not each.hidden:
                found.setdefault(each, read.name)
    return found
