"""A sink that goes on with a file that another sink began.

Data's way: batches of matches -> sink -> **without the head that is there already** -> file.
Invariant: the file then has the bytes that a single sink would have written.  An Arrow stream takes further record
batches behind those it has, a table further records; the head is the schema, or the names of the columns.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, cast

from retewave.errors import UsageError
from retewave.io.sinks.sinks import Sink, open_sink

if TYPE_CHECKING:
    from retewave.query import Query

__all__ = ["go_on"]

_END_OF_ARROW = 8  # bytes that end an Arrow stream


class _WithoutHead(io.RawIOBase):
    """A file that leaves out the first bytes that are written."""

    def __init__(self, file: BinaryIO, head: int) -> None:
        self._file, self._left = file, head

    def writable(self) -> bool:
        return True

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        view = memoryview(data).cast("B")
        out = min(self._left, len(view))
        self._left -= out
        rest = view[out:]
        while len(rest):
            rest = rest[self._file.write(rest) :]
        return len(view)

    def flush(self) -> None:
        self._file.flush()


def go_on(format: str, queries: Sequence[Query], file: BinaryIO, *, seconds: bool) -> Sink:
    """Return a sink that goes on with a file, which stands where a whole batch ended and can be read."""
    head = _head(format, queries, seconds=seconds)
    if not file.tell():
        return open_sink(format, queries, file, seconds=seconds)
    place = file.tell()
    file.seek(0)
    begins_with = file.read(len(head))
    file.seek(place)
    if begins_with != head:
        raise UsageError(
            "the output does not begin with what these queries write", hint="is it another file by now? begin anew"
        )
    return open_sink(format, queries, cast(BinaryIO, _WithoutHead(file, len(head))), seconds=seconds)


def _head(format: str, queries: Sequence[Query], *, seconds: bool) -> bytes:
    """Return the bytes that a sink writes before the first match."""
    written = io.BytesIO()
    open_sink(format, queries, written, seconds=seconds).close()
    head = written.getvalue()
    return head[:-_END_OF_ARROW] if format == "arrow" else head
