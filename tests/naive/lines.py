"""The text formats of results, match by match, in plain Python: what the kernels' bytes must equal.

Where it stands: the reference of tests/io/test_sink_laws.py.  `written_terms.py` has the terms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from naive.written_terms import csv_field, csv_term, json_term, tsv_term
from retewave.compiler.algebra import Variable
from retewave.match import Matches
from retewave.windows.times import format_datetime

__all__ = ["naive_lines"]

Lines = list[bytes]  # match by match: a written field, or a finished line


def objects(batch: Matches) -> Lines:
    """Return a JSON object a match: query, start, end, bindings in SPARQL's JSON; `groups`, `boolean` of ASK."""
    head = b'{"query":%s,"start":' % json.dumps(batch.query.name, ensure_ascii=False).encode()
    starts, ends = _times(batch, '"%s"', b"null")
    members = [_members(batch, name) for name in batch.query.variables]
    bindings = [b"".join(row)[1:] for row in zip(*members, strict=True)] if members else [b""] * len(batch)
    answer = b',"boolean":true' if batch.query.parsed.form == "ASK" else b""
    return [
        b'%b%b,"end":%b,"bindings":{%b}%b%b}\n' % (head, start, end, bound, groups, answer)
        for start, end, bound, groups in zip(starts, ends, bindings, _groups(batch), strict=True)
    ]


def _groups(batch: Matches) -> Lines:
    """Return the field of each match's groups, if it has some."""
    groups = getattr(batch, "groups", None)
    if groups is None or not batch.query.repeated:
        return [b""] * len(batch)
    return [b',"groups":{%b}' % b",".join(_listed(batch, groups.of(row))) for row in range(len(batch))]


def _listed(batch: Matches, found: Mapping[str, Sequence[tuple[int, Mapping[Variable, int]]]]) -> Lines:
    """Return the list of each event pattern's repetitions."""
    lists = []
    for pattern in batch.query.repeated:
        objects = [_repetition(batch, pattern.variables, *each) for each in found.get(pattern.name, [])]
        lists.append(b'"%b":[%b]' % (pattern.name.encode(), b",".join(objects)))
    return lists


def _repetition(batch: Matches, names: Sequence[str], time: int, bound: Mapping[Variable, int]) -> bytes:
    in_seconds = batch.clock.kind in ("int", "float")
    at = json.dumps(batch.clock.decode(time) if in_seconds else format_datetime(time)).encode()
    keys = [name for name in names if bound.get(Variable(name))]
    terms = [
        b"%b:%b" % (json.dumps(key, ensure_ascii=False).encode(), json_term(batch.text(bound[Variable(key)]) or b""))
        for key in keys
    ]
    return b'{"time":%b,"bindings":{%b}}' % (at, b",".join(terms))


def _members(batch: Matches, name: str) -> Lines:
    """Return a variable as members of the bindings object, each with a comma before it."""
    key = b",%s:" % json.dumps(name, ensure_ascii=False).encode()
    return _terms(batch, name, lambda text: key + json_term(text))


class Csv:
    """SPARQL 1.1 Query Results CSV, with the query, start and end of each match before the variables."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names  # the variables of all queries
        self.head = ",".join(("query", "start", "end", *names)).encode() + b"\r\n"

    def rows(self, batch: Matches) -> Lines:
        """Return a line a match."""
        query = csv_field(batch.query.name.encode())
        starts, ends = _times(batch, "%s", b"")
        return _rows(b",", b"\r\n", query, starts, ends, *(_column(batch, name, csv_term) for name in self._names))


class Tsv:
    """SPARQL 1.1 Query Results TSV, with the query, start and end of each match as variables before the others."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names  # the variables of all queries
        self.head = "\t".join(f"?{name}" for name in ("query", "start", "end", *names)).encode() + b"\n"

    def rows(self, batch: Matches) -> Lines:
        """Return a line a match."""
        query = b'"%b"' % batch.query.name.encode()
        starts, ends = _times(batch, '"%s"^^<http://www.w3.org/2001/XMLSchema#dateTime>', b"")
        return _rows(b"\t", b"\n", query, starts, ends, *(_column(batch, name, tsv_term) for name in self._names))


def _rows(comma: bytes, newline: bytes, query: bytes, *columns: Lines) -> Lines:
    first = query + comma
    return [first + comma.join(row) + newline for row in zip(*columns, strict=True)]


def triples(batch: Matches) -> Lines:
    """Return the N-Triples that a CONSTRUCT query builds of each match."""
    return [b"".join([b"%b %b %b .\n" % triple for triple in of_match]) for of_match in batch.triples()]


# ---- columns ----
def _column(batch: Matches, name: str, write: Callable[[bytes], bytes]) -> Lines:
    """Return a variable's column; an empty one when the query does not show it."""
    return _terms(batch, name, write) if name in batch.query.variables else [b""] * len(batch)


def _terms(batch: Matches, name: str, write: Callable[[bytes], bytes]) -> Lines:
    """Return a variable's terms as a format writes them; nothing where it is unbound."""
    texts, places = batch.distinct(name)
    written = [b"" if text is None else write(text) for text in texts]
    return [written[i] for i in places.tolist()]


def _times(batch: Matches, date: str, static: bytes) -> tuple[Lines, Lines]:
    """Return starts and ends: seconds as they stand, dates put into the given pattern, or what says "static"."""
    timeless = batch.ends < batch.starts
    return _moments(batch, batch.starts, timeless, date, static), _moments(batch, batch.ends, timeless, date, static)


def _moments(batch: Matches, times: np.ndarray, timeless: np.ndarray, date: str, static: bytes) -> Lines:
    used, inverse = np.unique(np.where(timeless, 0, times), return_inverse=True)
    if batch.clock.kind in ("int", "float"):
        written = [str(batch.clock.decode(time)).encode() for time in used.tolist()]
    else:
        written = [(date % format_datetime(time)).encode() for time in used.tolist()]
    found = [written[i] for i in inverse.tolist()]
    for row in np.flatnonzero(timeless).tolist():
        found[row] = static
    return found


def naive_lines(format: str, batches: Sequence[Matches], names: tuple[str, ...]) -> bytes:
    """Return what a sink writes for batches that belong together, without a head."""
    writers = {"ndjson": objects, "nt": triples, "csv": Csv(names).rows, "tsv": Tsv(names).rows}
    lines = [line for batch in batches for line in writers[format](batch)]
    places = np.concatenate([batch.places for batch in batches])
    return b"".join(lines[i] for i in np.argsort(places, kind="stable").tolist())
