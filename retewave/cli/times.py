"""The command line's options for the times of streams."""

from __future__ import annotations

from dataclasses import dataclass

from retewave.errors import UsageError

__all__ = ["TimeOptions"]


@dataclass(frozen=True)
class TimeOptions:
    """Where the times of streams come from: one of these, or the clock."""

    rate: float | None = None  # triples a second
    property: str | None = None  # the IRI that tells a named graph's time
    arrival: bool = False  # the clock, asked for by name

    def __post_init__(self) -> None:
        if sum((self.rate is not None, self.property is not None, self.arrival)) > 1:
            raise UsageError("only one of --rate, --time-property and --arrival can tell the time")
