"""Which statements are one event: those of a named graph, of a subject, or some that follow each other.

Data's way: a statement -> **the run of statements that it is part of** -> its row.
"""

from __future__ import annotations

from retewave.io.lines.job import (
    BASE,
    BY_COUNT,
    EVENT_SIZE,
    EVENTS,
    EVENTS_BY,
    G_CELLS,
    G_GRAPH,
    GATHERED,
    GATHERED_COUNT,
    GATHERED_ID,
    GRAPH_NOW,
    LAST_GRAPH,
    LIMIT,
    NEW_GRAPH,
    RUN_START,
    STATEMENTS,
    TERMS,
)
from retewave.io.lines.terms import (
    GRAPH,
    SUBJECT,
)
from retewave.rete.terms.table import find_bytes, intern_bytes
from retewave.rete.words.bytes import Address, cell, same, set_cell
from retewave.rete.words.jit import inlined, kernel

__all__ = ["enter_event", "enter_graph", "intern_span"]


@kernel
def _find(job: Address, span: Address) -> int:
    return find_bytes(cell(job, TERMS), cell(span, 0), cell(span, 1))


@kernel
def _is_gathered(job: Address) -> bool:
    """Tell whether the statement's graph is one that is gathered, and not interned yet."""
    at, size, gathered = cell(job + GRAPH, 0), cell(job + GRAPH, 1), cell(job, GATHERED)
    for one in range(gathered, gathered + 8 * G_CELLS * cell(job, GATHERED_COUNT), 8 * G_CELLS):
        if cell(one, G_GRAPH + 1) == size and same(cell(one, G_GRAPH), at, size):
            return True
    return False


@inlined
def _begin_graph(job: Address, graph: int, named: int) -> None:
    """Note that a run of statements in another graph begins; if it has an id, it is an event."""
    set_cell(job, GRAPH_NOW, graph)
    set_cell(job, RUN_START, cell(job, STATEMENTS))
    set_cell(job, EVENTS, cell(job, EVENTS) + named)


@inlined
def _note_graph(job: Address, known: bool) -> None:
    """Note the text of the statement's graph as the last one's, if it will be there and the graph has an id."""
    set_cell(job, LAST_GRAPH, cell(job + GRAPH, 0))
    set_cell(job, LAST_GRAPH + 1, cell(job + GRAPH, 1) if known else 0)


@kernel
def _enter_graph_by_id(job: Address, taken: bool) -> None:
    """Note the statement's named graph, where its text does not tell whether it is the last one's.

    Of a statement that is refused, only what stands in the block stays where it is.
    """
    if taken or _is_gathered(job):
        graph = intern_span(job, job + GRAPH)
    else:
        graph = _find(job, job + GRAPH)
    if graph == 0:
        _begin_graph(job, -1, 0)
    elif graph != cell(job, GRAPH_NOW):
        _begin_graph(job, graph, 1)
    _note_graph(job, graph != 0 and cell(job, BASE) <= cell(job + GRAPH, 0) < cell(job, LIMIT))


@inlined
def enter_graph(job: Address, taken: bool) -> None:
    """Note the statement's graph, and a new event when the graph is another than before.

    Its name is gathered, as terms are, where the text tells that it is another.
    """
    set_cell(job, NEW_GRAPH, 0)
    at, size, now = cell(job + GRAPH, 0), cell(job + GRAPH, 1), cell(job, GRAPH_NOW)
    if size == 0:
        if now != 0:
            _begin_graph(job, 0, 0)
            _note_graph(job, known=False)
        return
    known = cell(job, LAST_GRAPH + 1)
    if known == size and same(cell(job, LAST_GRAPH), at, size):
        return
    if taken and (known > 0 or now <= 0):
        _begin_graph(job, GATHERED_ID, 1)
        _note_graph(job, known=True)
        set_cell(job, NEW_GRAPH, 1)
    else:
        _enter_graph_by_id(job, taken)


@kernel
def enter_event(job: Address, taken: bool) -> None:
    """Note the event that the statement is part of.  A subject that makes an event is to it what a graph's name is."""
    if cell(job, EVENTS_BY) == BY_COUNT:
        if cell(job, STATEMENTS) % cell(job, EVENT_SIZE) == 0:
            _begin_graph(job, -1, 1)
        return
    set_cell(job + GRAPH, 0, cell(job + SUBJECT, 0))
    set_cell(job + GRAPH, 1, cell(job + SUBJECT, 1))
    enter_graph(job, taken)


@kernel
def intern_span(job: Address, span: Address) -> int:
    """Return the id of the text at a span; it gets one if it has none."""
    return intern_bytes(cell(job, TERMS), cell(span, 0), cell(span, 1))
