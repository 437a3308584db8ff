"""A join drawn as a table: its key and window above, a row for each of its memories below.

Data's way: graph -> **table** -> DOT.  The table is Graphviz's own HTML; its ports are `out`, and `m` with a memory's
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from retewave.viz.draw.style import FILLS, LINES, MEMORY_FILLS, STATIC_FILL, short_number

__all__ = ["join_table"]

_REFUSALS = ("key", "window", "relation", "filter")


def join_table(join: Mapping[str, Any], memories: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of a join with its memories, in the order given; the arguments are attributes of nodes."""
    shared = f"  shared by {join['shared_by']:,}" if join["shared_by"] > 1 else ""
    small = _small(escape(f"  {join['window']}{shared}"), "#3f6f58")
    lines = [
        f"<B>⋈ {escape(join['label'])}</B>{small}",
        *(_small(escape(each), "#3f6f58") for each in join["relations"]),
    ]
    said = lines[0] if len(lines) == 1 else "".join(f'{line}<BR ALIGN="LEFT"/>' for line in lines)
    head = f'<TR><TD PORT="out" BGCOLOR="{FILLS["join"]}" ALIGN="LEFT">{said}</TD></TR>'
    border = 2 if join["shared_by"] > 1 else 1
    table = f'<TABLE BORDER="{border}" CELLBORDER="1" CELLSPACING="0" CELLPADDING="4" COLOR="{LINES["join"]}"'
    return f'{table} BGCOLOR="white">{head}{"".join(_memory(each) for each in memories)}</TABLE>'


def _memory(data: Mapping[str, Any]) -> str:
    fill = STATIC_FILL if data["static"] else MEMORY_FILLS[data["of"]]
    label = escape(data["label"]) or '<FONT COLOR="#9aa5b1">key only</FONT>'
    said = f"{'α' if data['of'] == 'alpha' else 'β'}M{data['memory']}  {label}"
    below = [_small("static", "#8468cf")] if data["static"] else []
    below += [_small(escape(_counts(data)), "#52606d")] if "live" in data else []
    if below:
        said += f'<BR ALIGN="LEFT"/>{_small(" · ", "#52606d").join(below)}<BR ALIGN="LEFT"/>'
    return f'<TR><TD PORT="m{data["memory"]}" BGCOLOR="{fill}" ALIGN="LEFT">{said}</TD></TR>'


def _counts(data: Mapping[str, Any]) -> str:
    refused = [f"{short_number(data[f'refused_by_{why}'])} by {why}" for why in _REFUSALS if data[f"refused_by_{why}"]]
    return f"{short_number(data['live'])} live" + (f" · refused {', '.join(refused)}" if refused else "")


def _small(text: str, colour: str) -> str:
    return f'<FONT POINT-SIZE="9" COLOR="{colour}">{text}</FONT>'
