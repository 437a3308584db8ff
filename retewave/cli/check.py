"""`retewave check`: describe queries, or show their mistakes, without running them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from retewave.cli.notes import Notes
from retewave.engine.registry import Registry, read_query
from retewave.errors import RetewaveError

__all__ = ["check"]


def check(queries: Sequence[str], language: str | None, *, allow_cartesian: bool) -> bool:
    """Print a description of each query, or its mistake; return whether all are right."""
    registry, notes, right = Registry(), Notes(sys.stderr), True
    with notes.warnings():
        for query in queries:
            try:
                print(_described(query, language, registry, allow_cartesian))
            except RetewaveError as error:
                right = False
                notes.say(str(error))
    return right


def _described(text: str, language: str | None, registry: Registry, allow_cartesian: bool) -> str:
    parsed = read_query(text, language)
    query = registry.add(parsed, name=None, on_match=None, keep=0, allow_cartesian=allow_cartesian)
    shown = "".join(f" ?{name}" for name in query.variables)
    return f"{parsed.source}: {query.name}: {parsed.form}{shown}"
