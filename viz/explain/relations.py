"""Temporal relations of a join in words: bounds between times, told by Allen's names where they have one.

Data's way: records of a network -> **names** -> explanations, drawings, why-not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retewave.rete.network.records import Relation
from retewave.rete.words.layout import OF_END, OF_START
from retewave.windows.relations import NAMES, NONE, bounds

__all__ = ["Named", "named"]

Named = tuple[int, int, int]  # the left slot, a code of retewave.windows.relations, the right slot

_TIMES = {OF_START: False, OF_END: True}


def named(relations: Sequence[Relation]) -> Iterator[Named]:
    """Yield the relations between the times of two slots that have a name.

    >>> list(named([Relation((0, OF_END), 1, (2, OF_START))])), NAMES[2]
    ([(0, 2, 2)], 'before')
    """
    pairs: dict[frozenset[int], list[Relation]] = {}
    for each in relations:
        pairs.setdefault(frozenset((each.earlier[0], each.later[0])), []).append(each)
    for pair, found in pairs.items():
        left, right = min(pair), max(pair)
        if any(time[1] not in _TIMES for each in found for time in (each.earlier, each.later)):
            continue
        said = {
            ((int(a != left), _TIMES[one]), each.gap, (int(b != left), _TIMES[other]))
            for each in found
            for (a, one), (b, other) in [(each.earlier, each.later)]
        }
        code = next((code for code in range(len(NAMES)) if set(bounds(code)) == said), NONE)
        if code != NONE:
            yield left, code, right
