"""Numbers that set things apart in a whole process: documents, batches of matches.

Where it stands: beside data's way.  What a snapshot brings from another process has numbers of its own; those given
afterwards are greater, so that labels made of them name nothing twice.
"""

from __future__ import annotations

import threading

__all__ = ["Numbering", "batches", "documents"]


class Numbering:
    """Gives each number once.

    >>> numbers = Numbering()
    >>> numbers.pass_by(5)
    >>> numbers.next(), numbers.next()
    (6, 7)
    """

    def __init__(self) -> None:
        self.last = 0  # the greatest number given
        self._lock = threading.Lock()

    def next(self) -> int:
        """Return the next number."""
        with self._lock:
            self.last += 1
            return self.last

    def pass_by(self, number: int) -> None:
        """Never give this number, nor one below it."""
        with self._lock:
            self.last = max(self.last, number)


documents = Numbering()  # their blank nodes are set apart by it
batches = Numbering()  # batches of matches: the blank nodes that CONSTRUCT makes are
