"""The lines of the text formats: ndjson, CSV, TSV and N-Triples, from a batch of matches to the bytes of a file.

Data's way: a batch of matches -> **jobs for the kernels** (rete/written/lines.py) -> stretches of bytes -> file.
Invariant: one entry a match, in the batch's order; CONSTRUCT's entry may hold several lines, or none.
The constant parts of a query's lines are put together once, and buffers are used again.
Left out: the order among the batches of several queries, and the file.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from retewave.compiler.algebra import BlankNode, Variable
from retewave.io.sinks.groups import GroupRows, Lines, put_in
from retewave.repetitions import Repetitions, repetitions_of
from retewave.rete.words.bytes import BLOCK, address_of
from retewave.rete.written import lines as line_kernels
from retewave.rete.written.times import DATES, EXACT, LONGEST_TIME, SECONDS, TOLD, WHOLE_SECONDS

if TYPE_CHECKING:
    from retewave.match import Matches
    from retewave.rete.terms.texts import Texts
    from retewave.windows.times import Clock

__all__ = ["BuiltTriples", "Csv", "Format", "Objects", "Tsv", "in_order", "lines_of", "stretches"]

_ROOM = 1 << 20  # bytes of a buffer: they are still in the cache when they are given to the file
_CLOCKS = {"int": WHOLE_SECONDS, "float": SECONDS}
_XSD_DATETIME = b'"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


class Rows(Protocol):
    """Rows of a query: `Matches`, and the matches that Spark has packed."""

    @property
    def query(self) -> Any:
        """Its query: `name`, `variables`; for CONSTRUCT `parsed`, `place`."""

    @property
    def numbered(self) -> tuple[Texts, np.ndarray]:
        """Texts of terms, and the matches' terms by these numbers, int64 [matches, variables]; 0 is unbound."""

    @property
    def clock(self) -> Clock:
        """How times are written."""

    @property
    def starts(self) -> np.ndarray:
        """Starts, int64 microseconds."""

    @property
    def ends(self) -> np.ndarray:
        """Ends, int64 microseconds; before the starts where all is static."""

    @property
    def places(self) -> np.ndarray:
        """Where the matches stand among those of other queries."""

    @property
    def number(self) -> int:
        """The text that sets its blank nodes apart."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Pieces:
    """What is constant in a query's lines."""

    texts: np.ndarray  # uint8: the pieces, one behind the other, and a block of bytes
    ends: np.ndarray  # int64: where each piece begins and, one index further, ends
    columns: np.ndarray  # int64: the place of each column among the ids; -1: the query does not show it
    parts: np.ndarray  # int64 [n, 2]: of a template

    @staticmethod
    def of(pieces: Sequence[bytes], columns: Sequence[int], parts: Sequence[tuple[int, int]] = ()) -> Pieces:
        """Put pieces one behind the other."""
        texts = np.frombuffer(bytearray(b"".join(pieces) + bytes(BLOCK)), np.uint8)
        ends = np.array([0, *accumulate(map(len, pieces))], np.int64)
        return Pieces(texts, ends, np.array(columns, np.int64), np.array(parts, np.int64).reshape(-1, 2))


class Format(ABC):
    """How a format writes lines."""

    number: int  # the kernels' number of it
    head = b""  # the bytes before the first line

    def __init__(self) -> None:
        self._constants: dict[tuple[Any, bool], Pieces] = {}  # by query, and whether times are dates
        self.buffer = np.empty(_ROOM, np.uint8)  # used again for each stretch of lines

    def constant(self, batch: Rows) -> Pieces:
        """Return what is constant in a batch's lines."""
        key = batch.query, _clock(batch.clock) == DATES
        if key not in self._constants:
            self._constants[key] = self._made(*key)
        return self._constants[key]

    @abstractmethod
    def _made(self, query: Any, dates: bool) -> Pieces:
        """Make what is constant in a query's lines."""


class Objects(Format):
    """A JSON object a match: query, start, end, bindings in SPARQL's JSON without what is unbound; `boolean` of ASK."""

    number = line_kernels.JSON

    def _made(self, query: Any, dates: bool) -> Pieces:
        quote = b'"' if dates else b""
        head, before_end, end = self._around(query)
        pieces = [head, before_end, b',"bindings":{', end]
        pieces += [quote, quote, b"null", b'","xml:lang":"', b'","datatype":"', b'"}']
        for name in query.variables:
            pieces += [b',%b:{"type":"%b","value":"' % (_json(name), kind) for kind in (b"uri", b"bnode", b"literal")]
        return Pieces.of(pieces, range(len(query.variables)))

    def _around(self, query: Any) -> tuple[bytes, bytes, bytes]:
        end = b'},"boolean":true}\n' if _asks(query) else b"}}\n"
        return b'{"query":%b,"start":' % _json(query.name), b',"end":', end


class _Denied(Objects):
    """A JSON object for an ASK that is false: its report has no row."""

    def _around(self, query: Any) -> tuple[bytes, bytes, bytes]:
        head, before_end, _ = super()._around(query)
        return head, before_end, b'},"boolean":false}\n'


class _Repetitions(Objects):
    """A JSON object a repetition of an event pattern, with a comma before it."""

    def _around(self, query: Any) -> tuple[bytes, bytes, bytes]:
        return b',{"time":', b"", b"}}"  # nothing before the end: it is not written


class _Table(Format):
    """A table with the query, start and end of each match before the variables of all queries."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self._names = names

    def _rows(self, query: Any, said: bytes, comma: bytes, newline: bytes, around: tuple[bytes, bytes]) -> Pieces:
        pieces = [said + comma, comma, b"", newline, *around, b"", b"", b"", b""]
        pieces += [comma, comma, comma] * len(self._names)
        return Pieces.of(pieces, [query.place(n) if n in query.variables else -1 for n in self._names])


class Csv(_Table):
    """SPARQL 1.1 Query Results CSV."""

    number = line_kernels.CSV

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.head = ",".join(("query", "start", "end", *names)).encode() + b"\r\n"

    def _made(self, query: Any, dates: bool) -> Pieces:
        return self._rows(query, _csv_field(query.name).encode(), b",", b"\r\n", (b"", b""))


class Tsv(_Table):
    """SPARQL 1.1 Query Results TSV."""

    number = line_kernels.TSV

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.head = "\t".join(f"?{name}" for name in ("query", "start", "end", *names)).encode() + b"\n"

    def _made(self, query: Any, dates: bool) -> Pieces:
        around = (b'"', _XSD_DATETIME) if dates else (b"", b"")
        return self._rows(query, b'"%b"' % query.name.encode(), b"\t", b"\n", around)


class BuiltTriples(Format):
    """The N-Triples that a CONSTRUCT query builds of each match."""

    number = line_kernels.TRIPLES

    def constant(self, batch: Rows) -> Pieces:
        """Return what is constant in a batch's triples; the first piece sets its blank nodes apart."""
        return self._of_batch(super().constant(batch), b"_:m%d." % batch.number)

    def _made(self, query: Any, dates: bool) -> Pieces:
        pieces = [b"", b" ", b".\n"]
        parts: list[tuple[int, int]] = []
        for triple in query.parsed.template:
            for part in (triple.subject, triple.predicate, triple.object):
                if isinstance(part, Variable):
                    parts.append((line_kernels.COLUMN, query.place(part.name)))
                    continue
                label = isinstance(part, BlankNode)
                parts.append((line_kernels.LABEL if label else line_kernels.CONSTANT, len(pieces)))
                pieces.append(b"." + part.label.encode() if isinstance(part, BlankNode) else part)
        return Pieces.of(pieces, [which for kind, which in parts if kind == line_kernels.COLUMN], parts)

    @staticmethod
    def _of_batch(constant: Pieces, scope: bytes) -> Pieces:
        texts = np.concatenate([np.frombuffer(scope, np.uint8), constant.texts])
        ends = constant.ends + len(scope)
        ends[0] = 0
        return Pieces(texts, ends, constant.columns, constant.parts)


# ---- from a batch to bytes ----
@dataclass
class _Job:
    """The cells that say what the kernels are to write, and the arrays behind them, which are kept alive here."""

    cells: np.ndarray  # as rete/written/lines.py has them
    held: tuple[object, ...]  # arrays
    write: Callable[[int, int, int, int, int, int], int]  # the kernel
    count: int  # of matches

    def room(self, row: int) -> int:
        """Return how much room a match wants."""
        return int(line_kernels.lines_room(address_of(self.cells), row))

    def go_on(self, first: int, buffer: np.ndarray, used: int, ends: np.ndarray) -> int:
        """Write matches from the first on behind the used part of a buffer; return the next match to write."""
        job, out = address_of(self.cells), address_of(buffer) + used
        done = self.write(job, first, self.count, out, len(buffer) - used, address_of(ends) + 8 * first)
        ends[first : first + done] += used
        return first + int(done)


def stretches(format: Format, batch: Rows) -> Iterator[np.ndarray]:
    """Yield a batch's lines in stretches; take a stretch before the next one, which is written over it."""
    if isinstance(format, Objects) and getattr(batch, "groups", None) is not None:
        yield lines_of(format, batch)[0]
        return
    if isinstance(format, Objects) and getattr(batch, "denies", False):
        yield _denial(cast("Matches", batch))
        return
    job, ends = _job(format, batch), np.empty(len(batch), np.int64)
    buffer, done = format.buffer, 0
    while done < job.count:
        before, done = done, job.go_on(done, buffer, 0, ends)
        if done > before:
            yield buffer[: ends[done - 1]]
        else:
            buffer = np.empty(job.room(done), np.uint8)  # for this batch only: a line is long


def _denial(batch: Matches) -> np.ndarray:
    """Return the line of a report of ASK that has no row."""
    times, denied = np.array([batch.reported], np.int64), copy(batch)
    denied.ids, denied.places = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    denied.starts, denied.ends = times[:, 0], times[:, 1]
    return _lines_of(_Denied(), denied)[0]


def lines_of(format: Format, batch: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return all lines of a batch, one behind the other, and the end of each line."""
    lines, taken = _lines_of(format, batch), _repetitions(format, batch)
    if not taken:
        return lines
    written, matches = _Repetitions(), cast("Matches", batch)
    return put_in(lines, [(each, _lines_of(written, GroupRows(matches, each))) for each in taken])


def _repetitions(format: Format, batch: Rows) -> tuple[Repetitions, ...]:
    """Return what goes into the field `groups` of a batch's lines."""
    return repetitions_of(cast("Matches", batch)) if isinstance(format, Objects) else ()


def _lines_of(format: Format, batch: Rows) -> Lines:
    job, ends = _job(format, batch), np.empty(len(batch), np.int64)
    buffer, done, used = np.empty(0, np.uint8), 0, 0
    while done < job.count:
        longer = np.empty(2 * len(buffer) + max(_ROOM, job.room(done)), np.uint8)
        longer[:used] = buffer[:used]
        buffer, done = longer, job.go_on(done, longer, used, ends)
        used = int(ends[done - 1])
    return buffer[:used], ends


def in_order(batches: Sequence[Rows], written: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the lines of several queries in the order in which their matches were found."""
    lines = np.concatenate([texts for texts, _ in written])
    begins = [0, *accumulate(len(texts) for texts, _ in written)]
    ends = np.concatenate([ends + begin for begin, (_, ends) in zip(begins, written, strict=False)])
    order = np.argsort(np.concatenate([batch.places for batch in batches]), kind="stable")
    out = np.empty_like(lines)
    line_kernels.gather(address_of(lines), address_of(ends), address_of(order), len(order), address_of(out))
    return out


def _job(format: Format, batch: Rows) -> _Job:
    constant, times = format.constant(batch), (batch.starts, batch.ends)
    clock, fixed = _clock(batch.clock), _fixed(constant)
    if clock != DATES and not _exact(batch):
        clock, (constant, *times) = TOLD, _told(constant, batch)  # type: ignore[assignment]
    (texts, ids), cells = batch.numbered, np.zeros(line_kernels.JOB_CELLS, np.int64)
    cells[line_kernels.FORMAT], cells[line_kernels.CLOCK], cells[line_kernels.FIXED] = format.number, clock, fixed
    cells[line_kernels.WIDTH], cells[line_kernels.COLUMNS] = len(constant.columns), address_of(constant.columns)
    cells[line_kernels.IDS], (cells[line_kernels.ID_ROW], cells[line_kernels.ID_COLUMN]) = address_of(ids), ids.strides
    cells[line_kernels.STARTS], cells[line_kernels.START_ROW] = address_of(times[0]), times[0].strides[0]
    cells[line_kernels.ENDS], cells[line_kernels.END_ROW] = address_of(times[1]), times[1].strides[0]
    cells[line_kernels.ARENA], cells[line_kernels.SPANS] = address_of(texts.arena), address_of(texts.spans)
    cells[line_kernels.PIECES], cells[line_kernels.PIECE_BYTES] = address_of(constant.ends), address_of(constant.texts)
    cells[line_kernels.PARTS], cells[line_kernels.PART_COUNT] = address_of(constant.parts), len(constant.parts)
    write = line_kernels.write_triples if format.number == line_kernels.TRIPLES else line_kernels.write_lines
    return _Job(cells, (constant, texts, ids, times), write, len(batch))


def _fixed(constant: Pieces) -> int:
    """Return how many bytes of a line are no terms, at most: some pieces are used once a column, or once a time."""
    repeated = len(constant.columns) + len(constant.parts) + 2
    return len(constant.texts) + repeated * (len(_XSD_DATETIME) + LONGEST_TIME)


# ---- times ----
def _clock(clock: Clock) -> int:
    return _CLOCKS.get(clock.kind, DATES)


def _exact(batch: Rows) -> bool:
    """Tell whether the kernels can write all times as seconds; static data has none."""
    for times in (batch.starts, batch.ends):
        timed = np.where(batch.ends < batch.starts, 0, times)
        if len(timed) and max(-int(timed.min()), int(timed.max())) >= EXACT:
            return False
    return True


def _told(constant: Pieces, batch: Rows) -> tuple[Pieces, np.ndarray, np.ndarray]:
    """Return further pieces, the seconds as Python writes them, and in place of the times their numbers."""
    timeless = batch.ends < batch.starts
    used = np.unique(np.where(timeless, 0, [batch.starts, batch.ends]))
    written = [str(batch.clock.decode(time)).encode() for time in used.tolist()]
    known = len(constant.ends) - 1
    ends = constant.ends[-1] + np.cumsum(list(map(len, written)))
    texts = np.frombuffer(
        bytearray(constant.texts[: constant.ends[-1]].tobytes() + b"".join(written) + bytes(BLOCK)), np.uint8
    )
    more = Pieces(texts, np.concatenate([constant.ends, ends]), constant.columns, constant.parts)
    starts, stops = (
        np.where(timeless, line_kernels.STATIC, known + np.searchsorted(used, t)) for t in (batch.starts, batch.ends)
    )
    return more, starts, stops


# ---- words ----
def _asks(query: Any) -> bool:
    """Tell whether a query is an ASK; Spark's and those of repetitions are none."""
    return getattr(getattr(query, "parsed", None), "form", None) == "ASK"


def _json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def _csv_field(value: str) -> str:
    """Return a field of a CSV file, quoted where it must be."""
    return '"' + value.replace('"', '""') + '"' if any(special in value for special in '",\r\n') else value
