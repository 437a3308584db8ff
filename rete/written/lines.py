"""Lines of results, match by match, from ids to the bytes that a file is given.

Data's way: a batch's ids and times, and the dictionary's texts -> **lines in a sink's buffer** -> file or pipe.
The cells of a job say where all this is.  The constant parts of a line are its pieces (retewave/io/sinks/lines.py).
Invariant: a kernel writes whole lines, as many as there is room for, and says where each ends; it never grows anything.
Left out: formats' constant parts, buffers, and the order among several queries' lines, but for `gather`.
"""

from __future__ import annotations

from retewave.rete.words.ascii import AT_SIGN, LESS, QUOTE, UNDERSCORE
from retewave.rete.words.bytes import BLOCK, Address, byte, cell, copy, prefetch, set_cell
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.written.terms import LONGEST, copy_over, write_csv, write_json_inside, write_tsv
from retewave.rete.written.times import TOLD, write_number, write_time

__all__ = [
    "AFTER_DATE",
    "ARENA",
    "BEFORE_DATE",
    "BEFORE_END",
    "BEFORE_TERMS",
    "BETWEEN",
    "CLOCK",
    "CLOSE",
    "COLUMN",
    "COLUMNS",
    "CONSTANT",
    "CSV",
    "DATATYPE",
    "ENDS",
    "END_ROW",
    "FIRST_COLUMN",
    "FIRST_PART",
    "FIXED",
    "FORMAT",
    "HEAD",
    "IDS",
    "ID_COLUMN",
    "ID_ROW",
    "JOB_CELLS",
    "JSON",
    "LABEL",
    "LANGUAGE",
    "LINE_END",
    "PARTS",
    "PART_COUNT",
    "PIECES",
    "PIECE_BYTES",
    "SCOPE",
    "SPANS",
    "STARTS",
    "START_ROW",
    "STATIC",
    "TRIPLES",
    "TRIPLE_END",
    "TSV",
    "WIDTH",
    "gather",
    "lines_room",
    "write_lines",
    "write_triples",
]

JSON, CSV, TSV, TRIPLES = range(4)  # formats

# The cells of a job: numbers, and addresses of int64 arrays.
FORMAT = 0
CLOCK = 1  # how times are written (rete/written/times.py); TOLD: a time is the number of its piece
WIDTH = 2  # how many columns are written, as often as they are
COLUMNS = 3  # address: the place of each among the ids; -1: the query does not show it
IDS, ID_ROW, ID_COLUMN = 4, 5, 6  # address of the ids; how far it is to the next row and column, in bytes
STARTS, START_ROW = 7, 8
ENDS, END_ROW = 9, 10
ARENA, SPANS = 11, 12  # the texts of the ids
PIECES = 13  # address: where each piece begins and, one index further, ends
PIECE_BYTES = 14  # address: the pieces' bytes
FIXED = 15  # how many bytes of a line are no terms, at most
PARTS = 16  # address, of a template: three parts a triple, each what it is and which one
PART_COUNT = 17
JOB_CELLS = 18

# The pieces of a line: all that is between terms.
HEAD, BEFORE_END, BEFORE_TERMS, LINE_END = range(4)  # without BEFORE_END, no end is written
BEFORE_DATE, AFTER_DATE, STATIC = 4, 5, 6  # around a time that is a date; in place of one that static data has
LANGUAGE, DATATYPE, CLOSE = 7, 8, 9  # inside a JSON term
FIRST_COLUMN = 10  # three a column: before an IRI, before a blank node, before a literal

CONSTANT, COLUMN, LABEL = range(3)  # the parts of a template's triple: a piece, a column, a blank node's label
# A template's first pieces: what the labels of its blank nodes begin with, what is between parts, and behind a triple.
SCOPE, BETWEEN, TRIPLE_END, FIRST_PART = range(4)

_AHEAD = 4  # rows: their texts lie anywhere, and are fetched before their turn


@inlined
def _piece(job: Address, number: int, out: Address) -> Address:
    pieces = cell(job, PIECES)
    begin = cell(pieces, number)
    return copy_over(cell(job, PIECE_BYTES) + begin, out, cell(pieces, number + 1) - begin)


@inlined
def _is_empty(job: Address, number: int) -> bool:
    return cell(cell(job, PIECES), number) == cell(cell(job, PIECES), number + 1)


@inlined
def _id_at(job: Address, row: int, column: int) -> int:
    """Return the id in a column of the batch; 0 in a column that it has not."""
    if column < 0:
        return 0
    return cell(cell(job, IDS) + row * cell(job, ID_ROW) + column * cell(job, ID_COLUMN), 0)


@inlined
def _at(job: Address, term: int) -> Address:
    return cell(job, ARENA) + cell(cell(job, SPANS), 2 * term)


@inlined
def _size(job: Address, term: int) -> int:
    return cell(cell(job, SPANS), 2 * term + 1)


@kernel
def lines_room(job: Address, row: int) -> int:
    """Return how much room a match's line wants, at most."""
    size = 0
    for k in range(cell(job, WIDTH)):
        term = _id_at(job, row, cell(cell(job, COLUMNS), k))
        size += _size(job, term) if term else 0
    return LONGEST * size + cell(job, FIXED) + BLOCK


@kernel
def _fetch(job: Address, row: int) -> None:
    """Have the texts of a match's terms on their way."""
    for k in range(cell(job, WIDTH)):
        term = _id_at(job, row, cell(cell(job, COLUMNS), k))
        if term:
            at = _at(job, term)
            prefetch(at)
            prefetch(at + 64)


@inlined
def _write_json(job: Address, term: int, column: int, first: bool, out: Address) -> Address:
    """Write a member of the bindings object; the first member has no comma before it."""
    at, size = _at(job, term), _size(job, term)
    kind = byte(at)
    number = FIRST_COLUMN + 3 * column + (0 if kind == LESS else 1 if kind == UNDERSCORE else 2)
    comma = 1 if first else 0
    begin, end = cell(cell(job, PIECES), number) + comma, cell(cell(job, PIECES), number + 1)
    out = copy_over(cell(job, PIECE_BYTES) + begin, out, end - begin)
    if kind == LESS:
        return _piece(job, CLOSE, copy_over(at + 1, out, size - 2))
    if kind == UNDERSCORE:
        return _piece(job, CLOSE, copy_over(at + 2, out, size - 2))
    quote, out = write_json_inside(at + 1, out)
    tail = at + size - quote - 1  # the bytes behind the quote
    if tail == 0:
        return _piece(job, CLOSE, out)
    if byte(quote + 1) == AT_SIGN:
        return _piece(job, CLOSE, copy_over(quote + 2, _piece(job, LANGUAGE, out), tail - 1))
    return _piece(job, CLOSE, copy_over(quote + 4, _piece(job, DATATYPE, out), tail - 4))


@kernel
def _write_terms(job: Address, row: int, out: Address) -> Address:
    """Write a match's terms, and the pieces before them."""
    format, first = cell(job, FORMAT), True
    for k in range(cell(job, WIDTH)):
        term = _id_at(job, row, cell(cell(job, COLUMNS), k))
        if format == JSON:
            if term:
                out = _write_json(job, term, k, first, out)
                first = False
        else:
            out = _piece(job, FIRST_COLUMN + 3 * k, out)
            if term and format == CSV:
                out = write_csv(_at(job, term), _size(job, term), out)
            elif term:
                out = write_tsv(_at(job, term), _size(job, term), out)
    return out


@kernel
def _write_moment(job: Address, time: int, static: bool, out: Address) -> Address:
    if cell(job, CLOCK) == TOLD:
        return _piece(job, time, out)
    if static:
        return _piece(job, STATIC, out)
    out = write_time(_piece(job, BEFORE_DATE, out), time, cell(job, CLOCK))
    return _piece(job, AFTER_DATE, out)


@kernel
def write_lines(job: Address, first: int, behind: int, out: Address, room: int, ends: Address) -> int:
    """Write the lines of the matches from the first on, as many as there is room for; return how many.

    The end of each line in the buffer is noted at its row's place behind the first row.
    """
    begin, start_row, end_row = out, cell(job, START_ROW), cell(job, END_ROW)
    for row in range(first, behind):
        if row + _AHEAD < behind:
            _fetch(job, row + _AHEAD)
        if out - begin + lines_room(job, row) > room:
            return row - first
        start, end = cell(cell(job, STARTS) + row * start_row, 0), cell(cell(job, ENDS) + row * end_row, 0)
        out = _write_moment(job, start, end < start, _piece(job, HEAD, out))
        if not _is_empty(job, BEFORE_END):
            out = _write_moment(job, end, end < start, _piece(job, BEFORE_END, out))
        out = _write_terms(job, row, _piece(job, BEFORE_TERMS, out))
        out = _piece(job, LINE_END, out)
        set_cell(ends, row - first, out - begin)
    return behind - first


@inlined
def _write_part(job: Address, row: int, part: int, out: Address) -> Address:
    """Write a part of a triple and a blank; return where it ends, or 0 for a variable that is unbound."""
    kind, which = cell(cell(job, PARTS), 2 * part), cell(cell(job, PARTS), 2 * part + 1)
    if kind == COLUMN:
        term = _id_at(job, row, which)
        return copy_over(_at(job, term), out, _size(job, term)) if term else 0
    if kind == LABEL:
        out = write_number(_piece(job, SCOPE, out), row, 1)
    return _piece(job, which, out)


@kernel
def _write_triple(job: Address, row: int, triple: int, out: Address) -> Address:
    """Write an instance of a triple; nothing if it would be no RDF."""
    begin = out
    for place in range(3):
        at = out
        out = _write_part(job, row, triple + place, at)
        if out == 0 or (place == 0 and byte(at) == QUOTE) or (place == 1 and byte(at) != LESS):
            return begin
        out = _piece(job, BETWEEN, out)
    return _piece(job, TRIPLE_END, out)


@kernel
def write_triples(job: Address, first: int, behind: int, out: Address, room: int, ends: Address) -> int:
    """Write the triples that a template makes of the matches from the first on, as `write_lines` writes lines."""
    begin = out
    for row in range(first, behind):
        if row + _AHEAD < behind:
            _fetch(job, row + _AHEAD)
        if out - begin + lines_room(job, row) > room:
            return row - first
        for triple in range(0, cell(job, PART_COUNT), 3):
            out = _write_triple(job, row, triple, out)
        set_cell(ends, row - first, out - begin)
    return behind - first


@kernel
def gather(lines: Address, ends: Address, order: Address, count: int, out: Address) -> None:
    """Put lines, which lie one behind the other, in another order; `out` has room for all of them."""
    for k in range(count):
        line = cell(order, k)
        begin = cell(ends, line - 1) if line else 0
        copy(lines + begin, out, cell(ends, line) - begin)
        out += cell(ends, line) - begin
