"""The outputs of a command: files that it does not read, or standard output if it is open.

Data's way: matches -> sink -> **file or standard output**.
Invariant: no file is opened for writing before all inputs and outputs are known to be different files, also by links.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from retewave.errors import StoppedError, UsageError

__all__ = ["check_folders", "check_outputs", "naming", "open_output", "stdout"]

_Place = str | Path | int  # a path, or a descriptor


def check_outputs(inputs: Iterable[str | Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuse an output (by its option) that is one of the inputs, or another output; `-` is standard input.

    Only files that keep their bytes count: a terminal, a pipe and /dev/null may be named twice.
    """
    read = {_identity(0 if str(each) == "-" else each): str(each) for each in inputs}
    written = {option: path for option, path in outputs.items() if path is not None}
    places: dict[str, _Place] = {**written} if "--out" in written else {"standard output": 1, **written}
    seen: dict[object, str] = {}
    for option, place in places.items():
        identity = _identity(place)
        called = option if place == 1 else f"{option} {place}"
        if identity is not None and identity in read:
            raise UsageError(
                f"{called} is also read, as {read[identity]}: it would be overwritten",
                hint="write to another file, and move it when the run has ended",
            )
        if identity is not None and identity in seen:
            raise UsageError(f"{called} and {seen[identity]} are one file", hint="write to two")
        seen[identity] = called


def _identity(place: _Place) -> object | None:
    """Return a key that is equal for all names of a file; None if it is no file."""
    try:
        found = os.fstat(place) if isinstance(place, int) else Path(place).stat()
    except ValueError:  # no path: a query's text may hold any character
        return None
    except OSError:
        return None if isinstance(place, int) else os.path.realpath(place)  # the file does not exist yet
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def check_folders(inputs: Iterable[str], outputs: Mapping[str, str]) -> None:
    """Refuse an output folder that two outputs share, or that lies in an input, where it would be read again."""
    local = {option: Path(path).resolve() for option, path in outputs.items() if "://" not in path}
    for option, folder in local.items():
        for each in inputs:
            place = Path(each).resolve()
            if "://" not in each and (folder == place or (place.is_dir() and place in folder.parents)):
                raise UsageError(f"{option} {outputs[option]} is in the input {each}", hint="name a folder beside it")
        twins = [other for other, path in local.items() if path == folder and other < option]
        if twins:
            raise UsageError(f"{option} and {twins[0]} are one folder", hint="name two")


def stdout() -> BinaryIO:
    """Return standard output; it may have been closed before we began (`>&-`)."""
    if sys.stdout is None:
        raise UsageError("standard output is closed", hint="name a file with --out")
    return sys.stdout.buffer


@contextmanager
def open_output(path: Path | None, opening: Callable[[Path], BinaryIO] | None = None) -> Iterator[BinaryIO]:
    """Open a file for writing, by default a new one, or standard output."""
    if path is None:
        yield stdout()
        return
    try:
        file = path.open("wb") if opening is None else opening(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    try:
        yield file
    finally:
        with naming(path):
            file.close()


@contextmanager
def naming(path: Path | None) -> Iterator[None]:
    """Name the file in the error when it cannot be written: the system's error does not."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        called = "standard output" if path is None else path
        raise StoppedError(f"cannot write {called}: {error.strerror or error}") from error
