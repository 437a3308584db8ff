"""Which files there are, and which parts of them a micro-batch reads: offsets and plans.

Data's way: **path or pattern -> files -> parts** -> readers.
Invariant: a plan depends on two offsets and on bytes that are in files already, never on the clock or on a listing that
may change; so a batch that is repeated reads the same bytes, and every byte is read in exactly one batch.
Left out: Spark's classes (`source`), and where a file may be cut (`ranges`).
"""

from __future__ import annotations

import glob
import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from threading import Lock

from retewave.errors import UsageError
from retewave.io.reading.formats import FORMATS, QUADS, format_of
from retewave.spark.source.parts import Range, cut, is_cuttable, statements

__all__ = ["Files", "MicroBatch", "Offset", "Part", "StatementCounts", "groups"]

_REMEMBERED = 4096  # parts
_COUNTING = min(4, os.cpu_count() or 1)  # threads that count statements; the memory is busy with that


@dataclass(frozen=True)
class Part:
    """A part of a file, and where it stands in the stream."""

    range: Range  # the part
    first: int | None  # the ordinal of its first statement in the stream; None: nobody asked


@dataclass(frozen=True)
class Offset:
    """How far a stream of files has been read."""

    files: Mapping[str, int]  # bytes by path
    statements: int = 0  # in these bytes, if they are counted
    ended: bool = False  # it was told that nothing comes any more

    @classmethod
    def of(cls, data: Mapping[str, object]) -> Offset:
        """Read the text that Spark has kept."""
        return cls(dict(data["files"]), int(data["statements"]), bool(data.get("ended")))  # type: ignore[call-overload]

    def data(self) -> dict[str, object]:
        """Return the text that Spark keeps."""
        data = {"files": dict(self.files), "statements": self.statements}
        return data | {"ended": True} if self.ended else data


@dataclass(frozen=True)
class MicroBatch:
    """The parts of files that a micro-batch reads."""

    parts: tuple[Part, ...]  # in the stream's order
    end: Offset  # where it leaves the stream


class StatementCounts:
    """How many statements parts have; those of the parts that were asked for last are remembered.

    Several threads may ask; a thread that asks for statements which another one counts waits for the result.
    """

    def __init__(self) -> None:
        self._known: dict[Range, Future[int]] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[StatementCounts], tuple[()]]:
        """Travel without the remembered counts, which may be growing."""
        return StatementCounts, ()

    def __call__(self, part: Range) -> int:
        """Return the number of a part's statements."""
        with self._lock:
            mine, known = Future[int](), self._known.get(part)
            if known is None:
                while len(self._known) >= _REMEMBERED:
                    del self._known[next(iter(self._known))]
                self._known[part] = mine
        if known is not None:
            return known.result()
        try:
            mine.set_result(statements(part))
        except BaseException as error:
            with self._lock:
                self._known.pop(part, None)
            mine.set_exception(error)
        return mine.result()


@dataclass(frozen=True)
class Files:
    """The files of a source."""

    pattern: str  # a file, a folder, or a pattern with *
    format: str | None  # of all files; None: their names tell
    counted: bool  # whether statements are counted
    part_bytes: int  # of a part, about
    count: Callable[[Range], int] = statements  # counts the statements of a part

    # ---- listing ----
    def sizes(self) -> dict[str, int]:
        """Return the files that there are now, by name, with their sizes."""
        paths = sorted(path for path in self._paths() if path.is_file() and not path.name.startswith((".", "_")))
        return {str(path): path.stat().st_size for path in paths}

    def _paths(self) -> Iterator[Path]:
        where = self.pattern.removeprefix("file://")
        if "://" in where:
            raise UsageError(f"{where} is not a path", hint="read it with Spark's own sources, and match its lines")
        path = Path(where).absolute()
        if path.is_dir():
            yield from (each for each in path.iterdir() if self._is_ours(each.name))
        elif glob.has_magic(where):
            yield from (Path(each).absolute() for each in glob.iglob(where, recursive=True) if self._is_ours(each))  # noqa: PTH207
        elif not path.exists():
            raise UsageError(f"there is no file or folder {path}")
        else:
            yield path

    def _is_ours(self, name: str) -> bool:
        known = tuple(suffix for suffixes in FORMATS.values() for suffix in suffixes)
        return self.format is not None or name.lower().removesuffix(".gz").endswith(known)

    def _format(self, path: str) -> str:
        return format_of(path, self.format)

    # ---- planning ----
    def following(
        self, start: Offset, ends: Mapping[str, int], *, most_bytes: int | None = None, most_files: int | None = None
    ) -> MicroBatch:
        """Plan the next parts to read: up to `ends`, within the limits, and at least one part if there is any."""
        files, left = dict(start.files), most_bytes
        for path, size in self._unread(start, ends)[:most_files]:
            if left is not None and left <= 0:
                break
            begin = files.get(path, 0)
            end = size if left is None else self._within(path, begin, size, left)
            files[path] = end
            left = None if left is None else left - (end - begin)
        return self.plan(start, Offset(files))

    def complete(self, sizes: Mapping[str, int], read: Mapping[str, int]) -> dict[str, int]:
        """Return the sizes without a last line that has no end yet: somebody may still be writing it."""
        return {path: self._last_line_end(path, read.get(path, 0), size) for path, size in sizes.items()}

    def plan(self, start: Offset, end: Offset) -> MicroBatch:
        """Return the parts between two offsets."""
        ranges = [
            part
            for path, upto in self._unread(start, end.files)
            for part in self._parts(path, start.files.get(path, 0), upto)
        ]
        if not self.counted:
            return MicroBatch(tuple(Part(each, None) for each in ranges), Offset(end.files, start.statements))
        with ThreadPoolExecutor(_COUNTING) as counting:  # nothing else goes on meanwhile
            before = list(accumulate(counting.map(self.count, ranges), initial=start.statements))
        return MicroBatch(tuple(map(Part, ranges, before)), Offset(end.files, before[-1]))

    def _unread(self, start: Offset, ends: Mapping[str, int]) -> list[tuple[str, int]]:
        """Return the files that have something new, and up to where: those begun first, then by name."""
        for path, end in ends.items():
            self._check(path, start.files.get(path), end)
        new = [(path, end) for path, end in ends.items() if end > start.files.get(path, -1) and end > 0]
        return sorted(new, key=lambda each: (each[0] not in start.files, each[0]))

    def _check(self, path: str, read: int | None, now: int) -> None:
        """Raise UsageError if what was read of a file is not what the file begins with now."""
        if read is None or read == now:
            return
        if now < read:
            raise UsageError(f"{path} has shrunk: {read:,} bytes of it were read, and it has {now:,}")
        if not is_cuttable(path, self._format(path)):
            raise UsageError(
                f"{path} has grown after it was read, and its format cannot be read on",
                hint="put such files in place by renaming them, when they are complete",
            )
        with Path(path).open("rb") as file:
            file.seek(max(0, read - 1))
            if read and file.read(1) not in b"\r\n":
                raise UsageError(f"{path} has grown in the middle of a line that was read as its last one")

    def _within(self, path: str, begin: int, size: int, most: int) -> int:
        """Return where to stop in a file: at its end, or at a cut near the limit."""
        format = self._format(path)
        if size - begin <= most or not is_cuttable(path, format):
            return size
        with _mapped(path) as data:
            return cut(data, begin, begin + most, quads=format in QUADS, limit=size)

    def _last_line_end(self, path: str, read: int, size: int) -> int:
        if size <= read or not is_cuttable(path, self._format(path)):
            return size
        with _mapped(path) as data:
            return max(read, data.rfind(b"\n", read, size) + 1)

    def _parts(self, path: str, begin: int, end: int) -> Iterator[Range]:
        format = self._format(path)
        if not is_cuttable(path, format) or end - begin <= self.part_bytes:
            yield Range(path, begin, end, format)
            return
        with _mapped(path) as data:
            while begin < end:
                here = cut(data, begin, begin + self.part_bytes, quads=format in QUADS, limit=end)
                yield Range(path, begin, here, format)
                begin = here


def _mapped(path: str) -> mmap.mmap:
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def groups(parts: Sequence[Part], most: int) -> list[tuple[Part, ...]]:
    """Put small parts that follow each other together, up to a number of bytes: a task has a cost of its own."""
    found: list[list[Part]] = []
    room = 0
    for part in parts:
        size = part.range.end - part.range.start
        if not found or size > room:
            found.append([])
            room = most
        found[-1].append(part)
        room -= size
    return [tuple(group) for group in found]
