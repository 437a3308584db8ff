"""Sinks: where matches go as text or as Arrow, batch by batch.

Data's way: batches of matches -> **lines of a format** -> file or pipe.
Invariant: no term becomes a Python object; matches of several queries leave in the order in which they were found;
every batch is flushed, so that a reader of the pipe sees it at once.
Left out: opening and closing the file, which is the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from retewave.errors import UsageError
from retewave.io.sinks.detections import DetectionSink
from retewave.io.sinks.lines import BuiltTriples, Csv, Format, Objects, Tsv, in_order, lines_of, stretches

if TYPE_CHECKING:
    import numpy as np

    from retewave.match import Matches
    from retewave.query import Query

__all__ = ["FORMATS", "Sink", "open_sink", "usual_format"]

FORMATS = ("ndjson", "csv", "tsv", "nt", "nq", "trig", "arrow")
_GRAPHS = ("nq", "trig")  # formats that only detections of events have
COLUMNS = ("query", "start", "end")  # the columns of a table before those of the variables


class Sink(Protocol):
    """Takes batches of matches."""

    def write(self, batches: Sequence[Matches]) -> None:
        """Write batches that belong together, and flush; of no batches nothing is written."""

    def close(self) -> None:
        """Write the end of the format; the file stays open."""


def usual_format(queries: Sequence[Query]) -> str:
    """Return the format that suits the queries: N-Triples for CONSTRUCT, ndjson for SELECT."""
    if queries and all(query.plan is not None and query.plan.definitions.form == "RDF" for query in queries):
        return "nq"
    forms = {query.is_construct for query in queries}
    if forms == {True, False}:
        raise UsageError(
            "SELECT and CONSTRUCT queries have no output format in common",
            hint="choose one that can hold both, such as ndjson, or run them apart",
        )
    return "nt" if forms == {True} else "ndjson"


def open_sink(format: str, queries: Sequence[Query], file: BinaryIO, *, seconds: bool) -> Sink:
    """Return a sink that writes to a file; `seconds` says that times are numbers, not dates."""
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}", hint=f"known: {', '.join(FORMATS)}")
    if all(query.plan is not None for query in queries) and format in ("ndjson", *_GRAPHS):
        return DetectionSink(format, file, seconds=seconds)
    if format in _GRAPHS:
        raise UsageError("only detections of events are graphs", hint="choose nt for what CONSTRUCT builds")
    if format == "nt":
        _check_all_construct(queries)
        return _Text(file, BuiltTriples())
    if format == "ndjson":
        return _Text(file, Objects())
    names = _columns(queries)
    if format == "arrow":
        from retewave.io.sinks.arrow import ArrowSink

        repeated = [each for query in queries for each in query.repeated]
        return ArrowSink(file, names, seconds=seconds, repeated=repeated)
    return _Text(file, Csv(names) if format == "csv" else Tsv(names))


def _check_all_construct(queries: Sequence[Query]) -> None:
    for query in queries:
        if not query.is_construct:
            raise UsageError(
                f"{query.name} is a SELECT query, which builds no triples", hint="choose another format than nt"
            )


def _columns(queries: Sequence[Query]) -> tuple[str, ...]:
    """Return the variables of all queries, in the order of their first appearance."""
    names = tuple(dict.fromkeys(name for query in queries for name in query.variables))
    for name in names:
        if name in COLUMNS:
            raise UsageError(
                f"the variable ?{name} has the name of a column that every match has",
                hint="rename it (SELECT (?x AS ?y)), or choose the format ndjson",
            )
    return names


class _Text:
    """A sink that writes lines."""

    def __init__(self, file: BinaryIO, format: Format) -> None:
        self._file = file
        self._format = format
        self._head = format.head  # the bytes still to be written before the first line

    def write(self, batches: Sequence[Matches]) -> None:
        if not batches:
            return
        self._begin()
        if len(batches) == 1:
            for stretch in stretches(self._format, batches[0]):
                _write(self._file, stretch)
        else:
            _write(self._file, in_order(batches, [lines_of(self._format, batch) for batch in batches]))
        self._file.flush()

    def close(self) -> None:
        self._begin()
        self._file.flush()

    def _begin(self) -> None:
        self._file.write(self._head)
        self._head = b""


def _write(file: BinaryIO, data: np.ndarray) -> None:
    """Write all of the data: a file without a buffer may take a part of it only."""
    rest = data.data
    while len(rest):
        rest = rest[file.write(rest) :]
