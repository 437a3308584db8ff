"""A view in the inspector: what its windows hold, when it is reported next, and its latest reports as a picture.

Data's way: a view that runs, its reports -> **plain data** -> the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retewave.engine.engine import Engine
from retewave.provenance.report_line import draw_reports
from retewave.query import Query
from retewave.views.running import RunningView
from retewave.viz.explain.names import Prefixes
from retewave.windows.intervals import BEFORE_ALL
from retewave.windows.times import spell_instant

__all__ = ["view_of", "view_on_page"]

MOST_REPORTS = 8  # that the picture shows: the latest


def view_of(engine: Engine, query: Query) -> RunningView | None:
    """Return the view that runs for a query; None: the query detects, or its network is not made yet."""
    return next((each for each in engine.matcher.follow().views if each.query is query), None)


def view_on_page(engine: Engine, query: Query, prefixes: Prefixes) -> dict[str, Any]:
    """Return what the page shows of a view, nothing for a query that detects."""
    view = view_of(engine, query)
    if view is None:
        return {}
    reports = query.reports[-MOST_REPORTS:]
    return {
        "note": f"; {_count(view.reported, 'report')}; {_next(engine, view)}",
        "windows": [*_windows(engine, view, prefixes), *_parts(view, prefixes)],
        "reports": draw_reports(reports) if reports else None,
    }


def _next(engine: Engine, view: RunningView) -> str:
    due = view.due
    return "no report before more comes" if due is None else f"the next one at {_time(engine, due)}"


def _windows(engine: Engine, view: RunningView, prefixes: Prefixes) -> Iterator[str]:
    """Yield the windows, with the times that they hold at the next report."""
    due = view.due
    for number, window in enumerate(view.frame.windows):
        named = f"{'' if window.name is None else window.name.decode()} {window}".strip()
        if due is None:
            yield prefixes.short(named)
            continue
        low, high = view.bounds(number, due)
        begin = "" if low <= BEFORE_ALL else f"behind {_time(engine, low)}, "
        yield f"{prefixes.short(named)}: {begin}up to {_time(engine, high)}"


def _parts(view: RunningView, prefixes: Prefixes) -> Iterator[str]:
    """Yield the parts of the view that have solutions, with the number of them."""
    for number, (leaf, branch) in enumerate(zip(view.split.leaves, view.split.branches, strict=True)):
        if leaf.presence or leaf.timed or leaf.event is not None:
            continue
        patterns = (" ".join(map(_term, each.terms)) for each in branch.patterns)
        found = len(view.solutions(number)[1])
        yield f"{_count(found, 'solution')} of {prefixes.short(' . '.join(patterns))}"


def _term(term: object) -> str:
    return term.decode() if isinstance(term, bytes) else str(term)


def _time(engine: Engine, time: int) -> str:
    return spell_instant(engine.shown_clock.decode(time))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
