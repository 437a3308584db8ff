"""The use cases of the SPAseq paper: the files of examples/spaseq, and what is found in their streams."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pyoxigraph
import pytest
from helpers.told import Told, of_token, shown
from naive.detectors import detected
from naive.streams import Item, Triple

import retewave as rw
from retewave.bench.usecases.cases import CASES, EXAMPLES, UseCase, background
from retewave.bench.usecases.events import AT, BASE, Happening, trig
from retewave.bench.usecases.streams import STREAMS
from retewave.compiler.parse import parse

BEGIN = 1_704_067_200_000_000  # 2024-01-01T00:00:00Z


def text_of(term: object) -> bytes:
    return str(term).encode()


def happened(case: UseCase, count: int) -> list[tuple[str, Happening]]:
    """Return the first events of all streams of a case, in the order of time, with their streams."""
    streams = [[(iri, each) for each in STREAMS[name](case.count)] for iri, name in case.streams.items()]
    return list(islice(heapq.merge(*streams, key=lambda pair: pair[1].time), count))


def items_of(events: list[tuple[str, Happening]]) -> Iterator[Item]:
    for number, (iri, event) in enumerate(events):
        at = BEGIN + event.time * 1000
        graph = pyoxigraph.parse("".join(trig([event])), format=pyoxigraph.RdfFormat.TRIG)
        for quad in graph:
            if isinstance(quad.graph_name, pyoxigraph.NamedNode):
                triple = (text_of(quad.subject), text_of(quad.predicate), text_of(quad.object))
                yield Item(triple, at, at, iri, number)


def known(case: UseCase) -> dict[bytes, set[Triple]]:
    if not case.background:
        return {}
    quads = pyoxigraph.parse("".join(background(case.background)), format=pyoxigraph.RdfFormat.TURTLE)
    graph = {(text_of(q.subject), text_of(q.predicate), text_of(q.object)) for q in quads}
    return {f"<{BASE}{case.background}>".encode(): graph}


def test_the_files_of_the_examples_are_what_is_made() -> None:
    for case in CASES.values():
        for name in case.streams.values():
            assert case.stream(name).read_text() == "".join(trig(STREAMS[name](case.count)))
        if case.background:
            assert (EXAMPLES / f"{case.background}.ttl").read_text() == "".join(background(case.background))


PLAYED = tuple(CASES)

# A use case -> how many of its events, and how many matches are there.
EXPECTED = {
    "smartgrid": (120, 8), "trajectory": (120, 2), "fraud": (400, 37), "vshape": (400, 40), "shoulders": (250, 0),
    "traffic": (180, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_use_case_finds_what_the_naive_meaning_finds(name: str) -> None:
    case, (count, matches) = CASES[name], EXPECTED[name]
    items = list(items_of(happened(case, count)))
    found = detected(parse(case.query.read_text()), items, graphs=known(case))
    assert len(found) == matches
    if name in PLAYED:
        assert told_by(case, count) == Counter(map(of_token, found))


def listening(case: UseCase) -> rw.Engine:
    """Return an engine that listens for a case's query, over its background."""
    known = {f"{BASE}{case.background}": EXAMPLES / f"{case.background}.ttl"} if case.background else {}
    engine = rw.Engine(datasets=known)
    engine.register(case.query)
    return engine


def told_by(case: UseCase, count: int) -> Counter[Told]:
    """Return what the engine tells of the first events of a case's streams."""
    engine = listening(case)
    told: Counter[Told] = Counter()
    for iri, event in happened(case, count):
        triples = [tuple(text.decode() for text in item.triple) for item in items_of([(iri, event)])]
        told.update(map(shown, engine.push(triples, time=BEGIN / 1e6 + event.time / 1e3, stream=iri)))
    return told + Counter(map(shown, engine.flush()))


@pytest.mark.parametrize("name", PLAYED)
def test_the_files_of_a_use_case_are_played_whole(name: str) -> None:
    case = CASES[name]
    engine = listening(case)
    readers = [rw.read(case.stream(name), time_property=AT, stream=iri) for iri, name in case.streams.items()]
    assert len(list(engine.run(*readers))) == WHOLE[name]


WHOLE = {"smartgrid": 8, "trajectory": 2, "fraud": 37, "vshape": 40, "shoulders": 2, "traffic": 1}
