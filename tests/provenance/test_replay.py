"""Law: a stream of the arrivals that an explanation tells, alone, gives the match again, at its times.

The arrivals are all that is told of: what else came is left out, and a match that hangs on more would be lost.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from cases.entailing import Entailing, entailing
from cases.families import FAMILIES
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.replayed import explained
from helpers.telling import asked, law
from helpers.told import Told, shown
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.epsilon import facts
from naive.streams import Triple

import retewave as rw
from retewave.engine.registry import UnboundedWarning
from retewave.epsilon.schema import Schema, SchemaWarning
from retewave.provenance.explanation import Explanation


def places_of(explanation: Explanation) -> list[int]:
    """Return the places of the items that an explanation tells of, in their order."""
    return sorted({int(each.event) for each in explanation.arrivals if each.event is not None})


def check_told_again(case: Case, matches: list[rw.Match], schema: Sequence[Triple] = ()) -> None:
    """Check that the arrivals of each match alone give it again; equal ones are tried once."""
    tried: dict[tuple[int, ...], Counter[Told]] = {}
    for match in matches:
        places = tuple(places_of(match.explain()))
        if places not in tried:
            tried[places] = Counter(map(shown, explained(case, places, schema)))
        assert tried[places][shown(match)] >= 1


@pytest.mark.parametrize("family", FAMILIES)
@law(60)
@given(data=st.data())
def test_the_arrivals_of_a_match_alone_give_it_again(family: str, data: st.DataObject) -> None:
    operators, depth = FAMILIES[family]
    case = data.draw(temporal_case(operators=operators, depth=depth))
    case = replace(case, query=replace(case.query, policy=asked(case).query.policy))
    check_told_again(case, explained(case, range(len(case.stream))))


@law(60)
@given(case=temporal_case(operators=OPERATORS | {ANYWHERE}).map(asked), distinct=st.booleans())
def test_one_derivation_is_enough_for_a_solution_that_is_told_once(case: Case, distinct: bool) -> None:
    case = replace(case, query=replace(case.query, solutions="set", distinct=distinct))
    check_told_again(case, explained(case, range(len(case.stream))))


@law(60)
@given(entailing())
def test_the_arrivals_of_a_match_give_it_again_under_the_schema(each: Entailing) -> None:
    case, schema = each.case, each.schema.schema
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        axioms = Schema.load([list(schema)]).axioms
    assume(not facts(axioms))
    matches = explained(case, range(len(case.stream)), schema)
    for match in matches:
        for arrival in match.explain().arrivals:
            check_axioms(arrival.axioms, arrival.terms, arrival.triple == arrival.seen)
            if arrival.event is not None and arrival.terms is not None:
                came = case.stream[int(arrival.event)].triple
                assert tuple(text.encode() for text in arrival.terms) == came
    check_told_again(case, matches, schema)


def check_axioms(axioms: tuple[str, ...], terms: tuple[str, str, str] | None, same: bool) -> None:
    assert terms is not None
    assert bool(axioms) != same


EDGES = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=7, unique=True)
REACHES = """CONSTRUCT { ?x <http://e/to> ?z } WHERE { ?x <http://e/to> ?y . ?y <http://e/to> ?z }"""


def closed(edges: Sequence[tuple[str, str]], times: Sequence[int]) -> tuple[rw.Engine, list[rw.Match]]:
    """Return the matches of a query on what a recursive rule builds; the event of each edge is its place."""
    engine = rw.Engine(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnboundedWarning)
        engine.register(REACHES, language="epsparql", name="reaches", keep=None, explain=True)
        engine.register("SELECT ?x ?z { ?x <http://e/to> ?z }", name="to", explain=True)
    matches: list[rw.Match] = []
    for place, ((x, y), time) in enumerate(zip(edges, times, strict=True)):
        matches += engine.push((f"http://e/{x}", "http://e/to", f"http://e/{y}"), time=time, event=place)
    matches += engine.flush()
    return engine, [match for match in matches if match.query.name == "to"]


@law(60)
@given(edges=EDGES, data=st.data())
def test_what_rules_have_built_is_explained_by_what_came_in(edges: list[tuple[str, str]], data: st.DataObject) -> None:
    times = sorted(data.draw(st.lists(st.integers(0, 3), min_size=len(edges), max_size=len(edges))))
    _, matches = closed(edges, times)
    for match in matches:
        explanation = match.explain()
        assert all(each.rule is None for each in explanation.given)
        places = [int(each.event) for each in explanation.given if each.event is not None]
        chosen = sorted(set(places))
        _, again = closed([edges[place] for place in chosen], [times[place] for place in chosen])
        assert shown(match) in map(shown, again)
