"""How many cases property tests try: RETEWAVE_CASES says how many times as many, below 1 a part of them."""

from __future__ import annotations

import os

__all__ = ["many"]

_TIMES = float(os.environ.get("RETEWAVE_CASES", "1"))


def many(cases: int) -> int:
    """Return how often to try what is tried that often by default: once at least."""
    return max(1, round(_TIMES * cases))
