"""The queries of a command: files or texts, of the language that was named, or of the one that each is known by."""

from __future__ import annotations

from dataclasses import dataclass

from retewave.engine.engine import Engine
from retewave.query import Query

__all__ = ["Queries"]


@dataclass(frozen=True)
class Queries:
    """What a command was told to run."""

    written: tuple[str, ...]  # paths, or texts
    language: str | None = None  # the language of all of them; None: told by each

    def register(self, engine: Engine, keep: int | None = 0) -> list[Query]:
        """Register all with an engine."""
        return [engine.register(each, keep=keep, language=self.language) for each in self.written]
