"""Which times are in a window at a report, and when an item enters and leaves.

Data's way: a window's extent and a time -> **bounds** -> the solutions that are in it.
A window holds the times t with low < t <= high.  Both bounds never go back, so each item enters once and leaves once.
"""

from __future__ import annotations

from collections.abc import Iterable

from retewave.compiler.algebra import Ago, Current, Extent, Fixed, Inside, Landmark, Newest, Sliding, Whole
from retewave.views.history import History
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

__all__ = ["bounds", "enters", "grid_of", "leaves", "next_step", "opening", "reach"]

NEVER = AFTER_ALL  # the time at which an item leaves a window that never forgets


def bounds(extent: Extent, time: int, history: History | None = None) -> tuple[int, int]:
    """Return the open lower and the closed upper bound of a window at a time; `history`: of a window that it moves.

    >>> bounds(Sliding(10, 5), 12), bounds(Fixed(3, 9), 5)
    ((0, 10), (2, 5))
    """
    match extent:
        case Sliding(width, step, phase):
            at = _stepped(time, step, phase)
            return at - width, at
        case Ago(oldest, newest, step, phase):
            at = _stepped(time, step, phase)
            return at - oldest, at - newest
        case Landmark(since):
            return since - 1, time
        case Fixed(begin, end):
            return begin - 1, min(end, time)
        case Inside(outer, inner):
            (low, high), (its_low, its_high) = bounds(outer, time, history), bounds(inner, time, history)
            return max(low, its_low), min(high, its_high)
        case Newest() | Current():
            assert history is not None
            first = history.oldest(extent, time) if isinstance(extent, Newest) else history.latest(time)
            return (time, time) if first is None else (first - 1, time)
    return BEFORE_ALL, time


def _stepped(time: int, step: int | None, phase: int) -> int:
    return time if step is None else phase + (time - phase) // step * step


def grid_of(extent: Extent) -> tuple[int, int] | None:
    """Return a step, and a time from which it is counted, such that lower bounds lie on the steps; None: on any time.

    >>> grid_of(Sliding(12, 5, 1)), grid_of(Sliding(12))
    ((5, 4), None)
    """
    match extent:
        case Sliding(width=width, step=step, phase=phase) | Ago(oldest=width, step=step, phase=phase) if step:
            return step, (phase - width) % step
    return None


def next_step(time: int, step: int, phase: int) -> int:
    """Return the first time of a step that is later than a time.

    >>> next_step(9, 5, 0), next_step(10, 5, 0), next_step(10, 5, 2)
    (10, 15, 12)
    """
    return phase + ((time - phase) // step + 1) * step


def enters(extent: Extent, end: int) -> int:
    """Return the first time at which an item of a time is in a window, if it ever is.

    Where what comes moves the window, that is the first time at which it may be.

    >>> enters(Sliding(10, 5), 12), leaves(Sliding(10, 5), 12), enters(Ago(10, 4), 12)
    (15, 25, 16)
    """
    match extent:
        case Sliding(step=step, phase=phase) if step is not None:
            return next_step(end - 1, step, phase)
        case Ago(newest=newest, step=step, phase=phase):
            return end + newest if step is None else next_step(end + newest - 1, step, phase)
        case Fixed(begin, last):
            return end if begin <= end <= last else NEVER
        case Landmark(since):
            return end if end >= since else NEVER
        case Inside(outer, inner):
            return max(enters(outer, end), enters(inner, end))
    return end


def leaves(extent: Extent, start: int) -> int:
    """Return the first time, if there is one, from which on what starts at a time is in the window no more."""
    match extent:
        case Sliding(width=width, step=step, phase=phase) | Ago(oldest=width, step=step, phase=phase):
            return start + width if step is None else next_step(start + width - 1, step, phase)
        case Inside(outer, inner):
            return min(leaves(outer, start), leaves(inner, start))
    return NEVER


def opening(extent: Extent, time: int, oldest: int | None, history: History | None = None) -> int:
    """Return when a window opens that is looked at; `oldest`: the first item of all."""
    match extent:
        case Whole():
            return time if oldest is None else oldest
        case Current():
            return time
        case Newest():
            first = None if history is None else history.oldest(extent, time)
            return time if first is None else first
        case Landmark(since=begin) | Fixed(begin=begin):
            return begin
        case Inside(outer, inner):
            return max(opening(outer, time, oldest, history), opening(inner, time, oldest, history))
    return bounds(extent, time)[0]


def reach(extents: Iterable[Extent]) -> int | None:
    """Return how far apart the triples of a solution of one leaf in a window can be; None: any distance."""
    widths = [_reach(each) for each in extents]
    return None if None in widths else max((each for each in widths if each is not None), default=0)


def _reach(extent: Extent) -> int | None:
    match extent:
        case Sliding(width=width):
            return width - 1
        case Ago(oldest, newest):
            return oldest - newest - 1
        case Fixed(begin, end):
            return end - begin
        case Current() | Newest():  # what counts is kept as single triples
            return 0
        case Inside(outer, inner):
            found = [each for each in (_reach(outer), _reach(inner)) if each is not None]
            return min(found, default=None)
    return None
