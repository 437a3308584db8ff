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

from retewave.io.lines import reasons as why
from retewave.io.lines.characters import decode
from retewave.io.lines.terms import (
    DATATYPE,
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
from retewave.io.times.told import micros_told
from retewave.rete.terms.acceptance import ACCEPT, ACCEPT_OBJECT
from retewave.rete.terms.kinds import DATETIME, DATETIME_LOCAL
from retewave.rete.terms.numbers import number_of
from retewave.rete.terms.table import (
    fetch_slot,
    fetch_span,
    fetch_text,
    find_bytes,
    find_hashed,
    has_room,
    hash_for,
    intern_bytes,
    intern_hashed,
)
from retewave.rete.terms.value import value_of
from retewave.rete.words import rows as columns
from retewave.rete.words.bytes import BLOCK, Address, byte, cell, fence, first_string_stop, same, set_cell, stream_cell
from retewave.rete.words.jit import inlined, kernel

__all__ = [
    "AT",
    "BASE",
    "BATCH",
    "BEHIND",
    "BY_COUNT",
    "BY_GRAPH",
    "BY_SUBJECT",
    "DONE",
    "EVENTS",
    "EVENTS_BY",
    "EVENT_SIZE",
    "EVERYTHING",
    "FAULTS",
    "FAULT_WIDTH",
    "FULL",
    "GATHERED",
    "GRAPHS",
    "GRAPH_NOW",
    "G_CELLS",
    "IGNORE_GRAPHS",
    "JOB_CELLS",
    "KEEP_GRAPHS",
    "KNOWN",
    "KNOWN_COUNT",
    "K_CELLS",
    "LIMIT",
    "LINE",
    "MALFORMED",
    "NEAR",
    "NEED",
    "NOTED",
    "NO_EVENTS",
    "NO_GRAPHS",
    "NO_ROOM",
    "OBJECTS",
    "OBJECT_COUNT",
    "ONLY_FOR_TIME",
    "PLACES",
    "PREDICATES",
    "PREDICATE_COUNT",
    "RAISED",
    "RAISING",
    "ROWS",
    "ROW_COUNT",
    "ROW_ROOM",
    "SCRATCH",
    "SIEVE",
    "SIEVE_MASK",
    "SKIP_LF",
    "STATEMENTS",
    "STREAM",
    "TERMS",
    "TIME_PREDICATE",
    "TOLD",
    "scan",
]

# How a scan ends.
DONE = 0  # the block is used up
FULL = 1  # there is no room for another row
NO_ROOM = 2  # the dictionary must grow by NEED bytes before the line at AT
RAISED = 3  # the line at AT is malformed, and RAISING was asked for
MORE = 4  # not yet: a batch of statements is gathered

# The cells of a job begin with those of its line (retewave/io/lines/terms.py); a job is a scan's whole state.
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
STREAM = LINE_CELLS + 14  # the number that goes into their STREAM
SCRATCH = LINE_CELLS + 15  # the address of the scratch bytes: a batch's terms as rewritten, at most 256 longer a line
TERMS = LINE_CELLS + 16  # the address of the dictionary
NEED = LINE_CELLS + 17  # bytes of text that it must take
EVERYTHING = LINE_CELLS + 18  # the acceptance: its three fields, arrays as address and length
PREDICATES = LINE_CELLS + 19
PREDICATE_COUNT = LINE_CELLS + 20
OBJECTS = LINE_CELLS + 21
OBJECT_COUNT = LINE_CELLS + 22
GRAPHS = LINE_CELLS + 23  # what is done with a fourth term: see below
GRAPH_NOW = (
    LINE_CELLS + 24
)  # the last statement's graph: its id, 0 for the default graph, -1 if it has no id, GATHERED_ID
EVENTS = LINE_CELLS + 25  # the number of the last event
RUN_START = LINE_CELLS + 26  # the ordinal of the statement that began it
TIME_PREDICATE = LINE_CELLS + 27  # the id of the predicate that tells an event's time, never refused; 0: none
LAST = LINE_CELLS + 28  # the last subject: its address, its size (0: there is none), its id
PLACES = LINE_CELLS + 31  # 1: a row's START is the place of its line in the document, not an ordinal
BEHIND = LINE_CELLS + 32  # how many bytes of the document are before the block
GATHERED = LINE_CELLS + 33  # the address of the statements whose terms are yet to be interned: their G_* cells
GATHERED_COUNT = LINE_CELLS + 34  # gathered statements: the last rows, as many, are yet to be written
GATHERED_BYTES = LINE_CELLS + 35  # the texts of these terms together
KNOWN = LINE_CELLS + 36  # the address of the predicates met in the block: their K_* cells; the first place stays empty
KNOWN_NOW = LINE_CELLS + 37  # the address of the last statement's
FORESEEN = LINE_CELLS + 38  # of the known predicate that the line's predicate is, 0: of none
SIEVE = LINE_CELLS + 39  # the address of the bits that the hashes of accepted objects lead to
SIEVE_MASK = LINE_CELLS + 40  # the part of a hash that names a bit
LAST_GRAPH = LINE_CELLS + 41  # the last statement's named graph: its address, its size (0: not known), its id
NEW_GRAPH = LINE_CELLS + 44  # 1: the statement's graph is the first of its name in a row, and is gathered with it
EVENTS_BY = LINE_CELLS + 45  # which statements are an event: see below
EVENT_SIZE = LINE_CELLS + 46  # how many statements an event has, with BY_COUNT
TOLD_LAST = LINE_CELLS + 47  # the last time told in µs: the address of its literal, its size (0: none), its minute's µs
NEAR = LINE_CELLS + 50  # 1: the rows are read on this core next, so they may stay in its caches
JOB_CELLS = LINE_CELLS + 51

# A gathered statement: its subject's address, size (0: the statement's before), hash and likely id, its object's (size
# 0: what is in the row), its graph's (size 0: the graph before, if the row has GATHERED_ID), and its raw row.
G_SUBJECT, G_OBJECT, G_GRAPH, G_ROW, G_CELLS = 0, 4, 8, 11, 11 + columns.ROW_WIDTH
_OF_SUBJECT = -1  # in place of a graph's hash: its name is the subject
GATHERED_ID = -2  # in place of a graph's id: it is gathered, and not interned yet

# A predicate met in the block.  A subject's statements are mostly written in the same order, so each predicate is
# compared with the two predicates that followed the last one before.  If it is one, no scan, hash or look-up is needed.
K_AT, K_SIZE = 0, 1  # where its text is in the block, and its size; 0: nothing is here
K_ID = 2  # 0 if the dictionary does not have it
K_NEXT = 3  # the address of the predicate that followed it the last time
K_OTHER = 4  # of another one that followed it before
K_CELLS = 5
KNOWN_COUNT = 64  # places, a power of two; a predicate whose hash leads to a place takes it

BATCH = 32  # statements gathered before the first is interned, so that the memory that the look-ups need is on its way

FAULT_WIDTH = 4

# What is done with a fourth term.
NO_GRAPHS = 0  # it is an error (N-Triples)
IGNORE_GRAPHS = 1  # it is read and forgotten (static data)
KEEP_GRAPHS = 2  # it is read, and may name an event

# Which statements that follow each other are one event.
NO_EVENTS = 0  # each is one by itself
BY_GRAPH = 1  # those in one named graph
BY_SUBJECT = 2  # those of one subject
BY_COUNT = 3  # so many, whatever they say

ONLY_FOR_TIME = -1  # in a row's STREAM: the row tells an event's time, and is refused otherwise
TOLD = 1 << 62  # such a row's OBJECT is its time less this, not the id of a literal that nobody else needs; so is the
# START of a row that such a row about its graph, in the default graph, came before
_NEAR = 2.0**61  # microseconds from 1970: times beyond are ids
_SURE = 2.0**52  # microseconds from 1970 that a double tells exactly
_SECONDS_AT, _ZONE_AT = 18, 27  # in a literal "YYYY-MM-DDThh:mm:ss.ffffff…


@inlined
def _node(job: Address, span: Address, at: Address, reason: int) -> Address:
    """Scan an IRI or a blank node."""
    if byte(at) == 60:
        return iri(job, span, at)
    return blank(job, span, at) if byte(at) == 95 else fault(job, reason, at)


@inlined
def _subject(job: Address, at: Address) -> Address:
    """Scan the subject.  An IRI is first compared with the last subject: statements come grouped by subject."""
    last, size = cell(job, LAST), cell(job, LAST + 1)
    if byte(at) == 60 and size > 0 and at + size <= cell(job, LIMIT) and same(last, at, size):
        set_cell(job + SUBJECT, 0, last)
        set_cell(job + SUBJECT, 1, size)
        return at + size
    return _node(job, job + SUBJECT, at, why.NO_SUBJECT)


@inlined
def _is_predicate(job: Address, known: Address, at: Address) -> bool:
    """Return whether the text at the address is a predicate that was met."""
    size = cell(known, K_SIZE)
    return size > 0 and at + size <= cell(job, LIMIT) and same(cell(known, K_AT), at, size)


@inlined
def _predicate(job: Address, at: Address) -> Address:
    """Scan the predicate, unless it is a foreseen predicate."""
    known = cell(cell(job, KNOWN_NOW), K_NEXT)
    if not _is_predicate(job, known, at):
        known = cell(cell(job, KNOWN_NOW), K_OTHER)
        if not _is_predicate(job, known, at):
            set_cell(job, FORESEEN, 0)
            return iri(job, job + PREDICATE, at) if byte(at) == 60 else fault(job, why.NO_PREDICATE, at)
    size = cell(known, K_SIZE)
    set_cell(job, FORESEEN, known)
    set_cell(job + PREDICATE, 0, at)
    set_cell(job + PREDICATE, 1, size)
    return at + size


@inlined
def _graph(job: Address, at: Address) -> Address:
    """Scan the fourth term, if there is one, and the blanks behind it: it is compared with the subject first."""
    set_cell(job + GRAPH, 1, 0)
    if byte(at) == 46:
        return at
    if cell(job, GRAPHS) == NO_GRAPHS:
        return fault(job, why.NO_GRAPH_HERE if byte(at) == 60 or byte(at) == 95 else why.NO_DOT, at)
    subject, size = cell(job + SUBJECT, 0), cell(job + SUBJECT, 1)
    if byte(at) == 60 and at + size <= cell(job, LIMIT) and same(subject, at, size):  # an event, named as its subject
        set_cell(job + GRAPH, 0, at)
        set_cell(job + GRAPH, 1, size)
        return blanks_end(at + size)
    end = _node(job, job + GRAPH, at, why.NO_DOT)
    return blanks_end(end) if end != FAULT else FAULT


@inlined
def _terms(job: Address, at: Address) -> Address:
    """Scan the terms of a statement: return the address where its dot should be."""
    at = _subject(job, at)
    if at == FAULT:
        return FAULT
    at = _predicate(job, blanks_end(at))
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


@inlined
def _rest(job: Address, at: Address) -> Address:
    """Return the address of the line's end, before which there may be blanks and a comment."""
    at = blanks_end(at)
    if byte(at) == 10 or byte(at) == 13:
        return at
    return _comment_end(job, at) if byte(at) == 35 else fault(job, why.TRAILING, at)


@inlined
def _statement(job: Address, at: Address) -> Address:
    """Scan a statement, and blanks or a comment behind it: return the address of the line's end."""
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


@inlined
def _accepts(job: Address, predicate: int) -> bool:
    """Return whether a statement with the predicate can matter, without interning anything."""
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
def _is_gathered(job: Address) -> bool:
    """Return whether the statement's graph is one that is gathered, and not interned yet."""
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
        graph = _intern(job, job + GRAPH)
    else:
        graph = _find(job, job + GRAPH)
    if graph == 0:
        _begin_graph(job, -1, 0)
    elif graph != cell(job, GRAPH_NOW):
        _begin_graph(job, graph, 1)
    _note_graph(job, graph != 0 and cell(job, BASE) <= cell(job + GRAPH, 0) < cell(job, LIMIT))


@inlined
def _enter_graph(job: Address, taken: bool) -> None:
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
def _enter_event(job: Address, taken: bool) -> None:
    """Note the event that the statement is part of.  A subject that makes an event is to it what a graph's name is."""
    if cell(job, EVENTS_BY) == BY_COUNT:
        if cell(job, STATEMENTS) % cell(job, EVENT_SIZE) == 0:
            _begin_graph(job, -1, 1)
        return
    set_cell(job + GRAPH, 0, cell(job + SUBJECT, 0))
    set_cell(job + GRAPH, 1, cell(job + SUBJECT, 1))
    _enter_graph(job, taken)


@inlined
def _within_minute(at: Address) -> int:
    """Return the microseconds of `ss.ffffff` where a dateTime's literal has them, less than 0 if it has them not."""
    seconds, micros = number_of(at + _SECONDS_AT, 2), number_of(at + _SECONDS_AT + 3, 6)
    if seconds < 0 or seconds > 59 or micros < 0 or byte(at + _SECONDS_AT + 2) != 46:
        return -1
    return 1_000_000 * seconds + micros


@kernel
def _read_time(job: Address, at: Address, size: int) -> int:
    """Do as `_told` does, whatever the literal; note it if the next one may be of the same minute."""
    kind, number, _ = value_of(at, size)
    micros = micros_told(kind, number)
    set_cell(job, TOLD_LAST + 1, 0)
    if not abs(micros) < _NEAR:
        return 0
    if DATETIME <= kind <= DATETIME_LOCAL and abs(micros) < _SURE and size > _ZONE_AT and byte(at + 17) == 58:
        within = _within_minute(at)
        no_more = byte(at + _ZONE_AT) < 48 or byte(at + _ZONE_AT) > 57  # digits
        midnight = byte(at + 12) == 50 and byte(at + 13) == 52  # 24:00:00 is a time, what follows is none
        if within >= 0 and no_more and not midnight and cell(job, BASE) <= at < cell(job, LIMIT):
            set_cell(job, TOLD_LAST, at)
            set_cell(job, TOLD_LAST + 1, size)
            set_cell(job, TOLD_LAST + 2, int(micros) - within)
    return int(micros) - TOLD


@inlined
def _told(job: Address) -> int:
    """Return the time that the line's object tells, less TOLD; 0 if it tells none, or one that is far away.

    Times follow each other: where the last one's literal differs in no more than seconds, only these are read.
    """
    at, size, last = cell(job + OBJECT, 0), cell(job + OBJECT, 1), cell(job, TOLD_LAST)
    alike = size == cell(job, TOLD_LAST + 1) and same(last, at, _SECONDS_AT)
    if alike and same(last + _ZONE_AT, at + _ZONE_AT, size - _ZONE_AT):
        within = _within_minute(at)
        if within >= 0:
            return cell(job, TOLD_LAST + 2) + within - TOLD
    return _read_time(job, at, size)


@inlined
def _begin_row(job: Address, predicate: int, accepted: bool, before: int) -> None:
    """Gather the statement's raw row, as far as it is known before its subject and object have ids.

    If the row before has told its time, it takes that row's place.
    """
    set_cell(job, GATHERED_COUNT, cell(job, GATHERED_COUNT) - (before < 0))
    row = cell(job, GATHERED) + 8 * (G_CELLS * cell(job, GATHERED_COUNT) + G_ROW)
    set_cell(row, columns.PREDICATE, predicate)
    graph = cell(job, GRAPH_NOW)
    ordinal = cell(job, RUN_START if graph else STATEMENTS)
    place = cell(job, AT) - cell(job, BASE) + cell(job, BEHIND)
    set_cell(row, columns.OBJECT, 0 if accepted else _told(job))
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
def _time_before(job: Address) -> int:
    """Return what the row before tells, less than 0, if it only tells the time of the graph that begins; else 0."""
    count, size = cell(job, GATHERED_COUNT), cell(job + GRAPH, 1)
    if count == 0 or cell(job, NEW_GRAPH) == 0 or cell(job, LAST + 1) != size or cell(job, PLACES):
        return 0
    row = cell(job, GATHERED) + 8 * (G_CELLS * (count - 1) + G_ROW)
    if cell(row, columns.STREAM) != ONLY_FOR_TIME or cell(row, columns.END) != 0:
        return 0
    return min(cell(row, columns.OBJECT), 0) if same(cell(job, LAST), cell(job + GRAPH, 0), size) else 0


@inlined
def _gather_terms(job: Address, joined: bool) -> None:
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
            set_cell(gathered, G_GRAPH + 2, _OF_SUBJECT)
        else:
            _gather_term(job, gathered + 8 * G_GRAPH, graph, length)
            size += length
    set_cell(job, GATHERED_COUNT, cell(job, GATHERED_COUNT) + 1)
    set_cell(job, GATHERED_BYTES, cell(job, GATHERED_BYTES) + size + cell(job + OBJECT, 1))


@inlined
def _has_room(job: Address) -> bool:
    """Return whether the dictionary can take all terms of the line, behind the gathered terms."""
    size = cell(job + SUBJECT, 1) + cell(job + PREDICATE, 1) + cell(job + OBJECT, 1) + cell(job + GRAPH, 1)
    set_cell(job, NEED, size)
    return has_room(cell(job, TERMS), size + cell(job, GATHERED_BYTES), 4 + 3 * cell(job, GATHERED_COUNT))


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
    if taken and not _has_room(job):
        return False
    by = cell(job, EVENTS_BY)
    if by == BY_GRAPH:
        _enter_graph(job, taken)
    elif by != NO_EVENTS:
        _enter_event(job, taken)
    if taken:
        if predicate == 0:
            predicate = _intern(job, job + PREDICATE)
            set_cell(known, K_ID, predicate)
        before = _time_before(job) if accepted else 0
        _begin_row(job, predicate, accepted, before)
        _gather_terms(job, before < 0)
    set_cell(job, STATEMENTS, cell(job, STATEMENTS) + 1)
    return True


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
    if size > 0 and hashed == _OF_SUBJECT:
        set_cell(job, LAST_GRAPH + 2, cell(job, LAST + 2))
    elif size > 0:
        set_cell(job, LAST_GRAPH + 2, intern_hashed(cell(job, TERMS), at, size, hashed))
    return cell(job, LAST_GRAPH + 2)


@inlined
def _intern_gathered(job: Address) -> None:
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


@kernel
def _line_end(at: Address) -> Address:
    """Return the address of the next CR or LF."""
    while byte(at) != 10 and byte(at) != 13:
        at += 1
    return at


@inlined
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
        return at + 1 if byte(at) == 10 else at
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
        _intern_gathered(job)
    fence()
    return ended
