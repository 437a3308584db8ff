"""`retewave why-not`: run a query over streams to their end, and say why an expected match did not come.

The run is only for this question, so it keeps more rows than others: rows that a filter refuses, and rows that have
left the window.  So an answer at the end of a day can tell of its morning.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from retewave.cli.inputs import stream_name
from retewave.cli.notes import Notes
from retewave.cli.queries import Queries
from retewave.cli.times import TimeOptions
from retewave.engine.engine import Engine
from retewave.errors import UsageError
from retewave.io.reading.reader import Reader, read
from retewave.query import Query
from retewave.why_not.ask import check_kind
from retewave.why_not.keeping import keep_rows

__all__ = ["answer", "readers_of", "term_of"]

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
        keep_rows(engine, query)
        asked = dict(_split(query, each) for each in binding)
        readers = readers_of(streams, times, stream_format)
        notes.overlooked_times(readers, times)
        for _ in engine.run_batches(*readers):
            pass  # matches are counted by the query
        found = engine.why_not(query, asked)
    return str(found) if format == "text" else found.to_json() + "\n"


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
