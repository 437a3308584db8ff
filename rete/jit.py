"""Compile kernels: one decorator for every jitted function.

A kernel is compiled once for all patterns (the network is data, not code), cached on disk, and runs
without the GIL.  Numba's cache looks at the file of the function alone; a kernel that calls one of
another file would keep the other's old code.  So the cache is stamped with the text of all kernels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit
from numba.core.caching import IndexDataCacheFile
from numba.core.event import Listener, install_listener

__all__ = ["JIT", "inlined", "kernel", "stamped", "telling_of_compilation"]

F = TypeVar("F", bound=Callable[..., Any])

JIT: bool = not config.DISABLE_JIT  # False under NUMBA_DISABLE_JIT=1: kernels run as plain Python


def stamped() -> list[Path]:
    """Return every source file that may hold kernels, or constants that kernels have compiled in."""
    here = Path(__file__).parent
    folders = [here, here.parent / "windows", here.parent / "io", here.parent / "retewave" / "io"]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def _stamp() -> tuple[str, int]:
    """Return a digest of the stamped files, in the shape of numba's own stamp."""
    digest = hashlib.sha256()
    for path in stamped():
        digest.update(path.read_bytes())
    return digest.hexdigest(), 0


def kernel(function: F) -> F:
    """Compile a function on its first call, cache the code on disk, run it without the GIL."""
    return _compiled(function, inline=False)


def inlined(function: F) -> F:
    """Compile a function as `kernel` does, and put its code wherever a kernel calls it.

    A call that stays costs its arguments and its result, through memory, and what registers held around it.
    For small kernels on the way of every row; what is large, or seldom needed, stays a call.
    """
    return _compiled(function, inline=True)


def _compiled(function: F, inline: bool) -> F:
    compiled = njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)
    if JIT:
        _cache_by_stamp(compiled._cache)
    return compiled


def _cache_by_stamp(cached: Any) -> None:
    """Keep the compiled code under a name that holds the stamp.

    A stale file would not only be useless: numba unpickles it before it looks at the stamp, which fails when it tells
    of a class that has another name now.
    """
    stamp = _stamp()
    name = f"{cached._impl.filename_base}.{stamp[0][:16]}"
    cached._cache_file = IndexDataCacheFile(cached._cache_path, name, stamp)


@contextmanager
def telling_of_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call back once, when a kernel begins to be compiled: not when it is found on the disk."""

    class First(Listener):
        told = False

        def on_start(self, event: object) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, event: object) -> None:
            """Do nothing: only beginnings are told."""

    with install_listener("numba:compile", First()):
        yield
