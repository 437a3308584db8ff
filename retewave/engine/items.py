"""The items of users: triples in their many forms, and their times.

Data's way: **a user's triples** -> texts of terms -> the dictionary's ids -> rows.
Invariant: a user's code (an iterable, a term's `__str__`) runs here, before the engine is locked.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from retewave.engine.arguments import Triple, span, triples_of
from retewave.engine.arguments import texts_of as of_triple
from retewave.errors import UsageError
from retewave.rete.terms.dictionary import Terms
from retewave.windows.times import Clock, Instant

__all__ = ["Interval", "Triples", "ids_of", "interval_of", "texts_of"]

Triples = Triple | Iterable[Triple] | np.ndarray
Interval = Instant | tuple[Instant, Instant]


def texts_of(triples: Triples) -> list[bytes] | np.ndarray:
    """Return the canonical texts of a triple's or several triples' terms; an array of ids is returned as it is.

    >>> texts_of(("urn:s", "urn:p", 5))[2]
    b'"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    if isinstance(triples, np.ndarray):
        return triples
    texts: list[bytes] = []
    for triple in triples_of(triples):
        texts += of_triple(triple)
    return texts


def ids_of(texts: list[bytes] | np.ndarray, terms: Terms) -> np.ndarray:
    """Return the ids of the terms, [n, 3]."""
    if not isinstance(texts, np.ndarray):
        return terms.intern_many(texts).reshape(-1, 3)
    if texts.ndim != 2 or texts.shape[1] != 3 or texts.dtype.kind not in "iu":
        raise UsageError("an array of triples has the shape [n, 3] and holds ids", hint="use engine.encode")
    if not terms.known(texts).all():
        raise UsageError("an array of triples holds a number that is no term's id", hint="use engine.encode")
    return texts


def interval_of(time: Interval) -> tuple[int, int, Clock]:
    """Return the start and end of an item in microseconds, and the clock that shows its times.

    >>> interval_of((1, 2.5))
    (1000000, 2500000, Clock(kind='float', zone=None, unit='us'))
    """
    start, end = span(time) if isinstance(time, tuple) else (time, time)
    try:
        clock = Clock.of(end)
        last = clock.encode(end)
        first = last if start is end else clock.encode(start)
    except ValueError as e:
        raise UsageError(str(e)) from e
    if first > last:
        raise UsageError(f"an item cannot end ({end}) before it starts ({start})")
    return first, last, clock
