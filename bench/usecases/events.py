"""An event of a made stream, and how it is written: TriG for readers, N-Quads for measuring.

Data's way: generator (`streams.py`) -> **events** -> lines of a file.
Invariant: both texts say the same, and are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

__all__ = ["AT", "BASE", "Happening", "Term", "Triple", "nquads", "trig"]

BASE = "http://example.org/"
AT = f"{BASE}at"  # the property that tells an event's time
_XSD = "http://www.w3.org/2001/XMLSchema#"
_BEGIN = datetime(2024, 1, 1)

Term: TypeAlias = "str | int | Decimal"  # a name of `BASE`, text in quotes, or a number
Triple = tuple[str, str, Term]


@dataclass(frozen=True)
class Happening:
    """One event."""

    name: str  # of its graph
    time: int  # milliseconds from the stream's beginning
    triples: tuple[Triple, ...]


def _moment(time: int) -> str:
    return (_BEGIN + timedelta(milliseconds=time)).isoformat(timespec="milliseconds") + "Z"


def _short(term: Term) -> str:
    return (
        term if isinstance(term, str) and term.startswith('"') else f":{term}" if isinstance(term, str) else str(term)
    )


def _long(term: Term) -> str:
    if isinstance(term, str):
        return term if term.startswith('"') else f"<{BASE}{term}>"
    return f'"{term}"^^<{_XSD}{"integer" if isinstance(term, int) else "decimal"}>'


def trig(events: Iterable[Happening]) -> Iterator[str]:
    """Yield a document of TriG, a line an event.

    >>> one = Happening("e1", 1500, (("c7", "price", Decimal("12.50")), ("c7", "volume", 3)))
    >>> print("".join(trig([one])).splitlines()[-1])
    :e1 { :c7 :price 12.50 ; :volume 3 } :e1 :at "2024-01-01T00:00:01.500Z"^^xsd:dateTime .
    """
    yield f"@prefix : <{BASE}> .\n@prefix xsd: <{_XSD}> .\n\n"
    for each in events:
        said: list[str] = []
        last = None
        for s, p, o in each.triples:
            said.append(f"; :{p} {_short(o)}" if s == last else f"{'. ' if last else ''}:{s} :{p} {_short(o)}")
            last = s
        yield f':{each.name} {{ {" ".join(said)} }} :{each.name} :at "{_moment(each.time)}"^^xsd:dateTime .\n'


def nquads(events: Iterable[Happening]) -> Iterator[str]:
    """Yield the lines of each event as N-Quads, its time before it in the default graph.

    >>> lines = "".join(nquads([Happening("e1", 1500, (("c7", "mood", '"good"'),))])).splitlines()
    >>> lines[1]
    '<http://example.org/c7> <http://example.org/mood> "good" <http://example.org/e1> .'
    """
    for each in events:
        graph = f"<{BASE}{each.name}>"
        said = "".join(f"<{BASE}{s}> <{BASE}{p}> {_long(o)} {graph} .\n" for s, p, o in each.triples)
        yield f'{graph} <{AT}> "{_moment(each.time)}"^^<{_XSD}dateTime> .\n{said}'
