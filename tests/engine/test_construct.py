"""CONSTRUCT: one meaning, wherever the triples go."""

from __future__ import annotations

import io

import numpy as np
import pytest
import rdflib
from rdflib.compare import isomorphic

import retewave as rw
from retewave.construct import built
from retewave.io.sinks.sinks import open_sink

P = "<http://e/p>"
TEMPLATE = (
    "CONSTRUCT { ?y <http://e/q> ?x . ?x ?y <http://e/c> . _:b <http://e/r> ?x . ?u <http://e/s> ?x . _:b a _:c }"
)
QUERY = f"{TEMPLATE} WHERE {{ ?x {P} ?y . BIND(1/0 AS ?u) }}"


def matches(*objects: str) -> tuple[rw.Query, list[rw.Match]]:
    engine = rw.Engine(seed=1)
    query = engine.register(QUERY)
    return query, engine.push([("<http://e/a>", P, each) for each in objects], time=1)


def texts(match: rw.Match) -> list[str]:
    return [" ".join(term.n3() for term in triple) for triple in match.triples]


def test_a_triple_that_is_no_rdf_is_left_out_and_the_others_of_its_match_are_built() -> None:
    _, (iri, literal, blank) = matches("<http://e/o>", '"o"', "_:o")
    kept = [[part.split()[1] for part in texts(match)] for match in (iri, literal, blank)]
    of_blanks = ["<http://e/r>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]
    assert kept == [["<http://e/q>", "<http://e/o>", *of_blanks], of_blanks, ["<http://e/q>", *of_blanks]]


def test_what_is_built_can_be_read_as_turtle_whether_its_blank_nodes_have_labels_or_not() -> None:
    engine = rw.Engine()
    engine.register("CONSTRUCT { _:b <http://e/q> [ <http://e/r> ?y ] } WHERE { ?x <http://e/p> ?y }")
    graph = rdflib.Graph()
    for match in engine.push([("<http://e/a>", P, f"<http://e/{each}>") for each in range(3)], time=1):
        for triple in match.triples:
            graph.add(triple)
    assert isomorphic(rdflib.Graph().parse(data=graph.serialize(format="turtle"), format="turtle"), graph)


def test_a_blank_node_of_a_template_is_one_in_its_match_and_new_in_the_next() -> None:
    _, found = matches("<http://e/o>", '"o"')
    nodes = [{part.split()[0] for part in texts(match) if part.startswith("_:")} for match in found]
    assert [len(each) for each in nodes] == [1, 1]
    assert nodes[0] != nodes[1]


@pytest.mark.parametrize("sealed", [False, True])
def test_sinks_matches_and_ids_tell_the_same_triples_sealed_or_not(sealed: bool) -> None:
    query, found = matches("<http://e/o>", '"o"', "_:o", '"é\\n"@fr')
    batch = found[0]._batch
    engine_terms = batch.terms
    if sealed:
        batch.seal()
        batch.terms = None  # type: ignore[assignment]  # what is sealed needs no dictionary
    file = io.BytesIO()
    open_sink("nt", [query], file, seconds=True).write([batch])
    told = [b"%b %b %b ." % triple for of_match in batch.triples() for triple in of_match]
    assert file.getvalue().splitlines() == told
    batch.terms = engine_terms
    by_id = built(batch, engine_terms.intern_many)
    assert [b" ".join(engine_terms.texts(row)) + b" ." for row in by_id.ids.T.tolist()] == told
    assert np.repeat(np.arange(len(batch)), [len(each) for each in batch.triples()]).tolist() == by_id.matches.tolist()


def test_telling_triples_teaches_the_dictionary_nothing() -> None:
    _, found = matches("<http://e/o>")
    before = len(found[0]._batch.terms)
    assert found[0].triples
    assert len(found[0]._batch.terms) == before


def test_a_template_without_triples_builds_none() -> None:
    engine = rw.Engine()
    engine.register(f"CONSTRUCT {{}} WHERE {{ ?x {P} ?y }}")
    [match] = engine.push(("<http://e/a>", P, "<http://e/b>"), time=1)
    assert match.triples == []
