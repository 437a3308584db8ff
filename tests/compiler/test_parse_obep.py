"""OBEP's texts: what the paper and the published parser write, and what is said of mistakes."""

from __future__ import annotations

import pytest

from retewave import Engine
from retewave.compiler.algebra import Query
from retewave.compiler.algebra.detections import CompositeEvent, LogicalEvent
from retewave.compiler.languages.known import language_of
from retewave.compiler.languages.obep.query import OBEP
from retewave.compiler.parse import parse
from retewave.errors import QueryError

PUBLISHED = """
PREFIX : <http://e/>
VOCAB <http://e/ontology>
FROM STREAM <http://e/s>
FROM GRAPH <http://e/g>
NAMED EVENT :X { MATCH every (:A and :B within (5 m)) -> not :A } .
EVENT :A AS :Room and :armedWith some {:s1, :s2}
EVENT :B AS (inverse :p some xsd:double[> 30, <= 40]) or :q exactly 2 :C or not :D or :r Self
RETURN NAMED AS RDF STREAM
"""


def read(text: str) -> Query:
    return parse(text, language="obep")


def test_the_published_parsers_forms_are_read() -> None:
    query = read(PUBLISHED)
    assert query.events is not None
    assert [each.name for each in query.events.events][-1] == b"<http://e/X>"
    assert query.events.returned == (b"<http://e/X>",) and query.events.form == "RDF"
    a, b, x = (query.events[f"<http://e/{name}>".encode()] for name in "ABX")
    assert isinstance(a, LogicalEvent) and str(a.expression) == "Room and (armedWith some {s1, s2})"
    assert isinstance(b, LogicalEvent) and "inverse p some double[> " in str(b.expression)
    assert isinstance(x, CompositeEvent)
    assert any("every has no effect" in notice for notice in query.notices)


def test_a_text_is_recognised_by_its_words() -> None:
    assert language_of("PREFIX : <http://e/> EVENT :A AS :B", "<query>").name == "obep"
    assert language_of("EVENT A MATCH B SEQ C", "<query>").name == "obep"
    assert language_of("SELECT * { ?event ?as ?match }", "<query>").name == "sparql"


WRONG = {
    "EVENT A MATCH B SEQ C EVENT B MATCH A EVENT C AS x some y": "A -> B -> A: these definitions need each other",
    "EVENT A MATCH Bb EVENT B AS q some .": "the event Bb is not defined",
    "EVENT A AS q some . EVENT A AS r some .": "the event A is defined twice",
    "EVENT A MATCH B IF EVENT B { ?x :r ?y } EVENT B AS q some .": "the definition of B does not use",
    "EVENT A MATCH B SEQ B IF EVENT B { ?x :q ?y } EVENT B AS q some .": "B stands more than once in MATCH",
    "EVENT A MATCH NOT B IF EVENT B { ?x :q ?y } EVENT B AS q some .": "B stands below NOT",
    "EVENT A MATCH B IF EVENT C { ?x :q ?y } EVENT B AS q some .": "MATCH has no part called C",
    "EVENT A AS q some . RETURN B AS EVENT STREAM": "the event B is not defined",
    "EVENT A AS q some xsd:integer[= 3]": "= is no facet",
    "EVENT A AS q sme B": "cannot stand here",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_told_with_its_place(text: str) -> None:
    with pytest.raises(QueryError) as raised:
        read(text)
    assert WRONG[text] in raised.value.what
    assert raised.value.place is not None and raised.value.place.line == 1 and raised.value.hint


@pytest.mark.parametrize("word", sorted(OBEP.reserved - {"A"}))
def test_a_word_of_the_language_is_no_name_unless_it_has_a_prefix(word: str) -> None:
    text = "PREFIX : <http://e/> EVENT Start AS q some . EVENT Both MATCH Start AS {} SEQ Start AS R2"
    with pytest.raises(QueryError) as raised:
        read(text.format(word.capitalize()))
    hint = f"{word.capitalize()} is a word of the language: choose another name or alias, or write a prefix, "
    assert hint + f":{word.capitalize()}" in raised.value.hint
    assert raised.value.place is not None and raised.value.place.column == text.index("{") + 1
    read(text.format(f":{word.capitalize()}"))


def test_a_word_that_forgets_a_name_is_told_what_is_expected() -> None:
    with pytest.raises(QueryError) as raised:
        read("EVENT AS q some .")
    assert raised.value.hint.startswith("expected a name or an IRI; AS is a word of the language")


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_found_is_refused_by_name_and_changes_nothing() -> None:
    schema = b"""@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        :Part owl:equivalentClass [ owl:onProperty :has ; owl:someValuesFrom :Part ] .
        :near a owl:TransitiveProperty ."""
    engine = Engine(schema=[schema])
    for text, said in [
        ("EVENT A AS Part", "recursion over data"),
        ("EVENT A AS near some Part", "recursion over data"),
        ("EVENT A AS Thing", "holds of everything"),
    ]:
        with pytest.raises(QueryError, match=said) as raised:
            engine.register(text, language="obep")
        assert raised.value.place is not None
    assert engine.queries == []


def test_an_unknown_class_gets_a_notice_with_the_nearest_one() -> None:
    engine = Engine(schema=[b"<http://example.org/Sensor> a <http://www.w3.org/2002/07/owl#Class> ."])
    with pytest.warns(
        UserWarning, match=r"no class <http://example.org/Senser>; did you mean <http://example.org/Sensor>"
    ):
        engine.register("PREFIX : <http://example.org/> EVENT A AS :Senser", language="obep")


def test_explain_shows_patterns_and_axioms() -> None:
    schema = b"""@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Sensor rdfs:subClassOf [ owl:onProperty :observes ; owl:someValuesFrom owl:Thing ] ."""
    with pytest.warns(Warning):
        engine = Engine(schema=[schema])
        engine.register("PREFIX : <http://example.org/> EVENT A AS :observes some Thing", language="obep", name="seen")
        said = engine.explain()
    assert "events of seen" in said and "?individual observes ?x1" in said
    assert "by Sensor SubClassOf observes some owl:Thing" in said
