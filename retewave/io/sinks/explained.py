"""A sink that writes with each match why it is one: lines for a person, or a field of its JSON object.

Data's way: batches of explained matches -> **their explanations** -> file or pipe.
Explanations are made one by one, in Python: this is for looking, not for the fast lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from retewave.errors import UsageError
from retewave.io.sinks.lines import Objects, stretches

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["EXPLAINED_FORMATS", "ExplainedSink"]

EXPLAINED_FORMATS = ("text", "ndjson")


class ExplainedSink:
    """Writes matches in their order, each with its explanation."""

    def __init__(self, format: str, file: BinaryIO) -> None:
        if format not in EXPLAINED_FORMATS:
            raise UsageError(
                f"the format {format} has no place for explanations", hint=f"choose {' or '.join(EXPLAINED_FORMATS)}"
            )
        self._file = file
        self._objects = Objects() if format == "ndjson" else None

    def write(self, batches: Sequence[Matches]) -> None:
        """Write batches that belong together, and flush."""
        found = [entry for batch in batches for entry in zip(_places(batch), self._entries(batch), strict=True)]
        found.sort(key=lambda each: each[0])
        self._file.write(b"".join(entry for _, entry in found))
        self._file.flush()

    def close(self) -> None:
        """Flush: there is nothing behind the last match."""
        self._file.flush()

    def _entries(self, batch: Matches) -> Iterator[bytes]:
        if batch.denies:
            yield b"" if self._objects is None else b"".join(map(bytes, stretches(self._objects, batch)))
            return
        if self._objects is None:
            yield from (f"{match.explain()}\n".encode() for match in batch)
            return
        lines = b"".join(bytes(stretch) for stretch in stretches(self._objects, batch)).splitlines()
        for line, match in zip(lines, batch, strict=True):
            yield b'%b,"explanation":%b}\n' % (line[:-1], match.explain().to_json().encode())


def _places(batch: Matches) -> list[int]:
    """Return where a batch's entries stood: of a report of ASK that has no row, one."""
    return [0] if batch.denies else batch.places.tolist()
