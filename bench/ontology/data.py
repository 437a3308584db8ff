"""An ontology of 1,000 classes, events that it defines, and a stream of ten triples an event.

Data's way: numbers, seeded -> **ontology, definitions, stream** -> engine, peers.
The classes are a tree of three levels: 10, 90 and 900.  A definition speaks of classes of the middle level, the stream
of those of the lowest one.  A share of the events is drawn for one definition each, so it is known what is found.
Invariant: the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

__all__ = ["AT", "BASE", "DrawnEvent", "ExpressionAsked", "definitions", "draw", "nquads", "schema"]

BASE = "http://example.org/plant#"
AT = f"{BASE}at"  # the property that tells an event's time
_TOPS, _MIDDLES, _LOWS = 10, 90, 900
_ROLES = 20
_A_SECOND = 10_000  # events
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_OWL, _RDFS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"

Text = tuple[str, str, str]  # a triple, in N-Triples form


@dataclass(frozen=True)
class ExpressionAsked:
    """One logical event: `A and r some (B and s some C)`, by numbers."""

    number: int  # its name is E and this
    classes: tuple[int, int, int]  # of the middle level
    roles: tuple[int, int]  # r, s

    def __str__(self) -> str:
        one, two, three = (f"M{each}" for each in self.classes)
        return f"EVENT E{self.number} AS ({one} and r{self.roles[0]} some ({two} and r{self.roles[1]} some {three}))"


@dataclass(frozen=True)
class DrawnEvent:
    """One event of the stream."""

    number: int  # from 0
    triples: tuple[Text, ...]  # ten
    found: int | None  # the number of the definition that it was drawn for

    @property
    def time(self) -> int:
        """Microseconds from the stream's beginning."""
        return self.number * 1_000_000 // _A_SECOND


def schema() -> list[Text]:
    """Return the ontology: the tree, the roles, existential axioms, and disjoint tops.

    >>> len({s for s, p, o in schema() if o == f"<{_OWL}Class>"})
    1000
    """
    names = [*_names("T", _TOPS), *_names("M", _MIDDLES), *_names("L", _LOWS)]
    found = [(each, f"<{_TYPE}>", f"<{_OWL}Class>") for each in names]
    found += [(_of("M", each), f"<{_RDFS}subClassOf>", _of("T", each % _TOPS)) for each in range(_MIDDLES)]
    found += [(_of("L", each), f"<{_RDFS}subClassOf>", _of("M", each % _MIDDLES)) for each in range(_LOWS)]
    found += [(each, f"<{_TYPE}>", f"<{_OWL}ObjectProperty>") for each in _names("r", _ROLES)]
    found += [(_of("s", each), f"<{_RDFS}subPropertyOf>", _of("r", each)) for each in range(_ROLES)]
    found += [(_of("T", each), f"<{_OWL}disjointWith>", _of("T", each + 1)) for each in range(0, _TOPS - 1, 2)]
    for each in range(0, _LOWS, 9):  # things of some classes have something that the stream need not tell
        node = f"_:e{each}"
        found += [(_of("L", each), f"<{_RDFS}subClassOf>", node), (node, f"<{_TYPE}>", f"<{_OWL}Restriction>")]
        found += [(node, f"<{_OWL}onProperty>", _of("r", each % _ROLES))]
        found += [(node, f"<{_OWL}someValuesFrom>", _of("L", (each * 7 + 1) % _LOWS))]
    return found


def definitions(
    count: int, composites: int, returned: str, *, mixed: bool = False, seed: int = 1
) -> tuple[list[ExpressionAsked], str]:
    """Return logical events, and the text that defines them, composites of them, and what is told.

    Roles go by pairs, as domains and ranges have it: r0 leads to what r1 is said of.  Mixed: any role follows any.
    """
    random = Random(seed)
    asked = [
        ExpressionAsked(number, tuple(random.sample(range(_MIDDLES), 3)), _roles(random, mixed))  # type: ignore[arg-type]
        for number in range(count)
    ]
    lines = [f"PREFIX : <{BASE}>", *map(str, asked)]
    lines += [f"EVENT S{n} MATCH E{2 * n} SEQ E{2 * n + 1} WITHIN (20 ms)" for n in range(composites)]
    return asked, "\n".join([*lines, returned]) + "\n"


def draw(
    count: int, asked: list[ExpressionAsked], share: float, *, mixed: bool = False, seed: int = 1
) -> Iterator[DrawnEvent]:
    """Yield events, a share of which is drawn for a definition each; the others are of no definition."""
    random = Random(seed)
    forms = {(each.classes, each.roles) for each in asked}
    for number in range(count):
        one = random.choice(asked) if random.random() < share else None
        classes, roles = _form(random, mixed) if one is None else (one.classes, one.roles)
        if one is None and (classes, roles) in forms:
            classes, roles = ((classes[0] + 1) % _MIDDLES, *classes[1:]), roles
        yield DrawnEvent(number, tuple(_triples(random, number, classes, roles)), None if one is None else one.number)


def _form(random: Random, mixed: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(random.choices(range(_MIDDLES), k=3)), _roles(random, mixed)


def _roles(random: Random, mixed: bool) -> tuple[int, ...]:
    if mixed:
        return tuple(random.choices(range(_ROLES), k=2))
    first = 2 * random.randrange(_ROLES // 2)
    return first, first + 1


def _triples(random: Random, number: int, classes: tuple[int, ...], roles: tuple[int, ...]) -> Iterator[Text]:
    things = [f"<{BASE}{kind}{number}>" for kind in "xyz"]
    for thing, middle in zip(things, classes, strict=True):
        yield thing, f"<{_TYPE}>", _of("L", middle + _MIDDLES * random.randrange(_LOWS // _MIDDLES))
    for place, role in enumerate(roles):
        yield things[place], _of(random.choice("rs"), role), things[place + 1]
    for place in range(5):
        value = f'"{random.randrange(1000)}"^^<{_XSD}integer>'
        yield things[place % 3], _of("value", place), value


def nquads(events: Iterable[DrawnEvent]) -> Iterator[str]:
    """Yield the lines of events: a graph each, and the time of the graph."""
    for each in events:
        graph = f"<{BASE}e{each.number}>"
        yield from (f"{s} {p} {o} {graph} .\n" for s, p, o in each.triples)
        micros = each.time
        seconds = f"{micros // 60_000_000 % 60:02}:{micros // 1_000_000 % 60:02}.{micros % 1_000_000:06}"
        yield f'{graph} <{AT}> "2026-01-01T{micros // 3_600_000_000:02}:{seconds}Z"^^<{_XSD}dateTime> {graph} .\n'


def _of(kind: str, number: int) -> str:
    return f"<{BASE}{kind}{number}>"


def _names(kind: str, count: int) -> list[str]:
    return [_of(kind, number) for number in range(count)]
