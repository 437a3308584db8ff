"""The peer: an RDF store that asks the whole query again at each report, as C-SPARQL's engine does.

Where it stands: beside `engine`, under the same readings; what it finds is what is right.
Data's way: readings -> windows of a second's step -> a store with background and windows -> rows of each report.
Invariant: the store holds the background and what is in the windows at the report, each triple once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from retewave.bench.city.data import SensorReading, Triple

__all__ = ["Row", "Window", "asked_again", "plain", "windows_of"]

Row = tuple[str, ...]  # the texts of a row's terms; empty where there is none

_STREAM = re.compile(r"^from +stream <([^>]*)> \[range (\d+)(m?s) step (\d+)s\]$", re.MULTILINE)
_FROM = re.compile(r"^from .*$", re.MULTILINE)
_PLACE = ox.NamedNode("urn:window")


@dataclass(frozen=True)
class Window:
    """A window of a query: its stream, and its width in microseconds.  All step by one second."""

    stream: str
    width: int


def windows_of(text: str) -> list[Window]:
    """Return the windows of a query in C-SPARQL.

    >>> windows_of("select *\\nfrom stream <urn:s> [range 3s step 1s]\\nwhere {}")
    [Window(stream='urn:s', width=3000000)]
    """
    units = {"s": 1_000_000, "ms": 1_000}
    return [Window(stream, int(count) * units[unit]) for stream, count, unit, _ in _STREAM.findall(text)]


def plain(text: str) -> str:
    """Return a query without its windows: plain SPARQL."""
    return _FROM.sub("", text)


def asked_again(
    text: str, items: Sequence[SensorReading], known: Mapping[str, Sequence[Triple]]
) -> Iterator[tuple[int, Counter[Row]]]:
    """Yield each report, from the first second that is no earlier than the first item: its time, and its rows."""
    windows, query = windows_of(text), plain(text)
    store = ox.Store()
    for name, triples in known.items():
        if f"<{name}.ttl>" in text:
            store.load(_text(triples), format=ox.RdfFormat.N_TRIPLES)
    read = {each.stream: [item for item in items if item.stream == each.stream] for each in windows}
    times = {stream: [item.time for item in of] for stream, of in read.items()}
    for second in range(-(-items[0].time // 1_000_000), items[-1].time // 1_000_000 + 1):
        at, inside = second * 1_000_000, []
        for each in windows:
            low, high = (bisect_right(times[each.stream], bound) for bound in (at - each.width, at))
            inside += [triple for item in read[each.stream][low:high] for triple in item.triples]
        held = list(ox.parse(_text(inside), format=ox.RdfFormat.N_TRIPLES))
        new = [ox.Quad(each.subject, each.predicate, each.object) for each in held]
        store.extend(new)
        yield second, _rows(store.query(query))
        for quad in new:
            store.remove(quad)


def _text(triples: Sequence[Triple]) -> bytes:
    return "".join(f"{' '.join(triple)} .\n" for triple in triples).encode()


def _rows(found: object) -> Counter[Row]:
    if isinstance(found, ox.QueryBoolean):
        return Counter([()] if bool(found) else [])
    assert isinstance(found, ox.QuerySolutions)
    names = [each.value for each in found.variables]
    return Counter(tuple("" if row[name] is None else str(row[name]) for name in names) for row in found)
