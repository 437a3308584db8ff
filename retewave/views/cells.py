"""Stretches of time within which it makes no difference to a view when a triple has come.

Where it stands: between a view's windows and the network, which tells once a stretch that something has come.
At all report times, both bounds of a window are where such stretches end: so all of a stretch is in the window, or
nothing.
Left out: windows whose bounds depend on what comes, and reports when the content changes, which need each triple.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from retewave.compiler.algebra import Ago, Extent, Fixed, Inside, Landmark, Sliding, ViewFrame, steps_of
from retewave.views.history import is_moved

__all__ = ["cells_of"]


def cells_of(frame: ViewFrame, window: int) -> tuple[int, int] | None:
    """Return the width of the stretches of a window, and where one of them ends; None: each time counts.

    >>> from retewave.compiler.parse import parse
    >>> view = parse("SELECT * FROM STREAM <urn:s> [RANGE 15s STEP 10s] { ?s ?p ?o }").view
    >>> cells_of(view, 0)
    (5000000, 0)
    """
    extents = [each.extent for each in frame.windows]
    if frame.reporting.policy == "change" or any(map(is_moved, extents)):
        return None
    period = frame.reporting.period
    reports = [(period, 0)] if period is not None else [step for each in extents for step in steps_of(each)]
    cuts = [*reports, *_cuts(extents[window], reports)]
    _, origin = cuts[0]
    width = gcd(*(part for step, at in cuts for part in (step, at - origin)))
    return width, origin % width


def _cuts(extent: Extent, reports: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where the bounds of a window may be at reports: at steps from a time; a step of 0 is that time alone."""
    match extent:
        case Sliding(step=step, phase=phase) | Ago(step=step, phase=phase):
            back = (0, extent.width) if isinstance(extent, Sliding) else (extent.oldest, extent.newest)
            times = reports if step is None else [(step, phase)]
            yield from ((each, at - width) for each, at in times for width in back)
        case Landmark(since):
            yield 0, since - 1
        case Fixed(begin, end):
            yield from ((0, begin - 1), (0, end))
        case Inside(outer, inner):
            yield from _cuts(outer, reports)
            yield from _cuts(inner, reports)
