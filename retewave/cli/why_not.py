"""`retewave why-not`: run a query over streams to their end, and say why an expected match did not come.

The run is only for this question, so it keeps more rows than others: rows that a filter refuses, and rows that have
left the window.  So an answer at the end of a day can tell of its morning.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from retewave.cli.inputs import stream_name
from retewave.cli.notes import Notes
from retewave.cli.queries import Queries
from retewave.cli.times import TimeOptions
from retewave.compiler.algebra import TriplePattern, Triples, Variable
from retewave.compiler.rewrite.normal import branches
from retewave.engine.engine import Engine
from retewave.errors import UsageError
from retewave.io.reading.reader import Reader, read
from retewave.query import Query
from retewave.why_not.ask import check_kind

__all__ = ["answer", "readers_of", "term_of"]

_NEVER = b"<urn:retewave:never:%d>"  # predicates that no triple has
_FOR_EVER = 1 << 60  # microseconds added to every range, so that their differences stay
_INTEGER = re.compile(r"[+-]?\d+")


def answer(
    queries: Queries, streams: Sequence[str], times: TimeOptions, stream_format: str | None, binding: Sequence[str],
    format: str, options: dict[str, Any],
) -> str:  # fmt: skip
    """Return why the first of some queries has not matched a binding, as text or as JSON."""
    notes = Notes(sys.stderr)
    with notes.warnings():
        engine = Engine(**options)
        query, *_ = queries.register(engine, keep=10_000)
        check_kind(query)
        _keep_all(engine, query)
        asked = dict(_split(query, each) for each in binding)
        readers = readers_of(streams, times, stream_format)
        notes.overlooked_times(readers, times)
        for _ in engine.run_batches(*readers):
            pass  # matches are counted by the query
        found = engine.why_not(query, asked)
    return str(found) if format == "text" else found.to_json() + "\n"


def _keep_all(engine: Engine, query: Query) -> None:
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


def readers_of(streams: Sequence[str], times: TimeOptions, stream_format: str | None) -> list[Reader]:
    """Return the readers of streams as the command line names them."""
    named = list(map(stream_name, streams))
    times.check_names(name for name, _ in named)
    return [read(path, format=stream_format, stream=name, **times.reading(name)) for name, path in named]


def _split(query: Query, text: str) -> tuple[str, Any]:
    name, equals, term = text.partition("=")
    if not equals:
        raise UsageError(f"--binding {text}: no = in it", hint="write --binding NAME=TERM")
    return name, term_of(query, term)


def term_of(query: Query, text: str) -> Any:
    """Return the term of a text: a prefixed name of the query, a whole number, or any text that `push` takes.

    >>> from retewave import Engine
    >>> query = Engine().register("PREFIX e: <http://e/> SELECT * { ?x e:p ?y }")
    >>> term_of(query, "e:a"), term_of(query, "5"), term_of(query, "<urn:a>")
    ('<http://e/a>', 5, '<urn:a>')
    """
    label, colon, local = text.partition(":")
    prefixes = {name.removesuffix(":"): namespace for name, namespace in query.parsed.prefixes}
    if colon and label in prefixes and not local.startswith("//"):
        return f"<{prefixes[label]}{local}>"
    if _INTEGER.fullmatch(text):
        return int(text)
    if not colon and text[:1] not in ("<", '"'):
        raise UsageError(
            f"cannot tell what term {text!r} is",
            hint=f"an IRI has a colon (http://…, or a prefix of the query's), a literal quotes: '\"{text}\"'",
        )
    return text
