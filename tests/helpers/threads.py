"""Threads that work together, and what they push: for the tests of engines that several threads call."""

from __future__ import annotations

import threading
from collections.abc import Callable

PAIRS = "SELECT ?x ?y ?z { ?x <http://e/p> ?y . ?x <http://e/q> ?z }"
ONE = "SELECT ?x { ?x <http://e/p> ?y }"
LINES = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(10))


def together(*works: Callable[[], object]) -> None:
    """Run each in a thread of its own, from one moment on; raise what one of them raises."""
    start, errors = threading.Barrier(len(works)), []

    def run(work: Callable[[], object]) -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def triple(subject: str, predicate: str, object_: object) -> tuple[str, str, object]:
    return f"http://e/{subject}", f"http://e/{predicate}", object_
