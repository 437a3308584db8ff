"""DOT text as it is, or drawn as SVG or PNG, by the system's `dot` or by pygraphviz, which brings Graphviz along.

Data's way: DOT text -> **picture**.  Nothing is written and nothing is opened: the picture's bytes are returned.
"""

from __future__ import annotations

import shutil
from typing import Literal

from retewave.errors import UsageError

__all__ = ["PictureFormat", "render", "svg_element"]

PictureFormat = Literal["dot", "svg", "png"]
_HINT = (
    "install Graphviz, whose program `dot` draws (apt install graphviz, brew install graphviz), and `pip install"
    " graphviz`; or `pip install pygraphviz`, which brings Graphviz along; DOT text needs neither"
)


def render(dot: str, format: PictureFormat) -> bytes:
    """Return DOT text drawn, or as it is: the bytes of a file."""
    if format == "dot":
        return dot.encode()
    if format not in ("svg", "png"):
        raise UsageError(f"unknown picture format {format!r}", hint="known: dot, svg, png")
    if shutil.which("dot"):
        drawn = _by_program(dot, format)
        if drawn is not None:
            return drawn
    return _by_library(dot, format)


def _by_program(dot: str, format: PictureFormat) -> bytes | None:
    """Draw with the system's `dot`, if the package that drives it is there."""
    try:
        import graphviz
    except ImportError:
        return None
    try:
        drawn: bytes = graphviz.Source(dot).pipe(format=format)
    except graphviz.CalledProcessError as e:
        raise UsageError(f"Graphviz cannot draw this: {e.stderr.decode(errors='replace').strip()}") from e
    return drawn


def _by_library(dot: str, format: PictureFormat) -> bytes:
    try:
        import pygraphviz
    except ImportError as e:
        raise UsageError(f"there is nothing here that draws {format.upper()}", hint=_HINT) from e
    graph = pygraphviz.AGraph(string=dot)
    drawn: bytes = graph.draw(format=format, prog="dot")
    return drawn


def svg_element(picture: bytes) -> str:
    """Return an SVG picture from its `<svg` on: fit to stand in a page."""
    text = picture.decode()
    return text[text.index("<svg") :]
