"""`retewave check`: describe queries, or show their mistakes, without running them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from retewave.cli.notes import Notes
from retewave.engine.engine import Engine
from retewave.engine.registry import read_query
from retewave.errors import RetewaveError

__all__ = ["check"]


def check(queries: Sequence[str], language: str | None, *, allow_cartesian: bool) -> bool:
    """Print a description of each query, or its mistake; tell whether all are right."""
    engine, notes, right = Engine(allow_cartesian=allow_cartesian), Notes(sys.stderr), True
    with notes.warnings():
        for query in queries:
            try:
                print(_described(query, language, engine))
            except RetewaveError as error:
                right = False
                notes.say(str(error))
    return right


def _described(text: str, language: str | None, engine: Engine) -> str:
    parsed = read_query(text, language)
    query = engine.register(replace(parsed, dataset=(), schema=(), static=()), keep=0)
    shown = "".join(f" ?{name}" for name in query.variables)
    return f"{parsed.source}: {query.name}: {parsed.form}{shown}{', a rule' if parsed.is_rule else ''}"
