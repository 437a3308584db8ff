"""Compile kernels: one decorator for every jitted function.

A kernel is compiled once for all patterns (the network is data, not code), kept on disk (`rete/words/kernel_cache.py`),
and runs without the GIL.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import ParamSpec, TypeVar

from numba import config, njit
from numba.core.event import Listener, install_listener

from retewave.rete.words.kernel_cache import cached, waiting

__all__ = ["JIT", "inlined", "kernel", "stamped", "telling_of_compilation"]

P = ParamSpec("P")  # what a kernel is called with …
R = TypeVar("R")  # … and what it returns

JIT: bool = not config.DISABLE_JIT  # False under NUMBA_DISABLE_JIT=1: kernels run as plain Python


def stamped() -> list[Path]:
    """Return every source file that may hold kernels, or constants that kernels have compiled in."""
    here = Path(__file__).parents[1]  # the folder `rete`, and beside it those of its neighbours
    folders = [here, here.parent / "windows", here.parent / "io", here.parent / "retewave" / "io"]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def _stamp() -> str:
    """Return a digest of the stamped files."""
    digest = hashlib.sha256()
    for path in stamped():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function on its first call, cache the code on disk, run it without the GIL."""
    return _compiled(function, inline=False)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as `kernel` does, and put its code wherever a kernel calls it.

    A call that stays costs its arguments and its result, through memory, and what registers held around it.
    For small kernels on the way of every row; large or seldom needed kernels stay calls.
    """
    return _compiled(function, inline=True)


def _compiled(function: Callable[P, R], inline: bool) -> Callable[P, R]:
    compiled: Callable[P, R] = njit(nogil=True, error_model="numpy", forceinline=inline)(function)
    if JIT:
        cached(compiled, _stamp())
    return compiled


@contextmanager
def telling_of_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call back once, when a kernel begins to be compiled, here or elsewhere: not when it is found on the disk."""
    announced = False

    def once() -> None:
        nonlocal announced
        if not announced:
            announced = True
            tell()

    class Compiling(Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, event: object) -> None:
            once()

        def on_end(self, event: object) -> None:
            """Do nothing: only beginnings are announced."""

    waiting.append(once)
    try:
        with install_listener("numba:compile", Compiling()):
            yield
    finally:
        waiting.remove(once)
