"""Lines of N-Quads, part by part."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Statement"]


@dataclass(frozen=True)
class Statement:
    """One line."""

    subject: str
    predicate: str
    object: str
    graph: str  # "" for the default graph

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object} {self.graph} .\n"
