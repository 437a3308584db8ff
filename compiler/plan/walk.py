"""Walk a plan: the one place that knows which producers have inputs, and what each of them calls its columns.

Data's way: plan -> **what an end reaches** -> explanations, drawings, why-not, the inspector.
An end reaches a tree: its producer, the inputs of that, and so on down to triple patterns and inline tables.  Ends
share producers, so a producer may be in many trees, with other names in each.
Invariant: the leaves of an end's tree are the patterns and inline tables of its branch, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from retewave.compiler.plan.producers import START, End, Input, Join, Plan, Probe, Producer
from retewave.compiler.plan.shape import Member
from retewave.windows.intervals import AFTER_ALL

__all__ = ["Reached", "depths", "input_names", "inputs_of", "lasting", "lookbacks", "reached", "users_of"]


@dataclass(frozen=True)
class Reached:
    """A producer as one end reaches it."""

    number: int  # of the producer
    producer: Producer  # the producer
    names: Mapping[int, str]  # its columns in the words of a member: ?x, or $1 for the first open constant
    leaf: int  # which of the branch's patterns, counted on through its inline tables; -1: none, it is a join
    above: Input | None  # as which input of a join it is read; None at the end itself
    inputs: tuple[Reached, ...] = ()  # what is below, input by input

    def walk(self) -> Iterator[Reached]:
        """Yield this and all that is below, depth first, each before its inputs."""
        yield self
        for each in self.inputs:
            yield from each.walk()

    def leaves(self) -> Iterator[Reached]:
        """Yield the patterns and inline tables, in the order of the walk."""
        return (each for each in self.walk() if not each.inputs)


def inputs_of(producer: Producer) -> tuple[Input, ...]:
    """Return what a producer reads; a test and a table read no other producer."""
    return producer.inputs if isinstance(producer, Join | Probe) else ()


def reached(plan: Plan, end: End, member: Member | None = None) -> Reached:
    """Return the tree below an end, with the names of a member, or of the first one."""
    numbers = (member or end.shape.members[0]).numbers
    names = {end.columns[number]: str(variable) for variable, number in numbers.items() if number in end.columns}
    names.update({column: f"${place}" for place, column in enumerate(end.parameters, 1)})
    return _reached(plan, end.producer, names, iter(end.leaves), None)


def _reached(plan: Plan, number: int, names: Mapping[int, str], leaves: Iterator[int], above: Input | None) -> Reached:
    producer = plan.producers[number]
    if not isinstance(producer, Join | Probe):
        return Reached(number, producer, names, next(leaves), above)
    inputs = tuple(
        _reached(plan, each.producer, input_names(producer, place, names), leaves, each)
        for place, each in enumerate(producer.inputs)
    )
    return Reached(number, producer, names, -1, above, inputs)


def input_names(join: Join | Probe, place: int, names: Mapping[int, str]) -> dict[int, str]:
    """Return what one of the inputs calls its columns, given what the join or probe calls its own."""
    found: dict[int, str] = {}
    if isinstance(join, Probe):
        decided, looked = join.inputs
        found = {source: names[column] for column, source in enumerate(join.origins) if column in names}
        if place == 0:
            return found
        return {key: found[own] for own, key in zip(decided.keys, looked.keys, strict=True) if own in found}
    for column, (slot, source) in enumerate(join.origins):
        if column not in names:
            continue
        if slot < 0:
            found[join.inputs[place].keys[source]] = names[column]
        elif slot == place:
            found[source] = names[column]
    return found


def lasting(plan: Plan) -> list[bool]:
    """Return, by producer, whether its tuples can be made again of the rows that memories hold.

    What a probe has passed cannot, nor what is made of tuples that only pass a memory.
    """
    found: list[bool] = []
    for producer in plan.producers:
        passes = isinstance(producer, Probe) or (isinstance(producer, Join) and producer.last is not None)
        found.append(not passes and all(found[each.producer] for each in inputs_of(producer)))
    return found


def lookbacks(plan: Plan) -> list[int]:
    """Return, by producer, how long before the start of its tuples all must be known for these to be all, microseconds.

    AFTER_ALL: without a bound, as for what a NOT without a window has passed.
    """
    found: list[int] = []
    for producer in plan.producers:
        most = max((found[each.producer] for each in inputs_of(producer)), default=0)
        if isinstance(producer, Probe):
            decided, looked = (found[each.producer] for each in producer.inputs)
            most = max(decided, looked + _lookback(producer))
        found.append(min(most, AFTER_ALL))
    return found


def _lookback(probe: Probe) -> int:
    """Return how far before the start of its tuples a probe looks."""
    starts = (max(0, -gap.gap) for gap in probe.gaps if gap.earlier[0] == 0 and gap.later == (1, START))
    return min(starts, default=AFTER_ALL) if probe.reach < 0 else min((probe.reach, *starts))


def users_of(plan: Plan) -> list[frozenset[int]]:
    """Return, by producer, the numbers of the ends that reach it."""
    found: list[set[int]] = [set() for _ in plan.producers]
    for place, end in enumerate(plan.ends):
        waiting = [end.producer]
        while waiting:
            number = waiting.pop()
            if place not in found[number]:
                found[number].add(place)
                waiting += [each.producer for each in inputs_of(plan.producers[number])]
    return [frozenset(users) for users in found]


def depths(plan: Plan) -> list[int]:
    """Return, by producer, how many joins deep it is."""
    found: list[int] = []
    for producer in plan.producers:
        found.append(max((1 + found[each.producer] for each in inputs_of(producer)), default=0))
    return found
