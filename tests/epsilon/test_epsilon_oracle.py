"""The meaning of schema reasoning is owlrl's: the naive fixpoint of the axioms equals its closure."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from cases.epsilon import Case, cases
from cases.many import many
from helpers.epsilon_kernel import fire
from helpers.oracle import closure, resources
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.epsilon import entailed, facts

from retewave.epsilon import Atom, Network, routes
from retewave.epsilon.collect import collect
from retewave.epsilon.vocabulary import TYPE, Triple, is_literal, rdfs

BUNDLE = 10  # cases of disjoint namespaces that share a closure run


def reasoned(case: Case) -> set[Triple]:
    axioms = collect(case.schema).axioms
    return facts(axioms).union(*(entailed(axioms, triple) for triple in case.data))


@settings(max_examples=many(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.tuples(*(cases(space) for space in range(BUNDLE))))
def test_a_thousand_random_schemas_entail_what_owlrl_entails(bundle: tuple[Case, ...]) -> None:
    said = [triple for case in bundle for triple in case.schema + case.data]
    assert set().union(*map(reasoned, bundle)) == closure(said)


@settings(max_examples=many(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(shared=True))
def test_axioms_about_rdf_type_and_containers_entail_what_owlrl_entails(case: Case) -> None:
    assert reasoned(case) == closure(case.schema + case.data)


@settings(max_examples=many(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_who_asks_for_resources_gets_all_terms_that_owlrl_says_are_resources(case: Case) -> None:
    asked = Atom.of(None, TYPE, rdfs("Resource"))
    dispatch = routes([asked], Network.of(collect(case.schema).axioms))
    got = {found[0] for triple in case.data for _, found in fire(dispatch, triple)}
    terms = {term for subject, _, object_ in case.data for term in (subject, object_) if not is_literal(term)}
    assert got & terms == resources(case.schema + case.data) & terms == terms


@pytest.fixture(autouse=True)
def _quiet_owlrl() -> Iterator[None]:
    """owlrl and rdflib warn of literals that are no individuals; the oracle leaves those out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
