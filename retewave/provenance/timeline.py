"""An explanation as a picture: arrivals as dots and bars on a time line; below, windows, deadlines, absence, groups.

Data's way: explanation -> **strips on an axis** -> SVG.
Invariant: everything that comes from data is escaped.  What is static has no place on the axis, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from retewave.provenance.axis import Axis, axis_of
from retewave.provenance.explanation import Arrival, Explanation, Reckoning
from retewave.viz.draw.style import FONT, INK

__all__ = ["drawn"]

COLOURS = ("#4a88d0", "#3a9d6e", "#8468cf", "#d98a2b", "#c95f83", "#62748a")  # of arrivals, in turns
MATCH, WINDOW, ABSENT, DEADLINE, FAINT = "#243b53", "#7b8794", "#c2410c", "#d92d20", "#e4e7eb"
TOP, MARGIN, PLOT = 78, 18, 480  # height of what is above the strips; around all; width of the axis
STRIP, TALL_STRIP = 44, 58  # height of a strip; where some say by which axioms
MOST_LETTERS = 62  # of a line in the gutter: the rest is in its title
_PLAIN, _SMALL = 12.5, 11  # sizes of letters


@dataclass(frozen=True)
class Strip:
    """A strip of the picture: words on the left, something on the axis."""

    head: str  # what it is
    said: str  # more of it
    colour: str  # of the head and of what stands on the axis
    shapes: tuple[str, ...]  # SVG around the middle of the strip, which is y = 0
    why: str = ""  # by which axioms, or by which rule


def drawn(explanation: Explanation) -> str:
    """Return an explanation as an SVG picture."""
    gutter = _gutter(explanation)
    axis = axis_of(explanation, left=MARGIN + gutter + 16, width=PLOT)
    arrivals = [_arrival(number, each, axis) for number, each in enumerate(explanation.arrivals, 1)]
    reports = any(each.kind == "report" for each in explanation.reckonings)  # a row: its windows are its interval
    others = [_match(explanation, axis)] if explanation.micros is not None and not reports else []
    others += [_reckoning(each, axis) for each in explanation.reckonings if _has_strip(each)]
    strips, high = [*arrivals, *others], TALL_STRIP if any(each.why for each in arrivals) else STRIP
    bottom = TOP + high * len(arrivals) + STRIP * len(others) + 10
    parts = [*_head(explanation), *_grid(axis, bottom), *_deadlines(explanation, axis, bottom)]
    for number, strip in enumerate(strips):
        top = TOP + high * min(number, len(arrivals)) + STRIP * max(0, number - len(arrivals))
        parts += _strip(strip, top + STRIP // 2, gutter)
    if others:
        line = TOP + high * len(arrivals)
        parts.append(f'<path d="M{MARGIN} {line}H{axis.right + 12}" stroke="{WINDOW}" stroke-width="0.7"/>')
    parts += _relations(explanation, axis, high)
    return _page(parts, axis.right + MARGIN + 52, bottom + 8, str(explanation))


def _page(parts: Sequence[str], width: float, height: float, said: str) -> str:
    hatch = f'<path d="M0 6L6 0" stroke="{ABSENT}" stroke-width="1"/>'
    tip = f'<path d="M0 0L7 3.5L0 7z" fill="{INK}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{FONT}" font-size="{_PLAIN}" fill="{INK}" role="img">'
        f"<desc>{escape(said)}</desc>"
        f'<defs><pattern id="rw-absent" width="6" height="6" patternUnits="userSpaceOnUse">{hatch}</pattern>'
        f'<marker id="rw-tip" markerWidth="7" markerHeight="7" refX="6" refY="3.5" orient="auto">{tip}</marker></defs>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _head(explanation: Explanation) -> Iterator[str]:
    shown = " · ".join(f"?{name} = {term}" for name, term in explanation.binding.items())
    yield f'<text x="{MARGIN}" y="28" font-size="16" font-weight="bold">{escape(explanation.query)}</text>'
    yield f'<text x="{MARGIN}" y="48" fill="{WINDOW}">{escape(shown)}</text>'


def _grid(axis: Axis, bottom: float) -> Iterator[str]:
    """Yield the axis: its ticks from above to below."""
    for place, said in axis.ticks:
        yield f'<path d="M{place:.1f} {TOP - 8}V{bottom}" stroke="{FAINT}"/>'
        yield _text(place, TOP - 14, said, _SMALL, WINDOW, anchor="middle")


def _strip(strip: Strip, middle: float, gutter: float) -> Iterator[str]:
    yield f'<g transform="translate({MARGIN} {middle:g})">'
    yield _text(0, -3, strip.head, _PLAIN, strip.colour, bold=True, most=int(gutter / 6.4))
    yield _text(0, 12, strip.said, _SMALL, INK, most=int(gutter / 5.4))
    if strip.why:
        yield _text(0, 26, strip.why, _SMALL, WINDOW, most=int(gutter / 5.4))
    yield f'</g><g transform="translate(0 {middle:g})">{"".join(strip.shapes)}</g>'


def _text(
    x: float, y: float, said: str, size: float, colour: str, *, bold: bool = False, anchor: str = "", most: int = 0
) -> str:
    """Return words; those that are too long are cut, with all of them in the title."""
    cut = most and len(said) > most
    shown = escape(said[: most - 1] + "…" if cut else said) + (f"<title>{escape(said)}</title>" if cut else "")
    more = ' font-weight="bold"' * bold + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:g}" font-size="{size}" fill="{colour}"{more}>{shown}</text>'


def _gutter(explanation: Explanation) -> float:
    """Return how much room the words need."""
    heads = [f"({number}) {each.pattern}" for number, each in enumerate(explanation.arrivals, 1)]
    small = [said for each in explanation.arrivals for said in (_came(each), _why(each))]
    small += [each.said for each in explanation.reckonings if _has_strip(each)]
    longest = max([6.8 * min(len(each), MOST_LETTERS) for each in heads] + [150.0])
    return max([longest, *(5.6 * min(len(each), MOST_LETTERS) for each in small)])


# ---- what stands on the axis ----
def _arrival(number: int, arrival: Arrival, axis: Axis) -> Strip:
    colour = COLOURS[(number - 1) % len(COLOURS)]
    if arrival.micros is None:
        line = f'<path d="M{axis.left:.1f} 0H{axis.right:.1f}" stroke="{colour}" stroke-dasharray="2 5" opacity="0.7"/>'
        line += _text(axis.right + 8, 4, "static", _SMALL, colour)
    else:
        line = _span(arrival.micros, axis, colour, 10)
    return Strip(f"({number}) {arrival.pattern}", _came(arrival), colour, (line,), _why(arrival))


def _came(arrival: Arrival) -> str:
    came = "not known: it came before the query asked" if arrival.triple is None else arrival.triple
    return came + ("" if arrival.event is None else f" · event {arrival.event}")


def _why(arrival: Arrival) -> str:
    by = [] if arrival.rule is None else [f"built by {arrival.rule}"]
    return ", ".join([*by, *(["by " + ", ".join(arrival.axioms)] if arrival.axioms else [])])


def _match(explanation: Explanation, axis: Axis) -> Strip:
    assert explanation.micros is not None
    start, end = explanation.micros
    said = axis.words.short(start) if start == end else f"{axis.words.short(start)} to {axis.words.short(end)}"
    return Strip("match", said, MATCH, (_span(explanation.micros, axis, MATCH, 14),))


def _span(micros: tuple[int, int], axis: Axis, colour: str, high: float) -> str:
    """Return an instant as a dot, an interval as a bar."""
    start, end = axis.at(micros[0]), axis.at(micros[1])
    if micros[0] == micros[1]:
        return f'<circle cx="{start:.1f}" cy="0" r="{high / 2 + 1:g}" fill="{colour}"/>'
    wide = max(end - start, 2.0)
    return (
        f'<rect x="{start:.1f}" y="{-high / 2:g}" width="{wide:.1f}" height="{high:g}" rx="{high / 2:g}" '
        f'fill="{colour}"/>'
    )


def _has_strip(reckoning: Reckoning) -> bool:
    return reckoning.kind in ("window", "absent", "deadline", "group") and reckoning.micros is not None


def _reckoning(reckoning: Reckoning, axis: Axis) -> Strip:
    assert reckoning.micros is not None
    if reckoning.kind == "absent":
        return Strip(reckoning.operator, reckoning.said, ABSENT, (_hatched(reckoning.micros, axis),))
    if reckoning.kind == "group":
        return Strip(reckoning.operator, reckoning.said, MATCH, (_span(reckoning.micros, axis, MATCH, 4),))
    name, colour = (reckoning.operator, WINDOW) if reckoning.kind == "window" else ("deadline", DEADLINE)
    return Strip(name, reckoning.said, colour, tuple(_bracket(reckoning, axis, colour)))


def _hatched(micros: tuple[int, int], axis: Axis) -> str:
    start, end = axis.at(micros[0]), axis.at(micros[1])
    return (
        f'<rect x="{start:.1f}" y="-8" width="{max(end - start, 2.0):.1f}" height="16" rx="3" fill="url(#rw-absent)" '
        f'fill-opacity="0.55" stroke="{ABSENT}" stroke-width="0.8" stroke-dasharray="3 2"/>'
    )


def _bracket(reckoning: Reckoning, axis: Axis, colour: str) -> Iterator[str]:
    """Yield a window as a line with ends; one that goes on beyond the axis is open there."""
    assert reckoning.micros is not None
    start, end = axis.at(reckoning.micros[0]), axis.at(reckoning.micros[1])
    cap = "" if axis.ends_before(reckoning.micros[1]) else f"M{end:.1f} -6V6"
    yield f'<path d="M{start:.1f} -6V6M{start:.1f} 0H{end:.1f}{cap}" stroke="{colour}" stroke-width="1.6" fill="none"/>'
    if not cap:
        yield _text(end + 3, 4, "…", _PLAIN, colour)


def _deadlines(explanation: Explanation, axis: Axis, bottom: float) -> Iterator[str]:
    """Yield a line at each deadline, and at the report, from above to below."""
    ends = {
        each.micros[1]: each.kind
        for each in explanation.reckonings
        if each.kind in ("deadline", "report") and each.micros
    }
    for end, kind in ends.items():
        place = axis.at(end)
        yield f'<path d="M{place:.1f} {TOP - 8}V{bottom}" stroke="{DEADLINE}" stroke-dasharray="4 3"/>'
        yield _text(place + 4, bottom - 2, kind, _SMALL, DEADLINE)


def _relations(explanation: Explanation, axis: Axis, high: int) -> Iterator[str]:
    """Yield an arrow for each relation between two arrivals: from the end of the left one to the start of the right."""
    for each in explanation.reckonings:
        if each.kind != "relation" or not all(each.sides):
            continue
        left, right = each.sides[0][-1], each.sides[1][0]
        one, other = explanation.arrivals[left - 1].micros, explanation.arrivals[right - 1].micros
        if one is None or other is None:
            continue
        down = 1 if right > left else -1
        x, y = axis.at(one[1]), TOP + high * (left - 1) + STRIP / 2 + 8 * down
        to_x, to_y = axis.at(other[0]), TOP + high * (right - 1) + STRIP / 2 - 9 * down
        middle = (y + to_y) / 2
        curve = f"M{x:.1f} {y:g}C{x:.1f} {middle:g} {to_x:.1f} {middle:g} {to_x:.1f} {to_y:g}"
        yield f'<path d="{curve}" stroke="{INK}" stroke-width="1" fill="none" opacity="0.6" marker-end="url(#rw-tip)">'
        yield f"<title>{escape(each.said)}</title></path>"
        halo = '<g paint-order="stroke" stroke="#ffffff" stroke-width="4" stroke-linejoin="round">'
        yield f"{halo}{_text((x + to_x) / 2, middle + 4, each.operator, 9.5, INK, anchor='middle')}</g>"
