"""What a reader may drop: the answer to "can any α-memory take this triple?", as arrays.

Data's way: the dispatch makes it, the reader asks it for every line before it interns anything.
Invariant: a triple that it refuses could not have reached any memory; one that it accepts may match nothing.
Left out: how it is computed (the dispatch), and subjects, which are rarely constants in a pattern.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["ACCEPT", "ACCEPT_OBJECT", "REFUSE", "Acceptance", "accept_all"]

REFUSE = 0  # no pattern asks for the predicate
ACCEPT = 1  # every triple with the predicate
ACCEPT_OBJECT = 2  # the predicate's triples whose object is set in `objects`


class Acceptance(NamedTuple):
    """What can matter. An id beyond an array is refused, unless everything is accepted."""

    everything: int  # 1: accept every triple, look at nothing else
    predicates: np.ndarray  # uint8 by TermId: REFUSE, ACCEPT or ACCEPT_OBJECT
    objects: np.ndarray  # uint8 by TermId: 1 where ACCEPT_OBJECT accepts the object


def accept_all() -> Acceptance:
    """Return the acceptance that refuses nothing.

    >>> accept_all().everything
    1
    """
    return Acceptance(1, np.zeros(1, np.uint8), np.zeros(1, np.uint8))
