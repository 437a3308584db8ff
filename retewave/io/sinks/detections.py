"""Detections as lines: an event stream of JSON objects, or an RDF stream of N-Quads or TriG.

Data's way: batches of matches of queries that define events -> **lines** -> a file.
A graph has the name of its detection.  In it stand the justification, the type of the individual, and the time at which
the detection ends (prov:generatedAtTime), by which it can be read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from retewave.detection import graph_of, read_token
from retewave.windows.times import format_datetime

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["DetectionSink"]

_WHEN = "<http://www.w3.org/ns/prov#generatedAtTime>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_SECOND = 1_000_000  # microseconds


class DetectionSink:
    """Writes detections in their order."""

    def __init__(self, format: str, file: BinaryIO, *, seconds: bool) -> None:
        self._of = {"nq": _quads, "trig": _trig}.get(format, _object)
        self._file, self._seconds = file, seconds

    def write(self, batches: Sequence[Matches]) -> None:
        """Write batches that belong together, and flush."""
        found = [entry for batch in batches for entry in zip(batch.places.tolist(), self._lines(batch), strict=True)]
        self._file.write("".join(line for _, line in sorted(found, key=lambda each: each[0])).encode())
        self._file.flush()

    def close(self) -> None:
        """Flush: there is nothing behind the last detection."""
        self._file.flush()

    def _lines(self, batch: Matches) -> Iterator[str]:
        seconds = self._seconds or batch.clock.kind in ("int", "float")
        yield from (self._of(batch, row, seconds) for row in range(len(batch)))


def _time(time: int, seconds: bool) -> int | float | str:
    if not seconds:
        return format_datetime(time)
    return time // _SECOND if time % _SECOND == 0 else time / _SECOND


def _object(batch: Matches, row: int, seconds: bool) -> str:
    match = batch[row]
    said = {"query": batch.query.name} | match.detection.to_json()
    said["start"] = _time(int(batch.starts[row]), seconds)
    said["end"] = _time(int(batch.ends[row]), seconds)
    for part in said["parts"].values():
        part["start"], part["end"] = _time(part["start"], seconds), _time(part["end"], seconds)
    ordered = ("query", "event", "individual", "start", "end", "parts", "axioms")
    return json.dumps({name: said[name] for name in ordered}, ensure_ascii=False) + "\n"


def _quads(batch: Matches, row: int, seconds: bool) -> str:
    name, lines = _graph(batch, row, seconds)
    return "".join(f"{line} {name} .\n" for line in lines)


def _trig(batch: Matches, row: int, seconds: bool) -> str:
    name, lines = _graph(batch, row, seconds)
    return "".join((f"{name} {{\n", *(f"    {line} .\n" for line in lines), "}\n"))


def _graph(batch: Matches, row: int, seconds: bool) -> tuple[str, list[str]]:
    """Return the name of a detection's graph, and its triples."""
    token = read_token(batch[row].text("detection") or b"")
    when = _time(int(batch.ends[row]), seconds)
    kind = "dateTime" if isinstance(when, str) else "integer" if isinstance(when, int) else "decimal"
    lines = [" ".join(each.decode() for each in triple) for triple in graph_of(token)]
    return f"<{token.name}>", [*lines, f'<{token.name}> {_WHEN} "{when}"^^<{_XSD}{kind}>']
