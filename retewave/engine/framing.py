"""Options of a view beside its text: when it is reported, and from when its steps are counted.

Where it stands: at the front door, before data's way begins.
"""

from __future__ import annotations

import re
from dataclasses import replace

from retewave.compiler.algebra import Ago, Extent, Inside, Query, ReportPolicy, Sliding, ViewFrame, is_stepped
from retewave.errors import UsageError
from retewave.windows import durations
from retewave.windows.times import Clock, Instant

__all__ = ["framed", "phased", "report_of"]

_POLICY = re.compile(r"(WINDOW CLOSE|CONTENT CHANGE|PERIODIC\s+(\S.*?))?\s*(NON EMPTY)?", re.IGNORECASE)
_HINT = "WINDOW CLOSE, CONTENT CHANGE or PERIODIC 10s, each perhaps with NON EMPTY behind it"


def framed(parsed: Query, report: str | ReportPolicy | None, t0: Instant | None) -> Query:
    """Return a query that is reported as a caller says, whatever its text says."""
    if report is None and t0 is None:
        return parsed
    if parsed.view is None:
        said = "report" if report is not None else "t0"
        raise UsageError(f"{said} is for views, and this query detects", hint="REGISTER RSTREAM <name> AS makes a view")
    view = parsed.view
    if t0 is not None:
        view = phased(view, _moment(t0))
    if report is not None:
        view = replace(view, reporting=report if isinstance(report, ReportPolicy) else report_of(report))
    stepped = any(is_stepped(each.extent) for each in view.windows)
    if view.reporting.policy == "close" and not stepped:
        raise UsageError("report WINDOW CLOSE needs a window with STEP", hint="CONTENT CHANGE needs none")
    return replace(parsed, view=view)


def report_of(given: object) -> ReportPolicy:
    """Return the report policy that a text names, as a query would write it.

    >>> str(report_of("periodic 10s non empty"))
    'PERIODIC 10s NON EMPTY'
    """
    found = _POLICY.fullmatch(" ".join(given.split())) if isinstance(given, str) and given.strip() else None
    if found is None:
        raise UsageError(f"unknown report {given!r}", hint=_HINT)
    named, period, non_empty = found.groups()
    if period is None:
        return ReportPolicy("close" if named and named.upper() == "WINDOW CLOSE" else "change", None, bool(non_empty))
    try:
        micros = durations.parse(f"{period}s" if period.isdecimal() else period)
    except ValueError as e:
        raise UsageError(f"report {given!r}: {e}", hint=_HINT) from e
    if micros <= 0:
        raise UsageError("the time between two reports is more than 0", hint=_HINT)
    return ReportPolicy("periodic", micros, bool(non_empty))


def phased(view: ViewFrame, t0: int) -> ViewFrame:
    """Return a view whose steps are counted from a time."""
    windows = tuple(replace(each, extent=_phased(each.extent, t0)) for each in view.windows)
    return replace(view, windows=windows, t0=t0)


def _phased(extent: Extent, t0: int) -> Extent:
    match extent:
        case Sliding(step=step) | Ago(step=step) if step is not None:
            return replace(extent, phase=t0)
        case Inside(outer, inner):
            return Inside(_phased(outer, t0), _phased(inner, t0))
    return extent


def _moment(t0: Instant) -> int:
    try:
        return Clock.of(t0).encode(t0)
    except ValueError as e:
        raise UsageError(f"t0: {e}") from e
