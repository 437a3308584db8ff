"""Which statements are one event: by graph, by subject, so many, by time; random documents against a loop in Python."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from cases.lines import Statement
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Dataset, Graph, Literal, URIRef

import retewave as rw
from retewave.engine.accepting import CartesianWarning
from retewave.errors import UsageError
from retewave.io.reading.position import Position
from retewave.io.reading.reader import Reader, read
from retewave.rete.terms.acceptance import Acceptance
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE

TAKEN, REFUSED, TIME = "<http://e/taken>", "<http://e/refused>", "<http://e/at>"
XSD = "http://www.w3.org/2001/XMLSchema#"
SECONDS = {  # of the objects that tell a time
    f'"1970-01-01T00:00:01Z"^^<{XSD}dateTime>': 1, f'"2"^^<{XSD}integer>': 2, f'"3.5"^^<{XSD}decimal>': 3.5,
    f'"-1.0E0"^^<{XSD}double>': -1,
}  # fmt: skip
NO_TIMES = ['"1"', "<http://e/o>", f'"soon"^^<{XSD}date>', f'"INF"^^<{XSD}double>', f'"NaN"^^<{XSD}float>']


def statements(graphs: Sequence[str]) -> st.SearchStrategy[Statement]:
    return st.builds(
        Statement,
        st.sampled_from(["<http://e/s>", "<http://e/t>", "<http://e/\\u00e9>", "_:b"]),
        st.sampled_from([TAKEN, TAKEN, REFUSED, TIME]),
        st.sampled_from([*SECONDS, *NO_TIMES]),
        st.sampled_from(graphs),
    )


lines = st.lists(statements([""]), min_size=1, max_size=60)
quads = st.lists(statements(["", "<http://e/g>", "_:h"]), min_size=1, max_size=60)


class Dribble(BytesIO):
    """A file that gives a few bytes at a time, so that blocks end anywhere."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self._most = most

    def readinto1(self, room: Any) -> int:
        return super().readinto(room[: self._most])


def rows_of(reader: Reader, chunk_rows: int, cut: int | None = None) -> tuple[list[Any], Reader]:
    """Return the object, time and event of rows; behind the cut of a chunk, another reader goes on."""
    terms = Terms(seed=1)
    taken = terms.intern(TAKEN.encode())
    accepted = np.zeros(taken + 1, np.uint8)
    accepted[taken] = 1
    found: list[Any] = []

    def chunks(of: Reader, **more: Any) -> list[Any]:
        acceptance = Acceptance(0, accepted, np.zeros(1, np.uint8))
        return list(of.chunks(terms, lambda: acceptance, chunk_rows=chunk_rows, clock=lambda: 0, **more))

    def told(of: list[Any]) -> list[Any]:
        rows = [row for chunk in of for row in chunk.rows.tolist()]
        assert all(row[PREDICATE] == taken for row in rows)
        return [(terms.text(row[OBJECT]).decode(), row[END], -row[EVENT]) for row in rows]

    all_ = chunks(reader, scope=7)
    if cut is None or not all_:
        return told(all_), reader
    cut %= len(all_)
    position = Position(
        reader.name, all_[cut].scanned, 7, terms, all_[cut].times, untimed=tuple(reader.counters.first_untimed)
    )
    found = told(all_[: cut + 1])
    again = reader.at(position)
    return found + told(chunks(again)), again


def expected_runs(document: list[Statement], by: str | int) -> list[int]:
    """Return the number of each statement's event, by its subject or by count."""
    numbers: list[int] = []
    for place, each in enumerate(document):
        last = document[place - 1] if place else None
        begins = place % by == 0 if isinstance(by, int) else last is None or last.subject != each.subject
        numbers.append((numbers[-1] if numbers else 0) + begins)
    return numbers


def timed_runs(document: list[Statement], runs: list[int]) -> dict[int, float]:
    """Return the time of each run that a statement of it tells; the first one counts."""
    times: dict[int, float] = {}
    for each, run in zip(document, runs, strict=True):
        if each.predicate == TIME and each.object in SECONDS:
            times.setdefault(run, SECONDS[each.object])
    return times


def as_partition(events: list[int]) -> list[int]:
    """Number events by their first appearance."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(event, len(numbers)) for event in events]


def told_by_loop(document: list[Statement], by: str | int, timed: bool) -> list[tuple[str, int, int]]:
    """Return the objects of the statements taken, in the order of the document, their times and events."""
    runs = expected_runs(document, "subject" if by == "time" else by)
    times = timed_runs(document, runs) if timed else {}
    first = {run: place for place, run in reversed(list(enumerate(runs)))}
    found = []
    for place, (each, run) in enumerate(zip(document, runs, strict=True)):
        if each.predicate != TAKEN or (timed and run not in times):
            continue
        time = int(times[run] * 1e6) if timed else (place if by == "time" else first[run]) * 1_000_000
        found.append((each.object, time, time if by == "time" else run))
    return found


@settings(max_examples=many(300), deadline=None)
@given(
    quads,
    st.sampled_from(["subject", 1, 2, 3, 7, "time"]),
    st.booleans(),
    st.sampled_from([1, 3, 1000]),
    st.integers(1, 90),
    st.one_of(st.none(), st.integers(0, 30)),
    st.sampled_from(["nt", "nq"]),
)
def test_events_are_what_a_loop_makes_of_the_document(
    document: list[Statement], by: Any, timed: bool, chunk_rows: int, piece: int, cut: int | None, format: str
) -> None:
    if by == "time":  # graphs keep their meaning there: see below
        format = "nt"
    if format == "nt":
        document = [Statement(each.subject, each.predicate, each.object, "") for each in document]
    data = "".join(map(str, document)).encode()
    times: dict[str, Any] = {"time_property": "http://e/at"} if timed else {"rate": 1}
    reader = read(Dribble(data, piece), name=f"d.{format}", event=by, **times)
    found, last = rows_of(reader, chunk_rows, cut)
    wanted = told_by_loop(document, by, timed)
    if by == "time":  # rows wait for their time, so an event's rows may come behind another's
        found, wanted = sorted(found), sorted(wanted)
    assert [row[0] for row in found] == [row[0] for row in wanted]
    if timed or by != "subject":
        assert [row[1] for row in found] == [row[1] for row in wanted]
    else:  # a subject that no statement before was taken of may begin with the first one that is
        assert all(row[1] >= other[1] for row, other in zip(found, wanted, strict=True))
        assert len({row[1:] for row in found}) == len({row[2] for row in found})
    assert as_partition([row[2] for row in found]) == as_partition([row[2] for row in wanted])
    taken = sum(each.predicate == TAKEN for each in document)
    assert last.counters.untimed == taken - len(wanted)


@settings(max_examples=many(60), deadline=None)
@given(quads, st.sampled_from([1, 3, 1000]), st.integers(1, 90))
def test_by_time_the_graphs_of_an_instant_are_one_event(document: list[Statement], chunk_rows: int, piece: int) -> None:
    data = "".join(map(str, document)).encode()
    graphs, _ = rows_of(read(data, name="d.nq", time_property="http://e/at"), chunk_rows)
    pieces = (data[at : at + piece] for at in range(0, len(data), piece))
    instants, _ = rows_of(read(pieces, name="d.nq", time_property="http://e/at", event="time"), chunk_rows)
    assert [row[:2] for row in instants] == [row[:2] for row in graphs]
    assert as_partition([row[2] for row in instants]) == as_partition([row[1] for row in graphs])


TRIG = b"""@prefix : <http://e/> .
:g { :s :taken 1, 2 ; :refused 3 . :t :taken 4 } :g :at 5 . :h { :s :taken 6 } :h :at 7 ."""
JSON = b"""[{"@id": "http://e/g", "http://e/at": 5, "@graph": [
    {"@id": "http://e/s", "http://e/taken": [1, 2], "http://e/refused": 3},
    {"@id": "http://e/t", "http://e/taken": 4}]},
    {"@id": "http://e/h", "http://e/at": 7, "@graph": [{"@id": "http://e/s", "http://e/taken": 6}]}]"""
NQ = "".join(
    f"<http://e/{s}> <http://e/{p}> \"{o}\"^^<{XSD}integer> {g} .\n"
    for s, p, o, g in [
        ("s", "taken", 1, "<http://e/g>"), ("s", "taken", 2, "<http://e/g>"), ("s", "refused", 3, "<http://e/g>"),
        ("t", "taken", 4, "<http://e/g>"), ("g", "at", 5, ""), ("s", "taken", 6, "<http://e/h>"), ("h", "at", 7, ""),
    ]
).encode()  # fmt: skip


@pytest.mark.parametrize(("format", "document"), [("trig", TRIG), ("jsonld", JSON), ("nq", NQ)])
def test_a_named_graph_is_an_event_in_every_format_that_has_graphs(format: str, document: bytes) -> None:
    rows, _ = rows_of(read(document, format=format, time_property="http://e/at"), 1000)
    seen = [(text.split('"')[1], time // 1_000_000, event) for text, time, event in rows]
    first, second = seen[0][2], seen[-1][2]
    assert first != second
    assert sorted(seen) == [("1", 5, first), ("2", 5, first), ("4", 5, first), ("6", 7, second)]


def test_an_event_of_the_published_form_tells_its_time_in_its_last_statement() -> None:
    shares = "".join(
        f'<http://e/company#eBay> <http://e/price> "{price}"^^<{XSD}double> .\n'
        f'<http://e/company#eBay> <http://e/volume> "{price + 50}"^^<{XSD}double> .\n'
        f'<http://e/company#eBay> <http://e/occursat> "{10 + n}"^^<{XSD}integer> .\n'
        for n, price in enumerate([14.0, 12.0, 15.0])
    )
    reader = read(shares.encode(), name="d.nt", event=3, time_property="http://e/occursat")
    rows = np.concatenate([chunk.rows for chunk in reader.chunks(Terms(seed=1))])
    assert rows[:, END].tolist() == [10_000_000] * 3 + [11_000_000] * 3 + [12_000_000] * 3
    assert as_partition(rows[:, EVENT].tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"event": 0}, "cannot be 0"),
        ({"event": "object"}, "cannot be 'object'"),
        ({"event": True}, "cannot be True"),
        ({"event": "time"}, "nothing tells their time"),
        ({"event": "time", "arrival": True}, "nothing tells their time"),
        ({"time_property": "http://e/at"}, "belongs to a named graph"),
    ],
)
def test_what_makes_no_event_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read("d.nt", **options)


def test_a_position_of_events_by_time_is_refused_by_another_reader() -> None:
    reader = read(b'<a:s> <a:p> "1" .\n', name="d.nt", rate=1)
    (chunk,) = reader.chunks(Terms(seed=1))
    other = read(b"", name="d.nt", rate=1, event="time").at(Position("d.nt", chunk.scanned, 7, Terms(seed=1)))
    with pytest.raises(UsageError, match="in another way"):
        list(other.chunks(Terms(seed=1)))


def test_a_graph_of_rdflib_is_pushed_as_one_event() -> None:
    engine = rw.Engine()
    engine.register("PREFIX : <http://e/> SELECT ?a ?b WHERE { ?a :price ?p . ?a :volume ?b }")
    graph = Graph()
    graph.add((URIRef("http://e/x"), URIRef("http://e/price"), Literal(5)))
    graph.add((URIRef("http://e/x"), URIRef("http://e/volume"), Literal(7)))
    (match,) = engine.push(graph, time=3)
    assert (match["b"], match.start, match.end) == (Literal(7), 3, 3)
    before = engine.matcher.events
    engine.push(graph, time=4)
    assert engine.matcher.events == before + 1


def test_a_dataset_is_no_event() -> None:
    dataset = Dataset()
    dataset.graph(URIRef("http://e/g")).add((URIRef("http://e/x"), URIRef("http://e/price"), Literal(5)))
    with pytest.raises(UsageError, match="each graph of a dataset by itself"):
        rw.Engine().push(dataset, time=1)


def test_an_event_that_comes_late_stays_one_event() -> None:
    lines = "".join(
        f'<http://e/{s}> <http://e/taken> "{n}" .\n<http://e/{s}> <http://e/at> "{t}"^^<{XSD}integer> .\n'
        for n, (s, t) in enumerate([("a", 5), ("b", 7), ("c", 6), ("d", 7), ("e", 20), ("f", 3)])
    )
    engine = rw.Engine(lateness="5s")
    pairs = "SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 0s] { ?x <http://e/taken> ?v . ?y <http://e/taken> ?w }"
    with pytest.warns(CartesianWarning):
        engine.register(pairs, allow_cartesian=True)
    reader = rw.read(lines.encode(), name="d.nt", event="time", time_property="http://e/at")
    found = sorted((str(m["x"])[-1], str(m["y"])[-1]) for m in engine.run(reader))
    assert found == [("a", "a"), ("b", "b"), ("b", "d"), ("c", "c"), ("d", "b"), ("d", "d"), ("e", "e")]
    assert engine.stats()["late"] == 1  # the triple of f that a query can use
