"""Ask a query of a small stream, and draw what came, what was found, and when it was told.

An item is a text: `3 ann asks 7` is a triple at second 3, `2-5 door is open` is one that lasts from 2 to 5, and
`3 ann asks 7 @desk` is one of the stream :desk.  `9 clock` says that it is 9 o'clock now, as `engine.advance(9)` does.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from math import ceil
from typing import Any

import retewave as rw

PREFIXES = """PREFIX : <http://example.org/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
BASE = "http://example.org/"
NAMES = ["SEQ", "MEETS", "OVERLAPS", "STARTS", "DURING", "FINISHES", "EQUALS"]
NAMES += ["FINISHED_BY", "CONTAINS", "STARTED_BY", "OVERLAPPED_BY", "MET_BY", "AFTER"]
Row = tuple[str, list[tuple[float, float, str]], str]  # what stands before it, what is drawn, what stands behind it


@dataclass(frozen=True)
class Item:
    """What comes at a time."""

    start: float  # seconds
    end: float
    triple: tuple[str, str, Any] | None  # nothing: only the clock goes on
    stream: str | None

    @property
    def label(self) -> str:
        """What stands before its row."""
        if self.triple is None:
            return "clock"
        subject, predicate, value = (str(term).removeprefix(BASE) for term in self.triple)
        lasting = f" {value}" if self.start < self.end else ""
        return f"{subject} {predicate}{lasting}" + (f" @{self.stream}" if self.stream else "")

    @property
    def mark(self) -> str:
        """What is drawn at its instant."""
        if self.triple is None or self.start < self.end:
            return "" if self.triple else "x"
        return str(self.triple[2]).removeprefix(BASE)


def item(text: str) -> Item:
    """Read an item."""
    when, *words = text.split()
    first, _, last = when.partition("-")
    start, end = number(first), number(last or first)
    if words == ["clock"]:
        return Item(start, end, None, None)
    stream = words.pop()[1:] if words[-1].startswith("@") else None
    subject, predicate, value = words
    found = number(value) if value.replace(".", "").isdigit() else BASE + value
    return Item(start, end, (BASE + subject, BASE + predicate, found), stream)


def number(text: str) -> float:
    """Read a number; a whole one is an integer."""
    return float(text) if "." in text else int(text)


def found(query: str, items: list[Item], **options: Any) -> list[tuple[rw.Match, str]]:
    """Return the matches of a query in their order, each with when it was told."""
    engine = rw.Engine(**options)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of rows that are kept for ever: not for long
        engine.register(PREFIXES + query)
    told = []
    for each in items:
        if each.triple is None:
            matches = engine.advance(each.end)
        else:
            stream = None if each.stream is None else BASE + each.stream
            matches = engine.push(each.triple, time=(each.start, each.end), stream=stream)
        told += [(match, f"told at {each.end}") for match in matches]
    return told + [(match, "told at the end") for match in engine.flush()]


def rows(items: list[Item], told: list[tuple[rw.Match, str]]) -> list[Row]:
    """Return the rows of a picture: what came, a line for each subject and predicate, and what was found."""
    came: dict[str, dict[tuple[float, float], str]] = {}
    for each in items:
        marks = came.setdefault(each.label, {})
        former = marks.get((each.start, each.end))
        marks[each.start, each.end] = each.mark if former is None else f"{former},{each.mark}"
    return [(label, [(*when, mark) for when, mark in marks.items()], "") for label, marks in came.items()] + [
        (_bindings(match), [(match.start, match.end, "")], when) for match, when in told
    ]


def _bindings(match: rw.Match) -> str:
    return "> " + " ".join(f"?{name}={str(term).removeprefix(BASE)}" for name, term in match.items())


def picture(rows: list[Row]) -> str:
    """Draw rows below a line of seconds."""
    first = int(min(start for _, marks, _ in rows for start, _, _ in marks))
    last = ceil(max(end for _, marks, _ in rows for _, end, _ in marks))
    wide = max(3, *(len(mark) + 1 for _, marks, _ in rows for _, _, mark in marks))
    margin = max(len(label) for label, _, _ in rows) + 3

    def column(time: float) -> int:
        return margin + round((time - first) * wide)

    lines = [" " * margin + "".join(str(second).ljust(wide) for second in range(first, last + 1)).rstrip()]
    for label, marks, behind in rows:
        line = list(label.ljust(column(last) + wide))
        for start, end, mark in marks:
            begin, length = column(start), column(end) - column(start)
            drawn = "├" + "─" * (length - 1) + "┤" if length else mark or "o"
            line[begin : begin + len(drawn)] = drawn
        lines.append(("".join(line) + behind).rstrip())
    return "\n".join(lines)


def draw(query: str, *texts: str, **options: Any) -> None:
    """Ask a query of items, and print the picture."""
    items = [item(text) for text in texts]
    print(picture(rows(items, found(query, items, **options))))


def relations(right: str, *lefts: str) -> None:
    """Print which of Allen's relations the engine finds between some intervals and one, such as 2-5."""
    engine, names = rw.Engine(allow_cartesian=True), {left: list[str]() for left in lefts}
    with warnings.catch_warnings(action="ignore"):
        for name in NAMES:
            query = f"SELECT ?left WHERE {{ {{ ?left :is :left }} {name} {{ ?right :is :right }} }}"
            engine.register(PREFIXES + query, name=name)
    items = [item(f"{left} {left} is left") for left in lefts] + [item(f"{right} {right} is right")]
    for each in sorted(items, key=lambda each: each.end):
        for match in engine.push(each.triple or (), time=(each.start, each.end)):
            names[str(match["left"]).removeprefix(BASE)].append(match.query.name)
    shown = {left: (each.start, each.end, "") for left, each in zip(lefts, items, strict=False)}
    print(
        picture(
            [("right", [(items[-1].start, items[-1].end, "")], "")]
            + [(", ".join(sorted(names[left], key=NAMES.index)), [shown[left]], "") for left in lefts]
        )
    )


if __name__ == "__main__":
    draw(sys.argv[1], *sys.argv[2:])
