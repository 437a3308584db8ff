"""Which literals tell a time, and which time: dates, and numbers, which are seconds from 1970 on.

Data's way: a statement about an event -> **its time** -> the event's rows.
Where it stands: the one rule, for statements that are kept (`events.py`) and for those that only tell a time
(`retewave/io/lines/scan.py`).
"""

from __future__ import annotations

import math

import numpy as np

from retewave.rete.terms.kinds import DATE_LOCAL, DATETIME, DOUBLE, INTEGER
from retewave.rete.words.jit import inlined

__all__ = ["FARTHEST", "micros_told"]

FARTHEST = 2.0**62  # microseconds from 1970: no event is there


@inlined
def micros_told(kind: int, number: float) -> float:
    """Return the time in microseconds that a literal tells; infinity if it tells none."""
    if DATETIME <= kind <= DATE_LOCAL:
        return number
    if INTEGER <= kind <= DOUBLE and not math.isnan(number):
        return float(np.floor(number * 1e6 + 0.5))
    return math.inf
