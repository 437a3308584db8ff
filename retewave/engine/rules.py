"""Errors of rules, in words: rules that wait for themselves, and rules that never end."""

from __future__ import annotations

from collections.abc import Mapping

from retewave.compiler.lower.levels import Unstratified, rings
from retewave.engine.compiled import CompiledNetwork
from retewave.errors import LimitError, QueryError
from retewave.query import Query

__all__ = ["endless", "unstratified"]


def unstratified(error: Unstratified, queries: Mapping[int, Query]) -> QueryError:
    """Return the error for rules that decide about an instant by triples that depend on that decision."""
    ring = " -> ".join(queries[number].name for number in error.rules)
    sources = dict.fromkeys(queries[number].parsed.source for number in error.rules)
    files = " and ".join(each for each in sources if each != "<query>")
    return QueryError(
        f"{files + ': ' if files else ''}{ring}: whether something is there at an instant depends on what is built of "
        "the answer in that same instant",
        hint="look at what is strictly earlier (NOT { … } SEQ, SEQ NOT { … } SEQ, OPTIONALSEQ), feed another stream, "
        "or let one of them REGISTER QUERY, which reports and feeds nothing",
    )


def endless(compiled: CompiledNetwork, most: int) -> LimitError:
    """Return the error for rules that build more than the bound allows at one instant."""
    queries = compiled.outcome.queries
    found = [" -> ".join(queries[number].name for number in ring) for ring in rings(compiled.lowered)]
    named = "; ".join(found) if found else ", ".join(q.name for q in queries.values() if q.parsed.is_rule)
    return LimitError(
        f"rules have built more than {most:,} triples at one instant: {named}; those that were yet to come in are "
        "dropped",
        hint="a rule that builds new terms of what it builds itself never ends: bound it by a FILTER, remove it, or "
        "raise max_derivations (--max-derivations)",
    )
