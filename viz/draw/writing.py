"""DOT's attributes and strings.

Data's way: what a drawing says -> **DOT text**.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["attributes", "quoted"]


def attributes(said: Mapping[str, Any]) -> str:
    """Return attributes as DOT writes them.

    >>> attributes({"label": "a", "width": 2})
    '[label="a", width="2"]'
    """
    return "[" + ", ".join(f"{key}={quoted(str(value))}" for key, value in said.items()) + "]"


def quoted(text: str) -> str:
    """Return a DOT string; line breaks stay line breaks, other characters that cannot be printed are shown as `�`."""
    shown = "".join(c if c.isprintable() or c == "\n" else "�" for c in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
