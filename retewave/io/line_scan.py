"""Scan lines of N-Triples or N-Quads into rows of ids.

Data's way: blocks of whole lines -> **raw rows** -> times and events (retewave/io/times.py) -> network.
A raw row's START is the ordinal of its statement in the document, or the place of its line there, and its END the id
of its graph; the reader puts times there afterwards.
Invariant: every line is either blank, a comment, a statement (counted) or malformed (counted, and noted while
there is room); nothing of a line is interned before all of it is known to be well formed and accepted.
Left out: cutting the input into whole lines (retewave/io/blocks.py).
"""

from __future__ import annotations

from retewave.io import line_reasons as why
from retewave.io.line_characters import decode
from retewave.io.line_terms import (
    FAULT,
    GRAPH,
    LINE_CELLS,
    OBJECT,
    PLACE,
    PREDICATE,
    REASON,
    SUBJECT,
    WRITTEN,
    blank,
    blanks_end,
    fault,
    iri,
    literal,
)
from retewave.rete import rows as columns
from retewave.rete.acceptance import ACCEPT, ACCEPT_OBJECT
from retewave.rete.jit import kernel
from retewave.rete.term_bytes import BLOCK, Address, byte, cell, first_string_stop, same, set_cell
from retewave.rete.term_table import find_bytes, has_room, intern_bytes

__all__ = [
    "AT",
    "BASE",
    "BEHIND",
    "DONE",
    "EVENTS",
    "EVERYTHING",
    "FAULTS",
    "FAULT_WIDTH",
    "FULL",
    "GRAPHS",
    "GRAPH_NOW",
    "IGNORE_GRAPHS",
    "JOB_CELLS",
    "KEEP_GRAPHS",
    "LIMIT",
    "LINE",
    "MALFORMED",
    "NEED",
    "NOTED",
    "NO_GRAPHS",
    "NO_ROOM",
    "PLACES",
    "OBJECTS",
    "OBJECT_COUNT",
    "ONLY_FOR_TIME",
    "PREDICATES",
    "PREDICATE_COUNT",
    "RAISED",
    "RAISING",
    "ROWS",
    "ROW_COUNT",
    "ROW_ROOM",
    "SCRATCH",
    "SKIP_LF",
    "STATEMENTS",
    "STREAM",
    "TERMS",
    "TIME_PREDICATE",
    "scan",
]

# How a scan ends.
DONE = 0  # the block is used up
FULL = 1  # there is no room for another row
NO_ROOM = 2  # the dictionary must grow by NEED bytes before the line at AT
RAISED = 3  # the line at AT is malformed, and RAISING was asked for

# The cells of a job begin with those of its line (retewave/io/line_terms.py); a job is a scan's whole state.
AT = LINE_CELLS  # the address of the next byte to scan
LIMIT = LINE_CELLS + 1  # the address behind the last line
BASE = LINE_CELLS + 2  # the address of the block, for places of faults
LINE = LINE_CELLS + 3  # the number of the line at AT, from 1
SKIP_LF = LINE_CELLS + 4  # 1: the last block ended with a CR, so a LF now belongs to that line's end
STATEMENTS = LINE_CELLS + 5  # how many well-formed statements there were
MALFORMED = LINE_CELLS + 6  # how many malformed lines
RAISING = LINE_CELLS + 7  # 1: stop at the first of them
FAULTS = LINE_CELLS + 8  # the address of the faults: line, reason, the line's start, the fault's place
NOTED = LINE_CELLS + 9  # how many faults are written there
FAULT_ROOM = LINE_CELLS + 10  # how many fit
ROWS = LINE_CELLS + 11  # the address of the rows
ROW_COUNT = LINE_CELLS + 12  # how many are written there
ROW_ROOM = LINE_CELLS + 13  # how many fit
STREAM = LINE_CELLS + 14  # what goes into their STREAM
SCRATCH = LINE_CELLS + 15  # the address of the scratch bytes, as many as the block has and 256 more
TERMS = LINE_CELLS + 16  # the address of the dictionary
NEED = LINE_CELLS + 17  # bytes of text that it must take
EVERYTHING = LINE_CELLS + 18  # the acceptance: its three fields, arrays as address and length
PREDICATES = LINE_CELLS + 19
PREDICATE_COUNT = LINE_CELLS + 20
OBJECTS = LINE_CELLS + 21
OBJECT_COUNT = LINE_CELLS + 22
GRAPHS = LINE_CELLS + 23  # what is done with a fourth term: see below
GRAPH_NOW = LINE_CELLS + 24  # the last statement's graph: its id, 0 for the default graph, -1 if it has no id
EVENTS = LINE_CELLS + 25  # the number of the last event
RUN_START = LINE_CELLS + 26  # the ordinal of the statement that began it
TIME_PREDICATE = LINE_CELLS + 27  # the id of the predicate that tells an event's time, never refused; 0: none
LAST = LINE_CELLS + 28  # the last subject: its address, its size, its id
PLACES = LINE_CELLS + 31  # 1: a row's START is the place of its line in the document, not an ordinal
BEHIND = LINE_CELLS + 32  # how many bytes of the document are before the block
JOB_CELLS = LINE_CELLS + 33

FAULT_WIDTH = 4

# What is done with a fourth term.
NO_GRAPHS = 0  # it is an error (N-Triples)
IGNORE_GRAPHS = 1  # it is read and forgotten (static data)
KEEP_GRAPHS = 2  # statements that follow each other in one named graph are an event

ONLY_FOR_TIME = -1  # in a row's STREAM: the row tells an event's time, and is refused otherwise


@kernel
def _node(job: Address, span: Address, at: Address, reason: int) -> Address:
    """Scan an IRI or a blank node."""
    if byte(at) == 60:
        return iri(job, span, at)
    return blank(job, span, at) if byte(at) == 95 else fault(job, reason, at)


@kernel
def _graph(job: Address, at: Address) -> Address:
    """Scan the fourth term, if there is one, and what blanks follow it."""
    set_cell(job + GRAPH, 1, 0)
    if byte(at) == 46:
        return at
    if cell(job, GRAPHS) == NO_GRAPHS:
        return fault(job, why.NO_GRAPH_HERE if byte(at) == 60 or byte(at) == 95 else why.NO_DOT, at)
    end = _node(job, job + GRAPH, at, why.NO_DOT)
    return blanks_end(end) if end != FAULT else FAULT


@kernel
def _terms(job: Address, at: Address) -> Address:
    """Scan the terms of a statement: return the address where its dot should be."""
    set_cell(job, WRITTEN, cell(job, SCRATCH))
    at = _node(job, job + SUBJECT, at, why.NO_SUBJECT)
    if at == FAULT:
        return FAULT
    at = blanks_end(at)
    at = iri(job, job + PREDICATE, at) if byte(at) == 60 else fault(job, why.NO_PREDICATE, at)
    if at == FAULT:
        return FAULT
    at = blanks_end(at)
    at = literal(job, job + OBJECT, at) if byte(at) == 34 else _node(job, job + OBJECT, at, why.NO_OBJECT)
    return _graph(job, blanks_end(at)) if at != FAULT else FAULT


@kernel
def _comment_end(job: Address, at: Address) -> Address:
    """Return the address of the line's end behind a comment, which has to be valid UTF-8."""
    while True:
        step = first_string_stop(at)
        at += step
        if step == BLOCK:
            continue
        if byte(at) == 10 or byte(at) == 13:
            return at
        _, length = decode(at)
        if length == 0:
            return fault(job, why.BAD_UTF8, at)
        at += length


@kernel
def _rest(job: Address, at: Address) -> Address:
    """Return the address of the line's end, before which there may be blanks and a comment."""
    at = blanks_end(at)
    if byte(at) == 10 or byte(at) == 13:
        return at
    return _comment_end(job, at) if byte(at) == 35 else fault(job, why.TRAILING, at)


@kernel
def _statement(job: Address, at: Address) -> Address:
    """Scan a statement and what may follow it: return the address of the line's end."""
    dot = _terms(job, at)
    if dot == FAULT:
        return FAULT
    return _rest(job, dot + 1) if byte(dot) == 46 else fault(job, why.NO_DOT, dot)


@kernel
def _find(job: Address, span: Address) -> int:
    return find_bytes(cell(job, TERMS), cell(span, 0), cell(span, 1))


@kernel
def _intern(job: Address, span: Address) -> int:
    return intern_bytes(cell(job, TERMS), cell(span, 0), cell(span, 1))


@kernel
def _accepts(job: Address) -> bool:
    """Tell whether the statement can matter, without interning anything."""
    if cell(job, EVERYTHING):
        return True
    predicate = _find(job, job + PREDICATE)
    if predicate == 0 or predicate >= cell(job, PREDICATE_COUNT):
        return False
    answer = byte(cell(job, PREDICATES) + predicate)
    if answer != ACCEPT_OBJECT:
        return answer == ACCEPT
    value = _find(job, job + OBJECT)
    return 0 < value < cell(job, OBJECT_COUNT) and byte(cell(job, OBJECTS) + value) != 0


@kernel
def _tells_time(job: Address) -> bool:
    wanted = cell(job, TIME_PREDICATE)
    return wanted != 0 and _find(job, job + PREDICATE) == wanted


@kernel
def _enter_graph(job: Address, taken: bool) -> None:
    """Note which graph the statement is in, and a new event when that is another one than before."""
    graph = 0
    if cell(job + GRAPH, 1) > 0:
        graph = _intern(job, job + GRAPH) if taken else _find(job, job + GRAPH)
        graph = graph if graph > 0 else -1
    if graph == cell(job, GRAPH_NOW) and graph >= 0:
        return
    set_cell(job, GRAPH_NOW, graph)
    set_cell(job, RUN_START, cell(job, STATEMENTS))
    if graph > 0:
        set_cell(job, EVENTS, cell(job, EVENTS) + 1)


@kernel
def _subject(job: Address) -> int:
    """Return the subject's id; the last line's is compared first, since statements come grouped by subject."""
    at, size = cell(job + SUBJECT, 0), cell(job + SUBJECT, 1)
    if size != cell(job, LAST + 1) or not same(cell(job, LAST), at, size):
        set_cell(job, LAST + 2, intern_bytes(cell(job, TERMS), at, size))
    inside = cell(job, BASE) <= at < cell(job, LIMIT)  # scratch bytes are overwritten by the next line
    set_cell(job, LAST, at)
    set_cell(job, LAST + 1, size if inside else -1)
    return cell(job, LAST + 2)


@kernel
def _write_row(job: Address, accepted: bool) -> None:
    """Write the raw row of the statement, interning its terms."""
    row = cell(job, ROWS) + 8 * columns.ROW_WIDTH * cell(job, ROW_COUNT)
    set_cell(row, columns.SUBJECT, _subject(job))
    set_cell(row, columns.PREDICATE, _intern(job, job + PREDICATE))
    set_cell(row, columns.OBJECT, _intern(job, job + OBJECT))
    graph = cell(job, GRAPH_NOW)
    ordinal = cell(job, RUN_START if graph else STATEMENTS)
    place = cell(job, AT) - cell(job, BASE) + cell(job, BEHIND)
    set_cell(row, columns.START, place if cell(job, PLACES) else ordinal)
    set_cell(row, columns.END, graph)
    set_cell(row, columns.EVENT, -cell(job, EVENTS) if graph else 0)
    set_cell(row, columns.STREAM, cell(job, STREAM) if accepted else ONLY_FOR_TIME)
    set_cell(job, ROW_COUNT, cell(job, ROW_COUNT) + 1)


@kernel
def _has_room(job: Address) -> bool:
    """Tell whether the dictionary can take all terms of the line."""
    size = cell(job + SUBJECT, 1) + cell(job + PREDICATE, 1) + cell(job + OBJECT, 1) + cell(job + GRAPH, 1)
    set_cell(job, NEED, size)
    return has_room(cell(job, TERMS), size, 4)


@kernel
def _take(job: Address) -> bool:
    """Make a row of a well-formed statement if it is accepted; False if the dictionary lacks room for that."""
    accepted = _accepts(job)
    taken = accepted or _tells_time(job)
    if taken and not _has_room(job):
        return False
    if cell(job, GRAPHS) == KEEP_GRAPHS:
        _enter_graph(job, taken)
    if taken:
        _write_row(job, accepted)
    set_cell(job, STATEMENTS, cell(job, STATEMENTS) + 1)
    return True


@kernel
def _line_end(at: Address) -> Address:
    """Return the address of the next CR or LF."""
    while byte(at) != 10 and byte(at) != 13:
        at += 1
    return at


@kernel
def _next_line(job: Address, at: Address) -> Address:
    """Step over the line's end at the address: CR, LF or CRLF."""
    set_cell(job, LINE, cell(job, LINE) + 1)
    if byte(at) == 13:
        if at + 1 == cell(job, LIMIT):
            set_cell(job, SKIP_LF, 1)
        elif byte(at + 1) == 10:
            return at + 2
    return at + 1


@kernel
def _note(job: Address, start: Address) -> None:
    """Count a malformed line, and keep where and why if there is room."""
    set_cell(job, MALFORMED, cell(job, MALFORMED) + 1)
    noted = cell(job, NOTED)
    if noted < cell(job, FAULT_ROOM):
        kept = cell(job, FAULTS) + 8 * FAULT_WIDTH * noted
        set_cell(kept, 0, cell(job, LINE))
        set_cell(kept, 1, cell(job, REASON))
        set_cell(kept, 2, start - cell(job, BASE))
        set_cell(kept, 3, cell(job, PLACE) - cell(job, BASE))
        set_cell(job, NOTED, noted + 1)


@kernel
def _begin(job: Address) -> Address:
    """Return where the scan goes on: behind the LF of a CRLF that the last block cut in two."""
    set_cell(job, LAST + 1, -1)
    at = cell(job, AT)
    if cell(job, SKIP_LF) and at < cell(job, LIMIT):
        set_cell(job, SKIP_LF, 0)
        return at + 1 if byte(at) == 10 else at
    return at


@kernel
def scan(job: Address) -> int:
    """Scan the lines from AT up to LIMIT, the last of which is complete; return how it ended."""
    at = _begin(job)
    while at < cell(job, LIMIT):
        set_cell(job, AT, at)
        if cell(job, ROW_COUNT) == cell(job, ROW_ROOM):
            return FULL
        first = blanks_end(at)
        opening = byte(first)
        if opening == 10 or opening == 13 or opening == 35:
            end = _rest(job, first)
        else:
            end = _statement(job, first)
            if end != FAULT and not _take(job):
                return NO_ROOM
        if end == FAULT:
            _note(job, at)
            if cell(job, RAISING):
                return RAISED
            end = _line_end(cell(job, PLACE))
        at = _next_line(job, end)
    set_cell(job, AT, at)
    return DONE
