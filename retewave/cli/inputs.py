"""The streams of a run: files and pipes that a signal can end.

Data's way: **file or pipe** -> reader -> engine.
Invariant: after a signal no byte is read any more, so the readers end by themselves and all matches found so far are
written; a reader that waits for its pipe is woken.  A second signal ends the run at once.
"""

from __future__ import annotations

import _thread
import io
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from retewave.epsilon.prefixes import absolute
from retewave.errors import UsageError

__all__ = ["Interrupted", "Stoppable", "Stopper", "open_stream", "stream_name"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 5.0  # seconds that a run has to notice a signal


class Interrupted(Exception):  # not an error, the way out of a reader
    """A signal has asked for the end."""


class Stopper:
    """Takes signals for a run.

    The run looks for one whenever it reads.  Where it does not come to read, as in an instant of rules that never ends,
    it is interrupted some seconds later, or by a second signal; but not while it writes.
    """

    def __init__(self) -> None:
        self.asked = False  # a signal has come
        self.writes = False  # matches are being written
        self._has_interrupted = False  # KeyboardInterrupt was raised, wherever the run was
        self._alarm: threading.Timer | None = None  # interrupts a run that does not come to read
        self._woken, self._wake = os.pipe()

    @property
    def descriptor(self) -> int:
        """A descriptor that can be read from once a signal has come."""
        return self._woken

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals, which else would end the process.

        Who is interrupted may lose the interrupt and fail otherwise, as Numba does while it compiles.
        """
        before = {number: signal.signal(number, self._take) for number in SIGNALS}
        try:
            yield
        except Exception as error:
            if self._has_interrupted:
                raise KeyboardInterrupt from error
            raise
        finally:
            self.noticed()
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._woken)
            os.close(self._wake)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let no alarm go off meanwhile."""
        self.writes = True
        try:
            yield
        finally:
            self.writes = False

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            self._has_interrupted = True
            raise KeyboardInterrupt
        self.asked = True
        os.write(self._wake, b"!")
        self._wait()

    def _wait(self) -> None:
        self._alarm = threading.Timer(PATIENCE, self._insist)
        self._alarm.daemon = True
        self._alarm.start()

    def _insist(self) -> None:
        if self.writes:
            self._wait()
        elif sys.platform == "win32":
            _thread.interrupt_main()
        else:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def noticed(self) -> None:
        """Let no alarm go off any more: the run knows of the signal."""
        if self._alarm is not None:
            self._alarm.cancel()


class Stoppable(io.RawIOBase):
    """A file that a signal ends."""

    def __init__(self, file: io.FileIO, stopper: Stopper) -> None:
        self._file = file
        self._stopper = stopper
        self._waits = not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        self.tick: Callable[[int], None] | None = None  # is called with the bytes read

    @property
    def size(self) -> int | None:
        """The number of bytes; None for a pipe."""
        return None if self._waits else os.fstat(self._file.fileno()).st_size

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Tell whether bytes can be read again."""
        return not self._waits

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        found = self._file.seek(place, whence)
        if self.tick is not None:
            self.tick(found)
        return found

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self._file.fileno()

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        """Read the bytes that are there; if there are none, wait for some, or for a signal."""
        if self._waits:
            select.select([self._file.fileno(), self._stopper.descriptor], [], [])
        if self._stopper.asked:
            self._stopper.noticed()
            raise Interrupted
        read = self._file.readinto(room) or 0
        if self.tick is not None:
            self.tick(read)
        return read

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def stream_name(text: str) -> tuple[str | None, str]:
    """Split NAME=FILE; an IRI and a path may both hold an equals sign, so a path that exists is a path.

    >>> stream_name("http://e/s=updates.nt"), stream_name("-")
    (('http://e/s', 'updates.nt'), (None, '-'))
    """
    name, equals, path = text.rpartition("=")
    if not equals or Path(text).exists():
        return None, text
    return absolute(name, f"--stream {text}: a stream's name"), path


def open_stream(path: str, stopper: Stopper) -> Stoppable:
    """Open a file, or standard input."""
    if path == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed", hint="name a file with --stream")
        return Stoppable(io.FileIO(0, closefd=False), stopper)
    if not Path(path).exists():
        raise UsageError(f"there is no file {path}")
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder", hint="name the files in it, each with --stream")
    return Stoppable(io.FileIO(path), stopper)
