"""The queries of a command: files or texts, in the language that was named, or recognised in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from retewave.engine.engine import Engine
from retewave.query import Query

__all__ = ["Queries"]

KEPT = 10_000  # matches of an explained query


@dataclass(frozen=True)
class Queries:
    """The queries of a command, as they were written."""

    written: tuple[str, ...]  # paths, or texts
    language: str | None = None  # the language of all of them; None: recognised in each
    policy: str | None = None  # the policy of all of them; None: that in each text
    explained: bool = False  # their matches are to be explained

    def register(self, engine: Engine, keep: int | None = 0) -> list[Query]:
        """Register all with an engine."""
        if self.explained:
            keep = keep or KEPT  # matches of rules explain the triples that they have built
        options: dict[str, Any] = {
            "keep": keep,
            "language": self.language,
            "policy": self.policy,
            "explain": self.explained,
        }
        return [engine.register(each, **options) for each in self.written]
