"""Why not?, of operators of time: relations, what barred a match, and what is not decided yet."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime

import pytest
from cases.many import many
from cases.temporal import Case, temporal_case
from helpers.inside import network_of
from helpers.shown import engine_of
from hypothesis import HealthCheck, given, settings

import retewave as rw
from retewave.engine.registry import CartesianWarning
from retewave.why_not.answer import Refusal, WhyNot

E = "http://e/"
BETWEEN = "SELECT * { { ?co e:buys ?other } SEQ NOT { ?co e:hasAcquired ?other } SEQ { ?co e:sells ?other } }"


def pushed(engine: rw.Engine, *triples: tuple[str, str, str], time: float) -> list[rw.Match]:
    return engine.push([tuple(E + part for part in triple) for triple in triples], time=time)


def refusals_of(answer: WhyNot) -> list[Refusal]:
    return [each for alternative in answer.alternatives for partial in alternative.partials for each in partial.refused]


def asked(engine: rw.Engine, **binding: str) -> WhyNot:
    return engine.why_not(engine.queries[0], {name: E + term for name, term in binding.items()})


# Relations


def test_triple_that_came_after_and_not_before_is_said_to() -> None:
    engine = engine_of("SELECT * { { { ?x e:offer ?o } SEQ { ?x e:price ?p } } SEQ { ?x e:sold ?s } }")
    pushed(engine, ("x", "price", "p"), time=1)
    pushed(engine, ("x", "offer", "o"), time=3)
    (one, other) = asked(engine, x="x").alternatives[0].partials
    for partial in (one, other):
        refusal = next(each for each in partial.refused if each.reason == "relation")
        assert refusal.candidates[0].wrong == "{ ?x e:offer ?o } comes after { ?x e:price ?p }, not before"


@pytest.mark.parametrize("relation", ["EQUALS", "DURING", "MEETS"])
def test_relation_of_intervals_is_told_by_the_one_that_holds(relation: str) -> None:
    engine = engine_of(f"SELECT * {{ {{ ?x e:a ?a }} {relation} {{ ?x e:b ?b }} }}")
    engine.push((E + "x", E + "a", E + "a"), time=(1, 2))
    engine.push((E + "x", E + "b", E + "b"), time=(4, 5))
    wrong = {candidate.wrong for each in refusals_of(asked(engine)) for candidate in each.candidates}
    assert wrong == {f"{{ ?x e:a ?a }} comes before {{ ?x e:b ?b }}, not {relation.lower()}"}


def test_pattern_that_only_passes_is_said_to_keep_nothing() -> None:
    engine = engine_of("SELECT * { { ?x e:a ?a } SEQ { ?x e:b ?b } }")
    pushed(engine, ("x", "b", "b"), time=1)
    pushed(engine, ("x", "a", "a"), time=2)
    (refusal,) = refusals_of(asked(engine, x="x"))
    assert (refusal.pattern, refusal.reason) == ("e:x e:b ?b", "no memory")
    assert refusal.said == "it can only come last, and is not kept: it matches when it comes, or never"


def test_window_of_a_group_refuses_what_is_longer() -> None:
    engine = engine_of("SELECT * { { ?x e:a ?a . ?x e:b ?b } WITHIN 2s }")
    pushed(engine, ("x", "a", "a"), time=1)
    pushed(engine, ("x", "b", "b"), time=4)
    (refusal,) = refusals_of(asked(engine, x="x"))
    assert (refusal.reason, refusal.said) == ("window", "it is 1s longer than the 2s allowed")


def test_filter_on_the_times_of_a_group_is_named() -> None:
    long = "FILTER(getDURATION() > 'PT5S'^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>)"
    engine = engine_of(f"SELECT * {{ {{ ?x e:a ?a . ?x e:b ?b {long} }} {{ ?x e:c ?c }} }}")
    pushed(engine, ("x", "a", "a"), time=1)
    pushed(engine, ("x", "b", "b"), ("x", "c", "c"), time=4)
    refusal = refusals_of(asked(engine, x="x"))[0]
    assert (refusal.reason, "GETDURATION()" in refusal.pattern) == ("filter", True)


# What is there, and must not be


def kept(query: str) -> rw.Engine:
    """Return an engine that keeps what the query's last pattern takes, by another query."""
    engine = engine_of(query)
    engine.register("PREFIX e: <http://e/> SELECT * { ?co e:sells ?other ; e:never ?n }", name="keeps")
    return engine


def test_match_that_was_barred_names_what_barred_it_and_when() -> None:
    engine = kept(BETWEEN)
    for minute, predicate in ((0, "buys"), (5, "hasAcquired"), (9, "sells")):
        time = datetime(2020, 1, 1, 12, minute, tzinfo=UTC)
        engine.push((E + "co", E + predicate, E + "shop"), time=time)
    (refusal,) = refusals_of(asked(engine, co="co"))
    assert refusal.reason == "barred"
    assert refusal.pattern == "SEQ NOT … SEQ { ?co e:hasAcquired ?other }"
    assert refusal.said == "a match was barred by e:co e:hasAcquired e:shop at 2020-01-01T12:05:00Z"
    assert [each.wrong for each in refusal.candidates] == ["it is there, and must not be"]


@pytest.mark.parametrize("time", [0, 4], ids=["before", "after"])
def test_what_is_not_between_bars_nothing(time: int) -> None:
    engine = kept(BETWEEN)
    pushes = sorted([(1, "buys"), (3, "sells"), (time, "hasAcquired")])
    found = [match for at, predicate in pushes for match in pushed(engine, ("co", predicate, "shop"), time=at)]
    answer = asked(engine, co="co")
    assert (len(found), answer.matched, bool(answer.alternatives[0].matches)) == (1, 1, True)


def test_condition_of_an_absent_part_is_asked() -> None:
    query = "SELECT * { ?x e:a ?a . ?x e:c ?c FILTER NOT EXISTS { ?x e:b ?b FILTER(?b > ?a) } }"
    engine = engine_of(query)
    engine.push([(E + "x", E + "a", 3), (E + "x", E + "c", 1), (E + "x", E + "b", 2)], time=1)
    engine.advance(2)
    assert asked(engine, x="x").matched == 1
    engine = engine_of(query)
    engine.push([(E + "x", E + "a", 3), (E + "x", E + "c", 1), (E + "x", E + "b", 4)], time=1)
    engine.advance(2)
    (refusal,) = refusals_of(asked(engine, x="x"))
    assert (refusal.reason, refusal.said) == ("barred", "a match was barred by e:x e:b 4 at 1")


def test_what_must_exist_and_does_not_is_told() -> None:
    engine = engine_of("SELECT * { ?x e:a ?a . ?x e:c ?c FILTER EXISTS { ?x e:b ?b } }")
    pushed(engine, ("x", "a", "1"), ("x", "c", "1"), time=1)
    engine.advance(2)
    (refusal,) = refusals_of(asked(engine, x="x"))
    assert (refusal.pattern, refusal.reason) == ("EXISTS { ?x e:b ?b }", "absent")


def test_what_is_looked_for_by_a_join_is_told_too() -> None:
    engine = engine_of("SELECT * { ?x e:a ?a . ?x e:d ?d MINUS { ?x e:b ?b . ?b e:c ?c } }")
    pushed(engine, ("x", "a", "a"), ("x", "d", "d"), ("x", "b", "b"), ("b", "c", "c"), time=1)
    engine.advance(2)
    (refusal,) = refusals_of(asked(engine, x="x"))
    assert refusal.reason == "barred"
    assert refusal.said.startswith("a match was barred by e:x e:b ")


# What is not decided yet


def test_deadline_that_is_still_to_come_is_told_with_the_clock() -> None:
    engine = engine_of("SELECT * { { ?x e:a ?a . ?x e:c ?c } SEQ NOT { ?x e:b ?b } WITHIN 10s }")
    pushed(engine, ("x", "a", "a"), ("x", "c", "c"), time=1)
    pushed(engine, ("y", "a", "a"), time=7)
    answer = asked(engine, x="x")
    (refusal,) = refusals_of(answer)
    assert (refusal.reason, refusal.said) == ("undecided", "the deadline is 11, the clock is at 7")
    (pending,) = answer.alternatives[0].pending
    assert (pending.operator, pending.binding["x"], pending.start, pending.due) == ("SEQ NOT", "e:x", 1, 11)
    assert not asked(engine, x="y").alternatives[0].pending


def test_single_pattern_that_waits_is_told_by_what_waits() -> None:
    engine = engine_of("SELECT * { { ?x e:a ?a } SEQ NOT { ?x e:b ?b } WITHIN 10s }")
    pushed(engine, ("x", "a", "a"), time=1)
    answer = asked(engine, x="x")
    assert "?x = e:x, ?a = e:a  [1] waits at SEQ NOT: the deadline is 11, the clock is at 1" in str(answer)
    assert refusals_of(answer)[0].reason == "no memory"
    assert json.loads(answer.to_json())["alternatives"][0]["pending"][0]["due"] == 11


def test_open_instant_is_told() -> None:
    engine = engine_of("SELECT * { ?x e:a ?a . ?x e:c ?c FILTER NOT EXISTS { ?x e:b ?b } }")
    pushed(engine, ("x", "a", "a"), ("x", "c", "c"), time=1)
    (refusal,) = refusals_of(asked(engine, x="x"))
    assert (refusal.reason, refusal.said) == ("undecided", "not certain before the instant 1 is closed")
    engine.advance(2)
    assert asked(engine, x="x").alternatives[0].matches


# Every query


@settings(max_examples=many(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(temporal_case())
def test_whatever_a_query_asks_of_time_there_is_an_answer(case: Case) -> None:
    engine = rw.Engine(static=[case.static] if case.static else [], seed=1, allow_cartesian=True, max_future=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CartesianWarning)
        try:
            query = engine.register(case.query, name="q")
            network_of(engine)
        except rw.QueryError:  # what the engine refuses
            return
    for item in case.stream:
        engine.push(
            [tuple(part.decode() for part in item.triple)], time=(item.start / 1e6, item.end / 1e6), stream=item.stream
        )
    for _ in range(2):
        answer = engine.why_not(query, {})
        json.loads(answer.to_json())
        assert str(answer).startswith("q: why not anything?")
        for match in query.matches[:2]:
            bound = {name: text.decode() for name in match if (text := match.text(name)) is not None}
            assert engine.why_not(query, bound).matched
        if any(alternative.matches for alternative in answer.alternatives):
            assert query.matched  # nothing that barred a match has been collected: there is little
        engine.flush()
