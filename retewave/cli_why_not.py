"""`retewave why-not`: run a query over streams to their end, and say why it has not matched what was expected."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from retewave.cli_input import stream_name
from retewave.cli_notes import Notes
from retewave.engine import Engine
from retewave.errors import UsageError
from retewave.io.reader import Reader, read
from retewave.query import Query

__all__ = ["Times", "answer", "readers_of", "term_of"]

_INTEGER = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Times:
    """How the times of a stream are told; by arrival, if nothing else is said."""

    rate: float | None  # triples a second
    property: str | None  # the IRI that tells a named graph's time


def answer(
    text: str, streams: Sequence[str], times: Times, stream_format: str | None, binding: Sequence[str], format: str,
    options: dict[str, Any],
) -> str:  # fmt: skip
    """Return why a query has not matched a binding, as text or as JSON."""
    with Notes(sys.stderr).warnings():
        engine = Engine(**options)
        query = engine.register(text)
        asked = dict(_split(query, each) for each in binding)
        for _ in engine.run_batches(*readers_of(streams, times, stream_format)):
            pass  # matches are counted by the query
        found = engine.why_not(query, asked)
    return str(found) if format == "text" else found.to_json() + "\n"


def readers_of(streams: Sequence[str], times: Times, stream_format: str | None) -> list[Reader]:
    """Return the readers of streams as the command line names them."""
    return [
        read(path, format=stream_format, rate=times.rate, time_property=times.property, stream=name)
        for name, path in map(stream_name, streams)
    ]


def _split(query: Query, text: str) -> tuple[str, Any]:
    name, equals, term = text.partition("=")
    if not equals:
        raise UsageError(f"--binding {text}: no = in it", hint="write --binding NAME=TERM")
    return name, term_of(query, term)


def term_of(query: Query, text: str) -> Any:
    """Return the term that is written: a prefixed name of the query, a whole number, or what `push` takes.

    >>> from retewave import Engine
    >>> query = Engine().register("PREFIX e: <http://e/> SELECT * { ?x e:p ?y }")
    >>> term_of(query, "e:a"), term_of(query, "5"), term_of(query, "<urn:a>")
    ('<http://e/a>', 5, '<urn:a>')
    """
    label, colon, local = text.partition(":")
    prefixes = {name.removesuffix(":"): namespace for name, namespace in query.parsed.prefixes}
    if colon and label in prefixes and not local.startswith("//"):
        return f"<{prefixes[label]}{local}>"
    return int(text) if _INTEGER.fullmatch(text) else text
