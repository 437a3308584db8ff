"""The join of two or more producers under a key, with the filters and bounds that can be checked in it.

Data's way: chosen producers, key -> **join** -> plan; `retewave.rete.operators.join` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql, variables
from retewave.compiler.plan.producers import END, START, Gap, Input, Join, Open, Plan, SlotFilter, told_columns
from retewave.compiler.rewrite.branch import Bound, Moment

__all__ = ["Scope", "filters_on", "join", "number_of", "numbers_in", "slot_filter"]


@dataclass
class Scope:
    """What is still to be checked of one branch while its producers are joined."""

    common: tuple[Expression, ...]  # filters, over the shape's variables, that may be done early
    pushed: set[Expression]  # the filters of these that are done
    bounds: list[Bound] = field(default_factory=list)  # the bounds that no join has checked yet
    wanted: frozenset[Moment] = frozenset()  # moments that a probe will ask for
    asked: bool = False  # filters must be decided where they are done
    spender: str = ""  # the query, if it uses events up

    @property
    def moments(self) -> frozenset[Moment]:
        """Return the moments that are needed later."""
        return self.wanted | {each for bound in self.bounds for each in (bound.earlier, bound.later)}


def join(plan: Plan, chosen: list[Open], key: tuple[int, ...], scope: Scope) -> Open:
    """Add the join of some producers under a key, with the filters and bounds that can be checked in it.

    Inputs, key and columns are ordered by the producers' numbers and columns, never by the names of variables, so that
    equal joins of different shapes come out equal.
    """
    ordered = sorted(chosen, key=lambda each: each.producer)
    key = tuple(sorted(key, key=lambda variable: ordered[0].columns[variable]))
    inputs, origins = [], [(-1, i) for i in range(len(key))]
    columns = {variable: i for i, variable in enumerate(key)}
    parameters: dict[int, int] = {}
    for place, each in enumerate(ordered):
        keys = tuple(each.columns[variable] for variable in key)
        inputs.append(each.read(keys, filters_on(each, scope), scope.spender))
        others = [(column, columns, name) for name, column in each.columns.items() if name not in key]
        others += [(column, parameters, number) for number, column in each.parameters.items()]
        for column, target, name in sorted(others, key=lambda other: other[0]):
            target[name] = len(origins)
            origins.append((place, column))
    gaps = _gaps(ordered, scope)
    ends = _Extremes.of(ordered, gaps)
    times = {
        moment: _time((place, each.times[moment]), ends, origins)
        for moment in sorted(scope.moments)
        for place, each in enumerate(ordered)
        if moment in each.times
    }
    told = {
        what: _carried((place, column), inputs, ends, origins)
        for place, each in enumerate(ordered)
        for what, column in told_columns(each.told)
    }
    number = plan.number(Join(tuple(inputs), tuple(origins), gaps, ends.last, scope.spender))
    leaves = tuple(leaf for each in ordered for leaf in each.leaves)
    looked = frozenset().union(*(each.looked for each in ordered))
    return Open(number, columns, parameters, all(each.static for each in chosen), leaves, times, told, looked)


def _gaps(ordered: list[Open], scope: Scope) -> tuple[Gap, ...]:
    """Take the bounds whose moments are those of two of these inputs."""
    found: set[Gap] = set()
    places = {moment: (place, column) for place, each in enumerate(ordered) for moment, column in each.times.items()}
    for bound in list(scope.bounds):
        if bound.earlier in places and bound.later in places:
            scope.bounds.remove(bound)
            found.add(Gap(places[bound.earlier], bound.gap, places[bound.later]))
    return tuple(sorted(found))


@dataclass(frozen=True)
class _Extremes:
    """Which of a join's inputs is known to be before all others, and which behind them."""

    first: int | None
    last: int | None

    @classmethod
    def of(cls, ordered: list[Open], gaps: tuple[Gap, ...]) -> _Extremes:
        """Return the extremes by some gaps; an input that may be static has no place in time."""
        pairs = {(gap.earlier[0], gap.later[0]) for gap in gaps if _is_before(gap)}
        timed = [place for place, each in enumerate(ordered) if each.streamed or not each.static]
        for middle in timed:  # an input before another one is before all inputs that the other is before
            before = [one for one, other in pairs if other == middle]
            pairs |= {(one, other) for one in before for each, other in pairs if each == middle}
        others = range(len(ordered))
        first = (one for one in timed if all(one == other or (one, other) in pairs for other in others))
        last = (one for one in timed if all(one == other or (other, one) in pairs for other in others))
        return cls(next(first, None), next(last, None))


def _is_before(gap: Gap) -> bool:
    return gap.gap > 0 and gap.earlier[1] == END and gap.later[1] == START


def _carried(source: tuple[int, int], inputs: list[Input], extremes: _Extremes, origins: list[tuple[int, int]]) -> int:
    """Return where a join's tuples have a column of an input, or a time; the key's columns are the first."""
    place, column = source
    keys = inputs[place].keys
    return keys.index(column) if column in keys else _time(source, extremes, origins)


def _time(source: tuple[int, int], extremes: _Extremes, origins: list[tuple[int, int]]) -> int:
    """Return where a join's tuples have a time of an input: it is their own start or end, or a column."""
    if source in ((extremes.first, START), (extremes.last, END)):
        return source[1]
    if source not in origins:
        origins.append(source)
    return origins.index(source)


def filters_on(each: Open, scope: Scope) -> tuple[SlotFilter, ...]:
    """Take the filters that look only at what this producer binds, and were not done before."""
    found: list[SlotFilter] = []
    for expression in scope.common:
        names = numbers_in(expression)
        if expression in scope.pushed or not names <= each.columns.keys():
            continue
        scope.pushed.add(expression)
        found.append(slot_filter(expression, each.columns, scope.asked))
    return tuple(sorted(found, key=lambda each: to_sparql(each.expression)))


def slot_filter(expression: Expression, columns: Mapping[int, int], asked: bool) -> SlotFilter:
    """Return a filter over the shape's variables as one over a producer's columns."""
    seen = {name: columns[name] for name in numbers_in(expression) if name in columns}
    to_columns = {Variable(f"c{name}"): Variable(f"c{column}") for name, column in seen.items()}
    return SlotFilter(rename(expression, to_columns), frozenset(seen.values()), asked)


def numbers_in(expression: Expression) -> set[int]:
    """Return the numbers of the shape's variables that an expression mentions; others are unbound."""
    return {int(variable.name[1:]) for variable in variables(expression) if variable.name.startswith("c")}


def number_of(variable: Variable) -> int:
    """Return the number of one of the shape's variables."""
    return int(variable.name[1:])
