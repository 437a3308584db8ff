"""The queries of a command: files or texts, in the language that was named, or recognised in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from retewave.engine.engine import Engine
from retewave.engine.registry import read_query
from retewave.errors import UsageError
from retewave.query import Query

__all__ = ["Queries"]

KEPT = 10_000  # matches of an explained query


@dataclass(frozen=True)
class Queries:
    """The queries of a command, as they were written."""

    written: tuple[str, ...]  # paths, or texts
    language: str | None = None  # the language of all of them; None: recognised in each
    policy: str | None = None  # the policy of all of them; None: that in each text
    report: str | None = None  # when views among them are reported; None: as each text says
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
        found = [self._registered(engine, each, options) for each in self.written]
        if self.report is not None and not any(each.is_view for each in found):
            raise UsageError("--report is for views, and all queries detect")
        return found

    def _registered(self, engine: Engine, written: str, options: dict[str, Any]) -> Query:
        """Register a query; --report is for the views among the queries."""
        parsed = read_query(written, self.language)
        if self.report is not None and parsed.view is not None:
            options = options | {"report": self.report}
        return engine.register(parsed, **options)
