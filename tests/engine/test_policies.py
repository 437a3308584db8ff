"""Policies, case by case: which pairs of a SEQ are told, and what is used up."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from helpers.inside import network_of

import retewave as rw
from retewave.engine.registry import UnboundedWarning
from retewave.errors import QueryError, UsageError
from retewave.rete.counters import totals
from retewave.rete.words import layout

PREFIX = "PREFIX : <http://e/> SELECT * WHERE "
PAIR = "{ { ?x :a ?a } SEQ { ?x :b ?b } }"

pytestmark = pytest.mark.filterwarnings("ignore::retewave.engine.registry.UnboundedWarning")


def engine_of(where: str, policy: str | None, **options: object) -> rw.Engine:
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    engine.register(PREFIX + where, policy=policy)
    return engine


def pushed(engine: rw.Engine, *items: str) -> list[rw.Match]:
    """Push events, each a time and triples: "1 s a 1, s a 2"; a time may be an interval: "1-3"."""
    found = []
    for each in items:
        time, _, triples = each.partition(" ")
        start, _, end = time.partition("-")
        event = [tuple(f"http://e/{term}" for term in triple.split()) for triple in triples.split(", ")]
        found += engine.push(event, time=(float(start), float(end or start)))
    return found


def told(where: str, policy: str | None, *items: str) -> list[str]:
    """Return what is told of a stream: "a=1 b=1 [1, 4]", without ?x."""
    engine = engine_of(where, policy)
    return [shown(match) for match in [*pushed(engine, *items), *engine.flush()]]


def shown(match: rw.Match) -> str:
    names = sorted(name for name in match if name != "x" and match[name] is not None)
    return f"{' '.join(f'{name}={match[name][9:]}' for name in names)} [{match.start:g}, {match.end:g}]"


FIGURE_1 = ("2 a1 p b1", "4 a2 p b2", "6 b1 q c1, b2 q c2", "8 b2 q c2", "10 a3 p b3, b1 q c1")
SEQUENCE = "{ { ?x :p ?y } SEQ { ?y :q ?z } }"
E_1, E_2, E_3, E_4 = ("y=b1 z=c1 [2, 6]", "y=b2 z=c2 [4, 6]", "y=b2 z=c2 [4, 8]", "y=b1 z=c1 [2, 10]")


@pytest.mark.parametrize("policy", [None, "unrestricted", "chronological KEEP", "recent keep"])
def test_figure_1_of_rsep_ql_where_nothing_is_used_up(policy: str | None) -> None:
    assert sorted(told(SEQUENCE, policy, *FIGURE_1)) == sorted([E_1, E_2, E_3, E_4])


@pytest.mark.parametrize("policy", ["chronological", "Recent"])
def test_example_11_of_rsep_ql_uses_up_graphs(policy: str) -> None:
    assert sorted(told(SEQUENCE, policy, *FIGURE_1)) == [E_1, E_2]


def test_naive_takes_the_last_of_each_side_whatever_it_binds() -> None:
    assert told(SEQUENCE, "naive", *FIGURE_1) == [E_2, E_3]


def test_partners_that_are_equally_late_are_all_taken() -> None:
    items = ("1 s a 1", "2 s a 2, s a 3", "4 s b 1")
    assert sorted(told(PAIR, "recent", *items)) == ["a=2 b=1 [2, 4]", "a=3 b=1 [2, 4]"]
    assert told(PAIR, "chronological", *items) == ["a=1 b=1 [1, 4]"]


def test_of_partners_that_end_together_the_one_that_began_later_is_the_later() -> None:
    items = ("1-3 s a 1", "2-3 s a 2", "4 s b 1")
    assert told(PAIR, "recent", *items) == ["a=2 b=1 [2, 4]"]
    assert told(PAIR, "chronological", *items) == ["a=1 b=1 [1, 4]"]


def test_equal_second_parts_that_end_together_are_one_choice_and_other_ones_another() -> None:
    items = ("1 s a 1", "3-5 s b 1", "4-5 s b 1", "5 s b 2")
    engine = engine_of(PAIR, "recent KEEP")
    assert sorted(map(shown, [*pushed(engine, *items), *engine.flush()])) == ["a=1 b=1 [1, 5]", "a=1 b=2 [1, 5]"]


def test_a_choice_is_told_when_its_instant_is_over() -> None:
    engine = engine_of(PAIR, "recent")
    assert pushed(engine, "1 s a 1", "3 s b 1") == []
    assert [shown(match) for match in engine.advance(3.000001)] == ["a=1 b=1 [1, 3]"]


def test_an_event_serves_several_matches_of_its_instant_and_none_later() -> None:
    assert told(PAIR, "recent", "1 s a 1", "3 s b 1", "3 s b 2", "4 s b 3") == ["a=1 b=1 [1, 3]", "a=1 b=2 [1, 3]"]


def test_order_within_an_instant_does_not_matter() -> None:
    assert sorted(told(PAIR, "recent", "1 s a 1", "3 s b 2", "3 s a 9", "3 s b 1", "4 s b 3")) == [
        "a=1 b=1 [1, 3]", "a=1 b=2 [1, 3]", "a=9 b=3 [3, 4]",
    ]  # fmt: skip


def test_the_unit_that_is_used_up_is_the_event() -> None:
    together = ("1 s a 1, t a 1", "3 s b 1", "4 t b 1")
    assert told("{ { ?x :a ?a } SEQ { ?x :b ?b } }", "recent", *together) == ["a=1 b=1 [1, 3]"]
    apart = ("1 s a 1", "1 t a 1", "3 s b 1", "4 t b 1")
    assert told("{ { ?x :a ?a } SEQ { ?x :b ?b } }", "recent", *apart) == ["a=1 b=1 [1, 3]", "a=1 b=1 [1, 4]"]


def test_a_partner_at_the_bound_is_in_the_window() -> None:
    where = "{ { ?x :a ?a } SEQ { ?x :b ?b } WITHIN 10s }"
    assert told(where, "chronological", "1 s a 1", "2 s a 2", "11 s b 1") == ["a=1 b=1 [1, 11]"]
    assert told(where, "chronological", "1 s a 1", "2 s a 2", "11.000001 s b 1") == ["a=2 b=1 [2, 11]"]


def test_what_a_filter_around_the_sequence_refuses_was_chosen_and_is_not_used_up() -> None:
    where = "{ { { ?x :a ?a } SEQ { ?x :b ?b } } FILTER(?a != :1 || ?b = :2) }"
    items = ("1 s a 1", "2 s a 2", "3 s b 1", "4 s b 2")
    assert told(where, "chronological", *items) == ["a=1 b=2 [1, 4]"]


def test_a_filter_that_only_python_can_decide_says_what_is_used_up() -> None:
    where = '{ { ?x :a ?a } SEQ { ?x :b ?b } FILTER(REPLACE(STR(?b), "[0-4]", "") = "http://e/") }'
    assert told(where, "recent", "1 s a 1", "3 s b 7", "4 s b 2", "5 s b 3") == ["a=1 b=2 [1, 4]"]


def test_a_value_that_is_assigned_says_what_is_used_up() -> None:
    where = "{ { ?x :a ?a } SEQ { ?x :b ?b } BIND(STRLEN(STR(?b)) AS ?n) FILTER(?n > 10 && BOUND(?n)) }"
    engine = engine_of(where, "recent")
    found = [*pushed(engine, "1 s a 1", "3 s b 7", "4 s b 22", "5 s b 33"), *engine.flush()]
    assert [(str(match["b"]), match.start, match.end) for match in found] == [("http://e/22", 1, 4)]


def test_what_exists_is_looked_at_and_not_used_up() -> None:
    where = "{ { ?x :a ?a } SEQ { ?x :b ?b } FILTER EXISTS { ?x :n ?n } }"
    assert len(told(where, "recent", "1 s n 1", "2 s a 1", "3 s b 1", "4 s a 2", "5 s b 2")) == 2


def test_a_pattern_without_a_sequence_uses_up_its_events_too() -> None:
    where = "{ ?x :a ?a . ?x :b ?b }"
    assert told(where, "recent", "1 s a 1", "2 s b 1", "3 s b 2", "4 s a 3") == ["a=1 b=1 [1, 2]", "a=3 b=2 [3, 4]"]


def test_a_deadline_whose_event_is_used_up_dies_and_what_was_barred_stays_so() -> None:
    dies = "{ { { ?x :a ?a } SEQ { ?x :b ?b } } UNION { { ?x :a ?a } SEQ NOT { ?x :n ?n } WITHIN 10s } }"
    assert told(dies, "recent", "1 s a 1", "3 s b 1", "4 s a 2") == ["a=1 b=1 [1, 3]", "a=2 [4, 14]"]
    barred = "{ { { ?x :n ?n } SEQ { ?x :b ?b } } UNION { { ?x :a ?a } SEQ NOT { ?x :n ?n } WITHIN 10s } }"
    assert told(barred, "recent", "1 s a 1", "2 s n 1", "3 s b 1") == ["b=1 n=1 [2, 3]"]


def test_another_query_does_not_notice() -> None:
    engine = engine_of(PAIR, "recent")
    engine.register(PREFIX + PAIR, policy="recent")
    engine.register(PREFIX + PAIR)
    pushed(engine, "1 s a 1", "3 s b 1")
    engine.register(PREFIX + PAIR, name="late")
    pushed(engine, "4 s b 2")
    engine.flush()
    assert [query.matched for query in engine.queries] == [1, 1, 2, 1]


def test_a_variable_of_one_alternative_only_keeps_no_pairs_apart() -> None:
    where = "{ { ?x :a ?z } SEQ { ?x :b ?b OPTIONAL { ?x :c ?z } } }"
    assert told(where, "recent", "1 s a 1", "2 s a 2", "3 s b 1") == ["b=1 z=2 [2, 3]"]
    last = "{ LAST { ?x :a ?z } SEQ { ?x :b ?b OPTIONAL { ?x :c ?z } } }"
    assert told(last, None, "1 s a 1", "2 s a 2", "3 s b 1") == ["b=1 z=2 [2, 3]"]


def live_rows(engine: rw.Engine) -> int:
    assert engine.matcher.main is not None
    return totals(engine.matcher.main.runtime.arena).live


@pytest.mark.parametrize("policy", ["chronological", "recent"])
def test_what_is_used_up_is_collected_though_no_window_bounds_it(policy: str) -> None:
    engine, most = engine_of(PAIR, policy), 0
    for place in range(3000):
        assert len(pushed(engine, f"{2 * place} s{place % 7} a {place % 5}", f"{2 * place + 1} s{place % 7} b 1")) <= 1
        most = max(most, live_rows(engine))
    assert sum(query.matched for query in engine.queries) == 2999
    assert 256 < most < 1500
    marks = network_of(engine).runtime.arena[layout.A_SPENT]
    assert marks <= 1500


def test_what_is_used_up_makes_room_under_a_bound() -> None:
    engine = engine_of(PAIR, "recent", max_live_rows=100)
    for place in range(300):
        pushed(engine, f"{2 * place} s a 1", f"{2 * place + 1} s b 1")
    assert sum(query.matched for query in engine.queries) == 299


def test_a_choice_by_what_is_missing_is_refused_where_rows_are_shed() -> None:
    with pytest.raises(QueryError, match="POLICY recent chooses among all that has come") as error:
        engine_of("{ ?x :a ?a }", "recent", max_live_rows=9, at_limit="shed")
    assert error.value.place is None
    with pytest.raises(QueryError, match="POLICY naive chooses") as error:
        rw.Engine(max_live_rows=9, at_limit="shed").register("SELECT * FROM STREAM <urn:s> POLICY naive { ?x ?p ?y }")
    assert error.value.place is not None and error.value.place.column == 30


def test_a_query_that_is_refused_leaves_the_engine_as_it_was() -> None:
    engine = rw.Engine(max_live_rows=9, at_limit="shed")
    with pytest.raises(QueryError):
        engine.register(PREFIX + PAIR, policy="naive")
    assert engine.queries == []


@pytest.mark.parametrize("given", ["latest", "recent KEPT", "", "recent keep keep", 5])
def test_an_unknown_policy_is_refused_with_the_known_ones(given: object) -> None:
    with pytest.raises(UsageError, match="unknown policy") as error:
        engine_of(PAIR, given)  # type: ignore[arg-type]
    assert "unrestricted, naive, chronological, recent; KEEP" in error.value.hint


def test_what_the_call_says_counts_whatever_the_text_says() -> None:
    query = rw.Engine().register("SELECT * POLICY naive { ?x ?p ?y }", policy="recent KEEP")
    assert str(query.parsed.policy) == "recent KEEP"


def test_alternatives_that_assign_what_a_policy_compares_are_refused_by_place() -> None:
    where = "{ { ?x :a ?a } SEQ { { ?x :b ?b BIND(1 AS ?k) } UNION { ?x :c ?b BIND(2 AS ?k) } } }"
    with pytest.raises(QueryError, match=r"\?k is assigned by BIND, and a policy compares") as error:
        engine_of(where, "recent")
    assert error.value.place is not None and error.value.place.column == where.index("SEQ") + len(PREFIX) + 1


@pytest.mark.parametrize(
    ("where", "policy", "expected"),
    [
        ("{ ?x :a ?a } SEQ LAST { ?x :b ?b }", "recent", ["a=2 b=1 [2, 3]", "a=3 b=4 [6, 7]"]),
        ("{ ?x :a ?a } SEQ FIRST { ?x :b ?b } WITHIN 2s", "recent", ["a=2 b=1 [2, 3]", "a=3 b=4 [6, 7]"]),
        ("{ ?x :a ?a } SEQ LAST { ?x :b ?b }", "chronological KEEP", ["a=1 b=1 [1, 3]", "a=1 b=4 [1, 7]"]),
        (
            "{ { LAST { ?x :a ?a } } { ?x :b ?c } } SEQ { ?x :b ?b }",
            "recent",
            ["a=3 b=4 c=1 [3, 7]"],
        ),
    ],
)
def test_first_and_last_choose_before_a_policy_does(where: str, policy: str, expected: list[str]) -> None:
    stream = "1 s a 1", "2 s a 2", "3 s b 1", "6 s a 3", "7 s b 4"
    assert told(f"{{ {where} }}", policy, *stream) == expected


@pytest.mark.parametrize(
    ("where", "policy"),
    [
        ("{ { ?x :a ?a } SEQ LAST { ?x :b ?b } } { ?x :c ?c }", "recent"),
        ("{ ?x :a ?a } SEQ LAST { ?x :b ?b }", "naive"),
    ],
)
def test_the_last_on_the_right_of_a_sequence_is_refused_where_a_policy_would_choose_later(
    where: str, policy: str
) -> None:
    with pytest.raises(QueryError, match="FIRST and LAST are decided with the whole pattern") as error:
        engine_of(f"{{ {where} }}", policy)
    assert error.value.place is not None


def test_a_snapshot_has_the_policy_of_the_call_and_what_is_used_up(tmp_path: Path) -> None:
    engine = engine_of(PAIR, "recent")
    pushed(engine, "1 s a 1", "2 s a 2", "3 s b 1", "4 s c 1")
    engine.snapshot(tmp_path / "taken")
    restored = rw.Engine.restore(tmp_path / "taken")
    assert str(restored.queries[0].parsed.policy) == "recent"
    for each in (engine, restored):
        assert [shown(m) for m in [*pushed(each, "5 s b 2"), *each.flush()]] == ["a=1 b=2 [1, 5]"]


def test_explain_says_what_is_taken_and_what_is_used_up() -> None:
    said = str(engine_of(PAIR, "chronological").explain())
    assert "policy chronological: takes the earliest pairs of a SEQ" in said
    assert "uses up the events of each match when its instant is over" in said
    assert "where input 2 is earlier than input 1: the start of" in said and "keeps this instant" in said
    kept = str(engine_of(PAIR, "recent KEEP").explain())
    assert "policy recent KEEP: takes the latest" in kept and "uses up" not in kept
    assert "policy" not in str(engine_of(PAIR, None).explain())


def test_who_keeps_first_parts_for_ever_is_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnboundedWarning)
        with pytest.raises(UnboundedWarning, match=r"\?x <http://e/a> \?a \} is kept for ever"):
            engine_of(PAIR, "recent")


def test_why_not_says_when_a_triple_was_used_up() -> None:
    engine = engine_of(PAIR, "recent")
    pushed(engine, "1 s a 1", "2 s a 2", "3 s b 1", "4 s c 1")
    query = engine.queries[0]
    for number, at in (("2", 3), ("1", None)):
        answer = engine.why_not(query, {"a": f"http://e/{number}"})
        (alternative,) = answer.alternatives
        assert [found.used_up for partial in alternative.partials for found in partial.found] == [at]
        assert ("it is not there any more" in str(answer)) == (at is not None)


CHAIN = " SEQ ".join(f"{{ ?x :a{place} ?y{place} }}" for place in range(5))


@pytest.mark.parametrize(("policy", "probes"), [("naive", 16), ("chronological", 4), ("recent KEEP", 4)])
def test_each_sequence_of_a_long_chain_is_chosen_once(policy: str, probes: int) -> None:
    engine = engine_of(f"{{ {CHAIN} }}", policy)
    assert len(network_of(engine).lowered.network.probes) == probes


@pytest.mark.parametrize("policy", ["naive", "chronological", "recent KEEP"])
def test_a_choice_can_be_explained(policy: str) -> None:
    engine = rw.Engine()
    engine.register(f"{PREFIX}{{ {CHAIN} }}", policy=policy, explain=True)
    assert pushed(engine, *(f"{time} s a{time} {time}" for time in range(5))) == []
    (match,) = engine.flush()
    assert [str(match[f"y{place}"]) for place in range(5)] == [f"http://e/{time}" for time in range(5)]
    assert f"POLICY {policy.split()[0]}" in str(match.explain())
