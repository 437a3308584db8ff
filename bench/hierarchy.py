"""The product-type hierarchy of the Berlin SPARQL Benchmark: one root, equal branching on each level.

Where it stands: `dataset` draws products on its leaves, `generate` writes it as the schema, `expected`
asks which types lie below a target.  Invariant: types are numbered from 1 breadth first, so the types
of a level are a range, and so are the descendants of a type on any level.
Left out: labels and features, which no pattern reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["Hierarchy", "branching", "hierarchy"]


def _half_up(x: float) -> int:
    """Round as Java's Math.round does: the official generator's numbers depend on it."""
    return math.floor(x + 0.5)


def branching(products: int) -> tuple[int, ...]:
    """Return how many children a type has on each level, by the published rule for a number of products.

    >>> branching(10_000)
    (8, 8, 4)
    >>> branching(10_000_000)
    (14, 8, 8, 8, 2)
    """
    magnitude = math.log10(max(products, 10))
    depth = _half_up(magnitude / 2) + 1
    last = (2, 4, 8)[_half_up(magnitude * 3 / 2 + 1) % 3]
    factors = [2 * _half_up(magnitude)] + [8] * (depth - 1)
    if depth > 1:
        factors[-1] = last
    return tuple(factors)


@dataclass(frozen=True)
class Hierarchy:
    """A tree of product types, numbered from 1 breadth first."""

    level_starts: tuple[int, ...]  # first type of each level, and one past the last type
    parent: np.ndarray  # int64, indexed by type number; 0 for the root and for the unused index 0

    @property
    def size(self) -> int:
        """The number of types."""
        return self.level_starts[-1] - 1

    @property
    def depth(self) -> int:
        """The number of the deepest level; the root is on level 0."""
        return len(self.level_starts) - 2

    def level(self, number: int) -> range:
        """Return the types of a level."""
        return range(self.level_starts[number], self.level_starts[number + 1])

    def level_of(self, kind: int) -> int:
        """Return the level that a type is on."""
        return next(n for n in range(self.depth + 1) if kind in self.level(n))

    def ancestors(self, kinds: np.ndarray, level: int) -> np.ndarray:
        """Return for each leaf its ancestor on a level (itself on the deepest)."""
        for _ in range(self.depth - level):
            kinds = self.parent[kinds]
        return kinds

    def below(self, target: int) -> np.ndarray:
        """Return a mask over type numbers: the target and all its descendants.

        >>> tree = hierarchy((8, 8, 4))
        >>> tree.size, [int(tree.below(target).sum()) - 1 for target in (1, 2, 10, 74)]
        (329, [328, 40, 4, 0])
        """
        mask = np.zeros(self.size + 1, dtype=bool)
        mask[target] = True
        for number in range(1, self.depth + 1):
            kinds = np.asarray(self.level(number))
            mask[kinds] |= mask[self.parent[kinds]]
        return mask


def hierarchy(factors: tuple[int, ...]) -> Hierarchy:
    """Build the hierarchy with the given number of children on each level.

    >>> hierarchy((2, 3)).parent.tolist()
    [0, 0, 1, 1, 2, 2, 2, 3, 3, 3]
    """
    starts, parents, width = [1, 2], [np.array([0, 0])], 1
    for factor in factors:
        parents.append(np.repeat(np.arange(starts[-2], starts[-1]), factor))
        width *= factor
        starts.append(starts[-1] + width)
    return Hierarchy(tuple(starts), np.concatenate(parents).astype(np.int64))
