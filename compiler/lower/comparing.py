"""Comparisons of a join: the filters on two inputs that all readers of the join have, checked before rows are combined.

Data's way: plan -> **comparisons of joins** -> the records of the network.
Only joins with gaps have comparisons: there a row meets many rows of its key, and few of them go with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from retewave.compiler.expressions.differences import Difference, differences
from retewave.compiler.expressions.tree import Expression, Variable, rename, variables
from retewave.compiler.plan.producers import End, Join, Plan
from retewave.compiler.plan.walk import inputs_of
from retewave.compiler.rewrite.branch import FilterStep, is_timed
from retewave.rete.network.records import Comparison, Reading

__all__ = ["Compared"]

_MOST = 4  # at most this many comparisons a join
_WIDEST = 64  # at most this many columns of a join with comparisons


class Compared:
    """The differences that must be at most 0 for all readers of a producer."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._asked: dict[int, list[dict[Difference, None]]] = {}  # by producer, reader by reader
        for producer in plan.producers:
            for each in inputs_of(producer):
                self._ask(each.producer, (one.expression for one in each.filters))
        for end in plan.ends:
            for asked in _of_members(end):
                self._ask(end.producer, (*(one.expression for one in end.read.filters), *asked))

    def _ask(self, producer: int, filters: Iterator[Expression] | tuple[Expression, ...]) -> None:
        if isinstance(self.plan.producers[producer], Join):
            found = {difference: None for each in filters for difference in differences(each)}
            self._asked.setdefault(producer, []).append(found)

    def comparisons(self, number: int, stored: Callable[[tuple[int, int]], tuple[int, int]]) -> tuple[Comparison, ...]:
        """Return the comparisons of a join; `stored` gives the column of an input as a column of the slot's row."""
        join = self.plan.producers[number]
        asked = self._asked.get(number, [])
        if not isinstance(join, Join) or not join.gaps or not asked or len(join.origins) > _WIDEST:
            return ()
        common = [each for each in asked[0] if all(each in other for other in asked[1:])]
        found = (_comparison(each, join, stored) for each in common)
        return tuple(each for each in found if each is not None)[:_MOST]


def _of_members(end: End) -> Iterator[tuple[Expression, ...]]:
    """Yield the filters of each query at an end, over the producer's columns."""
    for member in end.shape.members:
        names = {
            variable: Variable(f"c{end.columns[column]}")
            for variable, column in member.numbers.items()
            if column in end.columns
        }
        steps = [each for each in member.steps.steps if isinstance(each, FilterStep) and not is_timed(each)]
        yield tuple(
            rename(each.expression, names)
            for each in steps
            if each.scope <= member.steps.bound and variables(each.expression) <= names.keys() & each.scope
        )


def _comparison(
    difference: Difference, join: Join, stored: Callable[[tuple[int, int]], tuple[int, int]]
) -> Comparison | None:
    """Return a difference as a comparison of two rows, if each row has one of its variables."""
    places = [join.origins[int(name.name[1:])] for name, _ in difference.shares]
    if any(slot < 0 or column < 0 for slot, column in places) or places[0][0] == places[1][0]:
        return None
    (one, own), (other, theirs) = map(stored, places)
    (_, share), (_, against) = difference.shares
    constant, slack, slack_against = difference.constant - difference.error, difference.slack(0), difference.slack(1)
    return Comparison(
        lower=Reading(one, own, share.factor, constant, -slack),
        upper=Reading(other, theirs, -against.factor, difference.error, slack_against),
    )
