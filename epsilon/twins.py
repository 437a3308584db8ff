"""Which derivations for one atom may entail the very same triple from one input triple.

Data's way: reduction -> **twins** -> dispatch tables.  Most double paths are merged when the tables are
built; those that coincide for some input triples only (domain and range the same class, and s = o) are
marked, and the kernel compares them at run time.  A mark too many costs time, a mark too few a duplicate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import TypeAlias

from retewave.epsilon.derive import OBJECT, SUBJECT, Derivation, From, Part

__all__ = ["may_coincide", "twins"]

_Fields: TypeAlias = tuple[bytes | None, ...]


def twins(derivations: Sequence[Derivation]) -> frozenset[Derivation]:
    """Return those that have a twin; all must be for the same atom and the same input predicate."""
    by_shape: dict[tuple[bool, ...], list[Derivation]] = defaultdict(list)
    for derivation in derivations:
        by_shape[tuple(part is not None for part in _fields(derivation))].append(derivation)
    found: set[Derivation] = set()
    for left, right in combinations_with_replacement(by_shape, 2):
        shared = [at for at, both in enumerate(zip(left, right, strict=True)) if all(both)]
        for one, other in _agreeing(by_shape[left], by_shape[right], shared):
            if not (one in found and other in found) and may_coincide(one, other):
                found.update((one, other))
    return frozenset(found)


def may_coincide(one: Derivation, other: Derivation) -> bool:
    """Say whether some input triple makes both entail the same triple.

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


def _fields(derivation: Derivation) -> _Fields:
    """Return the parts that must agree when both derivations know them as constants."""
    return (
        derivation.given_subject,
        derivation.given_object,
        *(part if isinstance(part, bytes) else None for part in derivation[3:6]),
    )


def _agreeing(
    left: Sequence[Derivation], right: Sequence[Derivation], shared: Sequence[int]
) -> Iterator[tuple[Derivation, Derivation]]:
    """Pair those whose shared constants are the same, by hash."""
    index: dict[_Fields, list[Derivation]] = defaultdict(list)
    for derivation in right:
        fields = _fields(derivation)
        index[tuple(fields[at] for at in shared)].append(derivation)
    for derivation in left:
        fields = _fields(derivation)
        for other in index.get(tuple(fields[at] for at in shared), ()):
            yield derivation, other
