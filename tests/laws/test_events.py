"""OBEP's events: the engine finds what the naive meaning says, of random ontologies, expressions, composites."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from cases.many import many
from cases.ontologies import SECOND, EventsCase, random_case
from helpers.told_events import COMPOSITES, compare, composite, engine_of, logical, of_match, pushed, texts
from naive.classes import entailed_of
from naive.detections import Graph
from naive.individuals import individuals
from naive.justifications import justifications

import retewave as rw
from retewave.epsilon.classes.expression import NOTHING
from retewave.errors import QueryError

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@pytest.mark.filterwarnings("ignore")
def test_logical_events_are_found_with_their_minimal_justifications() -> None:
    found = refused = 0
    cases = many(800)
    for seed in range(cases):
        random = Random(seed)
        case = random_case(random)
        try:
            found += compare(case, logical(random) + "\nRETURN ALL AS EVENT STREAM")
        except QueryError as error:
            assert "holds of everything" in error.what or "recursion" in error.what, (seed, error)
            refused += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
    assert refused < cases / 4 and (cases < 20 or found > cases / 10), (found, refused)


def _contradicts(case: EventsCase, graph: Graph) -> bool:
    """Tell whether triples of an event, with static data or by themselves, are what nothing may be."""
    apart = [sub for sub, above in case.ontology.inclusions if above == NOTHING]
    event, static = sorted(graph.triples), sorted(case.static)
    who = individuals(entailed_of(case.ontology, frozenset((*event, *static))))
    return any(justifications(case.ontology, sub, one, event, static) for sub in apart for one in who)


@pytest.mark.filterwarnings("ignore")
def test_events_that_contradict_the_ontology_are_counted() -> None:
    counted = 0
    for seed in range(many(500)):
        case = random_case(Random(seed), events=6)
        engine, _ = engine_of(case, "EVENT <http://e/X> AS <http://e/p> some <http://e/A>")
        pushed(engine, case)
        found = engine.stats()["inconsistent_events"].get("query1", 0)
        assert found == sum(_contradicts(case, graph) for graph in case.graphs), (seed, case)
        counted += found
    assert many(500) < 500 or counted > many(500) / 50


@pytest.mark.filterwarnings("ignore")
def test_contradictions_are_counted_from_a_querys_registration_on_and_for_others_as_before() -> None:
    counted = 0
    for seed in range(many(250)):
        random = Random(seed)
        case = random_case(random, events=6)
        engine, _ = engine_of(case, "EVENT <http://e/X> AS <http://e/p> some <http://e/A>")
        begins = random.randrange(len(case.graphs))
        for place, graph in enumerate(case.graphs):
            if place == begins:
                engine.register("EVENT <http://e/Y> AS <http://e/q> some .", language="obep", name="late")
            engine.push(texts(graph), time=graph.end // SECOND)
        engine.flush()
        found = engine.stats()["inconsistent_events"]
        wrong = [_contradicts(case, graph) for graph in case.graphs]
        assert found.get("query1", 0) == sum(wrong), (seed, case)
        assert found.get("late", 0) == sum(wrong[begins:]), (seed, case)
        counted += sum(wrong)
    assert many(250) < 50 or counted > many(250) / 50


@pytest.mark.filterwarnings("ignore")
def test_an_event_that_contradicts_the_ontology_in_many_ways_is_counted_once_also_after_a_restore(
    tmp_path: Path,
) -> None:
    schema = b"<http://e/A> <http://www.w3.org/2002/07/owl#disjointWith> <http://e/B> ."
    engine = rw.Engine(schema=schema)
    engine.register("EVENT <http://e/X> AS <http://e/p> some .", language="obep", name="events")
    types = [(f"http://e/{who}", TYPE, f"http://e/{kind}") for who in "xyz" for kind in "AB"]
    engine.push(types, time=1)
    engine.push(types[:1], time=2)
    engine.flush()
    engine.snapshot(tmp_path / "events")
    engine = rw.Engine.restore(tmp_path / "events")
    assert engine.stats()["inconsistent_events"] == {"events": 1}
    engine.push(types, time=3)
    engine.flush()
    assert engine.stats()["inconsistent_events"] == {"events": 2}


@pytest.mark.parametrize("more", ["", "EVENT <http://e/Z> MATCH <http://e/X> SEQ <http://e/Y> WITHIN 3s RETURN ALL"])
def test_detections_that_are_told_are_not_kept(more: str) -> None:
    engine = rw.Engine()
    logical = "".join(f"EVENT <http://e/{name}> AS <http://e/{name.lower()}> some . " for name in "XY")
    query = engine.register(logical + more, language="obep", keep=0)
    for time in range(400):
        engine.push((f"http://e/{time}", f"http://e/{'xy'[time % 2]}", "http://e/o"), time=time)
    assert query.matched >= 199
    assert engine.stats()["live_rows"] < 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("which", COMPOSITES)
def test_composites_are_found_with_their_parts(which: str) -> None:
    found = 0
    for seed in range(many(775)):
        random = Random(seed)
        case = random_case(random, complex_axioms=False, events=6)
        text = composite(random, which) + "\nRETURN X, Z"
        try:
            found += compare(case, text.replace("RETURN X, Z", "RETURN <http://e/X>, <http://e/Z>"))
        except QueryError as error:
            assert "holds of everything" in error.what, (seed, error)
    assert found > many(775) / 10


@pytest.mark.filterwarnings("ignore")
def test_a_snapshot_between_two_events_changes_nothing(tmp_path: Path) -> None:
    for seed in range(many(60)):
        random = Random(seed)
        case = random_case(random, complex_axioms=seed % 2 == 0, events=6)
        try:
            engine, _ = engine_of(case, composite(random))
        except QueryError:
            continue
        whole = Counter(map(of_match, pushed(engine, case)))
        random = Random(seed)
        random_case(random, complex_axioms=seed % 2 == 0, events=6)
        engine, _ = engine_of(case, composite(random))
        cut = seed % (len(case.graphs) + 1)
        found = [match for graph in case.graphs[:cut] for match in engine.push(texts(graph), time=graph.end // SECOND)]
        told = Counter(map(of_match, found))
        engine.snapshot(tmp_path / "events")
        engine = rw.Engine.restore(tmp_path / "events", keep=None)
        rest = [match for graph in case.graphs[cut:] for match in engine.push(texts(graph), time=graph.end // SECOND)]
        assert told + Counter(map(of_match, rest + engine.flush())) == whole, seed


@pytest.mark.filterwarnings("ignore")
def test_other_queries_and_flushes_change_nothing() -> None:
    for seed in range(many(60)):
        random = Random(seed)
        case = random_case(random, complex_axioms=False, events=6)
        text = composite(random)
        try:
            whole = Counter(map(of_match, pushed(engine_of(case, text)[0], case)))
        except QueryError:
            continue
        engine, query = engine_of(case, text)
        other = engine.register("SELECT * WHERE { ?s ?p ?o }", name="other")
        for graph in case.graphs:
            engine.push(texts(graph), time=graph.end // SECOND)
        engine.flush()
        seen = {str(match["p"]) for match in other.matches}
        assert not any(each.startswith("urn:retewave") for each in seen), seed
        assert Counter(map(of_match, query.matches)) == whole, seed


def test_what_is_returned_as_rdf_is_a_stream_for_other_languages() -> None:
    engine = rw.Engine()
    engine.register(
        "PREFIX : <http://e/> EVENT Hot AS temp some xsd:integer[> 30] RETURN Hot AS RDF STREAM", language="obep"
    )
    reader = engine.register(
        "SELECT ?x ?t FROM STREAM <http://e/Hot> WHERE { ?x a <http://e/Hot> ; <http://e/temp> ?t }", name="reader"
    )
    engine.push(("http://e/a", "http://e/temp", 31), time=1, stream="http://e/s")
    engine.push(("http://e/b", "http://e/temp", 29), time=2, stream="http://e/s")
    engine.flush()
    assert [(str(match["x"]), match["t"].toPython()) for match in reader.matches] == [("http://e/a", 31)]
