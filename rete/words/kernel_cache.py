"""Keep compiled kernels on disk: between runs, and between processes that begin at once; or do without the disk.

Data's way: beside it; a kernel's machine code -> **files** -> the next process.
Numba chooses the folder: NUMBA_CACHE_DIR, the package's own `__pycache__`, or the user's cache folder.  Its cache looks
at the file of the function alone; a kernel that calls one of another file would keep the other's old code.  So the
files' names hold a stamp of all kernels' text.

Invariant: whatever happens to the files, a kernel is compiled, if need be for this process alone.
Left out: what is stamped (`rete/words/jit.py`).
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

try:
    import fcntl
except ImportError:  # Windows: two processes compile beside each other
    fcntl = None  # type: ignore[assignment]

__all__ = ["KernelCache", "cached", "waiting"]

LOCK = "retewave.lock"
OLD = 30 * 86_400  # seconds after which the files of another version go
_PATIENCE = 300.0  # seconds: a process that compiles longer may be stopped
_PAUSE = 0.05  # seconds between two looks at a lock
_NAMED = re.compile(r"\.([0-9a-f]{16})(?:\.\d+\.nbc|\.nbi)")

waiting: list[Callable[[], None]] = []  # are called when another process is found to compile
_held: dict[Path, IO[bytes]] = {}  # the locks of this process, each until its outermost kernel is compiled
_warned: set[str] = set()


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """The cache of one kernel."""

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)
        # A stale file would not only be useless: numba unpickles it before it looks at the stamp, which fails when it
        # tells of a class that has another name now.
        self._short = stamp[:16]
        name = f"{self._impl.filename_base}.{self._short}"
        self._cache_file = IndexDataCacheFile(self._cache_path, name, (stamp, 0))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code that is kept; wait for a process that is compiling it, perhaps."""
        found = self._loaded(signature, context)
        if found is None and _locked(Path(self._cache_path)):
            found = self._loaded(signature, context)
        return found

    def _loaded(self, signature: Any, context: Any) -> Any:
        """Return the code that is kept, without what numba would load to compile: that took a quarter of a start."""
        try:
            rtsys.initialize(context)  # counts references to arrays; a compiling process does the rest by itself
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, context)
        except Exception as error:  # unpickling damaged bytes may raise anything
            _warn(f"a compiled kernel in {self._cache_path} cannot be read, and is compiled again ({error})")
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep code, and drop files of versions that have not been used for long."""
        try:
            super().save_overload(signature, code)
            _tidy(Path(self._cache_path), self._short)
        except OSError as error:
            _warn(f"compiled kernels cannot be kept in {self._cache_path} ({error.strerror})")


def cached(dispatcher: Any, stamp: str) -> None:
    """Let a compiled function keep its code, if there is a place."""
    compile_, function = dispatcher.compile, dispatcher.py_func
    try:
        dispatcher._cache = KernelCache(function, stamp)
        nowhere = False
    except RuntimeError:  # numba has found no folder that can be written
        nowhere = True

    def compiled(signature: Any) -> Any:
        with global_compiler_lock, _until_compiled():
            if nowhere:
                _warn("there is no folder to keep compiled kernels in: every run compiles them, for up to a minute")
            return compile_(signature)

    dispatcher.compile = compiled


# ---- one process at a time ----
_depth = 0  # kernels that are being compiled: one that calls another waits for it


@contextmanager
def _until_compiled() -> Iterator[None]:
    """Release the locks that are taken meanwhile when the outermost kernel is there."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        while _depth == 0 and _held:
            _held.popitem()[1].close()


def _locked(folder: Path) -> bool:
    """Let no other process compile the kernels of a folder; tell whether one may have done so meanwhile."""
    if fcntl is None or folder in _held:
        return False
    try:
        file = (folder / LOCK).open("ab")
    except OSError:
        return False
    _held[folder] = file
    since, announced = time.monotonic(), False
    while time.monotonic() - since < _PATIENCE:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            for tell in () if announced else list(waiting):
                tell()
            announced = True
            time.sleep(_PAUSE)
        except OSError:  # this file system has no locks
            break
    return True


# ---- what is left of other versions ----
_tidied: set[Path] = set()


def _tidy(folder: Path, stamp: str) -> None:
    """Drop the files of other versions that are old, once a process and folder."""
    if folder in _tidied:
        return
    _tidied.add(folder)
    oldest = time.time() - OLD
    for path in folder.glob("*.nb[ci]"):
        found = _NAMED.search(path.name)
        with suppress(OSError):  # another process was quicker
            if found is not None and found[1] != stamp and path.stat().st_mtime < oldest:
                path.unlink()


def _warn(what: str) -> None:
    """Warn once of each kind of trouble."""
    kind = what[:20]
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(
            f"{what}; NUMBA_CACHE_DIR=DIR names a folder for them, which must be writable", RuntimeWarning, stacklevel=2
        )
