"""Joins and probes drawn as tables: key and window above, a row for each memory below.

Data's way: graph -> **table** -> DOT.  The table is Graphviz's own HTML; its ports are `out`, `in` for the tuples that
a probe decides on, and `m` with a memory's number.  A probe's table is round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from retewave.viz.draw.style import FILLS, LINES, MEMORY_FILLS, STATIC_FILL, short_number

__all__ = ["join_table", "probe_table"]

_JOIN_INK, _PROBE_INK = "#3f6f58", "#8a4a23"  # of small text
_REFUSALS = ("key", "window", "relation", "filter")


def join_table(join: Mapping[str, Any], memories: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of a join with its memories, in the order given; the arguments are attributes of nodes."""
    lines = [_title("⋈", join, _JOIN_INK), *(_small(escape(each), _JOIN_INK) for each in join["relations"])]
    return _table("join", join, _cell("out", FILLS["join"], _lines(lines)), memories, 'CELLBORDER="1" CELLSPACING="0"')


def probe_table(probe: Mapping[str, Any], memory: Mapping[str, Any], waiting: str) -> str:
    """Return the table of a probe with the memory that it looks at; `waiting` says what its tuples wait for."""
    operator = _title(escape(probe["operator"]), probe, _PROBE_INK)
    fits = [*probe["relations"], *(f"FILTER {each}" for each in probe["conditions"])]
    lines = [operator, *(_small(escape(each), _PROBE_INK) for each in fits)]
    level = f", level {probe['level']}" if probe["level"] > 1 else ""
    passes = "passes if it exists" if probe["wants"] == "exists" else "passes if absent"
    said = [f"tuple  {_small(escape(passes), _PROBE_INK)}", _small(escape(f"{probe['when']}{level}"), _PROBE_INK)]
    said += [_small(escape(waiting), "#52606d")] if waiting else []
    head = _cell("out", FILLS["probe"], _lines(lines)) + _cell("in", "#fff7f1", _lines(said))
    return _table("probe", probe, head, [memory], 'STYLE="ROUNDED" CELLBORDER="0" CELLSPACING="3"', FILLS["probe"])


def _title(sign: str, data: Mapping[str, Any], ink: str) -> str:
    shared = f"  shared by {data['shared_by']:,}" if data["shared_by"] > 1 else ""
    small = _small(escape(f"  {data['window']}{shared}"), ink)
    return f"<B>{sign} {escape(data['label'])}</B>{small}"


def _lines(lines: list[str]) -> str:
    return lines[0] if len(lines) == 1 else "".join(f'{line}<BR ALIGN="LEFT"/>' for line in lines)


def _cell(port: str, fill: str, said: str) -> str:
    return f'<TR><TD PORT="{port}" BGCOLOR="{fill}" ALIGN="LEFT">{said}</TD></TR>'


def _table(
    kind: str,
    data: Mapping[str, Any],
    head: str,
    memories: Iterable[Mapping[str, Any]],
    frame: str,
    fill: str = "white",
) -> str:
    border = 2 if data["shared_by"] > 1 else 1
    table = f'<TABLE BORDER="{border}" {frame} CELLPADDING="4" COLOR="{LINES[kind]}"'
    return f'{table} BGCOLOR="{fill}">{head}{"".join(_memory(each) for each in memories)}</TABLE>'


def _memory(data: Mapping[str, Any]) -> str:
    fill = STATIC_FILL if data["static"] else MEMORY_FILLS[data["of"]]
    label = escape(data["label"]) or '<FONT COLOR="#9aa5b1">key only</FONT>'
    said = f"{'α' if data['of'] == 'alpha' else 'β'}M{data['memory']}  {label}"
    below = [_small("static", "#8468cf")] if data["static"] else []
    below += [_small("keeps no rows: can only come last", "#52606d")] if data.get("passing") else []
    below += [_small(escape(_counts(data)), "#52606d")] if "live" in data else []
    if below:
        said += f'<BR ALIGN="LEFT"/>{_small(" · ", "#52606d").join(below)}<BR ALIGN="LEFT"/>'
    return f'<TR><TD PORT="m{data["memory"]}" BGCOLOR="{fill}" ALIGN="LEFT">{said}</TD></TR>'


def _counts(data: Mapping[str, Any]) -> str:
    refused = [f"{short_number(data[f'refused_by_{why}'])} by {why}" for why in _REFUSALS if data[f"refused_by_{why}"]]
    held = f"{short_number(data['rows_in'])} in" if data.get("passing") else f"{short_number(data['live'])} live"
    return held + (f" · refused {', '.join(refused)}" if refused else "")


def _small(text: str, colour: str) -> str:
    return f'<FONT POINT-SIZE="9" COLOR="{colour}">{text}</FONT>'
