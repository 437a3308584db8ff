"""Reports of views as a picture: each report's windows as boxes on a time line, and its time as a line across them.

Data's way: reports -> **boxes on an axis** -> SVG.
Of a view that is explained, the triples that made the rows are dots in the boxes.
Invariant: everything that comes from data is escaped.  A box is open at its left end where the window is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from retewave.errors import UsageError
from retewave.provenance.axis import Axis
from retewave.provenance.time_words import TimeWords
from retewave.viz.draw.style import FONT, INK
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:
    from retewave.report import Report, ReportedWindow

__all__ = ["draw_reports"]

COLOURS = ("#4a88d0", "#3a9d6e", "#8468cf", "#d98a2b", "#c95f83", "#62748a")  # of windows, in turns
TOLD, FAINT, GREY = "#d92d20", "#e4e7eb", "#7b8794"
MARGIN, PLOT, LINE, BOX, HEAD = 18, 520, 22, 13, 92  # sizes; LINE: a window of a report; HEAD: above all of them
MOST = 40  # reports that are drawn: the latest
_LETTER = 6.2  # width


def draw_reports(reports: Sequence[Report]) -> str:
    """Return reports of one view as an SVG picture: windows as boxes on a time line, the latest reports below.

    >>> import retewave as rw
    >>> engine = rw.Engine()
    >>> view = engine.register("SELECT * FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x <urn:p> ?y }")
    >>> for time in (3, 21):
    ...     _ = engine.push(("urn:a", "urn:p", time), time=time, stream="urn:s")
    >>> reports = list(engine.reports(view))
    >>> [str(report.time) for report in reports], draw_reports(reports).count('class="window"')
    (['5', '10', '15'], 3)
    """
    if len({id(each.query) for each in reports}) != 1:
        what = "there is no report to draw" if not reports else "a picture shows the reports of one view"
        raise UsageError(what, hint="draw_reports(list(engine.reports(view)))")
    shown = list(reports)[-MOST:]
    names = [each.name for each in shown[0].windows]
    left = MARGIN + _LETTER * max(14, *(len(f"{each.time} {len(each):,} rows") for each in shown)) + 12
    axis = _axis(shown, left)
    high = LINE * len(names) + 8
    bottom = HEAD + 16 * len(names) + high * len(shown)
    parts = [*_head(shown[0].query.name, names), *_grid(axis, HEAD + 16 * len(names), bottom)]
    for number, each in enumerate(shown):
        parts += _report(each, axis, HEAD + 16 * len(names) + high * number)
    width = axis.right + MARGIN + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{bottom + 14}" '
        f'viewBox="0 0 {width:g} {bottom + 14}" font-family="{FONT}" font-size="12" fill="{INK}" role="img">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _axis(reports: Sequence[Report], left: float) -> Axis:
    """Return an axis for all windows; those that have no end, or begin long before, go beyond it."""
    times = [each.made_at for each in reports]
    spans = [window.micros for each in reports for window in each.windows]
    known = [start for start, _ in spans if start > BEFORE_ALL]
    first, last = min([*times, *known]), max([*times, *(end for _, end in spans)])
    beside = max(last - first, 2) // 40 + 1
    words = TimeWords.of(reports[0].rows.clock, (first, last))
    return Axis(first - beside, last + beside, left, left + PLOT, words)


def _head(name: str, windows: Sequence[str]) -> Iterator[str]:
    yield f'<text x="{MARGIN}" y="28" font-size="16" font-weight="bold">{escape(name)}</text>'
    for number, each in enumerate(windows):
        y = 48 + 16 * number
        yield f'<rect x="{MARGIN}" y="{y - 9}" width="16" height="10" rx="2" {_paint(number)}/>'
        yield f'<text x="{MARGIN + 24}" y="{y}">{escape(each)}</text>'


def _grid(axis: Axis, top: float, bottom: float) -> Iterator[str]:
    for place, said in axis.ticks:
        yield f'<path d="M{place:.1f} {top - 8}V{bottom}" stroke="{FAINT}"/>'
        where = f'x="{place:.1f}" y="{top - 14}" font-size="11" fill="{GREY}" text-anchor="middle"'
        yield f"<text {where}>{escape(said)}</text>"


def _report(report: Report, axis: Axis, top: float) -> Iterator[str]:
    """Yield the windows of a report, one below the other, and the line at its time."""
    high, place = LINE * len(report.windows), axis.at(report.made_at)
    rows = f"{len(report):,} row{'s' * (len(report) != 1)}"
    said = f"{axis.words.short(report.made_at)}  {rows}"
    yield f'<text x="{MARGIN}" y="{top + high / 2 + 4:g}">{escape(said)}</text>'
    for number, window in enumerate(report.windows):
        yield from _window(window, number, axis, top + LINE * number + (LINE - BOX) / 2)
    for number, time in sorted(_moments(report)):
        where = f'cx="{axis.at(time):.1f}" cy="{top + LINE * (number + 0.5):g}"'
        yield f'<circle class="triple" {where} r="3" fill="{COLOURS[number % len(COLOURS)]}"/>'
    yield f'<path d="M{place:.1f} {top + 1:g}V{top + high - 1:g}" stroke="{TOLD}" stroke-width="2"/>'
    yield f'<circle cx="{place:.1f}" cy="{top + 1:g}" r="3" fill="{TOLD}"/>'


def _moments(report: Report) -> set[tuple[int, int]]:
    """Return the windows and the times of the triples that rows are derived from, where the view is explained."""
    derived = report.rows.derived
    return set() if derived is None else {each for row in range(len(report)) for each in derived.moments(row)}


def _window(window: ReportedWindow, number: int, axis: Axis, top: float) -> Iterator[str]:
    start, end = (axis.at(time) for time in window.micros)
    if window.micros[1] <= window.micros[0]:
        return  # nothing can be in it
    where = f'x="{start:.1f}" y="{top:g}" width="{max(end - start, 2):.1f}" height="{BOX}" rx="2"'
    said = escape(window.spelled(axis.words.short))
    yield f'<rect class="window" {where} {_paint(number)}><title>{said}</title></rect>'


def _paint(number: int) -> str:
    colour = COLOURS[number % len(COLOURS)]
    return f'fill="{colour}" fill-opacity="0.35" stroke="{colour}"'
