"""The use cases of the SPAseq paper: the files of examples/spaseq, and what is found in their streams."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import pyoxigraph
import pytest
from naive.detectors import detected
from naive.streams import Item, Triple

from retewave.bench.usecases.cases import CASES, EXAMPLES, UseCase, background
from retewave.bench.usecases.events import BASE, Happening, trig
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


# A use case -> how many of its events, and how many matches are there.
EXPECTED = {
    "smartgrid": (120, 8), "trajectory": (120, 2), "fraud": (400, 37), "vshape": (400, 40), "shoulders": (250, 0),
    "traffic": (180, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_naive_meaning_finds_what_a_use_case_looks_for(name: str) -> None:
    case, (count, matches) = CASES[name], EXPECTED[name]
    items = list(items_of(happened(case, count)))
    found = detected(parse(case.query.read_text()), items, graphs=known(case))
    assert len(found) == matches
