"""Which derivations for one atom may entail the very same triple from one input triple.

Data's way: reduction -> **twins** -> dispatch tables.  Most double paths are merged when the tables are
built; those that coincide for some input triples only (domain and range the same class, and s = o) are
marked, and the kernel compares them at run time.  A superfluous mark costs time; a missing mark would give a duplicate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from retewave.epsilon.derivation import OBJECT, SUBJECT, Derivation, From, Part

__all__ = ["may_coincide", "twins"]

_Shape: TypeAlias = tuple[type[bytes] | From | None, ...]


def twins(derivations: Sequence[Derivation]) -> frozenset[Derivation]:
    """Return the derivations that have a twin; all must be for the same atom and the same input predicate."""
    by_shape: dict[_Shape, list[Derivation]] = defaultdict(list)
    for derivation in derivations:
        by_shape[_shape(derivation)].append(derivation)
    found: set[Derivation] = set()
    for left, right in combinations(by_shape, 2):  # two of the same shape differ in a constant
        shared = [at for at, both in enumerate(zip(left, right, strict=True)) if both == (bytes, bytes)]
        for one, other in _agreeing(by_shape[left], by_shape[right], shared):
            if not (one in found and other in found) and may_coincide(one, other):
                found.update((one, other))
    return frozenset(found)


def may_coincide(one: Derivation, other: Derivation) -> bool:
    """Tell whether some input triple makes both entail the same triple.

    >>> domain = Derivation(None, b"<p>", None, SUBJECT, b"<type>", b"<C>")
    >>> range_ = Derivation(None, b"<p>", None, OBJECT, b"<type>", b"<C>")
    >>> may_coincide(domain, range_), may_coincide(domain, range_._replace(object=b"<D>"))
    (True, False)
    """
    if one == other:
        return False
    equations: list[tuple[Part | None, Part | None]] = [
        (one.predicate, other.predicate),
        (one.subject, other.subject),
        (one.object, other.object),
    ]
    for derivation in (one, other):
        equations += [(SUBJECT, derivation.given_subject), (OBJECT, derivation.given_object)]
    return _is_solvable(equations)


def _is_solvable(equations: Iterable[tuple[Part | None, Part | None]]) -> bool:
    """Solve equations over the input's subject, its object and constants; None equals everything."""
    value: dict[From, Part] = {}

    def look(part: Part) -> Part:
        while isinstance(part, From) and part in value:
            part = value[part]
        return part

    for left, right in equations:
        if left is None or right is None:
            continue
        a, b = look(left), look(right)
        if a == b:
            continue
        if isinstance(a, From):
            value[a] = b
        elif isinstance(b, From):
            value[b] = a
        else:
            return False
    return True


def _parts(derivation: Derivation) -> tuple[Part | None, ...]:
    given_subject, _, given_object, subject, predicate, object_ = derivation
    return given_subject, given_object, subject, predicate, object_


def _shape(derivation: Derivation) -> _Shape:
    """Return which parts are constants, and how the others are named."""
    return tuple(bytes if isinstance(part, bytes) else part for part in _parts(derivation))


def _agreeing(
    left: Sequence[Derivation], right: Sequence[Derivation], shared: Sequence[int]
) -> Iterator[tuple[Derivation, Derivation]]:
    """Pair the derivations whose shared constants are the same, by hash."""
    index: dict[tuple[Part | None, ...], list[Derivation]] = defaultdict(list)
    for derivation in right:
        parts = _parts(derivation)
        index[tuple([parts[at] for at in shared])].append(derivation)
    for derivation in left:
        parts = _parts(derivation)
        for other in index.get(tuple([parts[at] for at in shared]), ()):
            yield derivation, other
