"""What a reader may drop: the answer to "can any α-memory take this triple?", as arrays.

Data's way: the dispatch makes it, the reader asks it for every line before it interns anything.
Invariant: a refused triple could not have reached any memory; an accepted triple may match nothing.
Left out: how it is computed (the dispatch), and subjects, which are rarely constants in a pattern.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["ACCEPT", "ACCEPT_OBJECT", "REFUSE", "Acceptance", "accept_all", "either", "sieve_of"]

REFUSE = 0  # no pattern asks for the predicate
ACCEPT = 1  # every triple with the predicate
ACCEPT_OBJECT = 2  # the predicate's triples whose object is set in `objects`

_FEWEST = 1 << 12  # bits of a sieve
_BITS = 16  # bits for each object, at least: then most of the other objects are kept back


class Acceptance(NamedTuple):
    """The triples that can matter. An id beyond an array is refused, unless everything is accepted."""

    everything: int  # 1: accept every triple, look at nothing else
    predicates: np.ndarray  # uint8 by TermId: REFUSE, ACCEPT or ACCEPT_OBJECT
    objects: np.ndarray  # uint8 by TermId: 1 where ACCEPT_OBJECT accepts the object


def accept_all() -> Acceptance:
    """Return the acceptance that refuses nothing.

    >>> accept_all().everything
    1
    """
    return Acceptance(1, np.zeros(1, np.uint8), np.zeros(1, np.uint8))


def either(one: Acceptance, other: Acceptance) -> Acceptance:
    """Return the acceptance of what one of two accepts.

    >>> of = lambda *words: Acceptance(0, np.array(words, np.uint8), np.zeros(1, np.uint8))
    >>> either(of(REFUSE, ACCEPT_OBJECT, ACCEPT), of(REFUSE, ACCEPT)).predicates.tolist()
    [0, 1, 1]
    """
    predicates, objects = (np.zeros(max(len(a), len(b)), np.uint8) for a, b in zip(one[1:], other[1:], strict=True))
    for each in (one, other):
        objects[: len(each.objects)] |= each.objects
        of = predicates[: len(each.predicates)]
        wider = (each.predicates == ACCEPT) | (of == REFUSE)
        of[wider] = each.predicates[wider]
    return Acceptance(one.everything | other.everything, predicates, objects)


def sieve_of(acceptance: Acceptance, hashes: np.ndarray) -> np.ndarray:
    """Return bits, set where the hash of an accepted object leads: other objects need no look-up in the dictionary.

    `hashes` is by TermId. A bit's place is the lower bits of a hash; the number of bits is a power of two.

    >>> sieve = sieve_of(Acceptance(0, np.zeros(1, np.uint8), np.array([0, 1], np.uint8)), np.array([0, 4097 + 8]))
    >>> len(sieve), np.flatnonzero(sieve).tolist(), sieve[1].item()
    (512, [1], 2)
    """
    found = hashes[np.flatnonzero(acceptance.objects[: len(hashes)])]
    bits = max(_FEWEST, 1 << (_BITS * len(found)).bit_length())
    sieve, places = np.zeros(bits >> 3, np.uint8), found & (bits - 1)
    np.bitwise_or.at(sieve, places >> 3, (1 << (places & 7)).astype(np.uint8))
    return sieve
