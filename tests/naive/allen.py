# ruff: noqa: E741  # l and r are the page's own letters
"""EQUALS and Allen's relations (MEANING §3, Relate): l of the left side, r of the right one, neither static."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from retewave.windows import relations


class Interval(Protocol):
    """What has its time: a token, or a fact."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


RELATIONS: dict[int, Callable[[Interval, Interval], bool]] = {
    relations.NONE: lambda l, r: True,
    relations.BEFORE: lambda l, r: l.end < r.start,
    relations.EQUALS: lambda l, r: l.start == r.start and l.end == r.end,
    relations.MEETS: lambda l, r: l.end == r.start,
    relations.OVERLAPS: lambda l, r: l.start < r.start < l.end < r.end,
    relations.STARTS: lambda l, r: l.start == r.start and l.end < r.end,
    relations.DURING: lambda l, r: r.start < l.start and l.end < r.end,
    relations.FINISHES: lambda l, r: r.start < l.start and l.end == r.end,
    relations.AFTER: lambda l, r: r.end < l.start,
    relations.MET_BY: lambda l, r: r.end == l.start,
    relations.OVERLAPPED_BY: lambda l, r: r.start < l.start < r.end < l.end,
    relations.STARTED_BY: lambda l, r: l.start == r.start and r.end < l.end,
    relations.CONTAINS: lambda l, r: l.start < r.start and r.end < l.end,
    relations.FINISHED_BY: lambda l, r: l.start < r.start and l.end == r.end,
}
