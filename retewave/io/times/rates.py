"""The rates that are accepted: refused when a source is described, long before its first triple has a time."""

from __future__ import annotations

import math

from retewave.errors import UsageError

__all__ = ["check_rate"]

SLOWEST = 1e-6  # triples a second: a triple in eleven days


def check_rate(rate: object) -> None:
    """Refuse a value that is no rate."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not math.isfinite(rate) or not rate > 0:
        raise UsageError(f"a rate is a number of triples per second above 0, not {rate!r}")
    if rate < SLOWEST:
        raise UsageError(f"a rate is at least {SLOWEST} triples per second, not {rate!r}")
