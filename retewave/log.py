"""The package's log: Python's logging, under the name `retewave`.

Where it stands: beside data's way.  Nothing is logged for a triple or a match: a line is worth what happens rarely.
DEBUG: the network is made anew, a sweep begins or ends.  INFO: queries come and go, runs begin and end, snapshots are
written and restored.  WARNING: something is left out, the bound is met; said once, and again at ten times as many.
Left out: handlers, which are the application's.
"""

from __future__ import annotations

import logging

__all__ = ["Tally", "log"]

log = logging.getLogger("retewave")
log.addHandler(logging.NullHandler())


class Tally:
    """Logs a count that grows: its first value, and then each time that it has another digit.

    >>> tally = Tally("%s items are late")
    >>> [count for count in (0, 3, 4, 9, 12, 99) if tally.log(count)]
    [3, 12]
    """

    def __init__(self, words: str) -> None:
        self._words = words  # with a place for the count
        self._next = 1  # the count that is logged next

    def log(self, count: int) -> bool:
        """Log a count if it is due, and say whether it was."""
        if count < self._next:
            return False
        self._next = 10 ** len(str(count))
        log.warning(self._words, f"{count:,}")
        return True
