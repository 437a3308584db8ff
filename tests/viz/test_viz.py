"""Pictures: the graph of a network, its drawings in DOT, and what draws them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import networkx
import pytest
from cases.many import many
from helpers.explained import agrees_with_golden, bsbm_engine, social_engine
from helpers.inside import network_of
from helpers.shown import needs_renderer
from hypothesis import given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.epsilon import Schema
from retewave.errors import UsageError
from retewave.viz.draw.dot import DRAWINGS, to_dot
from retewave.viz.draw.fold import MOST_EPSILON, MOST_MEMORIES, fold_alike, fold_far, fold_shortcuts, fold_tests
from retewave.viz.draw.graph import epsilon_full, epsilon_reduced, graph
from retewave.viz.draw.render import render, svg_element

HERE = Path(__file__).parents[1]
CASES = many(100)
PREFIX = "PREFIX e: <http://e/> "
RDFS = b"http://www.w3.org/2000/01/rdf-schema#"


def drawing_of(engine: rw.Engine, drawing: str = "all") -> str:
    return engine.draw(drawing, "dot").decode()  # type: ignore[arg-type]


def kinds_of(drawn: networkx.MultiDiGraph) -> Counter[str]:
    return Counter(kind for _, kind in drawn.nodes(data="kind"))


def many_queries(number: int) -> rw.Engine:
    """Return an engine with as many queries, no two of one shape."""
    engine = rw.Engine()
    for n in range(number):
        engine.register(PREFIX + f"SELECT * {{ ?o e:p{n} ?a ; e:q{n % 7} ?b ; e:r ?c }}")
    return engine


def class_tree(classes: int) -> rw.Engine:
    said = "\n".join(f"e:C{n} rdfs:subClassOf e:C{n // 8} ." for n in range(1, classes))
    head = "@prefix e: <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    engine = rw.Engine(schema=[(head + said).encode()])
    engine.register(PREFIX + "SELECT * { ?x a e:C1 ; e:p ?y . ?y a e:C20 }")
    return engine


# Golden files


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_the_papers_social_example_is_drawn_as_ever(drawing: str) -> None:
    assert agrees_with_golden(drawing_of(social_engine(), drawing), f"social.{drawing}.dot")


def test_the_papers_three_benchmark_patterns_are_drawn_as_ever() -> None:
    assert agrees_with_golden(drawing_of(bsbm_engine(), "network"), "bsbm.network.dot")


def test_a_drawing_does_not_hang_on_the_order_of_sets() -> None:
    code = (
        "from viz.test_viz import *\n"
        "for engine in (social_engine(), class_tree(500), many_queries(20)):\n"
        "    for drawing in DRAWINGS: print(drawing_of(engine, drawing))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=HERE,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


# The graph


def test_the_papers_figure_5_has_its_numbers_of_nodes_and_links() -> None:
    compiled = network_of(social_engine())
    full = epsilon_full(compiled.dispatch.reduction.network)
    reduced = epsilon_reduced(compiled)
    assert kinds_of(full)["class"] == 8
    assert sum(kind == "S" for *_, kind in full.edges(data="kind")) == 15
    assert kinds_of(reduced)["class"] == 2
    assert sum(kind == "S" for *_, kind in reduced.edges(data="kind")) == 4


def test_the_papers_figure_6_has_five_tests_and_twelve_memories() -> None:
    drawn = social_engine().graph()
    assert {kind: kinds_of(drawn)[kind] for kind in ("alpha", "memory", "join", "query")} == {
        "alpha": 5, "memory": 12, "join": 5, "query": 1,
    }  # fmt: skip


def test_links_lead_from_left_to_right() -> None:
    for engine in (bsbm_engine(), many_queries(5)):
        drawn = engine.graph()
        layers = drawn.nodes(data="layer")
        assert all(layers[source] < layers[target] for source, target in drawn.edges())


def test_every_memory_has_one_source_and_one_join() -> None:
    drawn = bsbm_engine().graph()
    memories = [name for name, kind in drawn.nodes(data="kind") if kind == "memory"]
    assert all(drawn.in_degree(name) == drawn.out_degree(name) == 1 for name in memories)


def test_a_node_says_how_many_queries_share_it() -> None:
    drawn = bsbm_engine().graph()
    shared = [drawn.nodes[f"join:{number}"]["shared_by"] for number in range(6)]
    assert shared == [3, 2, 1, 1, 1, 1]


def test_queries_of_one_shape_hang_on_one_node() -> None:
    engine = rw.Engine()
    for n in range(30):
        engine.register(PREFIX + f"SELECT * {{ ?o e:product e:P{n} ; e:price ?p }}")
    drawn = engine.graph()
    assert kinds_of(drawn)["shape"] == 1 and kinds_of(drawn)["query"] == 30
    assert drawn.nodes["shape:0"]["label"] == "30 queries of one shape"
    assert "and 27 more" in drawing_of(engine, "network")


def test_a_users_own_algorithms_run_on_the_graph() -> None:
    drawn = social_engine().graph()
    source = next(name for name in drawn if name.startswith("epsilon:") and drawn.nodes[name]["label"] == "twd:post")
    assert "query:MultiplePlaceNotification" in networkx.descendants(drawn, source)


def test_counts_stand_at_nodes_and_links() -> None:
    engine = rw.Engine(stats=True)
    engine.register(PREFIX + "SELECT * { ?x e:p ?y . ?y e:q ?z }")
    for subject in "abc":
        engine.push((f"http://e/{subject}", "http://e/p", "http://e/d"), time=0)
    engine.push(("http://e/d", "http://e/q", "http://e/e"), time=1)
    drawn = engine.graph()
    rows = {(s, t): rows for s, t, rows in drawn.edges(data="rows") if rows is not None}
    assert rows["alpha:0", "memory:0"] == 3 and rows["join:0", "query:query1"] == 3
    assert drawn.nodes["memory:0"]["live"] == 3 and drawn.nodes["query:query1"]["matches"] == 3
    assert "3 matches" in drawing_of(engine) and "3 live" in drawing_of(engine)


def test_an_engine_without_queries_has_an_empty_graph() -> None:
    assert len(rw.Engine().graph()) == 0


# Large networks


def test_nodes_with_the_same_neighbours_are_drawn_as_one() -> None:
    drawn = epsilon_reduced(network_of(class_tree(500)))
    folded = fold_alike(drawn)
    assert sum(data.get("count", 1) for _, data in folded.nodes(data=True)) == len(drawn) > 20 > len(folded)


def test_what_is_far_from_the_queries_is_one_node_that_counts_them() -> None:
    drawn = epsilon_full(network_of(class_tree(500)).dispatch.reduction.network)
    folded = fold_far(drawn)
    assert len(folded) == MOST_EPSILON + 1
    assert folded.nodes["rest"]["count"] == len(drawn) - MOST_EPSILON


def test_folding_leaves_the_given_graph_as_it_is() -> None:
    drawn = graph(network_of(many_queries(20)))
    before = networkx.to_dict_of_dicts(drawn)
    fold_tests(fold_alike(drawn))
    assert networkx.to_dict_of_dicts(drawn) == before


def test_tests_are_written_into_memories_when_these_are_many() -> None:
    drawn = graph(network_of(many_queries(50)))
    folded = fold_tests(drawn)
    assert kinds_of(drawn)["memory"] > MOST_MEMORIES
    assert kinds_of(folded)["alpha"] == kinds_of(folded)["stream"] == 0
    assert {data["label"] for _, data in folded.nodes(data=True) if data["kind"] == "memory"} >= {"?o e:r ?c"}


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_a_large_schema_is_a_small_drawing(drawing: str) -> None:
    lines = drawing_of(class_tree(3000), drawing).splitlines()
    assert len(lines) < 3 * MOST_EPSILON


# DOT


@settings(max_examples=CASES, deadline=None)
@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_place(label: str, text: str) -> None:
    drawn = networkx.MultiDiGraph()
    drawn.add_node("a", kind="class", label=label, text=text, layer=0, shared_by=0)
    (line,) = [line for line in to_dot(drawn, text).split("\n") if line.startswith("  n0 ")]
    attributes = re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', line)
    assert attributes == ["label", "shape", "fillcolor", "color", "tooltip", "style"]
    assert all(c.isprintable() for c in line)


def test_an_unknown_drawing_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="known: full, reduced, network, all, sequences"):
        drawing_of(rw.Engine(), "half")


# Rendering


@needs_renderer
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_every_drawing_becomes_svg_and_png(drawing: str) -> None:
    engine = social_engine()
    assert ET.fromstring(svg_element(engine.draw(drawing))).tag.endswith("svg")  # type: ignore[arg-type]
    assert engine.draw(drawing, "png").startswith(b"\x89PNG\r\n")  # type: ignore[arg-type]


@needs_renderer
def test_a_hostile_term_is_shown_and_not_run() -> None:
    engine = rw.Engine()
    engine.register(PREFIX + """SELECT * { ?x e:p "<script>alert(1)</script>\\u0008 & ]]>" ; e:q ?y }""")
    for n in range(MOST_MEMORIES):
        engine.register(PREFIX + f"""SELECT * {{ ?x e:p{n} "</table><script>{n}" ; e:q ?y }}""")
    picture = svg_element(engine.draw())
    assert "<script" not in picture and "&lt;script&gt;" in picture
    ET.fromstring(picture)


@needs_renderer
def test_the_same_drawing_has_all_its_texts_in_the_picture() -> None:
    picture = svg_element(bsbm_engine().draw("network"))
    texts = {"".join(each.itertext()).strip() for each in ET.fromstring(picture).iter() if each.tag.endswith("text")}
    assert {"pattern1", "pattern2", "pattern3", "⋈ ?offer", "shared by 3"} <= texts


def test_without_anything_that_draws_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(UsageError, match=r"(?s)apt install graphviz.*pip install pygraphviz"):
        render("digraph {}", "svg")


@pytest.mark.skipif(not find_spec("pygraphviz"), reason="pygraphviz is not installed")
def test_without_the_program_pygraphviz_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert ET.fromstring(svg_element(social_engine().draw())).tag.endswith("svg")


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="known: dot, svg, png"):
        render("digraph {}", "pdf")  # type: ignore[arg-type]


def test_a_schema_alone_can_be_drawn() -> None:
    full = epsilon_full(
        Schema.load([b"<http://e/C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/D> ."]).network
    )
    assert "-> n" in to_dot(full) and '"…/C"' in to_dot(full)


def test_the_gallery_shows_pictures_that_are_there() -> None:
    docs = HERE.parent / "docs"
    shown = re.findall(r"!\[[^]]+\]\((gallery/[\w-]+\.svg)\)", (docs / "gallery.md").read_text())
    assert sorted(shown) == sorted(str(path.relative_to(docs)) for path in (docs / "gallery").glob("*.svg"))
    for name in shown:
        ET.parse(docs / name)


def every_link(drawn: networkx.MultiDiGraph) -> set[tuple[str, str]]:
    """Return which ε node leads to which, over however many links."""
    return {(source, target) for source in drawn for target in networkx.descendants(drawn, source)}


def test_a_link_that_two_others_add_up_to_is_left_out_and_what_leads_where_stays() -> None:
    chain = b"".join(b"<http://e/p%d> <%ssubPropertyOf> <http://e/p%d> .\n" % (n, RDFS, n + 1) for n in range(14))
    equal = b"<http://e/p14> <http://www.w3.org/2002/07/owl#inverseOf> <http://e/back> .\n"
    engine = rw.Engine(schema=[chain + equal])
    for n in (3, 7, 11, 14):
        engine.register(f"SELECT * {{ ?x <http://e/p{n}> ?y }}")
    drawn = epsilon_reduced(network_of(engine))
    folded = fold_shortcuts(drawn, most=10)
    assert folded.number_of_edges() == 15 < drawn.number_of_edges()
    assert every_link(folded) == every_link(drawn)
    assert fold_shortcuts(drawn, most=1000) is drawn


def test_links_that_carry_something_else_than_the_way_around_stay() -> None:
    drawn = networkx.MultiDiGraph()
    drawn.add_nodes_from("abc", kind="property", layer=1)
    drawn.add_edges_from([("a", "b", {"kind": "SO"}), ("b", "c", {"kind": "OS"})])
    drawn.add_edges_from([("a", "c", {"kind": "SO"}), ("a", "c", {"kind": "OS"})])
    folded = fold_shortcuts(drawn, most=0)
    assert sorted(folded.edges(data="kind")) == [("a", "b", "SO"), ("a", "c", "SO"), ("b", "c", "OS")]


def test_equal_properties_stay_linked_both_ways() -> None:
    drawn = networkx.MultiDiGraph()
    drawn.add_nodes_from("abc", kind="property", layer=1)
    drawn.add_edges_from((s, t, {"kind": "SO"}) for s, t in map(tuple, ["ab", "ba", "ac", "bc"]))
    assert every_link(fold_shortcuts(drawn, most=0)) == every_link(drawn)


def test_a_querys_own_picture_shows_its_stream_even_if_all_comes_by_the_schema() -> None:
    engine = rw.Engine(schema=[b"<http://e/q> <%ssubPropertyOf> <http://e/p> ." % RDFS])
    one = engine.register("SELECT * FROM STREAM <http://e/s> { ?x <http://e/p> ?y }", name="one")
    engine.register("SELECT * FROM STREAM <http://e/t> { ?x <http://e/r> ?y }", name="other")
    drawn = one.draw(format="dot").decode()
    assert ('label="e/s"' in drawn, "e/t" in drawn) == (True, False)


def test_a_query_draws_its_own_part_and_says_what_it_cannot_draw() -> None:
    engine = rw.Engine()
    one = engine.register(PREFIX + "SELECT * { ?x e:p ?y . ?y e:q ?z }", name="one")
    other = engine.register(PREFIX + "SELECT * { ?x e:r ?y }", name="other")
    assert one.draw("network", "dot").startswith(b"digraph") and b"other" not in one.draw("network", "dot")
    assert b"other" in engine.draw("network", "dot") and b"other" in other.draw(format="dot")
    with pytest.raises(UsageError, match="of the schema, not of a query"):
        one.draw("full", "dot")  # type: ignore[arg-type]
    engine.remove(one)
    with pytest.raises(UsageError, match="one is not registered any more"):
        one.draw()


# Sequences

FALLS = """PREFIX : <urn:> SELECT * WITHIN 30 MINUTES PARTITION BY ?s WHERE { SEQ (A; N!; B+!, C?; D)
    DEFINE GPM A { ?s :a ?a } DEFINE GPM N { ?s :n ?n } DEFINE GPM B { ?s :b ?b } DEFINE GPM C { ?s :c ?c }
    DEFINE GPM D { ?s :d ?d } }"""
AUTOMATON = """\
  sequence
    0 ─ A   →  1   runs begin
    1 ─ ; B →  2   the next one that fits, no N before it
    2 ─ , B →  2   again: the very next event, if it fits, as often as can be
    2 ─ , C →  3   the very next event, if it fits
    2 ─ –   →  3   no C
    3 ─ ; D → (4)  the next one that fits
    each ?s by itself
    within 30m
"""


def test_a_sequence_is_explained_as_an_automaton() -> None:
    engine = rw.Engine()
    engine.register(FALLS, name="falls")
    assert engine.explain().count("  sequence\n") == 1  # its alternatives have one
    assert AUTOMATON in engine.explain()


def test_a_sequence_is_drawn_as_an_automaton() -> None:
    engine = rw.Engine()
    query = engine.register(FALLS, name="falls")
    drawn = engine.draw("sequences", "dot").decode()
    assert drawn.count(" -> ") == 6
    assert drawn.count("doublecircle") == 1
    assert drawn == query.draw("sequences", "dot").decode()


def test_there_is_no_automaton_without_a_sequence() -> None:
    with pytest.raises(UsageError, match="no sequence of events"):
        social_engine().draw("sequences", "dot")
