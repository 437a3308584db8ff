"""What a description logic reasoner adds when a query is registered: classes below an expression beyond Horn axioms."""

from __future__ import annotations

import warnings

import pytest

import retewave as rw
from retewave.epsilon.classes import reasoner
from retewave.epsilon.owlrl_closure import Budget
from retewave.errors import QueryError

E = "http://e/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
HEAD = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:p a owl:ObjectProperty . :q a owl:ObjectProperty . :size a owl:DatatypeProperty .
"""
B_OR_C = "[ owl:unionOf ( :B :C ) ]"
BOTH_ARE_D = ":B rdfs:subClassOf :D . :C rdfs:subClassOf :D ."
UNION = f":A rdfs:subClassOf {B_OR_C} . {BOTH_ARE_D}"
SOME = "[ a owl:Restriction ; owl:onProperty :%s ; owl:someValuesFrom %s ]"
ONLY = "[ a owl:Restriction ; owl:onProperty :%s ; owl:allValuesFrom %s ]"
NUMBER = "[ a owl:Restriction ; owl:onProperty :%s ; owl:%s %d ]"
needs_reasoner = pytest.mark.skipif(bool(reasoner.missing()), reason=reasoner.missing())


def found(ontology: str, expression: str, *classes: str) -> set[str]:
    """Return of which classes a thing is in the expression, if it alone is told."""
    engine = rw.Engine(schema=(HEAD + ontology).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = engine.register(f"PREFIX : <{E}> EVENT Found AS {expression}", language="obep")
    for time, name in enumerate(classes):
        engine.push((E + f"of{name}", TYPE, E + name), time=time)
    engine.flush()
    return {str(match.individual).removeprefix(E + "of") for match in query.matches}


CASES = {
    "a union below a class": (UNION, "D", "AE", {"A"}),
    "a union, one member of which is impossible": (
        ":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] . :A owl:disjointWith :C .", "B", "AC", {"A"}),
    "what is covered and is not the one is the other": (
        ":K owl:disjointUnionOf ( :B :C ) . :A rdfs:subClassOf :K ; owl:disjointWith :B .", "(K and C)", "AK", {"A"}),
    "not": (":K owl:disjointUnionOf ( :B :C ) . :A rdfs:subClassOf :B .", "not C", "AK", {"A"}),
    "a functional property has at most one": (
        f":p a owl:FunctionalProperty . :A rdfs:subClassOf {SOME % ('p', ':B')} .", "(p only B and A)", "AB", {"A"}),
    "at most": (
        f":A rdfs:subClassOf {NUMBER % ('p', 'maxCardinality', 1)} . :B rdfs:subClassOf [ owl:unionOf ( :A ) ] .",
        "p max 2 Thing", "AB", {"A", "B"}),
    "at least, of different kinds": (
        f":A rdfs:subClassOf {SOME % ('p', ':B')} , {SOME % ('p', ':C')} . :B owl:disjointWith :C ."
        ":q a owl:FunctionalProperty . :p rdfs:domain [ owl:unionOf ( :A :K ) ] .", "p min 2 Thing", "AK", {"A"}),
    "exactly": (
        f":p a owl:FunctionalProperty . :A rdfs:subClassOf {SOME % ('p', ':B')} .", "p exactly 1 B", "AB", {"A"}),
    "only, by what is left of a union": (
        f":A rdfs:subClassOf {ONLY % ('p', B_OR_C)} . {BOTH_ARE_D}", "p only D", "AB", {"A"}),
    "an existential, by a union": (
        f":A rdfs:subClassOf {SOME % ('p', B_OR_C)} . {BOTH_ARE_D}", "p some D", "AB", {"A"}),
    "a transitive property": (
        f":p a owl:TransitiveProperty . :A rdfs:subClassOf {SOME % ('p', ':B')} ."
        f" :B rdfs:subClassOf {SOME % ('q', ':C')} . :q rdfs:subPropertyOf :p ."
        f" :N owl:equivalentClass {ONLY % ('p', '[ owl:complementOf :C ]')} .",
        "(not N and A)", "AC", {"A"}),
    "a value of a property": (
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :size ; owl:hasValue 7 ] ."
        ":size a owl:FunctionalProperty .", "size some xsd:integer[> 5]", "AB", {"A"}),
}  # fmt: skip


@needs_reasoner
@pytest.mark.parametrize("case", CASES)
def test_more_lies_below_an_expression_than_horn_axioms_say(case: str) -> None:
    ontology, expression, classes, expected = CASES[case]
    text = expression.replace("xsd:", "<http://www.w3.org/2001/XMLSchema#").replace("integer[", "integer>[")
    assert found(ontology, text if "xsd" in expression else expression, *classes) == expected


def test_without_a_reasoner_the_error_names_the_expression_and_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reasoner, "find_spec", lambda name: None)
    engine = rw.Engine(schema=(HEAD + UNION).encode())
    with pytest.raises(QueryError, match=r"\(D\) needs a reasoner.*A SubClassOf B or C") as error:
        engine.register(f"PREFIX : <{E}> EVENT Found AS D", language="obep")
    assert "pip install 'retewave[dl]'" in str(error.value.hint)


def test_a_budget_of_no_time_takes_what_the_closure_finds_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoner, "_run", lambda *_: pytest.fail("the reasoner was asked"))
    engine = rw.Engine(schema=(HEAD + UNION).encode(), closure_budget=Budget(seconds=0))
    with pytest.warns(UserWarning, match=r"more may follow of \(D\).*A SubClassOf B or C.*asks no reasoner"):
        query = engine.register(f"PREFIX : <{E}> EVENT Found AS D", language="obep")
    for time, name in enumerate("AB"):
        engine.push((E + name, TYPE, E + name), time=time)
    engine.flush()
    assert [str(match.individual) for match in query.matches] == [E + "B"]


@needs_reasoner
def test_the_budget_bounds_the_reasoner() -> None:
    text = f"PREFIX : <{E}> EVENT Found AS D"
    tight = rw.Engine(schema=(HEAD + UNION + "# seconds").encode(), closure_budget=Budget(seconds=0.01))
    reasoner.forget()
    with pytest.raises(QueryError, match=r"HermiT took more than 0\.01 s") as error:
        tight.register(text, language="obep")
    assert "(D)" in str(error.value) and "Budget" in str(error.value)


@needs_reasoner
def test_it_is_not_asked_where_the_closure_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoner, "_run", lambda *_: pytest.fail("the reasoner was asked"))
    assert found(":A rdfs:subClassOf :B .", "B", "A") == {"A"}


@needs_reasoner
def test_progress_is_told_while_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(reasoner, "_EACH", 0.05)
    reasoner.forget()
    engine = rw.Engine(schema=(HEAD + UNION).encode(), on_closure=lambda axioms, seconds: told.append(axioms))
    engine.register(f"PREFIX : <{E}> EVENT Found AS D", language="obep")
    assert told and told[0] > 3


@needs_reasoner
def test_a_contradictory_ontology_is_refused() -> None:
    with pytest.raises(QueryError, match=r"HermiT cannot classify|inconsistent"):
        found(
            f"<{E}a> a :A . :p rdfs:domain [ owl:unionOf ( :B :C ) ] . owl:Thing rdfs:subClassOf owl:Nothing .",
            "B",
            "A",
        )


@needs_reasoner
def test_a_proof_says_what_the_reasoner_has_said() -> None:
    engine = rw.Engine(schema=(HEAD + UNION).encode())
    query = engine.register(f"PREFIX : <{E}> EVENT Found AS D", language="obep")
    engine.push((E + "a", TYPE, E + "A"), time=1)
    engine.flush()
    assert query.matches[0].detection.axioms == ("A SubClassOf D (by the reasoner)",)
    assert "A SubClassOf D (by the reasoner)" in str(engine.explain())
