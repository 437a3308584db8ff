"""Statements that are gathered: their terms are interned together, so that the look-ups' memory is on its way.

Data's way: spans of terms -> **a batch of statements** -> rows of ids.
"""

from __future__ import annotations

from retewave.io.lines.event_time import told_time
from retewave.io.lines.job import (
    AT,
    BASE,
    BEHIND,
    EVENTS,
    G_CELLS,
    G_GRAPH,
    G_OBJECT,
    G_ROW,
    G_SUBJECT,
    GATHERED,
    GATHERED_BYTES,
    GATHERED_COUNT,
    GATHERED_ID,
    GRAPH_NOW,
    LAST,
    LAST_GRAPH,
    NEAR,
    NEED,
    NEW_GRAPH,
    OF_SUBJECT,
    ONLY_FOR_TIME,
    PLACES,
    ROW_COUNT,
    ROWS,
    RUN_START,
    STATEMENTS,
    STREAM,
    TERMS,
)
from retewave.io.lines.terms import (
    GRAPH,
    OBJECT,
    PREDICATE,
    SUBJECT,
)
from retewave.rete.terms.table import (
    fetch_slot,
    fetch_span,
    fetch_text,
    has_room,
    hash_for,
    intern_hashed,
)
from retewave.rete.words import rows as columns
from retewave.rete.words.bytes import Address, cell, same, set_cell, stream_cell
from retewave.rete.words.jit import inlined

__all__ = ["begin_row", "gather_terms", "has_room_for_line", "intern_gathered", "time_before"]


@inlined
def time_before(job: Address) -> int:
    """Return what the row before tells, less than 0, if it only tells the time of the graph that begins; else 0."""
    count, size = cell(job, GATHERED_COUNT), cell(job + GRAPH, 1)
    if count == 0 or cell(job, NEW_GRAPH) == 0 or cell(job, LAST + 1) != size or cell(job, PLACES):
        return 0
    row = cell(job, GATHERED) + 8 * (G_CELLS * (count - 1) + G_ROW)
    if cell(row, columns.STREAM) != ONLY_FOR_TIME or cell(row, columns.END) != 0:
        return 0
    return min(cell(row, columns.OBJECT), 0) if same(cell(job, LAST), cell(job + GRAPH, 0), size) else 0


@inlined
def begin_row(job: Address, predicate: int, accepted: bool, before: int) -> None:
    """Gather the statement's raw row, as far as it is known before its subject and object have ids.

    If the row before has told its time, it takes that row's place.
    """
    set_cell(job, GATHERED_COUNT, cell(job, GATHERED_COUNT) - (before < 0))
    row = cell(job, GATHERED) + 8 * (G_CELLS * cell(job, GATHERED_COUNT) + G_ROW)
    set_cell(row, columns.PREDICATE, predicate)
    graph = cell(job, GRAPH_NOW)
    ordinal = cell(job, RUN_START if graph else STATEMENTS)
    place = cell(job, AT) - cell(job, BASE) + cell(job, BEHIND)
    set_cell(row, columns.OBJECT, 0 if accepted else told_time(job))
    set_cell(row, columns.START, before if before < 0 else place if cell(job, PLACES) else ordinal)
    set_cell(row, columns.END, graph)
    set_cell(row, columns.EVENT, -cell(job, EVENTS) if graph else 0)
    set_cell(row, columns.STREAM, cell(job, STREAM) if accepted else ONLY_FOR_TIME)
    set_cell(job, ROW_COUNT, cell(job, ROW_COUNT) + (before == 0))


@inlined
def _gather_term(job: Address, term: Address, at: Address, size: int) -> None:
    """Put a term off: note it with its hash, and have its slot of the dictionary on its way."""
    hashed = hash_for(cell(job, TERMS), at, size)
    fetch_slot(cell(job, TERMS), hashed)
    set_cell(term, 0, at)
    set_cell(term, 1, size)
    set_cell(term, 2, hashed)


@inlined
def gather_terms(job: Address, joined: bool) -> None:
    """Put the statement's terms off; statements come grouped, so the subject is often the last."""
    gathered = cell(job, GATHERED) + 8 * G_CELLS * cell(job, GATHERED_COUNT)
    at, size = cell(job + SUBJECT, 0), cell(job + SUBJECT, 1)
    if size == cell(job, LAST + 1) and (at == cell(job, LAST) or same(cell(job, LAST), at, size)):
        if not joined:  # else it is gathered there
            set_cell(gathered, G_SUBJECT + 1, 0)
    else:
        _gather_term(job, gathered + 8 * G_SUBJECT, at, size)
    set_cell(job, LAST, at)
    set_cell(job, LAST + 1, size)
    if cell(gathered, G_ROW + columns.OBJECT) < 0:
        set_cell(gathered, G_OBJECT + 1, 0)
    else:
        _gather_term(job, gathered + 8 * G_OBJECT, cell(job + OBJECT, 0), cell(job + OBJECT, 1))
    set_cell(gathered, G_GRAPH + 1, 0)
    if cell(job, NEW_GRAPH):
        graph, length = cell(job + GRAPH, 0), cell(job + GRAPH, 1)
        if length == size and same(graph, at, size):  # the event is named as what it tells of, as it often is
            set_cell(gathered, G_GRAPH, graph)
            set_cell(gathered, G_GRAPH + 1, length)
            set_cell(gathered, G_GRAPH + 2, OF_SUBJECT)
        else:
            _gather_term(job, gathered + 8 * G_GRAPH, graph, length)
            size += length
    set_cell(job, GATHERED_COUNT, cell(job, GATHERED_COUNT) + 1)
    set_cell(job, GATHERED_BYTES, cell(job, GATHERED_BYTES) + size + cell(job + OBJECT, 1))


@inlined
def has_room_for_line(job: Address) -> bool:
    """Tell whether the dictionary can take all terms of the line, behind the gathered terms."""
    size = cell(job + SUBJECT, 1) + cell(job + PREDICATE, 1) + cell(job + OBJECT, 1) + cell(job + GRAPH, 1)
    set_cell(job, NEED, size)
    return has_room(cell(job, TERMS), size + cell(job, GATHERED_BYTES), 4 + 3 * cell(job, GATHERED_COUNT))


@inlined
def _fetch_gathered(job: Address) -> None:
    """Have all that the look-ups need on its way: where the texts are, then the texts."""
    terms, gathered = cell(job, TERMS), cell(job, GATHERED)
    behind = gathered + 8 * G_CELLS * cell(job, GATHERED_COUNT)
    for one in range(gathered, behind, 8 * G_CELLS):
        if cell(one, G_SUBJECT + 1) > 0:
            set_cell(one, G_SUBJECT + 3, fetch_span(terms, cell(one, G_SUBJECT + 2)))
        if cell(one, G_OBJECT + 1) > 0:
            set_cell(one, G_OBJECT + 3, fetch_span(terms, cell(one, G_OBJECT + 2)))
    for one in range(gathered, behind, 8 * G_CELLS):
        if cell(one, G_SUBJECT + 1) > 0:
            fetch_text(terms, cell(one, G_SUBJECT + 3))
        if cell(one, G_OBJECT + 1) > 0:
            fetch_text(terms, cell(one, G_OBJECT + 3))


@inlined
def _gathered_graph(job: Address, gathered: Address) -> int:
    """Return the id of a gathered statement's graph: a new one, or that of the statement before."""
    at, size, hashed = cell(gathered, G_GRAPH), cell(gathered, G_GRAPH + 1), cell(gathered, G_GRAPH + 2)
    if size > 0 and hashed == OF_SUBJECT:
        set_cell(job, LAST_GRAPH + 2, cell(job, LAST + 2))
    elif size > 0:
        set_cell(job, LAST_GRAPH + 2, intern_hashed(cell(job, TERMS), at, size, hashed))
    return cell(job, LAST_GRAPH + 2)


@inlined
def intern_gathered(job: Address) -> None:
    """Give the gathered statements' rows their subjects and objects, and write them.

    The array's last rows were read on another core, perhaps one with a cache of its own.  A store to what is in
    that cache waits until it is there no more, and the stores behind it wait with it; a store past the caches does not.
    """
    _fetch_gathered(job)
    terms, count, near = cell(job, TERMS), cell(job, GATHERED_COUNT), cell(job, NEAR) != 0
    row = cell(job, ROWS) + 8 * columns.ROW_WIDTH * (cell(job, ROW_COUNT) - count)
    gathered = cell(job, GATHERED)
    for _ in range(count):
        at, size, hashed = cell(gathered, G_SUBJECT), cell(gathered, G_SUBJECT + 1), cell(gathered, G_SUBJECT + 2)
        if size > 0:
            set_cell(job, LAST + 2, intern_hashed(terms, at, size, hashed))
        at, size, hashed = cell(gathered, G_OBJECT), cell(gathered, G_OBJECT + 1), cell(gathered, G_OBJECT + 2)
        value = intern_hashed(terms, at, size, hashed) if size > 0 else cell(gathered, G_ROW + columns.OBJECT)
        if cell(gathered, G_ROW + columns.END) == GATHERED_ID:
            set_cell(gathered, G_ROW + columns.END, _gathered_graph(job, gathered))
        set_cell(gathered, G_ROW + columns.SUBJECT, cell(job, LAST + 2))
        set_cell(gathered, G_ROW + columns.OBJECT, value)
        if near:
            for column in range(columns.ROW_WIDTH):
                set_cell(row, column, cell(gathered, G_ROW + column))
        else:
            for column in range(columns.ROW_WIDTH):
                stream_cell(row, column, cell(gathered, G_ROW + column))
        gathered += 8 * G_CELLS
        row += 8 * columns.ROW_WIDTH
    if cell(job, GRAPH_NOW) == GATHERED_ID:
        set_cell(job, GRAPH_NOW, cell(job, LAST_GRAPH + 2))
    set_cell(job, GATHERED_COUNT, 0)
    set_cell(job, GATHERED_BYTES, 0)
