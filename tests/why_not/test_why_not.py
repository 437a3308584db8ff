"""Why not?: what was found together, what refused the rest, and what cannot be known."""

import json
from typing import Any

import pytest

import retewave as rw
from retewave.rete.words.layout import PAGE
from retewave.why_not.answer import Refusal, WhyNot

E = "http://e/"
A = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
OFFERS = """PREFIX e: <http://e/>
SELECT ?offer ?product FROM STREAM <http://e/s> [RANGE 5s]
WHERE { ?offer a e:Offer . ?offer e:product ?product . ?product a e:Toy . ?offer e:price ?price FILTER(?price < 10) }"""
TYPED = "PREFIX e: <http://e/> SELECT * { ?x e:likes ?y . ?y a e:Toy }"
OFFER = [("o1", A, "Offer"), ("o1", "product", "p1"), ("o1", "price", 5)]


def iri(name: object) -> object:
    return E + name if isinstance(name, str) and ":" not in name else name


def pushed(engine: rw.Engine, *triples: tuple, time: float = 1, stream: str | None = None) -> list[rw.Match]:
    return engine.push([tuple(iri(part) for part in triple) for triple in triples], time=time, stream=stream)


def the_refusal(answer: WhyNot) -> Refusal:
    (alternative,) = answer.alternatives
    (partial,) = alternative.partials
    (refusal,) = partial.refused
    return refusal


def offers(**options: Any) -> tuple[rw.Engine, rw.Query]:
    engine = rw.Engine(**options)
    return engine, engine.register(OFFERS, name="offers")


def test_missing_triple_is_named_with_what_was_found() -> None:
    engine, query = offers()
    pushed(engine, *OFFER)
    answer = engine.why_not(query, {"offer": E + "o1"})
    (partial,) = answer.alternatives[0].partials
    assert [each.triple for each in partial.found] == [
        "e:o1 rdf:type e:Offer", "e:o1 e:product e:p1", 'e:o1 e:price 5',
    ]  # fmt: skip
    assert [(each.start, each.end) for each in partial.found] == [(1, 1)] * 3
    assert (the_refusal(answer).pattern, the_refusal(answer).reason) == ("e:p1 rdf:type e:Toy", "no triple")
    assert "has not come" in the_refusal(answer).said


def test_window_refusal_tells_by_how_much() -> None:
    engine, query = offers()
    pushed(engine, *OFFER)
    pushed(engine, ("p1", A, "Toy"), time=8.5)
    refusal = the_refusal(engine.why_not(query, {"offer": E + "o1"}))
    assert (refusal.reason, refusal.candidates[0].wrong) == ("window", "outside the window by 2s500ms")
    assert refusal.said == "there is such a triple, but it is 2s500ms outside the window of 5s"


def test_row_on_the_window_bound_matches_and_one_past_it_does_not() -> None:
    for time, matches in ((6, True), (6.000001, False)):
        engine, query = offers()
        pushed(engine, *OFFER)
        found = pushed(engine, ("p1", A, "Toy"), time=time)
        answer = engine.why_not(query, {"offer": E + "o1"})
        assert (len(found) == 1, bool(answer.alternatives[0].matches), answer.matched == 1) == (matches,) * 3


def test_key_refusal_names_the_variable_and_the_nearest_triples() -> None:
    engine = rw.Engine()
    query = engine.register("PREFIX e: <http://e/> SELECT * { ?x e:in ?y . ?x e:of ?y . ?y a e:Toy }")
    pushed(engine, ("x", "in", "a"), ("a", A, "Toy"), ("x", "of", "b"))
    refusal = the_refusal(engine.why_not(query, {"x": E + "x"}))
    assert (refusal.pattern, refusal.reason) == ("e:x e:of e:a", "key")
    assert [each.wrong for each in refusal.candidates] == ["?y is e:b, not e:a"]


def test_filter_before_a_memory_is_named_because_what_it_refuses_is_not_kept() -> None:
    engine, query = offers()
    pushed(engine, OFFER[0], OFFER[1], ("p1", A, "Toy"), ("o1", "price", 50))
    refusal = the_refusal(engine.why_not(query, {"offer": E + "o1"}))
    assert refusal.reason == "no triple"
    assert "or it came and was refused by FILTER(?price < 10), and is not kept" in refusal.said


def test_counting_engine_tells_how_many_triples_the_filter_refused() -> None:
    engine, query = offers(stats=True)
    pushed(engine, OFFER[0], OFFER[1], ("p1", A, "Toy"))
    assert "refused by" not in the_refusal(engine.why_not(query, {"offer": E + "o1"})).said
    pushed(engine, ("o1", "price", 50))
    assert "(1 triple so far)" in the_refusal(engine.why_not(query, {"offer": E + "o1"})).said


def test_triple_that_a_filter_refused_is_shown_where_another_query_keeps_it() -> None:
    engine, query = offers()
    engine.register(OFFERS.replace("FILTER(?price < 10)", ""))
    pushed(engine, OFFER[0], OFFER[1], ("p1", A, "Toy"), ("o1", "price", 50))
    refusal = the_refusal(engine.why_not(query, {"offer": E + "o1"}))
    assert (refusal.reason, refusal.candidates[0].triple) == ("filter", "e:o1 e:price 50")
    assert refusal.candidates[0].wrong == "FILTER(?price < 10) is not true"


def test_filter_over_several_patterns_refuses_the_row_that_completes_it() -> None:
    engine = rw.Engine()
    query = engine.register("PREFIX e: <http://e/> SELECT * { ?x e:low ?a . ?x e:high ?b FILTER(?a < ?b) }")
    pushed(engine, ("x", "low", 5), ("x", "high", 3))
    partials = engine.why_not(query, {"x": E + "x"}).alternatives[0].partials
    assert [each.refused[0].candidates[0].wrong for each in partials] == ["FILTER(?a < ?b) is not true"] * 2


def test_stream_that_is_not_heard_is_named_where_another_query_heard_it() -> None:
    engine, query = offers()
    engine.register(OFFERS.replace("http://e/s>", "http://e/t>"))
    pushed(engine, *OFFER, stream=E + "s")
    pushed(engine, ("p1", A, "Toy"), stream=E + "t")
    answer = engine.why_not(query, {"offer": E + "o1"})
    assert the_refusal(answer).reason == "stream"
    assert "the query does not hear <http://e/t>" in answer.notes


def test_collected_row_is_said_to_be_unknowable() -> None:
    engine, query = offers()
    pushed(engine, ("p1", A, "Toy"), time=1)
    for i in range(PAGE):  # more rows than fit into a page: what is due is collected when one is full
        pushed(engine, ("p2", A, "Toy"), time=10 + 4 * i / PAGE)
    pushed(engine, *OFFER, time=14)
    refusal = the_refusal(engine.why_not(query, {"offer": E + "o1"}))
    assert refusal.said == "it has not come, or came before 9 and has been collected"
    assert refusal.candidates[0].wrong == "?product is e:p2, not e:p1"


def test_what_was_found_and_is_older_than_the_window_is_said_to_be() -> None:
    engine, query = offers()
    pushed(engine, *OFFER)
    pushed(engine, ("o2", A, "Offer"), time=9)
    assert engine.why_not(query, {"offer": E + "o1"}).alternatives[0].partials[0].expired


def test_single_pattern_has_no_memory() -> None:
    engine = rw.Engine()
    query = engine.register("SELECT * { ?x <http://e/likes> <http://e/tea> }")
    refusal = the_refusal(engine.why_not(query, {"x": E + "ann"}))
    assert (refusal.reason, refusal.pattern) == ("no memory", "<http://e/ann> <http://e/likes> <http://e/tea>")


def test_forms_of_input_that_the_schema_adds_are_told_with_their_axioms() -> None:
    schema = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <http://e/Doll> rdfs:subClassOf <http://e/Toy> ."
    engine = rw.Engine(schema=schema.encode())
    query = engine.register(TYPED)
    pushed(engine, ("ann", "likes", "p1"))
    (form,) = the_refusal(engine.why_not(query, {"x": E + "ann"})).forms
    assert form == "e:p1 rdf:type e:Doll  by e:Doll rdfs:subClassOf e:Toy"


def test_static_triples_are_found_and_have_no_time() -> None:
    engine = rw.Engine(static=[[(E + "p1", A, E + "Toy")]])
    query = engine.register(TYPED)
    (partial,) = engine.why_not(query, {"y": E + "p1"}).alternatives[0].partials
    assert [(each.triple, each.start) for each in partial.found] == [("e:p1 rdf:type e:Toy", None)]


def test_inline_table_without_the_row_is_named() -> None:
    engine = rw.Engine()
    query = engine.register("PREFIX e: <http://e/> SELECT * { ?x e:likes ?y VALUES ?y { e:tea } }")
    pushed(engine, ("ann", "likes", "milk"))
    answer = engine.why_not(query, {"x": E + "ann"})
    refused = {each.pattern: each.said for partial in answer.alternatives[0].partials for each in partial.refused}
    assert refused["VALUES ?y"] == "the inline table has no such row"


def test_assigned_variable_that_gives_another_value_is_told() -> None:
    engine = rw.Engine()
    query = engine.register("PREFIX e: <http://e/> SELECT * { ?x e:a ?a . ?x e:b ?b BIND(?a + ?b AS ?sum) }")
    pushed(engine, ("x", "a", 1), ("x", "b", 2))
    refusal = the_refusal(engine.why_not(query, {"sum": 4}))
    assert (refusal.reason, refusal.said) == ("value", "it gives 3")
    assert engine.why_not(query, {"sum": 3}).alternatives[0].matches


def test_each_side_of_a_union_is_an_alternative() -> None:
    engine = rw.Engine()
    query = engine.register(
        "PREFIX e: <http://e/> SELECT * { { ?x e:a ?y . ?x e:b ?y } UNION { ?x e:c ?y . ?x e:d ?y } }"
    )
    pushed(engine, ("x", "c", "y"))
    answer = engine.why_not(query, {"x": E + "x"})
    assert [len(each.partials[0].found) for each in answer.alternatives] == [0, 1]


def test_queries_of_one_shape_are_told_apart_by_their_constants() -> None:
    engine = rw.Engine()
    toy, book = (
        engine.register(f"PREFIX e: <http://e/> SELECT * {{ ?x e:product ?y . ?y a e:{kind} }}")
        for kind in ("Toy", "Book")
    )
    pushed(engine, ("x", "product", "y"), ("y", A, "Toy"))
    assert engine.why_not(toy, {"x": E + "x"}).alternatives[0].matches
    assert the_refusal(engine.why_not(book, {"x": E + "x"})).pattern == "e:y rdf:type e:Book"


def test_search_that_does_not_try_all_says_so_and_still_leaves_patterns_out() -> None:
    engine = rw.Engine()
    query = engine.register("PREFIX e: <http://e/> SELECT * { ?x e:a ?y . ?y e:b ?z . ?z e:c ?w . ?w e:d ?v }")
    pushed(engine, *((f"x{n}", "a", f"y{n}") for n in range(200)))
    pushed(engine, *((f"y{n}", "b", f"z{n}") for n in range(200)))
    pushed(
        engine, *((f"z{n}", "c", f"w{n}") for n in range(1000, 1200)), *((f"w{n}", "d", "v") for n in range(1000, 1001))
    )
    pushed(engine, *((f"y{n}", "b", f"z{n}") for n in range(1000, 1001)))
    (alternative,) = engine.why_not(query, {}).alternatives
    assert not alternative.whole
    assert {len(partial.found) for partial in alternative.partials} == {3}
    assert "there may be a deeper one" in str(engine.why_not(query, {}))


def test_unknown_variable_is_refused_with_the_known_ones() -> None:
    engine, query = offers()
    with pytest.raises(rw.UsageError, match=r"no variable \?nothing\n  hint: it has \?offer, \?product, \?price"):
        engine.why_not(query, {"nothing": 1})


def test_query_of_another_engine_is_refused() -> None:
    _, query = offers()
    with pytest.raises(rw.UsageError, match="not registered"):
        rw.Engine().why_not(query, {})


def test_waiting_triples_are_noted() -> None:
    engine, query = offers(lateness="10s")
    pushed(engine, *OFFER)
    assert (
        "3 triples wait for late items, or for room, and have not been matched yet" in engine.why_not(query, {}).notes
    )


def test_answer_is_json_and_text() -> None:
    engine, query = offers()
    pushed(engine, *OFFER)
    answer = engine.why_not(query, {"?offer": E + "o1"})
    assert json.loads(answer.to_json())["binding"] == {"offer": "e:o1"}
    assert (
        str(answer)
        == """\
offers: why not ?offer = e:o1?
  found 3 of 4 patterns together
    ✓ ?offer rdf:type e:Offer  ←  e:o1 rdf:type e:Offer  [1]
    ✓ ?offer e:product ?product  ←  e:o1 e:product e:p1  [1]
    ✓ ?offer e:price ?price  ←  e:o1 e:price 5  [1]
    ✗ e:p1 rdf:type e:Toy  (no triple)
      it has not come while the query listens: no row has been collected
"""
    )
