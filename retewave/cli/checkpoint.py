"""`retewave run --checkpoint`: a run that can be killed at any moment, and goes on when started again.

A folder holds one file, `state`: a snapshot of the engine with its readers' positions, and in its note the run's
options, the length of the output's file, and whether the run has ended.  The file is replaced in one step, so a kill
leaves a state in which input, memory and output agree.

Invariant: with files, a run that was killed and started again, however often, has the output of an uninterrupted run.
The output's file is cut back to the noted length; a pipe cannot be cut, so there later matches come twice.
Left out: reading on (`retewave.io.reading.position`) and the state itself (`retewave.engine.snapshot`).
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from retewave.engine.engine import Engine
from retewave.engine.snapshot import note_of
from retewave.errors import UsageError
from retewave.io.reading.formats import LINES
from retewave.io.reading.reader import Reader

__all__ = ["Checkpoint", "asked", "check_formats", "contents"]

_ANEW = "begin anew with another folder, or remove this one"
_HEAD = 4096  # first bytes, by which a stream's file is recognised


@dataclass
class Checkpoint:
    """The folder of a run, and the time of its next writing."""

    folder: Path  # it is made if it does not exist
    every: float  # seconds
    asked: Mapping[str, Any]  # the run's options: a run with other options does not go on
    streams: Sequence[str]  # the files that are read; - is standard input
    clock: Callable[[], float] = time.monotonic
    note: dict[str, Any] | None = None  # the note of the last run; None: there was none
    _written: float = field(default=0.0, init=False)  # when the state was last written

    @property
    def state(self) -> Path:
        """The file of the whole state."""
        return self.folder / "state"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder, so that no other run uses it, and read the note of the last run."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("wb")
        except OSError as error:
            raise UsageError(f"cannot write to the folder {self.folder}: {error.strerror}") from error
        with lock:
            self._lock(lock)
            for half in self.folder.glob("state*.part"):
                half.unlink(missing_ok=True)
            if self.state.exists():
                self.note = note_of(self.state)["run"]
                self._compare(self.note)
            self._written = self.clock()
            yield

    def _lock(self, file: BinaryIO) -> None:
        try:
            import fcntl
        except ImportError:  # Windows has no such module
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"another run is at work in {self.folder}", hint="wait for it, or end it") from error

    def _compare(self, note: Mapping[str, Any]) -> None:
        """Refuse to go on with other options than those of the last run."""
        differences = list(_differences(note["asked"], self.asked))
        for path, (size, digest) in note["heads"].items():
            if path in self.streams and _digest(_read(path, size)) != digest:
                differences.append(f"{path} begins with other bytes")
        if differences:
            raise UsageError(f"the checkpoint in {self.folder} is of another run: {'; '.join(differences)}", hint=_ANEW)

    @property
    def ended(self) -> bool:
        """Whether the last run has come to its end."""
        return self.note is not None and bool(self.note["ended"])

    def engine(self) -> Engine | None:
        """Return the engine of the last run, if there is one."""
        return None if self.note is None else Engine.restore(self.state, keep=0)

    def output(self, path: Path) -> BinaryIO:
        """Open the output's file, cut back to the length in the note."""
        length = 0 if self.note is None else self.note["length"]
        if length is None or (path.exists() and not path.is_file()):  # a pipe, or a device
            return path.open("wb")
        there = path.stat().st_size if path.exists() else 0
        if there < length:
            raise UsageError(f"{path} has {there:,} bytes, the checkpoint counts on {length:,}", hint=_ANEW)
        file = path.open("r+b" if length else "w+b")
        file.truncate(length)
        file.seek(length)
        return file

    def write(self, engine: Engine, out: BinaryIO, *, now: bool = False, ended: bool = False) -> None:
        """Write the state if it is due, or `now`; the output written so far is brought to the disk before."""
        if not now and self.clock() - self._written < self.every:
            return
        run = {"asked": self.asked, "heads": self._heads(), "length": _synced(out), "ended": ended}
        engine.snapshot(self.state, note={"run": run | {"stats": engine.stats() if ended else None}})
        self._written = self.clock()

    def _heads(self) -> dict[str, tuple[int, str]]:
        """Return how the files that are read begin."""
        before = {} if self.note is None else self.note["heads"]
        files = [path for path in self.streams if path != "-" and Path(path).is_file()]
        heads = {path: _read(path, _HEAD) for path in files if path not in before}
        return before | {path: (len(head), _digest(head)) for path, head in heads.items()}


def _synced(out: BinaryIO) -> int | None:
    """Bring a file to the disk and return its length; None if it is not a regular file."""
    out.flush()
    try:
        if not stat.S_ISREG(os.fstat(out.fileno()).st_mode) or not out.seekable():
            return None
    except OSError:  # a file object in memory
        return None
    os.fsync(out.fileno())
    return out.tell()


def check_formats(readers: Sequence[Reader]) -> None:
    """Refuse formats that cannot be read from the middle."""
    for reader in readers:
        if reader.format not in LINES:
            raise UsageError(
                f"{reader.name}: a run with a checkpoint reads {' and '.join(LINES)}, not {reader.format}",
                hint="make lines of it first",
            )


# ---- the run's options ----
def asked(options: Mapping[str, Any], files: Mapping[str, Sequence[str | Path]]) -> dict[str, Any]:
    """Return a run's options as JSON; files by digests of their contents."""
    found = {name: value for name, value in options.items() if value is not None}
    for kind, paths in files.items():
        found |= {f"{kind} {path}": contents(path) for path in paths}
    return found


def contents(path: str | Path) -> str:
    """Return a digest of a file, or of the text itself if it names no file (a query)."""
    with suppress(OSError, ValueError):  # a text may be no path at all
        return _digest(Path(path).read_bytes())
    return _digest(str(path).encode())


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Return the options that differ from those before, in words."""
    for name in dict.fromkeys([*before, *now]):
        was, is_ = before.get(name), now.get(name)
        if was == is_:
            continue
        if " " in name:  # a file, by its digest
            yield f"{name} has other contents" if was and is_ else f"{name} is {'missing' if was else 'new'}"
        else:
            yield f"{name} is {_told(is_)}, and was {_told(was)}"


def _told(value: Any) -> str:
    return "not given" if value is None else " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: str, size: int) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(size)
