"""The evaluation of a view that is explained: each solution knows what it is derived from.

Data's way: relations of the leaves -> **operators, with columns that say why** -> rows, and the derivation of each.
Such a column is hidden: its variable is this module's own, and no expression has it.  A cell is 0, or a number from 1
on, by which the operator that has made the column says what a solution is derived from, when somebody asks.
Invariant: the rows are those of `Evaluation`, in the same order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from retewave.compiler.algebra import (
    AggregateCall,
    Distinct,
    Exists,
    ExistsValue,
    Grouped,
    LeftJoin,
    Minus,
    Projected,
)
from retewave.compiler.algebra.walk import operands
from retewave.compiler.expressions.tree import Expression, Variable, to_sparql
from retewave.compiler.rewrite.leaves import LeafFound, MatchFound, PathFound, SingleEventFound, TimesFound
from retewave.provenance.derivation import Derivation, Lacking, Several, Step
from retewave.rete.terms.dictionary import Terms
from retewave.views.evaluate import Evaluation
from retewave.views.evidence import Witnesses
from retewave.views.expressions import ColumnExpressions
from retewave.views.matching import MatchedEvents
from retewave.views.relation import Bag, codes, first_places, pairs, united

__all__ = ["MOST_MEMBERS", "Derivations"]

MOST_MEMBERS = 10  # solutions of a group that a derivation lists
_HIDDEN = "_:.why."  # what the names of its variables begin with

_Ends = tuple[int, int]


class Derivations(Evaluation):
    """Evaluates the algebra of a view at one report, and says what a row is derived from."""

    def __init__(
        self,
        terms: Terms,
        expressions: ColumnExpressions,
        found: Callable[[Any], Bag],
        witnesses: Callable[[int], Witnesses],
        matched: Callable[[MatchFound], MatchedEvents],
    ) -> None:
        super().__init__(terms, expressions, found)
        self._witnesses = witnesses  # of a leaf: the triples behind its solutions
        self._matched = matched  # of MATCH: its solutions with their events
        self._said: dict[Variable, Callable[[int], Step]] = {}  # what a number in a hidden column means
        self._operators |= {
            LeafFound: self._leaf,
            MatchFound: self._match,
            Projected: self._projected,
            Distinct: lambda each: self._different(self.of(each.pattern)),
        }

    def derivation(self, bag: Bag, row: int) -> Derivation:
        """Return what a solution is derived from."""
        cells = zip(bag.variables, bag.ids[row].tolist(), strict=True)
        return tuple(self._said[variable](cell - 1) for variable, cell in cells if cell and _is_hidden(variable))

    def _noted(self, bag: Bag, column: np.ndarray, said: Callable[[int], Step]) -> Bag:
        """Return solutions with a hidden column."""
        variable = Variable(f"{_HIDDEN}{len(self._said)}")
        self._said[variable] = said
        return bag.extended(variable, column)

    def _numbered(self, bag: Bag, said: Callable[[int], Step]) -> Bag:
        """Return solutions with a hidden column that counts them."""
        return self._noted(bag, np.arange(1, len(bag) + 1), said)

    # ---- what leaves have found ----
    def _leaf(self, each: LeafFound) -> Bag:
        bag, witnesses = self._found(each), self._witnesses(each.leaf)
        return self._numbered(bag, lambda number: witnesses.of(tuple(bag.ids[number].tolist())))

    def _times(self, each: TimesFound) -> Bag:
        inner, known = self.of(each.pattern), self._found(each)
        witnesses = [self._witnesses(leaf) for leaf in each.leaves]

        def said(number: int) -> Step:
            terms = tuple(known.ids[number, : len(each.variables)].tolist())
            ends = {end: each for each in witnesses if (end := each.end_of(terms)) is not None}
            return ends[max(ends)].of(terms)

        whole = np.flatnonzero((inner.projected(each.variables).ids != 0).all(axis=1))
        mine, its = pairs(inner.taken(whole), known.projected(each.variables))
        times, why = np.zeros(len(inner), dtype=np.int64), np.zeros(len(inner), dtype=np.int64)
        times[whole[mine]], why[whole[mine]] = known.column(each.variable)[its], its + 1
        return self._noted(inner.extended(each.variable, times), why, said)

    def _match(self, each: MatchFound) -> Bag:
        found = self._matched(each)

        def said(number: int) -> Step:
            bound = dict(zip(found.bag.variables, found.bag.ids[number].tolist(), strict=True))
            events = zip(_events(each.pattern), found.made_of[number].tolist(), strict=True)
            parts = []
            for one, event in events:
                known = {place: bound[variable] for place, variable in enumerate(one.variables)}
                parts.append((self._witnesses(one.leaf).of_event(event, known),))
            return Several("MATCH", len(parts), tuple(parts))

        return self._numbered(found.bag, said)

    # ---- what is not there, and what only must be there ----
    def _left_join(self, each: LeftJoin) -> Bag:
        left, right = self.of(each.left), self.of(each.right)
        mine, joined = self._compatible(left, right, each.condition)
        alone = np.ones(len(left), dtype=np.bool_)
        alone[mine] = False
        return united([joined, self._lacking(left.taken(alone), "OPTIONAL", each.right)])

    def _minus(self, each: Minus) -> Bag:
        return self._lacking(super()._minus(each), "MINUS", each.right)

    def _lacking(self, bag: Bag, operator: str, pattern: Any) -> Bag:
        """Return solutions that say of what there was nothing."""

        def said(number: int) -> Step:
            cells = zip(bag.variables, bag.ids[number].tolist(), strict=True)
            return Lacking(operator, pattern, tuple(cell for cell in cells if cell[1] and not _is_hidden(cell[0])))

        return self._numbered(bag, said)

    def _exists(self, each: Exists) -> Bag:
        left = self.of(each.pattern)
        if each.negated:
            return self._lacking(left.taken(~self._there(left, each)), "NOT EXISTS", each.group)
        there, shown = self._with_witness(left, each.group, each.condition)
        return shown.taken(there)

    def _exists_value(self, each: ExistsValue) -> Bag:
        left = self.of(each.pattern)
        there, shown = self._with_witness(left, each.group, each.condition)
        missing = self._lacking(left.taken(~there), "EXISTS", each.group)
        why = np.zeros(len(left), dtype=np.int64)
        why[~there] = missing.ids[:, -1]
        shown = shown.extended(missing.variables[-1], why)
        return shown.extended(each.variable, self._booleans(there))

    def _with_witness(self, left: Bag, group: Any, condition: Expression | None) -> tuple[np.ndarray, Bag]:
        """Return for which solutions a group has a compatible one; and the solutions, with the first of these."""
        right = self.of(group)
        mine, joined = self._compatible(left, right, condition)
        places, firsts = np.unique(mine, return_index=True)
        there = np.zeros(len(left), dtype=np.bool_)
        there[places] = True
        for variable in filter(_is_hidden, right.variables):
            column = np.zeros(len(left), dtype=np.int64)
            column[places] = joined.column(variable)[firsts]
            left = left.extended(variable, column)
        return there, left

    # ---- one relation ----
    def _projected(self, each: Projected) -> Bag:
        inner = self.of(each.pattern)
        return inner.projected((*each.variables, *filter(_is_hidden, inner.variables)))

    def _different(self, inner: Bag) -> Bag:
        return inner.taken(first_places(_shown(inner).ids))

    def _grouped(self, each: Grouped) -> Bag:
        inner = self.of(each.pattern)
        shown = _shown(inner)
        found = self._groups_of(each, shown)
        groups = codes(shown.projected(each.keys).ids)

        def said(number: int) -> Step:
            members = np.flatnonzero(groups == number)
            values = [(str(key), int(found.column(key)[number])) for key in each.keys]
            values += [(_spelled(call), int(found.column(name)[number])) for name, call in each.aggregates]
            parts = tuple(self.derivation(inner, place) for place in members[:MOST_MEMBERS].tolist())
            return Several("GROUP BY", len(members), parts, tuple(values))

        return self._numbered(found, said)

    # ---- paths ----
    def _path(self, each: PathFound) -> Bag:
        steps, nodes = self.of(each.path.step), self._nodes(each)
        found = self._ends_of(each, _shown(steps), None if nodes is None else _shown(nodes))
        ends = [
            found.column(term) if isinstance(term, Variable) else np.full(len(found), self._terms.intern(term))
            for term in (each.path.start, each.path.end)
        ]

        def said(number: int) -> Step:
            start, stop = int(ends[0][number]), int(ends[1][number])
            if start == stop and each.path.least == 0:
                return self._node(nodes, start)
            route = _route(steps.projected((each.path.source, each.path.target)).ids.tolist(), (start, stop))
            return Several("path", len(route), tuple(self.derivation(steps, place) for place in route))

        return self._numbered(found, said)

    def _node(self, nodes: Bag | None, term: int) -> Step:
        """Return why a term is a path of no step: a triple has it, or the query itself."""
        if nodes is None:
            return Several("path", 0, ())
        ends = _shown(nodes).ids
        having = np.flatnonzero((ends[:, [0, -1]] == term).any(axis=1))[:1] if ends.shape[1] else ()
        return Several("path", 0, tuple(self.derivation(nodes, place) for place in having))


def _is_hidden(variable: Variable) -> bool:
    return variable.name.startswith(_HIDDEN)


def _shown(bag: Bag) -> Bag:
    """Return solutions without what is hidden."""
    return bag.projected([each for each in bag.variables if not _is_hidden(each)])


def _spelled(call: AggregateCall) -> str:
    argument = "*" if call.argument is None else to_sparql(call.argument)
    return f"{call.function}({'DISTINCT ' * call.distinct}{argument})"


def _events(pattern: Any) -> Iterable[SingleEventFound]:
    """Return the event patterns of MATCH, in the order written."""
    if isinstance(pattern, SingleEventFound):
        return (pattern,)
    return [each for part in operands(pattern) for each in _events(part)]


def _route(steps: list[list[int]], ends: _Ends) -> list[int]:
    """Return the places of steps that lead from one term to another: as few as possible, at least one.

    >>> _route([[1, 2], [2, 1], [2, 3]], (1, 3)), _route([[1, 2], [2, 1]], (1, 1))
    ([0, 2], [0, 1])
    """
    after: defaultdict[int, list[int]] = defaultdict(list)
    for place, (source, _) in enumerate(steps):
        after[source].append(place)
    taken: dict[int, int] = {}  # the step by which a term was reached first
    waiting = deque([ends[0]])
    while ends[1] not in taken:
        for place in after.get(waiting.popleft(), ()):
            if steps[place][1] not in taken:
                taken[steps[place][1]] = place
                waiting.append(steps[place][1])
    route = [taken[ends[1]]]
    while steps[route[-1]][0] != ends[0]:
        route.append(taken[steps[route[-1]][0]])
    return route[::-1]
