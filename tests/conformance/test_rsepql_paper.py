"""The examples of the RSEP-QL paper, by their numbers, and its Table 1.

The paper's stream: (G1, 2) … (G5, 10).  Where it contradicts its definitions, the definitions hold: example 7 has G1
in a window of 5 at 8, which example 2 leaves out; the last interval of example 8 is [4, 6].
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from cases.many import many

import retewave as rw

E = "http://e/"
Item = tuple[float, tuple[str, ...]]
G = ("a1 p b1",), ("a2 p b2",), ("b1 q c1", "b2 q c2"), ("b2 q c2",), ("b1 q c1", "a3 p b3")
STREAM: list[Item] = [(2.0 * number, graph) for number, graph in enumerate(G, 1)]
Rows = Counter[tuple[str, ...]]
EVENTS = "EVENT ON :w1 { ?x :p ?y } AS E1 EVENT ON :w2 { ?y :q ?z } AS E2"
DATASET = "FROM NAMED :S WIN [LND 1] AS :w1 FROM NAMED :S WIN [RANGE 5] AS :w2"

pytestmark = pytest.mark.filterwarnings("ignore")


def told(text: str, items: list[Item], *, language: str | None = None) -> dict[float, Rows]:
    """Return the rows of each time; of a view, also of reports without rows."""
    engine = rw.Engine()
    query = engine.register(f"PREFIX : <{E}> {text}", language=language)
    found: dict[float, Rows] = {}
    matches = []
    for time, graph in items:
        triples = [tuple(E + name for name in triple.split()) for triple in graph]
        matches += engine.push(triples, time=float(time), stream=E + "S")
    matches += engine.flush()
    if query.is_view:
        found = {report.time: Counter() for report in engine.reports(query)}  # type: ignore[misc]
    for match in matches:
        row = tuple(str(match[name]).removeprefix(E) for name in query.variables)
        found.setdefault(float(match.end), Counter())[row] += 1  # type: ignore[arg-type]
    return found


def at(time: float, text: str) -> list[tuple[str, ...]]:
    """Return the rows of one report over the paper's stream."""
    return sorted(told(text, STREAM)[time].elements())


def evaluated(time: int, window: str) -> list[tuple[str, ...]]:
    """Return the triples in a window of the paper's stream at a time."""
    text = "SELECT ?s ?o FROM NAMED :S WIN [{}] AS :w REPORT PERIODIC {}s WHERE {{ WINDOW :w {{ ?s ?p ?o }} }}"
    items = [*STREAM, (100.0, ("x r y",))]
    return sorted(told(text.format(window, time), items)[time].elements())


def test_example_1_a_stream_is_graphs_with_times() -> None:
    text = (
        "SELECT (COUNT(*) AS ?n) FROM NAMED :S WIN [ELEMENTS 1] AS :w REPORT CONTENT CHANGE { WINDOW :w { ?s ?p ?o } }"
    )
    assert {time: [*rows] for time, rows in told(text, STREAM).items()} == {
        2.0: [("1",)],
        4.0: [("1",)],
        6.0: [("2",)],
        8.0: [("1",)],
        10.0: [("2",)],
    }


def test_example_2_windows() -> None:
    assert evaluated(8, "LND 1") == [("a1", "b1"), ("a2", "b2"), ("b1", "c1"), ("b2", "c2")]
    assert evaluated(8, "RANGE 5 STEP 1") == [("a2", "b2"), ("b1", "c1"), ("b2", "c2")]
    assert evaluated(8, "FROM 0 TO 5] OF [LND 1") == [("a1", "b1"), ("a2", "b2")]


def test_examples_3_and_4_the_query_over_two_windows() -> None:
    text = f"SELECT ?x ?z {DATASET.replace('LND 1', 'LND 9')} {EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}"
    assert not any(told(text, STREAM).values())  # nothing of the landmark at 9 is followed
    later: list[Item] = [*STREAM, (12, ("b3 q c3",))]
    assert told(text, later)[12] == Counter([("a3", "c3")])


def test_example_5_the_union_of_what_is_in_a_window() -> None:
    assert evaluated(12, "RANGE 5 STEP 1") == [("a3", "b3"), ("b1", "c1"), ("b2", "c2")]


def test_example_6_a_window_graph_pattern() -> None:
    text = "SELECT ?x ?y FROM NAMED :S WIN [RANGE 5 STEP 1] AS :w2 WHERE { WINDOW :w2 { ?x :p ?y } }"
    assert told(text, [*STREAM, (13, ("x r y",))])[12] == Counter([("a3", "b3")])


def test_example_7_an_event_pattern_looks_at_each_event() -> None:
    text = f"SELECT ?y ?z {DATASET} {EVENTS} WHERE {{ MATCH {{ E2 }} }}"
    assert at(8, text) == [("b1", "c1"), ("b2", "c2"), ("b2", "c2")]  # at 6, at 6 and at 8
    both = "SELECT ?y FROM NAMED :S WIN [LND 1] AS :w EVENT ON :w { ?x :p ?y . ?y :q ?z } AS E { MATCH { E } }"
    assert at(8, both) == []  # no event has both triples; the window has


@pytest.mark.parametrize("number", [8, 9])
def test_examples_8_and_9_seq_and_the_bag_of_match(number: int) -> None:
    text = f"SELECT ?x ?y ?z {DATASET} {EVENTS} WHERE {{ MATCH {{ E1 SEQ E2 }} }}"
    one, two = ("a1", "b1", "c1"), ("a2", "b2", "c2")
    assert at(8, text) == [one, two, two]  # [2, 6], and [4, 6] beside [4, 8]


IDENTITY = "FROM NAMED :S WIN [ALL] AS :w1 FROM NAMED :S WIN [ALL] AS :w2"
CHOSEN = {
    "naive": [("a2", "b2", "c2")],
    "chronological": [("a1", "b1", "c1"), ("a2", "b2", "c2")],
    "recent": [("a1", "b1", "c1"), ("a2", "b2", "c2")],
}


@pytest.mark.parametrize("policy", CHOSEN)
def test_example_10_policies_choose(policy: str) -> None:
    frame = f"{IDENTITY} REPORT PERIODIC 8s {EVENTS} POLICY {policy} KEEP"
    text = f"SELECT ?x ?y ?z {frame} WHERE {{ MATCH {{ E1 SEQ E2 }} }}"
    assert at(8, text) == CHOSEN[policy]


@pytest.mark.parametrize(("policy", "at_ten"), [("unrestricted", 4), ("chronological", 0), ("recent", 0)])
def test_example_11_what_is_used_up_is_gone_at_the_next_evaluation(policy: str, at_ten: int) -> None:
    """The first four graphs come between 7 and 8, so that the evaluations are those at 8 and at 10."""
    items = [(7.2, G[0]), (7.4, G[1]), (7.6, G[2]), (8.0, G[3]), (10.0, G[4])]
    frame = f"{IDENTITY} REPORT PERIODIC 2s {EVENTS} POLICY {policy}"
    found = told(f"SELECT ?x ?y ?z {frame} WHERE {{ MATCH {{ E1 SEQ E2 }} }}", items)
    assert sorted(found) == [8.0, 10.0]
    assert sum(found[8.0].values()) == (3 if policy == "unrestricted" else 2)
    assert sum(found[10.0].values()) == at_ten


def test_section_2_the_timestamps_of_c_sparql() -> None:
    frame = "FROM NAMED :S WIN [RANGE 7 STEP 1] AS :w1 FROM NAMED :S WIN [RANGE 7 STEP 1] AS :w2"
    found = told(f"SELECT ?x ?z {frame} {EVENTS} POLICY naive WHERE {{ MATCH {{ E1 SEQ E2 }} }}", STREAM)
    assert found[8.0] == Counter([("a2", "c2")]) and not found[10.0]


def some_stream(seed: int) -> list[Item]:
    """Return random graphs of links by p and q."""
    r = random.Random(seed)
    times = sorted(r.sample(range(30), r.randint(2, 12)))
    link = "{}{} {} {}{}".format
    return [
        (
            time,
            tuple(
                link("ab", r.randint(1, 2), "p", "b", r.randint(1, 2))
                if r.random() < 0.5
                else link("b", r.randint(1, 2), "q", "c", r.randint(1, 2))
                for _ in range(r.randint(1, 3))
            ),
        )
        for time in times
    ]


@pytest.mark.parametrize("policy", ["unrestricted", "chronological", "recent"])
def test_table_1_rows_1_to_3_a_landmark_window_gives_what_the_detectors_of_ep_sparql_give(policy: str) -> None:
    for seed in range(many(40)):
        items = some_stream(seed)
        chosen = "" if policy == "unrestricted" else f"POLICY {policy}"
        head = "REGISTER ISTREAM :o AS SELECT" if policy == "unrestricted" else "SELECT"
        frame = (
            f"FROM NAMED :S WIN [LND 0] AS :w1 FROM NAMED :S WIN [LND 0] AS :w2 REPORT CONTENT CHANGE {EVENTS} {chosen}"
        )
        view = told(f"{head} ?x ?y ?z {frame} WHERE {{ MATCH {{ E1 SEQ E2 }} }}", items)
        text = f"SELECT ?x ?y ?z FROM STREAM :S {chosen} WHERE {{ {{ ?x :p ?y }} SEQ {{ ?y :q ?z }} }}"
        detector = told(text, items, language="epsparql")
        assert {time: rows for time, rows in view.items() if rows} == detector, (seed, items)


def test_table_1_row_5_a_window_of_time_gives_what_those_of_c_sparql_give() -> None:
    for seed in range(many(40)):
        items, r = some_stream(seed), random.Random(seed)
        window = f"[RANGE {r.randint(1, 9)}s STEP {r.randint(1, 4)}s]"
        group = "{ ?x :p ?y . ?y :q ?z }"
        view = told(f"SELECT ?x ?z FROM NAMED :S WIN {window} AS :w WHERE {{ WINDOW :w {group} }}", items)
        assert view == told(f"REGISTER QUERY q AS SELECT ?x ?z FROM STREAM :S {window} WHERE {group}", items)
