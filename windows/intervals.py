"""Compute with the intervals of tokens: join them, test them against a window.

Data's way: ... -> dispatch -> **memories and joins** -> match rows -> ...; each stored row has an interval
[start, end] in int64 microseconds, and a join computes the new row's interval and tests it here.
The functions are plain Python over integers, and compile in numba as they are: `retewave.rete` jits them.

Invariant: every time of an item lies in [EARLIEST, LATEST].  Then no sum or difference below overflows,
and the sentinels of static tokens lose every minimum and maximum by themselves.

Not here: which rows are compared (memories), and Allen's relations (`relations.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "AFTER_ALL",
    "BEFORE_ALL",
    "EARLIEST",
    "LATEST",
    "STATIC_END",
    "STATIC_START",
    "UNBOUNDED",
    "end_of",
    "is_static",
    "start_of",
    "widest",
    "window_start",
    "within",
]

LATEST = 2**60  # the last time that an item may have: some 36,000 years after 1970
EARLIEST = -LATEST  # the first time that an item may have
STATIC_START = 2**62  # plus infinity: the start of a static token, the neutral element of min
STATIC_END = -(2**62)  # minus infinity: the end of a static token, the neutral element of max
AFTER_ALL = 2**62  # a bound that every time is below
BEFORE_ALL = -AFTER_ALL  # a bound that every time is above
UNBOUNDED = 2**62  # the width of a window that keeps everything


def start_of(left: int, right: int) -> int:
    """Return the start of a join: the earlier of two starts.

    >>> start_of(10, 60), start_of(10, STATIC_START)
    (10, 10)
    """
    return min(left, right)


def end_of(left: int, right: int) -> int:
    """Return the end of a join: the later of two ends.

    >>> end_of(20, 60), end_of(20, STATIC_END)
    (60, 20)
    """
    return max(left, right)


def is_static(start: int, end: int) -> bool:
    """Tell whether a token is static: joined of static triples only.

    >>> is_static(STATIC_START, STATIC_END), is_static(10, 10)
    (True, False)
    """
    return end < start


def within(start: int, end: int, width: int) -> bool:
    """Tell whether a window keeps a token: `end - start <= width`, closed; a static token always stays.

    >>> within(10, 60, 50), within(10, 61, 50), within(STATIC_START, STATIC_END, 0)
    (True, False, True)
    """
    return end - start <= width


def window_start(start: int, width: int, widest_width: int) -> int:
    """Return the start by which the window of a query sees an item of a stream with an own, narrower width.

    A query on several streams has one test, `within(window start, end, widest width)`.  An item of a stream
    of width `width` counts as older by the difference, so that the test on the join of all items says:
    *every item of stream s is no older than W_s at the match's end*.  A static start stays what it is.

    >>> window_start(100, 5, 20)
    85
    >>> within(window_start(100, 5, 20), 105, 20), within(window_start(100, 5, 20), 106, 20)
    (True, False)
    """
    if start == STATIC_START:
        return start
    return start - (widest_width - width)


def widest(widths: Iterable[int]) -> int:
    """Return the width of a query's one window: the widest of its streams, or UNBOUNDED when it names none.

    >>> widest([5, 20, 10]), widest([]) == UNBOUNDED
    (20, True)
    """
    return max(widths, default=UNBOUNDED)
