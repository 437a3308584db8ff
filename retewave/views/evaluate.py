"""SPARQL 1.1's operators on relations: a view's algebra is evaluated over the solutions of its leaves.

Data's way: relations of the leaves -> **operators, from the inside out** -> the relation of a report.
Meaning is that of SPARQL 1.1, section 18, with bags.  In the algebra `LeafFound` stands for a leaf of the network.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from retewave.compiler.algebra import (
    Distinct,
    Exists,
    ExistsValue,
    Extend,
    Filter,
    Grouped,
    Join,
    LeftJoin,
    Minus,
    Ordered,
    Projected,
    Sliced,
    Triples,
    Union,
    Values,
)
from retewave.compiler.expressions.tree import Expression, Variable
from retewave.compiler.rewrite.kept import GroupsFound
from retewave.compiler.rewrite.leaves import LeafFound, MatchFound, PathFound, TimesFound
from retewave.rete.terms.dictionary import Terms
from retewave.views.expressions import ColumnExpressions
from retewave.views.relation import Bag, codes, pairs, united

__all__ = ["Evaluation"]

_BOOLEANS = tuple(f'"{said}"^^<http://www.w3.org/2001/XMLSchema#boolean>'.encode() for said in ("false", "true"))


class Evaluation:
    """Evaluates the algebra of a view at one report."""

    def __init__(self, terms: Terms, expressions: ColumnExpressions, found: Callable[[Any], Bag]) -> None:
        self._terms = terms
        self._expressions = expressions
        self._found = found  # gives the solutions of a leaf, of its groups, and of MATCH
        self._operators: dict[type, Callable[[Any], Bag]] = {
            LeafFound: found,
            GroupsFound: found,
            MatchFound: found,
            Triples: lambda _: Bag.unit(),
            Join: lambda each: self.of(each.left).joined(self.of(each.right)),
            Union: lambda each: united([self.of(each.left), self.of(each.right)]),
            LeftJoin: self._left_join,
            Minus: self._minus,
            Exists: self._exists,
            ExistsValue: self._exists_value,
            Filter: self._filter,
            Extend: self._extend,
            Values: self._values,
            Grouped: self._grouped,
            Ordered: self._ordered,
            Projected: lambda each: self.of(each.pattern).projected(each.variables),
            Distinct: lambda each: self.of(each.pattern).distinct(),
            Sliced: self._sliced,
            PathFound: self._path,
            TimesFound: self._times,
        }

    def of(self, pattern: Any) -> Bag:
        """Return the solutions of a pattern."""
        return self._operators[type(pattern)](pattern)

    # ---- joins ----
    def _left_join(self, each: LeftJoin) -> Bag:
        left, right = self.of(each.left), self.of(each.right)
        mine, joined = self._compatible(left, right, each.condition)
        alone = np.ones(len(left), dtype=np.bool_)
        alone[mine] = False
        return united([joined, left.taken(alone)])

    def _compatible(self, left: Bag, right: Bag, condition: Expression | None) -> tuple[np.ndarray, Bag]:
        """Return the join of two relations under a condition, and of each solution the place of its left part."""
        mine, its = pairs(left, right)
        joined = left.combined(right, mine, its)
        if condition is None:
            return mine, joined
        kept = self._expressions.verdicts(condition, joined)
        return mine[kept], joined.taken(kept)

    def _minus(self, each: Minus) -> Bag:
        left, right = self.of(each.left), self.of(each.right)
        taken, _ = pairs(left, right, sharing=True)
        kept = np.ones(len(left), dtype=np.bool_)
        kept[taken] = False
        return left.taken(kept)

    def _there(self, left: Bag, each: Exists | ExistsValue) -> np.ndarray:
        """Return for which solutions a group has a compatible solution."""
        mine, _ = self._compatible(left, self.of(each.group), each.condition)
        there = np.zeros(len(left), dtype=np.bool_)
        there[mine] = True
        return there

    def _exists(self, each: Exists) -> Bag:
        left = self.of(each.pattern)
        return left.taken(self._there(left, each) ^ each.negated)

    def _exists_value(self, each: ExistsValue) -> Bag:
        left = self.of(each.pattern)
        return left.extended(each.variable, self._booleans(self._there(left, each)))

    def _booleans(self, are_true: np.ndarray) -> np.ndarray:
        said = np.array([self._terms.intern(text) for text in _BOOLEANS], dtype=np.int64)
        found: np.ndarray = said[are_true.astype(np.int64)]
        return found

    # ---- one relation ----
    def _filter(self, each: Filter) -> Bag:
        inner = self.of(each.pattern)
        return inner.taken(self._expressions.verdicts(each.expression, inner))

    def _extend(self, each: Extend) -> Bag:
        inner = self._expressions.numbered(each.expression, self.of(each.pattern))
        return inner.extended(each.variable, self._expressions.values(each.expression, inner))

    def _values(self, each: Values) -> Bag:
        rows = [[0 if cell is None else self._terms.intern(cell) for cell in row] for row in each.rows]
        return Bag(each.variables, np.array(rows, dtype=np.int64).reshape(len(rows), len(each.variables)))

    def _grouped(self, each: Grouped) -> Bag:
        return self._groups_of(each, self.of(each.pattern))

    def _groups_of(self, each: Grouped, inner: Bag) -> Bag:
        """Return the groups of some solutions, by their first ones."""
        keys = inner.projected(each.keys)
        groups = codes(keys.ids)
        found = keys.taken(np.unique(groups, return_index=True)[1])
        if not len(found) and each.implicit:
            found = Bag.unit()
        for variable, call in each.aggregates:
            found = found.extended(variable, self._expressions.aggregated(call, inner, groups, len(found)))
        return found

    def _ordered(self, each: Ordered) -> Bag:
        keys = [(key.expression, key.descending) for key in each.keys]
        return self._expressions.ordered(self.of(each.pattern), keys)

    def _sliced(self, each: Sliced) -> Bag:
        inner = self.of(each.pattern)
        stop = None if each.limit is None else each.offset + each.limit
        return inner.taken(np.arange(len(inner))[each.offset : stop])

    def _times(self, each: TimesFound) -> Bag:
        inner, known = self.of(each.pattern), self._found(each)
        whole = np.flatnonzero((inner.projected(each.variables).ids != 0).all(axis=1))
        mine, its = pairs(inner.taken(whole), known.projected(each.variables))
        column = np.zeros(len(inner), dtype=np.int64)
        column[whole[mine]] = known.column(each.variable)[its]
        return inner.extended(each.variable, column)

    # ---- paths ----
    def _path(self, each: PathFound) -> Bag:
        return self._ends_of(each, self.of(each.path.step), self._nodes(each))

    def _nodes(self, each: PathFound) -> Bag | None:
        """Return the triples whose ends are the terms of paths of no step, if they are needed."""
        return self.of(each.nodes) if each.nodes is not None and isinstance(each.path.start, Variable) else None

    def _ends_of(self, each: PathFound, steps: Bag, nodes: Bag | None) -> Bag:
        """Return the ends of paths."""
        path = each.path
        ends = tuple(
            None if isinstance(term, Variable) else self._terms.intern(term) for term in (path.start, path.end)
        )
        after: defaultdict[int, list[int]] = defaultdict(list)
        edges = steps.projected((path.source, path.target)).distinct().ids.tolist()
        for source, target in edges:
            after[source].append(target)
        starts = self._starts(nodes, ends, [source for source, _ in edges])
        found = []
        for start in starts:
            reached = _reached(start, after, path.most)
            if path.least == 0:
                reached[start] = None
            found += [(start, stop) for stop in reached if ends[1] in (None, stop)]
        return _bound((path.start, path.end), np.array(found, dtype=np.int64).reshape(-1, 2))

    def _starts(self, nodes: Bag | None, ends: tuple[int | None, ...], sources: Iterable[int]) -> Iterable[int]:
        """Return the terms from which a path may begin."""
        first, last = ends
        if first is not None:
            return (first,)
        starts = dict.fromkeys(sources)
        if nodes is not None:
            ids = nodes.ids[:, [0, -1]] if nodes.ids.shape[1] else nodes.ids
            starts |= dict.fromkeys(np.unique(ids).tolist())
            if last is not None:
                starts[last] = None
        return starts


def _reached(start: int, after: dict[int, list[int]], most: int | None) -> dict[int, None]:
    """Return the terms that one step or more lead to; `most`: the most steps."""
    found: dict[int, None] = {}
    waiting = deque([start])
    while waiting:
        for each in after.get(waiting.popleft(), ()):
            if each not in found:
                found[each] = None
                if most is None:
                    waiting.append(each)
    return found


def _bound(ends: tuple[Any, ...], found: np.ndarray) -> Bag:
    """Return pairs of terms as solutions of the variables at the ends of a path."""
    start, end = ends
    if isinstance(start, Variable) and start == end:
        return Bag((start,), found[found[:, 0] == found[:, 1], :1])
    places = [place for place, each in enumerate(ends) if isinstance(each, Variable)]
    return Bag(tuple(ends[place] for place in places), found[:, places])
