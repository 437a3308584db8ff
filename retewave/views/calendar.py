"""At which reports of a view something is in a window, by its times alone.

Where it stands: between the meaning of windows (`retewave.views.bounds`) and who explains them.
Left out: windows whose bounds depend on what comes; whether a report is passed over because all windows are empty.
"""

from __future__ import annotations

from retewave.compiler.algebra import ViewFrame, steps_of
from retewave.views.bounds import NEVER, enters, leaves, next_step

__all__ = ["reports_with"]


def reports_with(frame: ViewFrame, window: int, start: int, end: int) -> tuple[int, int]:
    """Return the first and the last report with what starts and ends at some times in a window.

    The last may be before the first: then it was in no report whole.  The last is NEVER where a window forgets nothing.

    >>> from retewave.compiler.parse import parse
    >>> view = parse("SELECT * FROM STREAM <urn:s> [RANGE 10s STEP 10s] { ?s ?p ?o }").view
    >>> [[time // 1_000_000 for time in reports_with(view, 0, start, end)] for start, end in [(0, 3), (3, 14_000_000)]]
    [[10, 0], [20, 10]]
    """
    extent = frame.windows[window].extent
    first, until = enters(extent, end), leaves(extent, start)
    if first < NEVER:
        first = _report_from(frame, first)
    return first, until if until >= NEVER else _report_to(frame, until - 1)


def _report_from(frame: ViewFrame, time: int) -> int:
    """Return the first report at or after a time."""
    steps = _steps(frame)
    return min((next_step(time - 1, *step) for step in steps), default=time)


def _report_to(frame: ViewFrame, time: int) -> int:
    """Return the last report at or before a time."""
    return max((phase + (time - phase) // step * step for step, phase in _steps(frame)), default=time)


def _steps(frame: ViewFrame) -> list[tuple[int, int]]:
    """Return the steps at which there are reports; none: at any time."""
    if frame.reporting.policy == "change":
        return []
    if frame.reporting.period is not None:
        return [(frame.reporting.period, 0)]
    return [step for each in frame.windows for step in steps_of(each.extent)]
