"""Keep every triple that a pattern of a query takes, so that why-not can tell of a whole stream.

Where it stands: beside data's way; a caller that asks why-not at the end of a run calls it before the run.
"""

from __future__ import annotations

from dataclasses import replace

from retewave.compiler.algebra import TriplePattern, Triples, Variable
from retewave.compiler.rewrite.normal import branches
from retewave.engine.engine import Engine
from retewave.query import Query

__all__ = ["keep_rows"]

_NEVER = b"<urn:retewave:never:%d>"  # predicates that no triple has
_FOR_EVER = 1 << 60  # microseconds added to every range, so that their differences stay


def keep_rows(engine: Engine, query: Query) -> None:
    """Let a memory keep every triple that a pattern of the query takes, for ever.

    Each pattern waits in a query of its own for a partner that never comes: its triples are kept, and nothing is made
    of them.  Each has a partner of its own, for queries that differ in constants only would share another memory.
    """
    normal = branches(query.parsed) if query.leaves is None else query.leaves.branches
    patterns = dict.fromkeys(pattern for branch in normal for pattern in branch.all_patterns)
    streams = tuple(replace(each, width=_widened(each.width)) for each in query.parsed.streams)
    for place, pattern in enumerate(patterns):
        shared = next((term for term in pattern.terms if isinstance(term, Variable)), None)
        if shared is not None:
            where = Triples((pattern, TriplePattern(shared, _NEVER % place, Variable("_:never"), pattern.source)))
            waiting = replace(
                query.parsed, where=where, form="SELECT", projection=(), template=(), distinct=False, streams=streams,
                view=None, window=_widened(query.parsed.window),
            )  # fmt: skip
            engine.registry.add(waiting, name=None, on_match=None, keep=0, allow_cartesian=True, quiet=True)


def _widened(width: int | None) -> int | None:
    return None if width is None else width + _FOR_EVER
