"""Reading schemas: every format, several sources, imports, and a word on all that is not supported."""

from __future__ import annotations

import gzip
import json
import socket
import warnings
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Graph

from retewave.epsilon import Atom, Budget, Schema, SchemaWarning, routes
from retewave.epsilon.axioms import Kind
from retewave.epsilon.vocabulary import TYPE, membership_property, owl, rdfs
from retewave.errors import SchemaError

PREFIXES = """
@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SIMPLE = PREFIXES + ":C rdfs:subClassOf :D . :p rdfs:domain :C ; rdfs:label 'p'@en . "


def said(schema: Schema) -> set[str]:
    return {str(axiom).replace("http://e/", "") for axiom in schema.axioms}


def load(turtle: str, **options: Any) -> Schema:
    return Schema.load((PREFIXES + turtle).encode(), **options)


def kinds(turtle: str) -> dict[str, int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        return {each.kind: each.count for each in load(turtle).unsupported}


SAID = {"<C> rdfs:subClassOf <D>", "<p> rdfs:domain <C>"}
FORMATS = {
    "nt": pyoxigraph.RdfFormat.N_TRIPLES,
    "ttl": pyoxigraph.RdfFormat.TURTLE,
    "rdf": pyoxigraph.RdfFormat.RDF_XML,
    "xml": pyoxigraph.RdfFormat.RDF_XML,
    "owl": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "nq": pyoxigraph.RdfFormat.N_QUADS,
}


def serialised(suffix: str) -> bytes:
    quads = pyoxigraph.parse(SIMPLE, pyoxigraph.RdfFormat.TURTLE)
    content = pyoxigraph.serialize(list(quads), format=FORMATS[suffix])
    assert content is not None
    return content


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_format_is_read_from_a_file(tmp_path: Path, suffix: str, zipped: bool) -> None:
    path = tmp_path / f"schema.{suffix}{'.gz' * zipped}"
    path.write_bytes(gzip.compress(serialised(suffix)) if zipped else serialised(suffix))
    assert said(Schema.load(path)) == said(Schema.load([str(path)])) == SAID


@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix != "nq"])
def test_the_format_of_bytes_is_guessed(suffix: str) -> None:
    assert said(Schema.load(serialised(suffix))) == SAID


def test_the_format_of_bytes_can_be_given() -> None:
    assert said(Schema.load(serialised("nq"), format="nq")) == SAID
    with pytest.raises(SchemaError, match="unknown RDF format 'docx'"):
        Schema.load(b"", format="docx")


def test_an_owl_file_in_turtle_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "schema.owl"
    path.write_text(SIMPLE)
    assert said(Schema.load(path)) == SAID


def test_graphs_and_triples_are_read() -> None:
    graph = Graph().parse(data=SIMPLE, format="turtle")
    triples = [(b"<http://e/C>", rdfs("subClassOf"), b"<http://e/D>")]
    assert said(Schema.load(graph)) == said(Schema.load(list(graph))) == SAID
    assert said(Schema.load(triples)) == {"<C> rdfs:subClassOf <D>"}


def test_several_sources_are_merged_and_keep_their_blank_nodes_apart() -> None:
    one = (PREFIXES + ":A rdfs:subClassOf _:x . _:x rdfs:subClassOf :B .").encode()
    two = (PREFIXES + "_:x rdfs:subClassOf :C .").encode()
    schema = Schema.load([one, two])
    assert len(schema.axioms) == 3
    assert len({term for axiom in schema.axioms for term in (axiom.subject, axiom.object) if term[:2] == b"_:"}) == 2


def test_the_same_sources_give_the_same_names_in_every_run() -> None:
    turtle = ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue 1 ] , [ owl:onProperty :q ; owl:hasValue 2 ] ."
    assert load(turtle).axioms == load(turtle).axioms
    assert load(turtle).digest == load(turtle).digest != load(":A rdfs:subClassOf :B .").digest


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("bad.ttl", "@prefix : <http://e/> .\n:a :b :c .\n:a :b ; .. \n", 3),
        ("bad.nt", "<http://e/a> <http://e/b> <http://e/c> .\n<http://e/a> <http://e/b> .\n", 2),
        ("bad.jsonld", '{"@id": "http://e/a",\n "http://e/p": }', 2),
        ("bad.rdf", '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
                    '<rdf:Description rdf:ID="a b"/>\n</rdf:RDF>\n', 3),
    ],
)  # fmt: skip
def test_a_malformed_file_is_an_error_with_file_line_and_column(
    tmp_path: Path, name: str, content: str, line: int
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(SchemaError, match="malformed") as error:
        Schema.load(path)
    place = error.value.place
    assert place is not None
    assert (place.source, place.line) == (str(path), line)
    assert place.excerpt == content.splitlines()[line - 1]
    assert place.column >= 1


def test_a_missing_or_cut_file_is_an_error(tmp_path: Path) -> None:
    cut = tmp_path / "cut.nt.gz"
    cut.write_bytes(gzip.compress(serialised("nt"))[:-12])
    for path in (cut, tmp_path / "missing.ttl"):
        with pytest.raises(SchemaError, match="cannot be read"):
            Schema.load(path)


@settings(max_examples=many(300), deadline=None)
@given(st.sampled_from(sorted(set(FORMATS) - {"nq"})), st.integers(0, 2000), st.binary(max_size=4), st.booleans())
def test_damaged_bytes_are_read_or_refused_and_nothing_else(suffix: str, at: int, put: bytes, cut: bool) -> None:
    content = serialised(suffix)
    at %= len(content)
    damaged = content[:at] + put + (b"" if cut else content[at + len(put) :])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        for format in (None, suffix):
            try:
                Schema.load(damaged, format=format)
            except SchemaError as error:
                assert error.place is None or error.place.line >= 1


def test_a_term_that_is_no_term_is_an_error() -> None:
    with pytest.raises(SchemaError, match="cannot hold the term 5"):
        Schema.load([(5, TYPE, b"<http://e/C>")])


def test_a_broken_list_is_an_error() -> None:
    with pytest.raises(SchemaError, match="broken behind 1 members"):
        load(":U owl:unionOf _:l . _:l rdf:first :A ; rdf:rest _:l .")


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        (":C owl:equivalentClass :D .", [(Kind.SUB_CLASS, "C", "D"), (Kind.SUB_CLASS, "D", "C")]),
        (":p owl:equivalentProperty :q .", [(Kind.SUB_PROPERTY, "p", "q"), (Kind.SUB_PROPERTY, "q", "p")]),
        (":p owl:inverseOf :q .", [(Kind.INVERSE, "p", "q")]),
        (":p a owl:SymmetricProperty .", [(Kind.INVERSE, "p", "p")]),
        (":p rdfs:range :C .", [(Kind.RANGE, "p", "C")]),
        ("[ owl:unionOf ( :A :B ) ] rdfs:subClassOf :C .",
         [(Kind.SUB_CLASS, "_", "C"), (Kind.SUB_CLASS, "A", "_"), (Kind.SUB_CLASS, "B", "_")]),
        (":C rdfs:subClassOf [ owl:intersectionOf ( :A :B ) ] .",
         [(Kind.SUB_CLASS, "C", "_"), (Kind.SUB_CLASS, "_", "A"), (Kind.SUB_CLASS, "_", "B")]),
        ("[ owl:oneOf ( :a :b ) ] rdfs:subClassOf :C .",
         [(Kind.SUB_CLASS, "_", "C"), (Kind.FACT, "a", "_"), (Kind.FACT, "b", "_")]),
        ("[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :C .",
         [(Kind.SUB_CLASS, "_", "C"), (Kind.DOMAIN, "p", "_")]),
        ("[ owl:onProperty :p ; owl:someValuesFrom rdfs:Resource ] rdfs:subClassOf :C .",
         [(Kind.SUB_CLASS, "_", "C"), (Kind.DOMAIN, "p", "_")]),
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :v ] .",
         [(Kind.SUB_CLASS, "C", "_"), (Kind.HAS_VALUE, "_", "v"), (Kind.OF_VALUE, "_", "v")]),
        ("rdf:_7 a rdfs:ContainerMembershipProperty .", [(Kind.SUB_PROPERTY, "rdf:_7", "rdfs:member")]),
    ],
)  # fmt: skip
def test_each_construct_becomes_its_axioms(turtle: str, expected: list[tuple[Kind, str, str]]) -> None:
    short = {b"<http://e/%s>" % n.encode(): n for n in "ABCDabpqv"}
    short |= {rdfs("member"): "rdfs:member", b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#_7>": "rdf:_7"}
    schema = load(turtle)
    assert schema.unsupported == ()
    got = [(a.kind, short.get(a.subject, "_"), short.get(a.object, "_")) for a in schema.axioms]
    assert sorted(got, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("turtle", "kind"),
    [
        (":p a owl:TransitiveProperty .", "owl:TransitiveProperty"),
        (":p a owl:FunctionalProperty .", "owl:FunctionalProperty"),
        (":C owl:disjointWith :D .", "owl:disjointWith"),
        (":p owl:propertyChainAxiom ( :q :r ) .", "owl:propertyChainAxiom"),
        (":a owl:sameAs :b .", "owl:sameAs"),
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :D ] .", "owl:allValuesFrom"),
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:cardinality 1 ] .", "owl:cardinality"),
        ("[ owl:onProperty :p ; owl:someValuesFrom :D ] rdfs:subClassOf :C .", "owl:someValuesFrom of a class"),
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .",
         "owl:someValuesFrom as a super-class"),
        (":C owl:equivalentClass [ owl:unionOf ( :A :B ) ] .", "owl:unionOf as a super-class"),
        (":p rdfs:range [ owl:unionOf ( :A :B ) ] .", "owl:unionOf as a super-class"),
        (":C rdfs:subClassOf [ owl:oneOf ( :a ) ] .", "owl:oneOf as a super-class"),
        ("[ owl:intersectionOf ( :A :B ) ] rdfs:subClassOf :C .", "owl:intersectionOf as a sub-class"),
        (":C owl:complementOf :D .", "owl:complementOf"),
        ("_:r owl:hasValue 1 .", "owl:hasValue without owl:onProperty"),
        (":p rdfs:range 'text' .", "rdfs:range with a literal"),
        (":p rdfs:subPropertyOf rdfs:subClassOf .", "axiom about the schema vocabulary itself"),
        ("[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) .", "owl:AllDifferent"),
    ],
)  # fmt: skip
def test_an_axiom_that_is_not_supported_is_named(turtle: str, kind: str) -> None:
    assert kinds(turtle)[kind] == 1


def test_what_is_not_supported_is_counted_shown_and_warned_of_once_per_kind() -> None:
    turtle = ":C rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :D ] . [] owl:allValuesFrom :E ."
    with pytest.warns(SchemaWarning) as caught:
        schema = load(turtle)
    assert len(caught) == 1 == len(schema.unsupported)
    assert schema.unsupported[0].count == 2
    assert schema.unsupported[0].first == (
        "<http://e/C> rdfs:subClassOf [ owl:onProperty <http://e/p> ; owl:allValuesFrom <http://e/D> ] ."
    )


def test_declarations_and_annotations_are_no_axioms_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = load(
            "<http://e/> a owl:Ontology ; owl:versionInfo '1' . :C a owl:Class ; rdfs:comment 'c' . :D a rdfs:Class ."
            ":p a owl:ObjectProperty . :q a rdf:Property , owl:DatatypeProperty ; rdfs:seeAlso <http://e/x> ."
        )
    assert schema.axioms == () == schema.data
    assert {str(node) for node in schema.network.nodes} == {
        "? rdf:type <http://e/C>",
        "? rdf:type <http://e/D>",
        "? <http://e/p> ?",
        "? <http://e/q> ?",
    }


def test_triples_that_are_not_about_the_schema_are_kept_as_data() -> None:
    schema = load(":C rdfs:subClassOf :D . :a a :C ; :knows :b .")
    assert schema.data == (
        (b"<http://e/a>", TYPE, b"<http://e/C>"),
        (b"<http://e/a>", b"<http://e/knows>", b"<http://e/b>"),
    )


def test_an_individual_of_a_nameless_class_is_a_fact() -> None:
    schema = load(":a a [ owl:onProperty :p ; owl:hasValue :v ] .")
    assert [axiom.kind for axiom in schema.axioms].count(Kind.FACT) == 1


def test_imports_are_followed_to_mapped_files_only(tmp_path: Path) -> None:
    part = tmp_path / "part.ttl"
    part.write_text(PREFIXES + "<http://part/> a owl:Ontology ; owl:imports <http://whole/> . :A rdfs:subClassOf :B .")
    whole = "<http://whole/> a owl:Ontology ; owl:imports <http://part/> , <http://lost/> ."
    with pytest.warns(SchemaWarning, match="1 x owl:imports of what is not mapped .*http://lost/"):
        schema = load(whole, imports={"http://part/": part})
    assert said(schema) == {"<A> rdfs:subClassOf <B>"}


def test_nothing_opens_a_network_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    remote = json.dumps({"@context": "http://schema.org/", "@id": "http://e/a", "name": "x"}).encode()
    with pytest.raises(SchemaError, match="malformed JSON-LD"):
        Schema.load(remote)
    with pytest.warns(SchemaWarning):
        load("<http://e/> owl:imports <http://www.w3.org/2002/07/owl> .")


def test_owlrl_adds_what_follows_from_axioms_beyond_the_list() -> None:
    turtle = ":C owl:sameAs :D ; rdfs:subClassOf :T . :U owl:equivalentClass [ owl:unionOf ( :C :B ) ] ."
    seen: list[int] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        schema = load(turtle, closure="owlrl", progress=lambda triples, seconds: seen.append(triples))
        plain = load(turtle)
    assert "<D> rdfs:subClassOf <T>" in said(schema) - said(plain)
    assert set(plain.axioms) < set(schema.axioms)
    assert all(axiom.subject != axiom.object for axiom in schema.axioms)
    assert not any(axiom.object == owl("Thing") for axiom in schema.axioms)
    assert seen[-1] > 20


def test_an_owlrl_closure_over_its_budget_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(SchemaError, match="more than 20 triples") as error:
        load(":A rdfs:subClassOf :B .", closure="owlrl", budget=Budget(triples=20))
    assert "closure='retewave'" in error.value.hint
    with pytest.raises(SchemaError, match=r"took more than 0\.01 s"):
        load(":A rdfs:subClassOf :B .", closure="owlrl", budget=Budget(seconds=0.01))


def test_an_unknown_closure_is_an_error() -> None:
    with pytest.raises(SchemaError, match="unknown closure 'elk'"):
        load("", closure="elk")


def test_container_properties_beyond_the_bound_can_be_declared() -> None:
    declared = load("rdf:_500 a rdfs:ContainerMembershipProperty .", containers=2)
    dispatch = routes([Atom.of(None, rdfs("member"), None)], declared.network)
    assert {membership_property(n) for n in (1, 2, 500)} | {rdfs("member")} == dispatch.known
