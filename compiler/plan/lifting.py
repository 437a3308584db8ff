"""Which constants of a branch a shape may leave open.

Data's way: normal form -> **places of constants** -> shapes.
Objects, and subjects where the object is a variable: one of a pattern, as the sets of constants of a pattern would
multiply in the dispatch tables.  Predicates only of patterns of events, and only where open ones do not multiply: two
patterns with one subject, or with one object, would be joined with each other whatever their predicates are.

Left out: whether it is worth while (`shape`).
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from retewave.compiler.algebra import TriplePattern, Variable
from retewave.compiler.rewrite.branch import Branch
from retewave.epsilon.vocabulary import TYPE

__all__ = ["Places", "liftable", "liftable_predicates"]

Places: TypeAlias = frozenset[tuple[int, int]]  # of a branch: the pattern, and which of its terms
_SUBJECT, _PREDICATE, _OBJECT = range(3)


def liftable(branch: Branch) -> Places:
    """Return the places of constants that may be open: branches that differ there alone are one shape."""
    if not (branch.is_plain or branch.is_of_one_event):
        return frozenset()
    return frozenset(
        (number, place)
        for number, pattern in enumerate(branch.patterns)
        for place in (_SUBJECT, _OBJECT)
        if isinstance(pattern.terms[place], bytes) and (place == _OBJECT or isinstance(pattern.object, Variable))
    )


def liftable_predicates(branch: Branch) -> Places:
    """Return the places of predicates that may be open, too."""
    if not branch.is_of_one_event or branch.steps:
        return frozenset()
    links = [number for number, pattern in enumerate(branch.patterns) if _is_link(pattern)]
    often = Counter((place, branch.patterns[number].terms[place]) for number in links for place in (_SUBJECT, _OBJECT))
    return frozenset(
        (number, _PREDICATE)
        for number in links
        if all(often[place, branch.patterns[number].terms[place]] == 1 for place in (_SUBJECT, _OBJECT))
    )


def _is_link(pattern: TriplePattern) -> bool:
    """Tell whether a pattern of an event links two things by a property that is given."""
    subject, predicate, object_ = pattern.terms
    given = isinstance(predicate, bytes) and predicate != TYPE
    return given and pattern.event is not None and isinstance(subject, Variable) and isinstance(object_, Variable)
