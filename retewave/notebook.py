"""How queries, matches and engines show themselves in a notebook: HTML tables, and the network as SVG.

Where it stands: at the side; nothing of the engine needs it.  An engine's picture is its network, a query's the part of
it that leads to the query.  Notebooks show one form, and prefer HTML: so the picture stands in that, too.
Invariant: everything that comes from data or from a user is escaped: an IRI that contains <script> is shown, not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from retewave.errors import UsageError
from retewave.viz.explain.names import Prefixes
from retewave.windows.times import Instant, spell_instant, spell_interval

if TYPE_CHECKING:
    from retewave.engine.engine import Engine
    from retewave.match import Match
    from retewave.query import Query

__all__ = ["drawn", "of_engine", "of_match", "of_query"]

MOST_ROWS = 10  # matches that a query shows


def of_query(query: Query) -> str:
    """Return a query as HTML: its text, how often it has matched, and its last matches."""
    last = query.matches[-MOST_ROWS:][::-1]
    prefixes = Prefixes.of(query.parsed.prefixes)
    head = ["start", "end", *(f"?{name}" for name in query.variables)]
    rows = [
        [_time(match.start), _time(match.end), *(_term(match.text(name), prefixes) for name in query.variables)]
        for match in last
    ]
    said = f"<p><b>{escape(query.name)}</b>: {query.parsed.form}, {_count(query.matched, 'match', 'matches')}"
    said += f", the last {len(last)}, latest first</p>" if query.matched > len(last) > 0 else "</p>"
    text = f"<details><summary>query</summary><pre>{escape(query.text)}</pre></details>"
    return f"<div>{said}{text}{_table(head, rows) if rows else ''}{_picture(drawn(query))}</div>"


def of_match(match: Match) -> str:
    """Return a match as HTML: its variables and its interval, and why it is one, where its query is explained."""
    prefixes = Prefixes.of(match.query.parsed.prefixes)
    interval = "static data alone" if match.start is None else spell_interval(match.start, match.end)
    rows = [[f"?{name}", _term(match.text(name), prefixes)] for name in match.query.variables]
    picture = _picture(match.to_svg() if match.query.explained else None, "why")
    return f"<div><p><b>{escape(match.query.name)}</b> {escape(interval)}</p>{_table((), rows)}{picture}</div>"


def _time(time: Instant | None) -> str:
    return "static" if time is None else spell_instant(time)


def of_engine(engine: Engine) -> str:
    """Return an engine as HTML: its queries, and what it has read, holds and has let go."""
    stats = engine.stats()
    queries = [[query.name, query.parsed.form, f"{query.matched:,}"] for query in engine.queries]
    shown = ("triples", "live_rows", "static_rows", "collected", "late", "malformed", "terms")
    counts = [[name.replace("_", " "), f"{stats[name]:,}"] for name in shown]
    many = _count(len(queries), "query", "queries")
    listed = _table(("query", "form", "matches"), queries) if queries else ""
    return f"<div><p><b>Engine</b>: {many}</p>{listed}{_table((), counts)}{_picture(drawn(engine))}</div>"


def drawn(shown: Engine | Query) -> str | None:
    """Return the network of an engine, or a query's part of it, as SVG.

    Nothing where there is no query, or no program that draws; nor for a query that is not registered any more.
    """
    from retewave.query import Query
    from retewave.viz.draw.render import svg_element

    try:
        is_drawn = shown.network is not None if isinstance(shown, Query) else bool(shown.queries)
        return svg_element(shown.draw()) if is_drawn else None
    except UsageError:  # Graphviz is not installed: the notebook shows the HTML
        return None


def _picture(svg: str | None, what: str = "network") -> str:
    return "" if svg is None else f"<details open><summary>{what}</summary>{svg}</details>"


def _term(text: bytes | None, prefixes: Prefixes) -> str:
    return "" if text is None else prefixes.short(text)


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    top = f"<thead><tr>{''.join(f'<th>{escape(each)}</th>' for each in head)}</tr></thead>" if head else ""
    lines = "".join(f"<tr>{''.join(f'<td>{escape(_cell(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{top}<tbody>{lines}</tbody></table>"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
