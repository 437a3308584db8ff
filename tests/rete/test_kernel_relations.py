"""The kernel on hand-made networks: relations between any rows of one join, and keys with the event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from cases.many import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.allen import RELATIONS
from naive.detectors import detected
from naive.streams import Item

from retewave.compiler.algebra import Query, TriplePattern, Triples, Variable
from retewave.rete.memories import Options
from retewave.rete.network.records import Alpha, Edge, Instance, Network, Node, Relation, Route, Slot, Terminal
from retewave.rete.runtime import Runtime
from retewave.rete.terms.kinds import IRI, Values
from retewave.rete.words import layout
from retewave.rete.words.layout import OF_END, OF_START
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, ROW_WIDTH, START, SUBJECT
from retewave.windows.intervals import UNBOUNDED
from retewave.windows.relations import NAMES, bounds

PREDICATES = (1, 2, 3)
NUMBERS = np.zeros(128, np.int64)
VALUES = Values(
    np.full(64, IRI, np.uint8), np.zeros(64), np.ones(64, np.uint8), NUMBERS, NUMBERS, np.zeros(1, np.uint8)
)
AS_SUBJECT, AS_OBJECT, AS_EVENT = 0, 2, 3  # columns of an α's tuple


def network_of(window: int, relations: tuple[Relation, ...], *, by_event: bool) -> Network:
    """Return `?x <1> ?a . ?x <2> ?b . ?x <3> ?c` as one node under ?x, or under ?x and the event."""
    keys = (AS_SUBJECT, AS_EVENT) if by_event else (AS_SUBJECT,)
    network = Network(known=frozenset(PREDICATES), intervals=True)
    for place, predicate in enumerate(PREDICATES):
        network.keys[0, predicate, 0] = [Route(place, layout.FROM_SUBJECT, predicate, layout.FROM_OBJECT)]
        network.alphas.append(Alpha(edges=[Edge(layout.TO_SLOT, place, keys, (AS_OBJECT,))]))
        network.slots.append(Slot(0, place, 1))
    out = [(-1, 0), (0, 0), (1, 0), (2, 0)]
    network.nodes.append(Node([0, 1, 2], len(keys), window, out, [Edge(layout.TO_TERMINAL, 0)], relations))
    network.terminals.append(Terminal(instances=[Instance(0, 0, window, (0, 1, 2, 3))]))
    return network


def relations_of(left: int, code: int, right: int) -> Iterator[Relation]:
    """Yield what an Allen relation of the rows of two slots says of their times."""
    slots, times = (left, right), (OF_START, OF_END)
    for (one, end), gap, (other, other_end) in bounds(code):
        yield Relation((slots[one], times[end]), gap, (slots[other], times[other_end]))


def text(number: int) -> bytes:
    return b"<%d>" % number


@st.composite
def streams(draw: st.DrawFn) -> np.ndarray:
    """Draw input rows: intervals in the order of their ends, some of them in events."""
    count = draw(st.integers(3, 12))
    rows = np.zeros((count, ROW_WIDTH), dtype=np.int64)
    end = 0
    for row in rows:
        end += draw(st.integers(0, 2))
        row[SUBJECT], row[OBJECT] = draw(st.integers(10, 11)), draw(st.integers(20, 22))
        row[PREDICATE] = draw(st.sampled_from(PREDICATES))
        row[START], row[END] = end - draw(st.integers(0, 3)), end
        row[EVENT] = -draw(st.integers(1, 3))
    return rows


def found_by_kernel(network: Network, rows: np.ndarray) -> Counter:
    runtime = Runtime(network, Options(seed=5), 1, np.zeros((1, 1), np.uint8))
    found: Counter = Counter()
    for arrival in range(len(rows)):
        for out in runtime.pour(rows[arrival : arrival + 1], VALUES):
            for row in out.tolist():
                found[
                    row[layout.O_START], row[layout.O_END], tuple(row[layout.O_COLUMNS : layout.O_COLUMNS + 4]), arrival
                ] += 1
    return found


X, EVENT_OF = Variable("x"), Variable("g")
OBJECTS = tuple(Variable(name) for name in "abc")
Related = tuple[tuple[int, int], int]  # the places of two patterns, and how their triples are related


def found_naively(rows: np.ndarray, window: int, related: list[Related], *, by_event: bool) -> Counter:
    event = EVENT_OF if by_event else None
    patterns = (TriplePattern(X, text(p), o, event=event) for p, o in zip(PREDICATES, OBJECTS, strict=True))
    names = tuple(variable.name for variable in (X, *OBJECTS))
    query = Query("SELECT", Triples(tuple(patterns)), names, window=None if window == UNBOUNDED else window)
    stream = [
        Item((text(row[SUBJECT]), text(row[PREDICATE]), text(row[OBJECT])), row[START], row[END], None, -row[EVENT])
        for row in rows.tolist()
    ]
    found: Counter = Counter()
    for token in detected(query, stream):
        if all(RELATIONS[code](token.facts[left], token.facts[right]) for (left, right), code in related):
            ids = tuple(int(token.bindings[variable][1:-1]) for variable in (X, *OBJECTS))
            found[token.start, token.end, ids, max(fact.arrival for fact in token.facts)] += 1
    return found


@settings(max_examples=many(500), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    streams(),
    st.lists(st.tuples(st.sampled_from([(0, 1), (1, 0), (1, 2), (0, 2)]), st.integers(1, len(NAMES) - 1)), max_size=2),
    st.sampled_from([UNBOUNDED, 0, 2, 4]),
    st.booleans(),
)
def test_a_join_checks_relations_window_and_event_as_the_naive_meaning_does(
    rows: np.ndarray, related: list[Related], window: int, by_event: bool
) -> None:
    of_node = tuple(each for (left, right), code in related for each in relations_of(left, code, right))
    kernel = found_by_kernel(network_of(window, of_node, by_event=by_event), rows)
    assert kernel == found_naively(rows, window, related, by_event=by_event)
