"""`retewave run --every`: counts, written again and again while a run lasts.

Where it stands: beside data's way, in a thread of its own, so that a silent stream has its counts, too.
Invariant: the fields are those of `--stats`; a reader of the file of `--stats` finds a whole object at any moment.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retewave.cli.output import naming
from retewave.errors import UsageError

__all__ = ["begin_stats", "every", "tell"]


def begin_stats(stats: dict[str, Any], path: Path) -> None:
    """Write the counts at the beginning of a run, which shows whether they can be written."""
    try:
        if _is_replaced(path):
            _replace(stats, path)
        else:
            path.open("ab").close()
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def tell(stats: dict[str, Any], path: Path | None) -> None:
    """Write counts as a line to stderr, or to a file that is replaced in one step."""
    if path is None:
        print(json.dumps(stats, ensure_ascii=False), file=sys.stderr, flush=True)
        return
    with naming(path):
        if _is_replaced(path):
            _replace(stats, path)
        else:
            path.write_text(_written(stats), encoding="utf-8")


def _is_replaced(path: Path) -> bool:
    """Tell whether another file can replace it: no pipe, no device, and the folder can be written."""
    return (path.is_file() or not path.exists()) and os.access(path.resolve().parent, os.W_OK)


def _replace(stats: dict[str, Any], path: Path) -> None:
    place = path.resolve()
    beside = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        beside.write_text(_written(stats), encoding="utf-8")
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _written(stats: dict[str, Any]) -> str:
    return json.dumps(stats, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def every(seconds: float, act: Callable[[], object]) -> Iterator[None]:
    """Act whenever `seconds` have passed; the first error stops that, and is raised at the end."""
    over, failed = threading.Event(), []

    def go_on() -> None:
        while not over.wait(seconds):
            try:
                act()
            except Exception as error:  # raised below, in the thread of the run
                failed.append(error)
                return

    thread = threading.Thread(target=go_on, name="retewave statistics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failed:
        raise failed[0]
