"""Parts of RDF files: where lines may be cut, and the text of a part.

Data's way: file -> **parts of whole lines** -> scanner.
Invariant: the parts of a file make up the file; none ends inside a line, and none inside an event (the statements of a
named graph that stand together, with what is said of the graph next to them).
Left out: which files there are, and which parts a micro-batch takes (`plans`).
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from retewave.epsilon.encodings import MARK
from retewave.errors import MalformedInput, Place, UsageError
from retewave.io.reading.formats import LINES, QUADS, open_document
from retewave.io.reading.sources import DAMAGED, is_gzip

__all__ = ["Range", "cut", "is_cuttable", "statements", "statements_of", "texts_of"]

PIECE = 16 << 20  # bytes of text that are handed on at once
_LOOK = 1 << 16  # bytes behind a piece that usually have a place to cut
_SEEN = 1 << 18  # bytes in which line ends are looked for at once
_FAR = 1 << 18  # bytes without a named graph after which nothing is said of the last one any more

_TERM = rb'(?:<[^>]*>|_:[^\s<"]+|"(?:[^"\\]|\\.)*"(?:@[^\s]+|\^\^<[^>]*>)?)'
_STATEMENT = re.compile(rb"[ \t]*(%b)[ \t]*%b[ \t]*%b[ \t]*(%b)?[ \t]*\.?" % ((_TERM,) * 4))


@dataclass(frozen=True)
class Range:
    """A part of a file."""

    file: str  # its path
    start: int  # bytes before it
    end: int  # bytes up to its end; of a file that cannot be cut, its size
    format: str  # one of retewave.io.reading.formats


def is_cuttable(path: str, format: str) -> bool:
    """Tell whether parts of a file can be read on their own."""
    return format in LINES and not is_gzip(path)


def texts_of(part: Range, size: int = PIECE) -> Iterator[pa.Array]:
    """Iterate over the text of a part, as N-Triples or N-Quads, in pieces that end where a part may end."""
    if is_cuttable(part.file, part.format):
        yield from _mapped(part, size)
        return
    for piece in _pieces(part, size):
        yield pa.array([piece], pa.large_binary())


def _mapped(part: Range, size: int) -> Iterator[pa.Array]:
    """Iterate over a part of a file of lines, without copying it."""
    with Path(part.file).open("rb") as file:
        if part.end <= part.start:
            return
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if len(whole) < part.end:
        raise UsageError(f"{part.file} has lost bytes: it had {part.end:,}, and has {len(whole):,}")
    bytes_, at = pa.py_buffer(whole), part.start
    if at == 0 and whole[: len(MARK)] == MARK:
        at = len(MARK)
    while at < part.end:
        end = cut(whole, at, at + size, quads=part.format in QUADS, limit=part.end)
        offsets = pa.py_buffer(np.array([0, end - at], np.int64))
        yield pa.LargeBinaryArray.from_buffers(pa.large_binary(), 1, [None, offsets, bytes_.slice(at, end - at)])
        at = end


def _pieces(part: Range, size: int) -> Iterator[bytes]:
    """Iterate over the text of a file that is compressed or in another format, piece by piece."""
    with Path(part.file).open("rb") as file:
        opened = open_document(file, part.format, part.file)
        quads, held, room = part.format in QUADS, bytearray(), memoryview(bytearray(min(size, 1 << 20)))
        failed: MalformedInput | None = None
        while True:
            try:
                filled = opened.fill(room)
            except MalformedInput as error:
                filled, failed = 0, error
            except DAMAGED as error:
                filled, failed = 0, _damaged(part.file, error)
            if not filled:
                break
            held += room[:filled]
            end = cut(held, 0, size, quads=quads) if len(held) > size + _LOOK else len(held)
            if end < len(held):
                yield bytes(held[:end])
                del held[:end]
    # Half a line before damage is no line.
    yield bytes(held if failed is None else held[: held.rfind(b"\n") + 1])
    if failed is not None:
        raise failed


def _damaged(path: str, error: Exception) -> MalformedInput:
    found = MalformedInput(
        f"the compressed data is damaged ({error}); the rest of it is not read", place=Place(path, 1, 1)
    )
    found.__cause__ = error
    return found


# ---- where to cut ----
def cut(data: mmap.mmap | bytes | bytearray, start: int, wanted: int, *, quads: bool, limit: int | None = None) -> int:
    r"""Return the first place behind `wanted` where a part that begins at `start` may end; the end if there is none.

    >>> cut(b"<a> <b> <c> .\n<d> <e> <f> .\n", 0, 3, quads=False)
    14
    >>> cut(b'<s> <p> <o> <g> .\n<g> <at> "then" .\n<s> <p> <o> <h> .\n', 0, 0, quads=True)
    36
    """
    end = len(data) if limit is None else limit
    at = start if wanted <= start else _line_end(data, wanted - 1, end)
    if not quads:
        return at if at > start else _line_end(data, start, end)
    return _event_end(data, at, end)


def _line_end(data: mmap.mmap | bytes | bytearray, at: int, end: int) -> int:
    """Return the place behind the next line's end."""
    if at >= end:
        return end
    found = data.find(b"\n", at, end)
    return end if found < 0 else found + 1


@dataclass
class _Gap:
    """The statements between those of two named graphs."""

    graph: bytes | None  # the last named graph; none was seen yet
    lines: list[tuple[int, bytes | None]]  # where each line in the default graph begins, and its subject
    size: int = 0  # bytes

    def place_before(self, graph: bytes, at: int) -> int | None:
        """Return where to cut before a statement at `at` of the next graph; None: the graphs are entangled."""
        if self.graph is None or (graph == self.graph and not self.lines):
            return None
        subjects = [subject for _, subject in self.lines]
        last = max((i for i, subject in enumerate(subjects) if subject == self.graph), default=-1)
        if graph in subjects[: last + 1]:
            return None
        return self.lines[last + 1][0] if last + 1 < len(self.lines) else at


def _event_end(data: mmap.mmap | bytes | bytearray, at: int, end: int) -> int:
    """Return the first place from a line's start on where neither an event nor what tells its time is torn."""
    gap = _Gap(None, [])
    while at < end:
        behind = _line_end(data, at, end)
        found = _STATEMENT.match(data[at:behind])
        if found is not None and found[2] is not None:
            place = gap.place_before(found[2], at)
            if place is not None:
                return place
            gap = _Gap(found[2], [])
        else:
            gap.lines.append((at, found and found[1]))
            gap.size += behind - at
            if gap.size > _FAR:
                return behind
        at = behind
    return end


# ---- how many statements there are ----
def statements(part: Range) -> int:
    """Count the statements of a part, its lines that are neither blank nor comments, as far as it can be read."""
    count = 0
    with suppress(MalformedInput):  # the reader of the part's statements reports it
        for text in texts_of(part):
            count += statements_of(text)
    return count


def statements_of(text: pa.Array) -> int:
    """Count the statements of a piece of text."""
    return _statements(memoryview(text[0].as_buffer()))


def _statements(data: memoryview) -> int:
    r"""Count statements without parsing them.

    >>> _statements(memoryview(b"<a> <b> <c> .\n\n# no\n  _:a <b> <c> .\n"))
    2
    """
    bytes_ = np.frombuffer(data, np.uint8)
    if 13 in bytes_[: 1 << 12]:
        bytes_ = np.frombuffer(bytes(data).replace(b"\r\n", b"\n").replace(b"\r", b"\n"), np.uint8)
    first = int(len(bytes_) > 0 and _is_statement(bytes_, 0))
    return first + sum(_statements_behind(bytes_, at) for at in range(0, len(bytes_), _SEEN))


def _statements_behind(bytes_: np.ndarray, at: int) -> int:
    """Count the statements behind the line ends of a piece that the caches hold."""
    starts = np.flatnonzero(bytes_[at : min(at + _SEEN, len(bytes_) - 1)] == 10) + (at + 1)
    heads = bytes_[starts]
    count = int(np.count_nonzero(heads == 60)) + int(np.count_nonzero(heads == 95))
    if count == len(starts):
        return count
    return count + sum(_is_statement(bytes_, at) for at in starts[(heads == 32) | (heads == 9)])


def _is_statement(bytes_: np.ndarray, at: int) -> bool:
    while at < len(bytes_) and bytes_[at] in b" \t":
        at += 1
    return at < len(bytes_) and bytes_[at] in b"<_"
