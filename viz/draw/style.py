"""The colours and lines of drawings: one colour a kind, wider and warmer lines for more rows.

Data's way: graph -> **style** -> DOT.  A kind is never shown by colour alone: shape and text show it, too.
"""

from __future__ import annotations

from math import log10

__all__ = ["EDGES", "FILLS", "FONT", "INK", "LINES", "MEMORY_FILLS", "SHAPES", "STATIC_FILL", "heat", "short_number"]

FONT = "Helvetica,Arial,sans-serif"
INK = "#1f2933"  # text

FILLS = {  # kind -> the colour that a node is filled with
    "stream": "#e4e7eb",
    "class": "#fde3c3",
    "property": "#fdf3c0",
    "value": "#fbd5e0",
    "alpha": "#cfe3fb",
    "table": "#e3dcfa",
    "join": "#bfe8d2",
    "probe": "#fbdcc4",
    "state": "#d5efe9",
    "step": "#eef8f5",
    "shape": "#d9e0ea",
    "query": "#334e68",
    "rest": "#ffffff",
}
LINES = {  # kind -> a node's border
    "stream": "#7b8794",
    "class": "#d98a2b",
    "property": "#c9a913",
    "value": "#c95f83",
    "alpha": "#4a88d0",
    "table": "#8468cf",
    "join": "#3a9d6e",
    "probe": "#c2662d",
    "state": "#2f8f80",
    "step": "#2f8f80",
    "shape": "#62748a",
    "query": "#243b53",
    "rest": "#9aa5b1",
}
SHAPES = {
    "stream": "box",
    "class": "ellipse",
    "property": "box",
    "value": "hexagon",
    "alpha": "box",
    "table": "note",
    "state": "box3d",
    "step": "cds",
    "shape": "box3d",
    "query": "box",
    "rest": "plaintext",
}
MEMORY_FILLS = {"alpha": "#f2f8ff", "beta": "#f0faf4"}  # kind of memory -> colour
STATIC_FILL = "#f3effd"  # a memory that holds static rows

EDGES = {  # kind of a link -> (colour, line)
    "S": ("#d98a2b", "solid"),
    "O": ("#d98a2b", "dashed"),
    "SO": ("#b09410", "solid"),
    "OS": ("#c2410c", "dashed"),
    "-": ("#9aa5b1", "dotted"),
    "asked": ("#4a88d0", "solid"),
    "given": ("#9aa5b1", "solid"),
    "fills": ("#7b8794", "solid"),
    "decides": ("#c2662d", "solid"),
    "runs": ("#2f8f80", "solid"),
    "completes": ("#334e68", "solid"),
    "feeds": ("#7c3aed", "dashed"),
    "rest": ("#cbd2d9", "dotted"),
}
_LEAST_HOT = 100  # rows: a handful is not hot, even where it is the most
_COLD, _HOT = (0x9A, 0xA5, 0xB1), (0xD9, 0x2D, 0x20)


def heat(rows: int, most: int) -> tuple[str, float]:
    """Return the colour and the width of a line by the rows that have passed it, of at most `most`.

    >>> heat(0, 100), heat(100, 100)
    (('#9aa5b1', 1.0), ('#d92d20', 5.0))
    """
    share = (log10(1 + rows) / log10(1 + max(most, _LEAST_HOT))) ** 2
    colour = "#" + "".join(f"{round(cold + share * (hot - cold)):02x}" for cold, hot in zip(_COLD, _HOT, strict=True))
    return colour, round(1 + 4 * share, 2)


def short_number(number: int) -> str:
    """Return a number with three digits at most.

    >>> short_number(999), short_number(12_345), short_number(2_500_000)
    ('999', '12.3k', '2.5M')
    """
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}" if number < 1000 * size else f"{number // size:,}{unit}"
    return str(number)
