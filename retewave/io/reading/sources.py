"""Where bytes come from: files, pipes, standard input, bytes in memory, file objects, iterables of chunks.

Data's way: **source of bytes** -> blocks of whole lines -> rows.
Invariant: `fill` writes at least one byte unless the source is at its end; it never waits for more than that.
Left out: what the bytes mean, and the network: an address with a scheme is refused, never fetched.
"""

from __future__ import annotations

import gzip
import io
import select
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias, cast

from retewave.errors import UsageError

__all__ = ["DAMAGED", "Bytes", "Pausing", "Source", "as_file", "is_gzip", "name_of", "open_bytes"]

Source: TypeAlias = "str | Path | bytes | bytearray | memoryview | BinaryIO | Iterable[bytes]"

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)  # the errors that a truncated or foreign .gz raises


class Bytes(Protocol):
    """An opened source."""

    def fill(self, room: memoryview) -> int:
        """Write some of the next bytes into the room, return how many; 0 is the end."""

    def ready(self) -> bool:
        """Tell whether the next `fill` will not have to wait."""

    def close(self) -> None:
        """Let go of what was opened."""


class _File:
    """A binary file object; opened here or handed in."""

    def __init__(self, file: BinaryIO, *, ours: bool, descriptor: int = -1) -> None:
        self._file = file
        self._ours = ours  # whether `close` closes it
        self._descriptor = descriptor  # of a pipe or terminal that may make us wait; -1 for anything else

    def fill(self, room: memoryview) -> int:
        for name in ("readinto1", "readinto"):
            if hasattr(self._file, name):
                return int(getattr(self._file, name)(room) or 0)
        data = self._file.read(len(room))
        room[: len(data)] = data
        return len(data)

    def ready(self) -> bool:
        if self._descriptor < 0:
            return True
        return bool(select.select([self._descriptor], [], [], 0)[0])

    @property
    def reads_again(self) -> bool:
        """Tell whether its beginning is still there."""
        return self._descriptor < 0 and hasattr(self._file, "seekable") and self._file.seekable()

    def go_to(self, place: int, name: str) -> None:
        """Stand behind the first bytes; the last of them must be there."""
        try:
            self._file.seek(place - 1)
            there = self.fill(memoryview(bytearray(1)))
        except DAMAGED as error:
            raise UsageError(f"{name} is not what was read: {error}") from error
        if not there:
            raise UsageError(
                f"{name} has fewer than the {place:,} bytes that were read of it", hint="is it another file by now?"
            )

    def close(self) -> None:
        if self._ours:
            self._file.close()


class _Chunks:
    """An iterable of bytes; between two of its items it may make us wait."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks: Iterator[bytes] = iter(chunks)
        self._rest = memoryview(b"")

    def fill(self, room: memoryview) -> int:
        while not self._rest:
            item = next(self._chunks, None)
            if item is None:
                return 0
            self._rest = memoryview(item).cast("B")
        size = min(len(room), len(self._rest))
        room[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def ready(self) -> bool:
        return len(self._rest) > 0

    def close(self) -> None:
        self._rest = memoryview(b"")


class Pausing:
    """An opened source that enters a context while it reads, so that a caller knows that nothing else goes on."""

    def __init__(self, opened: Bytes, pause: AbstractContextManager[object]) -> None:
        self._opened, self._pause = opened, pause

    def fill(self, room: memoryview) -> int:
        """Write some of the next bytes into the room, return how many; 0 is the end."""
        with self._pause:
            return self._opened.fill(room)

    def ready(self) -> bool:
        """Tell whether the next `fill` will not have to wait."""
        return self._opened.ready()

    def close(self) -> None:
        """Let go of what was opened."""
        self._opened.close()


def name_of(source: Source) -> str:
    """Return the name of a source in reports.

    >>> name_of("offers.nt"), name_of("-"), name_of(b"")
    ('offers.nt', '<stdin>', '<bytes>')
    """
    if isinstance(source, str | Path):
        return "<stdin>" if str(source) == "-" else str(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return "<bytes>"
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def is_gzip(name: str) -> bool:
    """Tell by its name whether a source is compressed."""
    return name.endswith(".gz")


def open_bytes(source: Source, *, compressed: bool, behind: int = 0) -> Bytes:
    """Open a source; if it can be read again, go on behind its first bytes, else take the bytes that come now."""
    opened = _opened(source)
    again = isinstance(opened, _File) and opened.reads_again
    if compressed:
        plain = cast(BinaryIO, gzip.GzipFile(fileobj=_Readable(opened), mode="rb"))
        opened = _File(plain, ours=True)
    if behind and again:
        assert isinstance(opened, _File)
        opened.go_to(behind, name_of(source))
    return opened


def _opened(source: Source) -> Bytes:
    if isinstance(source, str | Path):
        return _opened_path(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return _File(io.BytesIO(source), ours=True)
    if hasattr(source, "read"):
        file = cast(BinaryIO, source)
        return _File(file, ours=False, descriptor=_waiting_descriptor(file))
    if isinstance(source, Iterable):
        return _Chunks(source)
    raise UsageError(
        f"cannot read from {type(source).__name__}",
        hint='give a path, "-", bytes, a binary file or an iterable of bytes',
    )


def _opened_path(source: str | Path) -> Bytes:
    if str(source) == "-":
        file = sys.stdin.buffer
        return _File(file, ours=False, descriptor=_waiting_descriptor(file))
    path = Path(source)
    if "://" in str(source):
        raise UsageError(f"{source} is not a file", hint="retewave opens no network connection: download it first")
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name the files in it")
    file = path.open("rb", buffering=0)
    return _File(cast(BinaryIO, file), ours=True, descriptor=_waiting_descriptor(file))


def _waiting_descriptor(file: object) -> int:
    """Return the file's descriptor if reading it may have to wait for a writer, else -1."""
    try:
        descriptor = file.fileno()  # type: ignore[attr-defined]
    except (AttributeError, OSError):  # a file object in memory has none
        return -1
    return -1 if stat.S_ISREG(Path(f"/dev/fd/{descriptor}").stat().st_mode) else int(descriptor)


class _Readable(io.RawIOBase):
    """An opened source as a file object, for libraries that want file objects."""

    def __init__(self, opened: Bytes) -> None:
        self._opened = opened

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        return self._opened.fill(memoryview(room))

    def close(self) -> None:
        self._opened.close()
        super().close()


def as_file(opened: Bytes) -> BinaryIO:
    """Return an opened source as a buffered file object."""
    return cast(BinaryIO, io.BufferedReader(_Readable(opened), 1 << 16))
