"""The dispatch tables give each atom what the axioms entail, each triple once: compared with the naive."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from cases.epsilon import Case, atoms, cases
from cases.many import many
from helpers.epsilon_kernel import emitted, fire, found
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.epsilon import entailed, facts, matches

from retewave.epsilon import SUBJECT, Atom, Dispatch, Network, routes, why
from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.collect import collect
from retewave.epsilon.derivation import Derivation, Goal
from retewave.epsilon.derive import derivations
from retewave.epsilon.vocabulary import TYPE, Triple, is_literal, membership_property, owl, rdfs

ANYTHING = Atom(None, None, None)


def some_case(shared: bool) -> st.SearchStrategy[Case]:
    return cases(shared=shared, beyond_owlrl=True)


def wanted(axioms: tuple[Axiom, ...], asked: list[Atom], triple: Triple) -> Counter[tuple[int, Triple]]:
    every = entailed(axioms, triple)
    return Counter((n, each) for n, atom in enumerate(asked) for each in every if matches(atom, each))


def network_of(axioms: tuple[Axiom, ...]) -> Network:
    return Network.of(axioms, containers=3)  # a hundred would be the same, and slow


def table_of(*axioms: Axiom, asked: Atom = ANYTHING) -> Dispatch:
    return routes([asked], network_of(axioms))


@settings(max_examples=many(1000), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.booleans().flatmap(some_case), st.lists(atoms(), max_size=4))
def test_each_atom_gets_what_is_entailed_exactly_once(case: Case, asked: list[Atom]) -> None:
    axioms = collect(case.schema).axioms
    dispatch = routes(asked, network_of(axioms))
    for triple in case.data:
        assert fire(dispatch, triple) == wanted(axioms, asked, triple)


@settings(max_examples=many(300), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.booleans().flatmap(some_case), st.lists(atoms(), min_size=1, max_size=4))
def test_the_reduced_network_gives_what_the_full_one_gives(case: Case, asked: list[Atom]) -> None:
    network = network_of(collect(case.schema).axioms)
    full, reduced = routes([ANYTHING], network), routes(asked, network)
    for triple in case.data:
        every = [each for _, each in fire(full, triple)]
        picked = {(n, each) for n, atom in enumerate(asked) for each in every if matches(atom, each)}
        assert set(fire(reduced, triple)) == picked


@settings(max_examples=many(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(shared=True, beyond_owlrl=True))
def test_the_derivations_of_a_predicate_are_what_its_triples_entail(case: Case) -> None:
    axioms = collect(case.schema).axioms
    network = network_of(axioms)
    for triple in case.data:
        fits = [
            one
            for one in derivations(network, triple[1])
            if one.given_subject in (None, triple[0])
            and one.given_object in (None, triple[2])
            and not (one.literal_guard and is_literal(triple[2]))
        ]
        assert {emitted(one, triple) for one in fits} == entailed(axioms, triple)


@settings(max_examples=many(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(), st.lists(atoms(), min_size=1, max_size=3))
def test_the_schemas_own_facts_reach_the_atoms_that_ask_for_them(case: Case, asked: list[Atom]) -> None:
    axioms = collect(case.schema).axioms
    got = Counter((fact.atom, fact[1:]) for fact in routes(asked, network_of(axioms)).facts)
    every = facts(axioms)
    assert got == Counter((n, each) for n, atom in enumerate(asked) for each in every if matches(atom, each))


@settings(max_examples=many(50), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(shared=True, beyond_owlrl=True), atoms())
def test_the_axioms_that_a_route_names_are_enough_for_it(case: Case, asked: Atom) -> None:
    axioms = collect(case.schema).axioms
    dispatch = routes([asked], network_of(axioms))
    for triple in case.data:
        for key, route in found(dispatch, triple):
            if route.guard and is_literal(triple[2]):
                continue
            said = why(dispatch, key, route)
            named = tuple(axiom for axiom in axioms if str(axiom) in said)
            assert emitted(route, triple) in entailed(named, triple)


def chain(length: int) -> Network:
    names = [f"<http://e/C{n}>".encode() for n in range(length + 1)]
    return Network.of(Axiom(Kind.SUB_CLASS, *pair) for pair in pairwise(names))


def test_a_chain_of_a_thousand_subclasses_costs_one_look_up_and_one_route() -> None:
    top = b"<http://e/C1000>"
    dispatch = routes([Atom.of(None, TYPE, top)], chain(1000))
    assert dispatch.shapes[TYPE] == {(False, True)}
    got = found(dispatch, (b"<http://e/x>", TYPE, b"<http://e/C0>"))
    assert [(route.subject, route.object) for _, route in got] == [(SUBJECT, top)]
    assert sum(map(len, dispatch.table.values())) == 1001


def test_a_route_names_the_axioms_of_its_path_in_order() -> None:
    dispatch = routes([Atom.of(None, TYPE, b"<http://e/C2>")], chain(3))
    key = (None, TYPE, b"<http://e/C0>")
    assert why(dispatch, key, dispatch.table[key][0]) == (
        "<http://e/C0> rdfs:subClassOf <http://e/C1>",
        "<http://e/C1> rdfs:subClassOf <http://e/C2>",
    )


def test_what_no_atom_asks_for_has_no_key() -> None:
    dispatch = routes([Atom.of(None, b"<http://e/q>", None)], chain(10))
    assert list(dispatch.table) == [(None, b"<http://e/q>", None)]


def test_a_set_of_constants_has_one_route_each() -> None:
    asked = Atom(frozenset({b"<a>", b"<b>"}), frozenset({b"<p>"}), frozenset({b"<c>", b"<d>"}))
    assert len(table_of(asked=asked).table) == 4


def test_symmetric_property_with_equal_ends_gives_its_triple_once() -> None:
    dispatch = table_of(Axiom(Kind.INVERSE, b"<p>", b"<p>"))
    assert all(route.twin for route in dispatch.table[None, b"<p>", None])
    assert fire(dispatch, (b"<x>", b"<p>", b"<x>")) == Counter({(0, (b"<x>", b"<p>", b"<x>")): 1})
    assert fire(dispatch, (b"<x>", b"<p>", b"<y>")).total() == 2


def test_domain_and_range_of_one_class_are_twins_and_of_two_classes_are_not() -> None:
    same = table_of(Axiom(Kind.DOMAIN, b"<p>", b"<C>"), Axiom(Kind.RANGE, b"<p>", b"<C>"))
    other = table_of(Axiom(Kind.DOMAIN, b"<p>", b"<C>"), Axiom(Kind.RANGE, b"<p>", b"<D>"))
    assert [route.twin for route in same.table[None, b"<p>", None]].count(True) == 2
    assert not any(route.twin for route in other.table[None, b"<p>", None])


def test_a_literal_never_becomes_a_subject() -> None:
    dispatch = table_of(Axiom(Kind.RANGE, b"<p>", b"<C>"), Axiom(Kind.INVERSE, b"<p>", b"<q>"))
    assert set(fire(dispatch, (b"<x>", b"<p>", b'"1"'))) == {(0, (b"<x>", b"<p>", b'"1"'))}


def test_everything_is_a_resource_when_a_pattern_asks_for_resources() -> None:
    for top in (rdfs("Resource"), owl("Thing")):
        dispatch = table_of(asked=Atom.of(None, TYPE, top))
        got = fire(dispatch, (b"<x>", b"<http://e/any>", b"<y>"))
        assert got == Counter({(0, (b"<x>", TYPE, top)): 1, (0, (b"<y>", TYPE, top)): 1})
        assert fire(dispatch, (b"<x>", b"<http://e/any>", b'"1"')).total() == 1
        assert fire(dispatch, (b"<x>", TYPE, top)).total() == 2  # the class is a resource too


def test_a_pattern_for_any_class_does_not_see_that_everything_is_a_resource() -> None:
    dispatch = table_of(asked=Atom.of(None, TYPE, None))
    assert set(fire(dispatch, (b"<x>", b"<http://e/any>", b"<y>"))) == set()


def test_container_properties_are_members_without_being_declared() -> None:
    dispatch = routes([Atom.of(None, rdfs("member"), None)], Network.of(()))
    triple = (b"<bag>", membership_property(17), b"<x>")
    assert set(fire(dispatch, triple)) == {(0, (b"<bag>", rdfs("member"), b"<x>"))}


def test_equal_goals_of_many_atoms_are_walked_once() -> None:
    asked = [Atom.of(None, TYPE, b"<http://e/C9>")] * 100
    assert len(routes(asked, chain(9)).reduction.answered) == 1


def test_derivations_of_an_unknown_predicate_are_the_triple_itself() -> None:
    assert [one.is_identity for one in derivations(chain(3), b"<http://e/other>")] == [True]


def test_a_path_from_value_to_class_to_value_is_followed() -> None:
    dispatch = routes(
        [Atom.of(None, b"<flag>", b'"red"')],
        Network.of(
            [
                Axiom(Kind.OF_VALUE, b"<Hot>", b'"high"', b"<level>"),
                Axiom(Kind.SUB_CLASS, b"<Hot>", b"<Danger>"),
                Axiom(Kind.HAS_VALUE, b"<Danger>", b'"red"', b"<flag>"),
            ]
        ),
    )
    assert set(fire(dispatch, (b"<x>", b"<level>", b'"high"'))) == {(0, (b"<x>", b"<flag>", b'"red"'))}
    assert not fire(dispatch, (b"<x>", b"<level>", b'"low"'))


def test_a_reduction_answers_why_for_a_goal() -> None:
    dispatch = routes([Atom.of(None, TYPE, b"<http://e/C1>")], chain(1))
    derivation = Derivation(None, TYPE, b"<http://e/C0>", SUBJECT, TYPE, b"<http://e/C1>")
    goal = Goal(None, TYPE, b"<http://e/C1>")
    assert dispatch.reduction.why(goal, derivation) == ("<http://e/C0> rdfs:subClassOf <http://e/C1>",)


def test_a_path_leads_through_an_inverse_without_a_name_which_is_never_emitted() -> None:
    inverse = Axiom(Kind.INVERSE, b"_:inverse", b"<p>")
    dispatch = table_of(Axiom(Kind.SUB_PROPERTY, b"<q>", b"_:inverse"), inverse)
    got = set(fire(dispatch, (b"<x>", b"<q>", b"<y>")))
    assert got == {(0, (b"<x>", b"<q>", b"<y>")), (0, (b"<y>", b"<p>", b"<x>"))}


def test_a_literal_is_passed_through_where_only_its_ends_are_triples() -> None:
    dispatch = table_of(Axiom(Kind.INVERSE, b"<p>", b"<q>"), Axiom(Kind.INVERSE, b"<q>", b"<r>"))
    got = set(fire(dispatch, (b"<x>", b"<p>", b'"1"')))
    assert got == {(0, (b"<x>", b"<p>", b'"1"')), (0, (b"<x>", b"<r>", b'"1"'))}


def test_a_class_without_a_name_is_never_emitted() -> None:
    dispatch = table_of(Axiom(Kind.SUB_CLASS, b"<C>", b"_:some"), Axiom(Kind.SUB_CLASS, b"_:some", b"<D>"))
    got = {triple[2] for _, triple in fire(dispatch, (b"<x>", TYPE, b"<C>"))}
    assert got == {b"<C>", b"<D>"}


def test_what_open_patterns_see_of_a_known_predicate_is_listed_under_it() -> None:
    asked = [Atom(None, None, None), Atom.of(None, b"<q>", None)]
    dispatch = routes(asked, Network.of([Axiom(Kind.SUB_PROPERTY, b"<p>", b"<q>")]))
    assert {b"<p>", b"<q>"} <= dispatch.known
    assert fire(dispatch, (b"<x>", b"<p>", b"<y>")) == Counter(
        {
            (0, (b"<x>", b"<p>", b"<y>")): 1,
            (0, (b"<x>", b"<q>", b"<y>")): 1,
            (1, (b"<x>", b"<q>", b"<y>")): 1,
        }
    )
    assert fire(dispatch, (b"<x>", b"<other>", b"<y>")) == Counter({(0, (b"<x>", b"<other>", b"<y>")): 1})
