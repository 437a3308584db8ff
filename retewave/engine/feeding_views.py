"""Views that feed: triples that REGISTER STREAM <iri> AS CONSTRUCT builds at a report come in again, on that stream.

Data's way: a report -> **its triples, as input rows of the report's time** -> the networks, before any later item.
Reports of other views at the same time see what a view feeds.  So the views that feed are reported first, each behind
the views that it reads.  A ring of them is refused.
Invariant: each solution's triples are one event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from retewave.compiler.plan.identity import digest
from retewave.construct import built
from retewave.errors import QueryError
from retewave.match import Matches
from retewave.query import Query
from retewave.rete.words.rows import END, EVENT, OBJECT, ROW_WIDTH, START, STREAM, SUBJECT

__all__ = ["check_fed", "feeds", "in_order", "rows_of", "stream_of"]


def feeds(query: Query) -> bool:
    """Tell whether a query is a view that feeds."""
    return query.is_view and query.parsed.is_rule


def in_order(views: Iterable[Query]) -> list[Query]:
    """Return views that feed, each behind those that it reads.

    Raise QueryError for a ring of them.
    """
    found: list[Query] = []
    known = list(views)
    for each in known:
        _visit(each, known, found, [])
    return found


def _visit(each: Query, known: Sequence[Query], found: list[Query], path: list[Query]) -> None:
    if each in found:
        return
    if each in path:
        ring = " -> ".join(one.name for one in (*path[path.index(each) :], each))
        hint = "a view reads what others feed at the same time: let one of them feed another stream"
        raise QueryError(f"views feed each other in a ring: {ring}", hint=hint)
    for other in known:
        if _reads(each, stream_of(other)):
            _visit(other, known, found, [*path, each])
    found.append(each)


def _reads(query: Query, stream: bytes | None) -> bool:
    view = query.parsed.view
    return view is not None and (stream is None or any(each.stream in (None, stream) for each in view.windows))


def stream_of(query: Query) -> bytes | None:
    """Return the stream that a query feeds: its own, else the stream that it reads; None: every stream."""
    if query.parsed.feeds is not None or query.parsed.view is None:
        read = [each.iri for each in query.parsed.streams]
    else:
        read = [each.stream for each in query.parsed.view.windows if each.stream is not None]
    return query.parsed.feeds or (read[0] if len(read) == 1 else None)


def check_fed(queries: Iterable[Query]) -> None:
    """Refuse rings of views that feed, and feeding views that read triples that rules build."""
    known = list(queries)
    feeding = in_order(each for each in known if feeds(each))
    rules = [each for each in known if each.parsed.is_rule and not each.is_view]
    for view in feeding:
        for rule in rules:
            if _reads(view, stream_of(rule)):
                what = f"{view.name} is a view that feeds, and reads what the rule {rule.name} builds"
                raise QueryError(
                    f"{what}: that is not supported yet",
                    hint="let the rule CONSTRUCT for another stream, or let the view feed none",
                )


def rows_of(batch: Matches, time: int, stream: int, first: int) -> np.ndarray:
    """Return the triples of a report as input rows; `first`: the first solution's event number, as a row has it."""
    terms, name = batch.terms, digest((batch.query.name, batch.query.text, time))
    scopes = [b"v%s.%d" % (name.encode(), place) for place in range(len(batch))]
    made = built(batch, lambda texts: np.array([terms.intern(each) for each in texts], dtype=np.int64), scopes=scopes)
    found = np.empty((len(made.matches), ROW_WIDTH), dtype=np.int64)
    found[:, SUBJECT : OBJECT + 1] = made.ids.T
    found[:, START], found[:, END], found[:, STREAM], found[:, EVENT] = time, time, stream, first - made.matches
    kept: np.ndarray = found[np.sort(np.unique(found[:, : OBJECT + 1], axis=0, return_index=True)[1])]
    return kept
