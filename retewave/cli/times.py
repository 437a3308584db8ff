"""The command line's options for the times of streams, and for what of them is one event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retewave.epsilon.prefixes import absolute
from retewave.errors import UsageError
from retewave.io.reading.grouping import grouping_of
from retewave.windows import durations

__all__ = ["TimeOptions", "has_times_of_its_own"]

_LOOKED_AT = 1 << 16  # bytes of a file, for a time of its own


@dataclass(frozen=True)
class TimeOptions:
    """The source of the times of streams: one of these, or the clock."""

    rate: float | None = None  # triples a second
    property: str | None = None  # IRI of the property that has a named graph's time
    arrival: bool = False  # the clock, asked for by name
    tick: str | None = None  # how often the clock goes on while nothing arrives; None: never
    events: tuple[str, ...] = ()  # [NAME=]BY: what of a stream, or of all, is one event

    def __post_init__(self) -> None:
        if sum((self.rate is not None, self.property is not None, self.arrival)) > 1:
            raise UsageError("only one of --rate, --time-property and --arrival can tell the time")
        if self.tick is not None:
            self._check_tick(self.tick)
        for _, by in _split(self.events):
            grouping_of(by)

    def reading(self, stream: str | None) -> dict[str, Any]:
        """Return the arguments of `read` for a stream.

        >>> TimeOptions(rate=5, events=("subject", "http://e/s=3")).reading("http://e/s")
        {'rate': 5, 'time_property': None, 'arrival': False, 'event': '3'}
        """
        by = dict(_split(self.events))
        event = by.get(stream, by.get(None, "graph"))
        return {"rate": self.rate, "time_property": self.property, "arrival": self.arrival, "event": event}

    def check_names(self, streams: Iterable[str | None]) -> None:
        """Refuse a name that no stream has."""
        known = {name for name in streams if name is not None}
        for name, by in _split(self.events):
            if name is not None and name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise UsageError(
                    f"--event-by {name}={by}: no --stream has this name", hint=f"names of streams here: {listed}"
                )

    def _check_tick(self, tick: str) -> None:
        if self.rate is not None or self.property is not None:
            other = "--rate" if self.property is None else "--time-property"
            raise UsageError(
                f"--tick tells the time of arrival, and {other} gives the stream times of its own",
                hint=f"leave out {other}, or leave out --tick: there the stream's own times move the clock",
            )
        try:
            given = durations.parse(tick)
        except ValueError as error:
            raise UsageError(f"--tick: {error}") from error
        if given == 0:
            raise UsageError("--tick is longer than nothing", hint="such as --tick 1s")

    def is_left_open(self) -> bool:
        """Tell whether nobody has said where times come from."""
        return self.rate is None and self.property is None and not self.arrival


def has_times_of_its_own(path: str) -> bool:
    """Tell whether a file begins with graphs that say when they were generated."""
    try:
        with Path(path).open("rb") as file:
            return b"generatedAtTime" in file.read(_LOOKED_AT) if Path(path).is_file() else False
    except OSError:
        return False  # its reader tells of it


def _split(events: Iterable[str]) -> list[tuple[str | None, str]]:
    """Return the stream's name, if there is one, and what is one event there."""
    found: list[tuple[str | None, str]] = []
    for text in events:
        name, equals, by = text.rpartition("=")
        found.append((absolute(name, f"--event-by {text}: a stream's name") if equals else None, by))
    return found
