"""What a kernel does with the dispatch tables, as plainly as it can be written."""

from __future__ import annotations

from collections import Counter

from retewave.epsilon import INPUT, OBJECT, SUBJECT, Dispatch, Route
from retewave.epsilon.derivation import Derivation
from retewave.epsilon.dispatch import Key
from retewave.epsilon.vocabulary import Triple, is_literal

__all__ = ["emitted", "fire", "found"]


def found(dispatch: Dispatch, triple: Triple) -> list[tuple[Key, Route]]:
    """Look up as the kernel does."""
    s, p, o = triple
    predicate = p if p in dispatch.known else None
    keys = [(a, predicate, b) for a, b in ((None, None), (None, o), (s, None), (s, o))]
    for a, _, b in keys:
        shape = (a is not None, b is not None)
        assert shape in dispatch.shapes.get(predicate, ()) or (a, predicate, b) not in dispatch.table
    return [(key, route) for key in keys for route in dispatch.table.get(key, ())]


def emitted(route: Route | Derivation, triple: Triple) -> Triple:
    value = {SUBJECT: triple[0], INPUT: triple[1], OBJECT: triple[2]}
    s, p, o = (
        part if isinstance(part, bytes) else value[part] for part in (route.subject, route.predicate, route.object)
    )
    return s, p, o


def fire(dispatch: Dispatch, triple: Triple) -> Counter[tuple[int, Triple]]:
    """Return what each atom gets, comparing only the triples of routes that are marked as twins."""
    got: Counter[tuple[int, Triple]] = Counter()
    compared = set()
    for _, route in found(dispatch, triple):
        if route.guard and is_literal(triple[2]):
            continue
        result = route.atom, emitted(route, triple)
        if route.twin and result in compared:
            continue
        compared |= {result} if route.twin else set()
        got[result] += 1
    return got
