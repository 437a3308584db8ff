"""What an engine tells of events by ontology, in the form of the naive meaning; and random definitions of such."""

from __future__ import annotations

from collections import Counter
from itertools import count
from random import Random

from cases.ontologies import SECOND, EventsCase, manchester, random_composite, random_expression
from naive.detections import Detected, Events, Graph

import retewave as rw

Told = tuple[str, object, object, object, object]


def engine_of(case: EventsCase, text: str, **options: object) -> tuple[rw.Engine, rw.Query]:
    engine = rw.Engine(schema=[list(case.schema)] if case.schema else (), static=[list(case.static)], seed=1)
    return engine, engine.register(text, language="obep", keep=None)


def texts(graph: Graph) -> list[tuple[str, str, str]]:
    return [(s.decode(), p.decode(), o.decode()) for s, p, o in sorted(graph.triples)]


def pushed(engine: rw.Engine, case: EventsCase) -> list[rw.Match]:
    found = [match for graph in case.graphs for match in engine.push(texts(graph), time=graph.end // SECOND)]
    return found + engine.flush()


def micros(time: object) -> int:
    assert isinstance(time, int)
    return time * SECOND


def of_match(match: rw.Match) -> Told:
    detection = match.detection
    parts = tuple(sorted((alias, part.name) for alias, part in detection.parts.items()))
    who = None if detection.individual.startswith("<urn:retewave:events:") else detection.individual
    return (
        detection.event,
        who,
        (micros(match.start), micros(match.end)),
        frozenset(detection.justification),
        len(parts),
    )


def of_naive(token: Detected) -> Told:
    who = None if token.individual is None else token.individual.decode()
    said = frozenset(tuple(text.decode() for text in triple) for triple in token.justification)
    assert token.event is not None
    return token.event.decode(), who, token.shown, said, sum(not alias.startswith("not ") for alias, _ in token.parts)


def compare(case: EventsCase, text: str) -> bool:
    """Compare the engine with the naive meaning; tell whether there was anything to find."""
    engine, query = engine_of(case, text)
    found = Counter(map(of_match, pushed(engine, case)))
    assert query.parsed.events is not None
    events = Events(query.parsed.events, case.graphs, case.static, case.ontology)
    assert found == Counter(map(of_naive, events.told())), (text, case)
    return bool(found)


def logical(random: Random, names: str = "XY") -> str:
    return "\n".join(f"EVENT <http://e/{name}> AS {manchester(random_expression(random))}" for name in names)


COMPOSITES = {
    "all": lambda random, names: random_composite(random, names),
    "first or last": lambda random, names: f"{random.choice(('FIRST', 'LAST'))} {random_composite(random, names, 1)}",
}


def composite(random: Random, which: str = "all") -> str:
    """Return definitions of two logical events and a composite one; WITHIN bounds it at times."""
    names = (f"P{number}" for number in count())
    within = random.choice(("", "", " WITHIN 3s", " WITHIN 1s"))
    lines = [f"EVENT <http://e/{name}> AS {manchester(random_expression(random, 1))}" for name in "XY"]
    return "\n".join([*lines, f"EVENT <http://e/Z> MATCH {COMPOSITES[which](random, names)}{within}"])
