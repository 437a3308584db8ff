"""The inspector without its page: the controller, the layout, what memories hold."""

import time
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import networkx
import pytest
from cases.many import many
from cases.temporal import Case, temporal_case
from helpers.inside import network_of
from hypothesis import HealthCheck, given, settings

import retewave as rw
from retewave.engine.registry import CartesianWarning
from retewave.inspector.controller import Controller, Effect
from retewave.inspector.layout import HEIGHT, MOST_NODES, place
from retewave.inspector.reading import counts_by_node, rows_of_memory, waiting_at_probe

QUERY = "PREFIX e: <http://e/> SELECT ?x ?z FROM STREAM <http://e/s> [RANGE 5s] WHERE { ?x e:p ?y . ?y e:q ?z }"
LINES = """<http://e/a> <http://e/p> <http://e/b> .
<http://e/noise> <http://e/noise> <http://e/noise> .
<http://e/b> <http://e/q> "<script>alert(1)</script>" .
<http://e/late> <http://e/p> <http://e/c> .
"""


@pytest.fixture
def controller() -> Iterator[Controller]:
    engine = rw.Engine(stats=True)
    engine.register(QUERY, name="pair")
    made = Controller(engine, [rw.read(LINES.encode(), rate=1, format="nt", stream="http://e/s")])
    yield made
    made.close()


def stepped(controller: Controller) -> Effect:
    step = controller.step()
    assert step is not None
    return step


def wait_for(controller: Controller, state: str) -> None:
    until = time.monotonic() + 20
    while controller.snapshot()["state"] != state and time.monotonic() < until:
        time.sleep(0.01)
    assert controller.snapshot()["state"] == state


def test_nothing_comes_in_before_it_runs(controller: Controller) -> None:
    assert (controller.snapshot()["state"], controller.snapshot()["poured"]) == ("paused", 0)


def test_step_lets_one_triple_in_and_tells_what_it_touched(controller: Controller) -> None:
    step = stepped(controller)
    assert step.triple == ("<http://e/a>", "<http://e/p>", "<http://e/b>")
    assert (step.time, step.stream, step.matches) == ("0.0", "http://e/s", 0)
    stream, alpha, memory = step.touched[:3]
    assert (stream.partition(":")[0], alpha.partition(":")[0]) == ("stream", "alpha")
    assert step.changes[memory]["rows_in"] == 1
    assert controller.snapshot()["nodes"][memory]["live"] == 1
    assert not any(name.startswith("query:") for name in step.touched)


def test_step_that_completes_a_match_touches_the_query(controller: Controller) -> None:
    controller.step()
    step = stepped(controller)  # the noise in between is dropped when it is read
    assert step.matches == 1
    assert "query:pair" in step.touched
    assert controller.matches("pair")["rows"] == [["0.0", "2.0", "e:a", '"<script>alert(1)</script>"']]


def test_step_touches_the_nodes_of_the_schema_that_led_to_the_test() -> None:
    schema = b"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix e: <http://e/> .
    e:low rdfs:subPropertyOf e:mid . e:mid rdfs:subPropertyOf e:p . e:other rdfs:subPropertyOf e:p ."""
    engine = rw.Engine(stats=True, schema=schema)
    engine.register(QUERY)
    controller = Controller(engine, [rw.read(b"<http://e/a> <http://e/low> <http://e/b> .", rate=1, format="nt")])
    schema_nodes = [name for name in stepped(controller).touched if name.startswith("epsilon:")]
    controller.close()
    assert schema_nodes == ["epsilon:? <http://e/low> ?", "epsilon:? <http://e/p> ?"]


def test_step_names_where_a_filter_or_the_window_refused() -> None:
    engine = rw.Engine(stats=True)
    engine.register(
        "PREFIX e: <http://e/> SELECT * FROM STREAM <http://e/s> [RANGE 1s] "
        "WHERE { ?x e:p ?y . ?y e:q ?z FILTER(?z < 3) }"
    )
    lines = b"<http://e/a> <http://e/p> <http://e/b> .\n<http://e/b> <http://e/q> 9 .\n<http://e/b> <http://e/q> 2 .\n"
    controller = Controller(engine, [rw.read(lines, rate=1, format="ttl")])
    refused = [stepped(controller).refused for _ in range(3)]
    controller.close()
    assert refused[0] == ()  # it waits for a partner
    assert [name.partition(":")[0] for name in refused[1]] == ["memory"]
    assert [name.partition(":")[0] for name in refused[2]] == ["memory", "join"]


def test_end_of_the_streams_is_told(controller: Controller) -> None:
    for _ in range(3):
        assert controller.step() is not None
    assert controller.step() is None
    assert controller.snapshot()["state"] == "ended"
    assert controller.snapshot()["triples"] == 4


def test_run_to_the_end_finds_what_the_engine_finds(controller: Controller) -> None:
    controller.run()
    wait_for(controller, "ended")
    snapshot = controller.snapshot()
    assert (snapshot["matches"], snapshot["poured"], snapshot["triples"]) == (1, 3, 4)


def test_pause_stops_a_run_and_run_resumes_it() -> None:
    engine = rw.Engine(stats=True)
    engine.register(QUERY)
    lines = "".join(f"<http://e/{n}> <http://e/p> <http://e/b> .\n" for n in range(500)).encode()
    controller = Controller(engine, [rw.read(lines, rate=1, format="nt")], pace=400)
    controller.run()
    while controller.snapshot()["poured"] == 0:
        time.sleep(0.01)
    controller.pause()
    held = controller.snapshot()["poured"]
    time.sleep(0.2)
    assert controller.snapshot()["poured"] == held < 500
    controller.set_pace(None)
    controller.run()
    wait_for(controller, "ended")
    assert controller.snapshot()["poured"] == 500
    controller.close()


def test_rows_of_a_memory_are_decoded_with_their_intervals_and_paged(controller: Controller) -> None:
    controller.step()
    (memory,) = (name for name, counts in controller.snapshot()["nodes"].items() if counts.get("live"))
    page = controller.memory(int(memory.removeprefix("memory:")))
    assert (page["columns"], page["rows"], page["total"]) == (
        ["start", "end", "?y", "?x"],
        [["0.0", "0.0", "e:b", "e:a"]],
        1,
    )
    assert controller.memory(int(memory.removeprefix("memory:")), offset=50)["rows"] == []


def test_static_rows_of_a_memory_come_last() -> None:
    engine = rw.Engine(stats=True, static=[[("http://e/b", "http://e/q", "http://e/old")]])
    engine.register(QUERY)
    controller = Controller(engine, [rw.read(LINES.encode(), rate=1, format="nt")])
    while controller.step():
        pass
    (page,) = (page for page in map(controller.memory, (0, 1)) if page["columns"][2:] == ["?y", "?z"])
    controller.close()
    assert [row[:2] for row in page["rows"]] == [["2.0", "2.0"], ["static", ""]]
    assert page["rows"][1][2:] == ["e:b", "e:old"]


def test_memory_or_query_that_is_not_there_is_refused(controller: Controller) -> None:
    with pytest.raises(rw.UsageError, match="no memory 99"):
        controller.memory(99)
    with pytest.raises(rw.UsageError, match="no query"):
        controller.matches("nothing")


@pytest.mark.parametrize("pace", [0, -1, float("nan")])
def test_pace_that_is_none_is_refused(controller: Controller, pace: float) -> None:
    with pytest.raises(rw.UsageError, match="a pace is"):
        controller.set_pace(pace)


def test_bound_on_live_rows_fails_the_run_with_its_message() -> None:
    engine = rw.Engine(stats=True, max_live_rows=1)
    engine.register("SELECT * { ?x <http://e/p> ?y . ?y <http://e/q> ?z }")
    controller = Controller(engine, [rw.read(LINES.encode(), rate=1, format="nt")])
    controller.run()
    wait_for(controller, "failed")
    assert "live rows" in controller.snapshot()["error"]
    controller.close()


def test_stream_that_cannot_be_read_fails_with_its_message(tmp_path: Path) -> None:
    engine = rw.Engine(stats=True)
    engine.register(QUERY)
    controller = Controller(engine, [rw.read(tmp_path / "nothing.nt", rate=1)])
    assert controller.step() is None
    assert controller.snapshot()["state"] == "failed"
    assert "nothing.nt" in controller.snapshot()["error"]
    controller.close()


def test_counts_of_the_steps_add_up_to_the_engines(controller: Controller) -> None:
    rows_in = 0
    while (step := controller.step()) is not None:
        rows_in += sum(changed.get("rows_in", 0) for changed in step.changes.values())
    assert rows_in == sum(counts.get("rows_in", 0) for counts in controller.snapshot()["nodes"].values()) == 3


def test_nodes_of_one_layer_do_not_overlap() -> None:
    engine = rw.Engine()
    for n in range(8):
        engine.register(f"SELECT * {{ ?x <urn:p{n}> ?y . ?y <urn:q{n % 3}> ?z . ?z <urn:r> ?x }}")
    placed = place(engine.graph())
    assert len(placed["nodes"]) == len(engine.graph()) >= 50
    columns: dict[float, list[float]] = {}
    for node in placed["nodes"]:
        columns.setdefault(node["x"], []).append(node["y"])
    for ys in columns.values():
        ordered = sorted(ys)
        assert all(later - earlier >= HEIGHT for earlier, later in pairwise(ordered))
    x_of = {node["name"]: node["x"] for node in placed["nodes"]}
    assert all(x_of[link["source"]] < x_of[link["target"]] for link in placed["links"])


def test_schema_too_large_for_the_page_is_left_out_and_said_to_be() -> None:
    graph = networkx.MultiDiGraph()
    for n in range(MOST_NODES):
        graph.add_node(f"epsilon:{n}", kind="class", label="", text="", layer=1)
    graph.add_node("alpha:0", kind="alpha", label="", text="", layer=3)
    placed = place(graph)
    assert ([node["name"] for node in placed["nodes"]], placed["left_out"]) == (["alpha:0"], MOST_NODES)


def test_rows_of_joins_show_no_end_where_they_keep_none() -> None:
    engine = rw.Engine(seed=1)
    chain = "{ ?x <http://e/p> ?y . ?y <http://e/q> ?z . ?z <http://e/r> ?w . ?w <http://e/t> ?v }"
    engine.register(f"SELECT * FROM STREAM <http://e/s> [RANGE 20s] {chain}")
    engine.push(("<http://e/a>", "<http://e/p>", "<http://e/b>"), time=1.0)
    engine.push(("<http://e/b>", "<http://e/q>", "<http://e/c>"), time=4.0)
    slots = range(len(network_of(engine).lowered.slots))
    shown = [[*page["rows"][0][:2], page["note"]] for slot in slots if (page := rows_of_memory(engine, slot))["rows"]]
    assert shown == [
        ["1.0", "1.0", ""],
        ["4.0", "4.0", ""],
        ["1.0", "–", "; rows of joins keep no end while all items are instants"],
    ]
    engine.push(("<http://e/u>", "<http://e/p>", "<http://e/v>"), time=(5.0, 6.0))
    ended = [page["rows"][0][:2] for slot in slots if (page := rows_of_memory(engine, slot))["rows"]]
    assert ["1.0", "4.0"] in ended


# Operators of time

NEVER = "PREFIX e: <http://e/> SELECT * { { ?x e:a ?a . ?x e:c ?c } SEQ NOT { ?x e:b ?b } WITHIN 3s }"
ASKED = """<http://e/x> <http://e/a> "1" .
<http://e/x> <http://e/c> "2" .
<http://e/y> <http://e/a> "1" .
<http://e/noise> <http://e/noise> "0" .
<http://e/noise> <http://e/noise> "0" .
<http://e/y> <http://e/c> "1" .
<http://e/y> <http://e/b> "1" .
"""


def timed(query: str, lines: str = ASKED) -> Controller:
    engine = rw.Engine(stats=True)
    engine.register(query, name="q")
    return Controller(engine, [rw.read(lines.encode(), rate=1, format="nt")])


def test_deadline_that_comes_before_the_next_triple_is_a_step_of_its_own() -> None:
    controller = timed(NEVER)
    said = []
    while (step := controller.step()) is not None:
        said.append((step.what, step.time, step.matches))
    assert said == [
        ("triple", "0.0", 0), ("triple", "1.0", 0), ("triple", "2.0", 0),
        ("deadline", "3.0", 1), ("triple", "5.0", 0), ("deadline", "5.0", 1), ("triple", "6.0", 0),
    ]  # fmt: skip
    assert controller.snapshot()["state"] == "ended"
    assert controller.matches("q")["total"] == 2
    controller.close()


def test_deadline_step_touches_the_probe_and_what_it_barred_is_refused_there() -> None:
    lines = ASKED.replace('<http://e/noise> <http://e/noise> "0"', '<http://e/x> <http://e/b> "0"')
    controller = timed(NEVER, lines)
    steps = [stepped(controller) for _ in range(5)]
    assert (steps[3].what, steps[3].triple, steps[3].refused) == ("triple", steps[3].triple, ())
    assert (steps[4].what, steps[4].touched, steps[4].refused) == ("deadline", ("probe:0",), ("probe:0",))
    assert steps[4].changes["probe:0"] == {"waiting": -1, "decided": 1}
    controller.close()


def test_close_of_an_instant_is_a_step_of_its_own_and_so_are_those_at_the_end() -> None:
    controller = timed(
        "PREFIX e: <http://e/> SELECT * { ?x e:a ?a OPTIONAL { ?x e:b ?b } }",
        '<http://e/x> <http://e/a> "1" .\n<http://e/y> <http://e/a> "1" .\n',
    )
    said = []
    while (step := controller.step()) is not None:
        said.append((step.what, step.time, step.matches))
    assert said == [("triple", "0.0", 0), ("instant", "0.0", 1), ("triple", "1.0", 0), ("instant", "1.0", 1)]
    controller.close()


def test_tuples_that_wait_at_a_probe_are_listed_with_the_time_of_their_decision() -> None:
    controller = timed(NEVER)
    for _ in range(2):
        controller.step()
    snapshot = controller.snapshot()
    assert (snapshot["waiting"], snapshot["next_due"]) == (1, "3.0")
    page = controller.waiting(0)
    assert (page["columns"][:3], page["total"]) == (["decided at", "start", "end"], 1)
    cells = dict(zip(page["columns"], page["rows"][0], strict=True))
    assert cells == {"decided at": "3.0", "start": "0.0", "end": "1.0", "?x": "e:x", "?a": '"1"', "?c": '"2"'}
    with pytest.raises(rw.UsageError, match="there is no probe 7"):
        controller.waiting(7)
    controller.close()


def test_columns_that_hold_times_are_shown_as_times() -> None:
    engine = rw.Engine(stats=True)
    engine.register("PREFIX e: <http://e/> SELECT * { ?x e:a ?a . ?x e:d ?d OPTIONAL { ?x e:b ?b . ?b e:c ?c } }")
    engine.push(("http://e/x", "http://e/b", "http://e/y"), time=0)
    engine.push(("http://e/y", "http://e/c", 1), time=1)
    compiled = network_of(engine)
    pages = [rows_of_memory(engine, slot) for slot in range(len(compiled.lowered.slots))]
    timed_ = [page for page in pages if "end" in page["columns"][2:] and page["rows"]]
    assert timed_
    for page in timed_:
        named = list(zip(page["columns"], page["rows"][0], strict=True))[2:]
        assert {cell for name, cell in named if name in ("start", "end")} <= {"0", "1"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { { ?x e:a ?a } SEQ { ?x e:b ?b } SEQ { ?x e:c ?c } }",
        "SELECT * { { ?x e:a ?a } OPTIONALSEQ { ?x e:c ?c } }",
        "SELECT * { LAST { ?x e:a ?a . ?x e:c ?c } SEQ { ?x e:b ?b } }",
        "SELECT * { { ?x e:a ?a } SEQ NOT { { ?x e:b ?b } SEQ NOT { ?x e:c ?c } WITHIN 1s } WITHIN 2s }",
    ],
)
def test_every_step_memory_and_probe_of_operators_of_time_can_be_shown(query: str) -> None:
    controller = timed("PREFIX e: <http://e/> " + query)
    compiled = network_of(controller.engine)
    while controller.step() is not None:
        for slot in range(len(compiled.lowered.slots)):
            controller.memory(slot)
        for probe in range(len(compiled.lowered.probes)):
            controller.waiting(probe)
        controller.snapshot()
    assert controller.snapshot()["state"] == "ended"
    assert len(place(controller.engine.graph())["nodes"]) == len(controller.engine.graph())
    controller.close()


@settings(max_examples=many(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(temporal_case())
def test_whatever_a_query_asks_of_time_its_memories_and_probes_can_be_shown(case: Case) -> None:
    engine = rw.Engine(static=[case.static] if case.static else [], stats=True, allow_cartesian=True, max_future=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CartesianWarning)
        try:
            engine.register(case.query, name="q")
            network_of(engine)
        except rw.QueryError:  # what the engine refuses
            return
    for item in case.stream:
        engine.push([tuple(part.decode() for part in item.triple)], time=(item.start / 1e6, item.end / 1e6))
    compiled = network_of(engine)
    for slot in range(len(compiled.lowered.slots)):
        rows_of_memory(engine, slot)
    waiting = sum(waiting_at_probe(engine, probe)["total"] for probe in range(len(compiled.lowered.probes)))
    assert waiting == engine.stats()["waiting"]
    assert counts_by_node(compiled).keys() >= {
        name for name in engine.graph() if name.startswith(("memory:", "probe:"))
    }


def test_memories_show_the_triples_of_an_explained_query_and_not_what_they_tell() -> None:
    engine = rw.Engine(stats=True)
    engine.register("PREFIX e: <http://e/> SELECT * { ?x e:p ?y . ?y e:q ?z OPTIONAL { ?x e:r ?w } }", explain=True)
    engine.push(("http://e/a", "http://e/p", "http://e/b"), time=1, event=3)
    engine.push(("http://e/b", "http://e/q", 7), time=2)
    slots = range(len(network_of(engine).lowered.slots))
    pages = [rows_of_memory(engine, slot) for slot in slots]
    assert [["1", "1", "e:b", "e:a"]] in [page["rows"] for page in pages]
    assert all(len(row) == len(page["columns"]) for page in pages for row in page["rows"])
    for probe in network_of(engine).lowered.probes.values():
        page = waiting_at_probe(engine, probe)
        assert {"e:a", "e:b", "7"} <= set(page["rows"][0])
        assert len(page["rows"][0]) == len(page["columns"])
