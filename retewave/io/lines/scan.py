"""Scan lines of N-Triples or N-Quads into rows of ids.

Data's way: blocks of whole lines -> **raw rows** -> times and events (retewave/io/times/times.py) -> network.
A raw row's START is the ordinal of its statement in the document, or the place of its line there, and its END the id
of its graph; the reader puts times there afterwards.  A row that only tells a time, right before the first row of the
graph that it is about, is no row of its own: what it tells stands in that row's START.
Invariant: every line is either blank, a comment, a statement (counted) or malformed (counted, and noted while
there is room); nothing of a line is interned before all of it is known to be well formed and accepted.
Left out: cutting the input into whole lines (retewave/io/lines/lines.py).
"""

from __future__ import annotations

from retewave.io.lines.events import enter_event, enter_graph, intern_span
from retewave.io.lines.gathered import begin_row, gather_terms, has_room_for_line, intern_gathered, time_before
from retewave.io.lines.job import (
    AT,
    BASE,
    BATCH,
    BY_GRAPH,
    DONE,
    EVENTS_BY,
    EVERYTHING,
    FAULT_ROOM,
    FAULT_WIDTH,
    FAULTS,
    FORESEEN,
    FULL,
    GATHERED_BYTES,
    GATHERED_COUNT,
    K_AT,
    K_CELLS,
    K_ID,
    K_NEXT,
    K_OTHER,
    K_SIZE,
    KNOWN,
    KNOWN_COUNT,
    KNOWN_NOW,
    LAST,
    LAST_GRAPH,
    LIMIT,
    LINE,
    MALFORMED,
    MORE,
    NO_EVENTS,
    NO_ROOM,
    NOTED,
    OBJECT_COUNT,
    OBJECTS,
    PREDICATE_COUNT,
    PREDICATES,
    RAISED,
    RAISING,
    ROW_COUNT,
    ROW_ROOM,
    SCRATCH,
    SIEVE,
    SIEVE_MASK,
    SKIP_LF,
    STATEMENTS,
    TERMS,
    TIME_PREDICATE,
    TOLD_LAST,
)
from retewave.io.lines.statements import rest, statement
from retewave.io.lines.terms import (
    DATATYPE,
    FAULT,
    OBJECT,
    PLACE,
    PREDICATE,
    REASON,
    WRITTEN,
    blanks_end,
)
from retewave.rete.terms.acceptance import ACCEPT, ACCEPT_OBJECT
from retewave.rete.terms.table import (
    find_hashed,
    hash_for,
)
from retewave.rete.words.ascii import CR, HASH, LF
from retewave.rete.words.bytes import Address, byte, cell, fence, same, set_cell
from retewave.rete.words.jit import inlined, kernel

__all__ = ["scan"]


@inlined
def _accepts(job: Address, predicate: int) -> bool:
    """Tell whether a statement with the predicate can matter, without interning anything."""
    if cell(job, EVERYTHING):
        return True
    if predicate == 0 or predicate >= cell(job, PREDICATE_COUNT):
        return False
    answer = byte(cell(job, PREDICATES) + predicate)
    if answer != ACCEPT_OBJECT:
        return answer == ACCEPT
    at, size = cell(job + OBJECT, 0), cell(job + OBJECT, 1)
    hashed = hash_for(cell(job, TERMS), at, size)
    bit = hashed & cell(job, SIEVE_MASK)
    if byte(cell(job, SIEVE) + (bit >> 3)) >> (bit & 7) & 1 == 0:
        return False
    value = find_hashed(cell(job, TERMS), at, size, hashed)
    return 0 < value < cell(job, OBJECT_COUNT) and byte(cell(job, OBJECTS) + value) != 0


@kernel
def _looked_up(job: Address) -> Address:
    """Look the line's predicate up: return the place that it has, or takes."""
    at, size = cell(job + PREDICATE, 0), cell(job + PREDICATE, 1)
    hashed = hash_for(cell(job, TERMS), at, size)
    known = cell(job, KNOWN) + 8 * K_CELLS * (1 + (hashed & (KNOWN_COUNT - 1)))
    if size != cell(known, K_SIZE) or not same(cell(known, K_AT), at, size):
        in_block = cell(job, BASE) <= at < cell(job, LIMIT)  # rewritten bytes are written over soon
        set_cell(known, K_AT, at)
        set_cell(known, K_SIZE, size if in_block else 0)
        set_cell(known, K_ID, find_hashed(cell(job, TERMS), at, size, hashed))
        set_cell(known, K_NEXT, cell(job, KNOWN))
        set_cell(known, K_OTHER, cell(job, KNOWN))
    set_cell(cell(job, KNOWN_NOW), K_OTHER, cell(cell(job, KNOWN_NOW), K_NEXT))
    set_cell(cell(job, KNOWN_NOW), K_NEXT, known)
    return known


@inlined
def _take(job: Address) -> bool:
    """Gather a well-formed statement if it is accepted; False if the dictionary lacks room for that."""
    known = cell(job, FORESEEN)
    if known == 0:
        known = _looked_up(job)
    set_cell(job, KNOWN_NOW, known)
    predicate = cell(known, K_ID)
    accepted = _accepts(job, predicate)
    taken = accepted or (predicate != 0 and predicate == cell(job, TIME_PREDICATE))
    if taken and not has_room_for_line(job):
        return False
    by = cell(job, EVENTS_BY)
    if by == BY_GRAPH:
        enter_graph(job, taken)
    elif by != NO_EVENTS:
        enter_event(job, taken)
    if taken:
        if predicate == 0:
            predicate = intern_span(job, job + PREDICATE)
            set_cell(known, K_ID, predicate)
        before = time_before(job) if accepted else 0
        begin_row(job, predicate, accepted, before)
        gather_terms(job, before < 0)
    set_cell(job, STATEMENTS, cell(job, STATEMENTS) + 1)
    return True


@kernel
def _line_end(at: Address) -> Address:
    """Return the address of the next CR or LF."""
    while byte(at) != LF and byte(at) != CR:
        at += 1
    return at


@inlined
def _next_line(job: Address, at: Address) -> Address:
    """Step over the line's end at the address: CR, LF or CRLF."""
    set_cell(job, LINE, cell(job, LINE) + 1)
    if byte(at) == CR:
        if at + 1 == cell(job, LIMIT):
            set_cell(job, SKIP_LF, 1)
        elif byte(at + 1) == LF:
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
    """Return where the scan goes on, behind the LF of a CRLF that the last block cut in two; forget that block."""
    set_cell(job, LAST + 1, 0)
    set_cell(job, LAST_GRAPH + 1, 0)
    set_cell(job, TOLD_LAST + 1, 0)
    set_cell(job, DATATYPE + 1, 0)
    for place in range(KNOWN_COUNT + 1):
        set_cell(cell(job, KNOWN) + 8 * K_CELLS * place, K_SIZE, 0)
    set_cell(cell(job, KNOWN), K_NEXT, cell(job, KNOWN))
    set_cell(cell(job, KNOWN), K_OTHER, cell(job, KNOWN))
    set_cell(job, KNOWN_NOW, cell(job, KNOWN))
    at = cell(job, AT)
    if cell(job, SKIP_LF) and at < cell(job, LIMIT):
        set_cell(job, SKIP_LF, 0)
        return at + 1 if byte(at) == LF else at
    return at


@kernel
def _begin_batch(job: Address) -> None:
    """Let the next lines write over the scratch bytes; what was written there of the last line is forgotten."""
    set_cell(job, WRITTEN, cell(job, SCRATCH))
    if not cell(job, BASE) <= cell(job, LAST_GRAPH) < cell(job, LIMIT):
        set_cell(job, LAST_GRAPH + 1, 0)
    if not cell(job, BASE) <= cell(job, LAST) < cell(job, LIMIT):
        set_cell(job, LAST + 1, 0)


@kernel
def _gather(job: Address) -> int:
    """Scan lines from AT on until a batch is gathered (MORE), or say how the scan ends."""
    _begin_batch(job)
    at = cell(job, AT)
    while at < cell(job, LIMIT):
        set_cell(job, AT, at)
        if cell(job, ROW_COUNT) == cell(job, ROW_ROOM):
            return FULL
        if cell(job, GATHERED_COUNT) == BATCH:
            return MORE
        size, written = cell(job, GATHERED_BYTES), cell(job, WRITTEN)
        first = blanks_end(at)
        opening = byte(first)
        if opening == LF or opening == CR or opening == HASH:
            end = rest(job, first)
        else:
            end = statement(job, first)
            if end != FAULT and not _take(job):
                return NO_ROOM
        if end == FAULT:
            _note(job, at)
            if cell(job, RAISING):
                return RAISED
            end = _line_end(cell(job, PLACE))
        if cell(job, GATHERED_BYTES) == size:
            set_cell(job, WRITTEN, written)  # the line's rewritten terms are needed no more
        at = _next_line(job, end)
    set_cell(job, AT, at)
    return DONE


@kernel
def scan(job: Address) -> int:
    """Scan the lines from AT up to LIMIT, the last of which is complete; return how it ended."""
    set_cell(job, AT, _begin(job))
    ended = MORE
    while ended == MORE:
        ended = _gather(job)
        intern_gathered(job)
    fence()
    return ended
