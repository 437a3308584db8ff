"""The contents of a view's windows at a report: solutions of leaves, and groups of them.

Data's way: output rows of the network -> **contents** -> relations for `retewave.views.evaluate`.
Contents go on from report to report: each solution comes once and goes once.
Invariant: what has come and gone is told as it is between the two latest reports that were evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from retewave.compiler.algebra import WindowOn
from retewave.compiler.rewrite.kept import GroupsFound, groups_in
from retewave.compiler.rewrite.leaves import LeafFound, ViewLeaves
from retewave.rete.terms.dictionary import Terms
from retewave.views.bounds import grid_of
from retewave.views.kept import LeafSolutions
from retewave.views.relation import Bag
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:  # they load rdflib
    from retewave.views.expressions import ColumnExpressions
    from retewave.views.grouping import KeptGroups

__all__ = ["Contents"]


class Contents:
    """The solutions of a view's leaves, by their numbers, and the groups that are kept of them."""

    def __init__(
        self,
        split: ViewLeaves,
        pattern: object,
        windows: Sequence[WindowOn],
        terms: Terms,
        bounds: Callable[[int, int], tuple[int, int]],
        told: Collection[int],
    ) -> None:
        """Begin with nothing; `told`: the leaves of which it is asked what has come and gone."""
        self._terms = terms
        self._bounds = bounds  # of a window, by its number, at a time
        self._windows = [leaf.window for leaf in split.leaves]
        self._extents = [None if leaf.window is None else windows[leaf.window].extent for leaf in split.leaves]
        grouped = tuple(dict.fromkeys(groups_in(pattern)))
        computed = [
            dict(pair for each in grouped if each.leaf.leaf == number for pair in each.computed)
            for number in range(len(split.leaves))
        ]
        self._columns = [(*leaf.variables, *more) for leaf, more in zip(split.leaves, computed, strict=True)]
        self._computed = [tuple(more.items()) for more in computed]
        self.solved = [
            LeafSolutions(len(leaf.variables), extent, len(more), told=number in told)
            for number, (leaf, extent, more) in enumerate(zip(split.leaves, self._extents, computed, strict=True))
        ]
        self._read = [number for number, leaf in enumerate(split.leaves) if not leaf.presence]
        self._of_leaf: list[list[KeptGroups]] = [[] for _ in split.leaves]
        self._known: ColumnExpressions | None = None
        self._pattern = pattern  # whose parts stay where they are
        made = {each: self._made(each) for each in grouped}
        for each, groups in made.items():
            self._of_leaf[each.leaf.leaf].append(groups)
        self._groups = {id(each): made[each] for each in groups_in(pattern)}  # by the places of what they stand for

    def _made(self, found: GroupsFound) -> KeptGroups:
        from retewave.views.grouping import KeptGroups

        extent = self._extents[found.leaf.leaf]
        grid = None if extent is None else grid_of(extent)
        return KeptGroups(found, self._columns[found.leaf.leaf], self._terms, self.expressions, grid)

    def expressions(self) -> ColumnExpressions:
        """Return what evaluates expressions: made once."""
        if self._known is None:
            from retewave.views.expressions import ColumnExpressions

            self._known = ColumnExpressions(self._terms)
        return self._known

    def add(self, number: int, rows: np.ndarray) -> None:
        """Take solutions of a leaf: rows of start, end and terms."""
        computed = self._computed[number]
        if computed:
            relation = Bag(self._columns[number][: rows.shape[1] - 2], rows[:, 2:])
            for variable, expression in computed:
                relation = relation.extended(variable, self.expressions().values(expression, relation))
            rows = np.column_stack([rows[:, :2], relation.ids])
        self.solved[number].add(rows)

    def advance(self, time: int) -> None:
        """Let all contents be those of a time."""
        values = self._terms.values
        for number in self._read:
            window = self._windows[number]
            low, high = (BEFORE_ALL, time) if window is None else self._bounds(window, time)
            self.solved[number].advance(low, high, self._of_leaf[number], values)

    # ---- relations ----
    def all(self, found: LeafFound | GroupsFound) -> Bag:
        """Return all solutions of a leaf or of groups."""
        if isinstance(found, GroupsFound):
            return self._groups[id(found)].all()
        return Bag(found.variables, self.solved[found.leaf].there())

    def came(self, found: LeafFound | GroupsFound) -> Bag:
        """Return the solutions that have come."""
        if isinstance(found, GroupsFound):
            return self._groups[id(found)].came
        return Bag(found.variables, self.solved[found.leaf].came)

    def gone(self, found: LeafFound | GroupsFound) -> Bag:
        """Return the solutions that are there no more."""
        if isinstance(found, GroupsFound):
            return self._groups[id(found)].gone
        return Bag(found.variables, self.solved[found.leaf].gone)

    # ---- as a state ----
    @property
    def held(self) -> list[np.ndarray]:
        """All terms that are kept."""
        found = [each.terms for each in dict.fromkeys(self._groups.values())]
        for each in self.solved:
            found += [each.lives.terms(each.lives.there), each.waiting()[:, 2:]]
        return found

    def state(self) -> dict[str, np.ndarray]:
        """Return what is remembered: the groups follow from it."""
        found = {f"solved{number}": each.lives.all() for number, each in enumerate(self.solved)}
        return found | {f"waiting{number}": each.waiting() for number, each in enumerate(self.solved)}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the content of such arrays: nothing of it has come or gone."""
        for number, each in enumerate(self.solved):
            each.put(state[f"solved{number}"], state[f"waiting{number}"])
            for grouping in self._of_leaf[number]:
                grouping.fill(each.lives, self._terms.values)
