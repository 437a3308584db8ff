"""Statements of one graph that follow each other are one event: random documents, against a loop in Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from cases.lines import Statement
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.io.lines.job import KEEP_GRAPHS, ONLY_FOR_TIME, TOLD
from retewave.io.lines.lines import LineReading, Wanted
from retewave.io.reading.reader import read
from retewave.io.reading.sources import open_bytes
from retewave.rete.terms.acceptance import Acceptance
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, START, STREAM, SUBJECT

TAKEN, REFUSED, TIME = "<http://e/taken>", "<http://e/refused>", "<http://e/at>"
DATE = "http://www.w3.org/2001/XMLSchema#dateTime"
NAMES = ["<http://e/g1>", "<http://e/g2>", "<http://e/\\u00e9>", "_:b", "<http://e/s>"]  # two of them are rewritten
OBJECTS = ['"1"', "<http://e/o>", f'"2024-01-01T00:00:01Z"^^<{DATE}>', f'"100000-01-01T00:00:00Z"^^<{DATE}>']
MICROS = {OBJECTS[2]: 1_704_067_201_000_000}  # of those that are told as times


statements = st.builds(
    Statement,
    st.sampled_from(["<http://e/s>", "<http://e/\\u00e9>", "_:b", "<http://e/g1>"]),
    st.sampled_from([TAKEN, TAKEN, REFUSED, TIME]),
    st.sampled_from(OBJECTS),
    st.sampled_from(["", "", *NAMES]),
)


told = st.builds(  # as events are often written: the time, then the graph
    lambda name, subject: [Statement(name, TIME, OBJECTS[2], ""), Statement(subject, TAKEN, OBJECTS[1], name)],
    st.sampled_from(["<http://e/g1>", "<http://e/s>", "_:b", "<http://e/\\u00e9>"]),
    st.sampled_from(["<http://e/g1>", "<http://e/s>"]),
)
documents = st.lists(st.one_of(st.lists(statements, min_size=1, max_size=3), told), min_size=1, max_size=45).map(
    lambda pieces: [each for piece in pieces for each in piece]
)


def scanned(document: list[Statement], terms: Terms, chunk_rows: int) -> np.ndarray:
    """Return the raw rows of a document of which one predicate is accepted, and one only tells times."""
    taken, time = (terms.intern(text.encode()) for text in (TAKEN, TIME))
    accepted = np.zeros(taken + 1, np.uint8)
    accepted[taken] = 1
    wanted = Wanted("test", KEEP_GRAPHS, 7, 0, 0, time, raising=True, reports=1, chunk_rows=chunk_rows)
    opened = open_bytes("".join(map(str, document)).encode(), compressed=False)
    reading = LineReading(opened, terms, wanted)
    chunks = reading.chunks(lambda: Acceptance(0, accepted, np.zeros(1, np.uint8)))
    return np.concatenate([chunk.copy() for chunk in chunks])


def text_of(term: str) -> bytes:
    """Return the text that the dictionary has of a term."""
    return term.replace("_:b", "_:d7.b").replace("\\u00e9", "é").encode()


def runs(document: list[Statement]) -> list[int]:
    """Return the number of each statement's run: of those before it that follow each other in its graph."""
    found = [0]
    for one, other in pairwise(document):
        found.append(found[-1] + (one.graph != other.graph))
    return found


def apart(rows: np.ndarray, kept: list[tuple[int, Statement]], terms: Terms) -> np.ndarray:
    """Return the rows with a row of its own for each that has told its time to the row of its graph behind it."""
    made: list[list[int]] = []
    for row in rows.tolist():
        if row[START] < 0:
            (place, told), (_, behind) = kept[len(made) : len(made) + 2]
            assert (told.predicate, told.graph, text_of(told.subject)) == (TIME, "", terms.text(row[END]))
            assert behind.predicate == TAKEN
            made.append([row[END], terms.find(TIME.encode()), row[START], place, 0, ONLY_FOR_TIME, 0])
        made.append(row)
    return np.array(made, np.int64).reshape(-1, rows.shape[1])


@settings(max_examples=many(300), deadline=None)
@given(documents, st.sampled_from([1, 3, 1000]))
def test_statements_that_follow_each_other_in_a_graph_are_one_event(document: list[Statement], chunk_rows: int) -> None:
    terms = Terms(seed=1)
    rows = scanned(document, terms, chunk_rows)
    kept = [(place, each) for place, each in enumerate(document) if each.predicate != REFUSED]
    assert len(rows) + np.count_nonzero(rows[:, START] < 0) == len(kept)
    rows = apart(rows, kept, terms)
    of_run = runs(document)
    events: dict[int, int] = {}
    starts: dict[int, int] = {}
    for row, (place, each) in zip(rows.tolist(), kept, strict=True):
        assert [terms.text(row[column]) for column in (SUBJECT, PREDICATE)] == [
            text_of(term) for term in (each.subject, each.predicate)
        ]
        assert row[STREAM] == (ONLY_FOR_TIME if each.predicate == TIME else 0)
        if each.predicate == TIME and each.object in MICROS:
            assert row[OBJECT] + TOLD == MICROS[each.object]
        else:
            assert terms.text(row[OBJECT]) == text_of(each.object)
        if not each.graph:
            assert (row[END], row[EVENT], row[START]) == (0, 0, place)
            continue
        assert terms.text(row[END]) == text_of(each.graph)
        if row[START] < 0:  # what the row before has told
            continue
        assert events.setdefault(of_run[place], row[EVENT]) == row[EVENT] < 0
        assert starts.setdefault(of_run[place], row[START]) == row[START] <= place
    numbers = list(events.values())
    assert numbers == sorted(set(numbers), reverse=True)


def test_the_time_right_before_the_first_row_of_its_graph_is_told_by_that_row() -> None:
    document = [
        Statement("<http://e/g1>", TIME, OBJECTS[2], ""),
        Statement("<http://e/s>", TAKEN, OBJECTS[1], "<http://e/g1>"),
        Statement("<http://e/s>", TAKEN, OBJECTS[1], "<http://e/g1>"),
        Statement("<http://e/g1>", TIME, OBJECTS[2], ""),
        Statement("<http://e/s>", TAKEN, OBJECTS[1], "<http://e/g2>"),
    ]
    rows = scanned(document, Terms(seed=1), 1000)
    assert rows[:, STREAM].tolist() == [0, 0, ONLY_FOR_TIME, 0]
    assert (rows[:, START] + TOLD)[:1].tolist() == [MICROS[OBJECTS[2]]]
    assert rows[1:, START].tolist() == [1, 3, 4]


@settings(max_examples=many(300), deadline=None)
@given(documents)
def test_a_time_that_a_row_behind_it_tells_is_the_time_that_it_tells_alone(document: list[Statement]) -> None:
    text = "".join(map(str, document)).encode()

    def read_in(chunk_rows: int) -> tuple[list[tuple[object, ...]], int, list[str]]:
        terms = Terms(seed=1)
        taken = terms.intern(TAKEN.encode())
        accepted = np.zeros(taken + 1, np.uint8)
        accepted[taken] = 1
        reader = read(text, format="nq", time_property=TIME[1:-1])
        accept = Acceptance(0, accepted, np.zeros(1, np.uint8))
        chunks = reader.chunks(terms, lambda: accept, scope=7, chunk_rows=chunk_rows)
        rows = [row for chunk in chunks for row in chunk.rows.tolist()]
        events = {0: 0}  # their numbers in order: what is refused may take numbers, too
        found = [
            (*(terms.text(term) for term in row[:START]), *row[START:EVENT], events.setdefault(row[EVENT], len(events)))
            for row in rows
        ]
        return found, reader.counters.untimed, reader.counters.first_untimed

    assert read_in(1000) == read_in(1)  # one row at a time has no row before it
