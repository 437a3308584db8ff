"""Time: intervals and their windows, temporal relations, the order of arrivals, durations and clocks.

The lowest layer: it imports nothing else of retewave, and no numba (`retewave.rete` jits what it needs).
"""

from __future__ import annotations

__all__: list[str] = []
