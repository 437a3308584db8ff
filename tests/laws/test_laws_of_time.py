"""What holds of the naive meaning whatever the query: laws of time, of policies and of rules; SPARQL on one instant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyoxigraph
import pytest
from cases import sparql
from cases.many import many
from cases.rules import RulesCase, rules_case
from cases.temporal import (
    ANYWHERE,
    GRAPH,
    OPERATORS,
    Case,
    Room,
    condition_of,
    leaf_of,
    pattern_of,
    room_of,
    stream_of,
    temporal_case,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.allen import RELATIONS
from naive.detectors import detected, detected_all
from naive.streams import Item
from naive.tokens import How, Token

from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Exists, Query, visible, walk
from retewave.windows import relations

EVERYTHING = OPERATORS | {ANYWHERE}


def laws(examples: int) -> settings:
    return settings(max_examples=many(examples), deadline=None, suppress_health_check=list(HealthCheck))


def bag(tokens: list[Token], *, how: bool = True) -> Counter:
    return Counter(
        (frozenset(each.bindings.items()), each.start, each.end, each.decided_at, each.how if how else None)
        for each in tokens
    )


def all_of(where: Algebra, solutions: algebra.Solutions = "bag") -> Query:
    return Query("SELECT", where, tuple(variable.name for variable in visible(where)), solutions=solutions)


@st.composite
def shuffled(draw: st.DrawFn, stream: list[Item]) -> list[Item]:
    """Draw another order of a stream's items, within each instant."""
    return sorted(draw(st.permutations(stream)), key=lambda item: item.end)


@laws(200)
@given(temporal_case(operators=EVERYTHING), st.data())
def test_order_within_an_instant_does_not_matter(case: Case, data: st.DataObject) -> None:
    stream = data.draw(shuffled(case.stream))
    assert bag(detected(case.query, stream, case.static)) == bag(detected(case.query, case.stream, case.static))


@laws(200)
@given(temporal_case(operators=EVERYTHING, policies=True), st.data())
def test_order_within_an_instant_does_not_matter_to_policies(case: Case, data: st.DataObject) -> None:
    stream = data.draw(shuffled(case.stream))
    assert bag(detected(case.query, stream, case.static)) == bag(detected(case.query, case.stream, case.static))


@laws(200)
@given(temporal_case(operators=EVERYTHING), st.integers(0, 12), st.booleans())
def test_what_is_told_of_a_prefix_is_a_prefix_of_what_is_told(case: Case, length: int, policy: bool) -> None:
    query = replace(case.query, policy=algebra.Policy("recent" if policy else "unrestricted"))
    before = detected(query, case.stream[:length], case.static, flush=False)
    assert bag(before) == bag(detected(query, case.stream, case.static)[: len(before)])


@laws(150)
@given(temporal_case(operators=EVERYTHING), st.integers(0, 30))
def test_clock_at_a_time_has_told_what_is_decided_before_it(case: Case, time: int) -> None:
    until = time * 1000
    before = [each for each in detected(case.query, case.stream, case.static) if each.decided_at < until]
    told = detected(case.query, case.stream, case.static, until=until)
    assert bag(told, how=False) == bag(before, how=False)
    assert How.FLUSH not in {each.how for each in told}


@laws(200)
@given(temporal_case(operators=EVERYTHING - {"times"}), st.integers(-40, 40))
def test_solutions_move_with_the_time_of_the_stream(case: Case, by: int) -> None:
    moved = [replace(item, start=item.start + by, end=item.end + by) for item in case.stream]
    here = [
        replace(each, start=each.start + by, end=each.end + by, decided_at=each.decided_at + by)
        for each in detected(case.query, case.stream, case.static)
    ]
    assert bag(detected(case.query, moved, case.static)) == bag(here)


POSITIVE = ("join", "union", "seq", "filter", "extend", "values", "optional", "within")
room = Room(frozenset(POSITIVE), (None,), None)
parts = pattern_of(room, 2, 2)


@laws(150)
@given(parts, parts, stream_of(), st.data())
def test_optionalseq_is_the_seq_that_fits_and_the_rest_alone(
    left: Algebra, right: Algebra, stream: list[Item], data: st.DataObject
) -> None:
    condition = data.draw(st.one_of(st.none(), condition_of(room, left, right)))
    seq = algebra.Relate(left, relations.SEQ, right)
    joins = seq if condition is None else algebra.Filter(condition, seq)
    whole = detected(all_of(algebra.OptionalBefore(left, right, condition)), stream)
    alone = detected(all_of(algebra.Before(left, right, 10**9, condition)), stream)
    assert bag(whole) == bag(detected(all_of(joins), stream)) + bag(alone)


@laws(150)
@given(parts, parts, stream_of(), st.data())
def test_equalsoptional_is_the_equals_that_fits_and_the_rest_alone(
    left: Algebra, right: Algebra, stream: list[Item], data: st.DataObject
) -> None:
    whole = bag(detected(all_of(algebra.OptionalEquals(left, right)), stream), how=False)
    equal = bag(detected(all_of(algebra.Relate(left, relations.EQUALS, right)), stream), how=False)
    mains = bag(detected(all_of(left), stream), how=False)
    alone = whole - equal
    assert equal + alone == whole
    assert set(alone) <= set(mains)


@laws(150)
@given(parts, parts, stream_of(), st.data())
def test_optional_is_its_joins_and_what_does_not_exist(
    left: Algebra, right: Algebra, stream: list[Item], data: st.DataObject
) -> None:
    condition = data.draw(st.one_of(st.none(), condition_of(room, left, right)))
    whole = bag(detected(all_of(algebra.LeftJoin(left, right, condition)), stream))
    alone = bag(detected(all_of(Exists(left, right, condition, negated=True)), stream))
    mains = bag(detected(all_of(Exists(left, right, condition)), stream))
    assert alone <= whole
    assert alone + mains == bag(detected(all_of(Exists(left, right, negated=True)), stream)) + bag(
        detected(all_of(Exists(left, right)), stream)
    )


@laws(200)
@given(parts, parts, parts, stream_of())
def test_not_between_keeps_some_of_the_seq_and_bars_the_rest(
    left: Algebra, absent: Algebra, right: Algebra, stream: list[Item]
) -> None:
    seq = bag(detected(all_of(algebra.Relate(left, relations.SEQ, right)), stream))
    kept = bag(detected(all_of(algebra.Between(left, absent, right)), stream))
    assert kept <= seq
    if not detected(all_of(absent), stream):
        assert kept == seq


times = st.integers(0, 6)
intervals = st.tuples(times, times).map(lambda pair: Token({}, min(pair), max(pair)))


@laws(150)
@given(st.lists(intervals, min_size=1, max_size=4), st.lists(intervals, min_size=1, max_size=4))
def test_seq_of_joins_holds_as_it_holds_of_each_pair(left: list[Token], right: list[Token]) -> None:
    both = [Token({}, min(t.start for t in side), max(t.end for t in side)) for side in (left, right)]
    pairwise = all(RELATIONS[relations.SEQ](one, other) for one in left for other in right)
    assert RELATIONS[relations.SEQ](*both) == pairwise


@laws(150)
@given(intervals, intervals)
def test_relations_are_those_of_the_engine_and_of_proper_intervals_exactly_one_holds(one: Token, other: Token) -> None:
    hold = [code for code in range(1, len(relations.NAMES)) if RELATIONS[code](one, other)]
    assert hold == [
        code
        for code in range(1, len(relations.NAMES))
        if relations.holds(code, one.start, one.end, other.start, other.end)
    ]
    assert hold
    if one.start < one.end and other.start < other.end:
        assert len(hold) == 1
    for code in hold:
        assert RELATIONS[relations.inverse(code)](other, one)


@st.composite
def timeless(draw: st.DrawFn) -> Algebra:
    """Draw a pattern without time; what EXISTS looks for is a basic pattern (nested groups differ in Oxigraph)."""
    room = room_of(GRAPH - {"exists"}, ())
    where = draw(pattern_of(room, draw(st.integers(1, 3)), 4))
    if draw(st.booleans()):
        looked_for = draw(leaf_of(room))
        condition = draw(st.one_of(st.none(), condition_of(room, where, looked_for)))
        where = Exists(where, looked_for, condition, draw(st.booleans()))
    return where


@laws(300)
@given(timeless(), stream_of())
def test_on_one_instant_solutions_are_those_of_sparql(where: Algebra, stream: list[Item]) -> None:
    """Over all variables, as sets: a graph has a triple once."""
    instant = [replace(item, start=7, end=7, stream=None, event=None) for item in stream]
    tokens = detected(all_of(where, "set"), instant)
    found = Counter(frozenset((each.name, text.decode()) for each, text in token.bindings.items()) for token in tokens)
    store = pyoxigraph.Store()
    store.load(b"".join(b"%b %b %b .\n" % item.triple for item in instant), format=pyoxigraph.RdfFormat.N_TRIPLES)
    solutions = store.query(sparql.select(where))
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    names = [variable.value for variable in solutions.variables]
    expected = Counter(
        frozenset((name, str(each[name])) for name in names if each[name] is not None) for each in solutions
    )
    assert found == expected


MONOTONE = frozenset({"join", "union", "seq", "within", "filter"})


@laws(150)
@given(temporal_case(operators=MONOTONE, policies=True))
def test_policy_takes_some_of_what_is_there_without_it(case: Case) -> None:
    without = replace(case.query, policy=algebra.Policy())
    taken = bag([replace(each, how=How.ARRIVAL) for each in detected(case.query, case.stream, case.static)])
    assert taken <= bag([replace(each, how=How.ARRIVAL) for each in detected(without, case.stream, case.static)])


@laws(150)
@given(temporal_case(operators=MONOTONE | {"relate", "times", "extend", "values"}))
def test_arrivals_that_made_a_solution_give_it_again(case: Case) -> None:
    """Where nothing is absent: what a NOT inside a NOT needs is no part of what made a solution."""
    query = replace(case.query, solutions="set")
    for token in detected(query, case.stream, case.static)[:5]:
        alone = [case.stream[arrival] for arrival in sorted({fact.arrival for fact in token.facts} - {-1})]
        assert set(bag([token], how=False)) <= set(bag(detected(query, alone, case.static), how=False))


@laws(150)
@given(temporal_case(operators=EVERYTHING, policies=True))
def test_no_event_serves_matches_of_two_instants_when_it_is_used_up(case: Case) -> None:
    query = replace(case.query, policy=algebra.Policy("recent"), solutions="bag")
    used: dict[tuple[str, int], set[int]] = {}
    for token in detected(query, case.stream, case.static):
        for fact in token.facts:
            if fact.event is not None:
                used.setdefault(fact.event, set()).add(token.decided_at)
    assert all(len(instants) == 1 for instants in used.values())


@laws(200)
@given(rules_case(operators=EVERYTHING))
def test_what_rules_build_could_have_come_on_the_stream(case: RulesCase) -> None:
    *_, told = detected_all(case.queries, case.stream, case.static)
    built = _built(case)
    stream = sorted([*case.stream, *built], key=lambda item: item.end)
    given_all = detected(case.queries[-1], stream, case.static)
    assert bag(told, how=False) == bag(given_all, how=False)


def _built(case: RulesCase) -> list[Item]:
    """Return what the rules build, as a query that hears everything sees it."""
    x, p, y = (algebra.Variable(name) for name in "xpy")
    everything = replace(all_of(algebra.Triples((algebra.TriplePattern(x, p, y),))), streams=())
    *_, tokens = detected_all([*case.queries, everything], case.stream, case.static)
    facts = [fact for token in tokens for fact in token.facts if fact.is_built]
    return [Item(fact.triple, fact.start, fact.end, fact.stream, None, is_built=True) for fact in facts]


@laws(200)
@given(rules_case(operators=EVERYTHING), st.data())
def test_order_within_an_instant_and_order_of_rules_do_not_matter(case: RulesCase, data: st.DataObject) -> None:
    *rules, query = case.queries
    stream = data.draw(shuffled(case.stream))
    one = detected_all(case.queries, case.stream, case.static)[-1]
    other = detected_all([*data.draw(st.permutations(rules)), query], stream, case.static)[-1]
    assert _without_labels(one) == _without_labels(other)


def _without_labels(tokens: list[Token]) -> Counter:
    """Return what tokens show, blank nodes without their names."""
    return bag(
        [
            replace(each, bindings={v: b"_" if text[:1] == b"_" else text for v, text in each.bindings.items()})
            for each in tokens
        ]
    )


@laws(200)
@given(rules_case(operators=EVERYTHING), st.integers(0, 10))
def test_what_is_told_of_a_prefix_is_a_prefix_with_rules_too(case: RulesCase, length: int) -> None:
    before = detected_all(case.queries, case.stream[:length], case.static, flush=False)
    after = detected_all(case.queries, case.stream, case.static)
    for one, other in zip(before, after, strict=True):
        assert _without_labels(one) == _without_labels(other[: len(one)])


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_strategy_can_leave_any_operator_out(operator: str) -> None:
    kept: set[str] = set()

    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(temporal_case(operators=OPERATORS - {operator}))
    def run(case: Case) -> None:
        kept.update(type(each).__name__ for each in walk(case.query.where))

    run()
    assert {"optional": "LeftJoin", "exists": "Exists", "last": "Last"}.get(operator) not in kept
