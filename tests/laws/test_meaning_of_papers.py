"""What the papers' examples come to, with the decisions that the page took, and what policies and rules mean."""

from __future__ import annotations

from dataclasses import replace

import pytest
from helpers.timed import A, B, C, N, asked, iri, item, one, seen, seq
from naive import policies
from naive.detectors import detected, detected_all
from naive.streams import Item
from naive.tokens import compatible

from retewave.compiler import algebra
from retewave.compiler.algebra import (
    Algebra,
    BlankNode,
    Policy,
    PolicyName,
    Query,
    Solutions,
    Stream,
    TemplateTriple,
    TriplePattern,
    Triples,
    Variable,
)
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation

XSD = b"<http://www.w3.org/2001/XMLSchema#"
DAY = 86_400_000_000
ABOUT_Y = Triples((TriplePattern(Variable("y"), iri("q"), Variable("z")),))
SEQUENCE = seq(one("p", "?x", "?y"), ABOUT_Y)  # E1 SEQ E2 of the RSEP-QL paper


def event(number: int, time: int, *texts: str) -> list[Item]:
    return [replace(item(text, time), event=number) for text in texts]


STREAM = [
    *event(1, 2, "a1 p b1"),
    *event(2, 4, "a2 p b2"),
    *event(3, 6, "b1 q c1", "b2 q c2"),
    *event(4, 8, "b2 q c2"),
    *event(5, 10, "a3 p b3", "b1 q c1"),
]
E_1, E_2, E_3, E_4 = ("a1", 2, 6), ("a2", 4, 6), ("a2", 4, 8), ("a1", 2, 10)  # the matches of figure 1


def pairs(policy: Policy, *streams: Stream) -> list[tuple[str, int, int]]:
    query = replace(asked(SEQUENCE, *streams), policy=policy)
    return [(token.bindings[Variable("x")][5:-1].decode(), token.start, token.end) for token in detected(query, STREAM)]


def test_example_7_of_rsep_ql_gives_each_reading_of_the_second_event() -> None:
    tokens = detected(asked(ABOUT_Y, Stream(iri("s"), None)), STREAM, until=9)
    assert sorted(seen(token)[:3] for token in tokens) == [
        ("y=b1 z=c1", 6, 6),
        ("y=b2 z=c2", 6, 6),
        ("y=b2 z=c2", 8, 8),
    ]


def test_example_8_of_rsep_ql_ends_its_third_pair_where_it_was_complete() -> None:
    assert pairs(Policy())[:3] == [E_1, E_2, E_3]


def test_unrestricted_takes_all_of_figure_1() -> None:
    assert pairs(Policy()) == [E_1, E_2, E_3, E_4]


@pytest.mark.parametrize("name", ["chronological", "recent"])
def test_example_10_of_rsep_ql_told_instant_by_instant(name: PolicyName) -> None:
    assert pairs(Policy(name, keep=True)) == [E_1, E_2, E_3, E_4]


@pytest.mark.parametrize(("name", "matches"), [("chronological", [E_1, E_2]), ("recent", [E_1, E_3])])
def test_example_10_of_rsep_ql_over_the_whole_window_at_8(name: PolicyName, matches: list[tuple]) -> None:
    left, right = (detected(asked(side), STREAM, until=9) for side in (SEQUENCE.left, SEQUENCE.right))
    both = [(l, r) for r in right for l in left if compatible(l.bindings, r.bindings) and l.end < r.start]  # noqa: E741
    taken = policies.chosen(Policy(name), both, whole=True)
    assert sorted((l.bindings[Variable("x")][5:-1].decode(), l.start, r.end) for l, r in taken) == matches  # noqa: E741


@pytest.mark.parametrize("name", ["chronological", "recent"])
def test_example_11_of_rsep_ql_uses_up_the_graphs_of_what_was_told(name: PolicyName) -> None:
    assert pairs(Policy(name)) == [E_1, E_2]


def test_naive_policy_compares_the_last_of_each_side() -> None:
    assert pairs(Policy("naive"), Stream(iri("s"), 7)) == pairs(Policy("naive")) == [E_2, E_3]


def chosen(where: Algebra, *items: Item, policy: PolicyName, keep: bool = False) -> list[str]:
    query = replace(asked(where), policy=Policy(policy, keep))
    return [seen(token)[0] for token in detected(query, items)]


def test_chronological_takes_the_earliest_partner_and_recent_the_latest() -> None:
    items = item("s a 1", 1), item("s a 2", 2), item("t a 3", 3), item("s b 1", 4)
    assert chosen(seq(A, B), *items, policy="chronological") == ["a=1 b=1"]
    assert chosen(seq(A, B), *items, policy="recent") == ["a=2 b=1"]


def test_policy_chooses_among_equal_mappings_that_end_together() -> None:
    items = item("s a 1", 1), item("s b 1", 3, 5), item("s b 1", 4, 5), item("s b 2", 5)
    tokens = detected(replace(asked(seq(A, B)), policy=Policy("recent")), items)
    assert sorted((seen(each)[0], each.facts[1].start) for each in tokens) == [("a=1 b=1", 4), ("a=1 b=2", 5)]


def test_all_partners_that_are_equally_early_are_taken() -> None:
    items = item("s a 1", 1), item("s a 2", 1), item("s a 3", 2), item("s b 1", 4)
    assert chosen(seq(A, B), *items, policy="chronological") == ["a=1 b=1", "a=2 b=1"]


def test_inner_sequences_choose_first() -> None:
    items = item("s a 1", 1), item("s a 2", 2), item("s b 1", 3), item("s c 1", 4)
    assert chosen(seq(seq(A, B), C), *items, policy="recent") == ["a=2 b=1 c=1"]
    assert chosen(seq(A, seq(B, C)), *items, policy="chronological") == ["a=1 b=1 c=1"]


def test_policy_chooses_among_the_pairs_that_no_not_bars() -> None:
    where = algebra.Between(A, N, B)
    items = item("s a 1", 1), item("s n 1", 2), item("s a 2", 3), item("s a 3", 4), item("s b 1", 5)
    assert chosen(where, *items, policy="chronological") == ["a=2 b=1"]
    assert chosen(where, items[0], items[1], items[-1], policy="chronological") == []


def test_partner_outside_the_window_is_no_candidate() -> None:
    items = item("s a 1", 0), item("s a 2", 1), item("s b 1", 11)
    assert chosen(algebra.Within(seq(A, B), 10), *items, policy="chronological") == ["a=2 b=1"]


@pytest.mark.parametrize("name", ["chronological", "naive"])
def test_second_part_outside_the_window_of_its_stream_displaces_nothing(name: PolicyName) -> None:
    streams = Stream(iri("wide"), 20), Stream(iri("narrow"), 3)
    a, long, short = item("s a 1", 1), item("s b 1", 5, 11), item("s b 1", 9, 11)
    items = [replace(a, stream="urn:wide"), *(replace(each, stream="urn:narrow") for each in (long, short))]
    query = replace(asked(seq(A, B), *streams), policy=Policy(name))
    assert [token.facts[1].start for token in detected(query, items)] == [9]


def test_filter_around_a_sequence_comes_after_its_choice() -> None:
    other = Operation("!=", (Variable("a"), Constant(iri("1"))))
    items = item("s a 1", 1), item("s a 2", 2), item("s b 1", 3)
    assert chosen(algebra.Filter(other, seq(A, B)), *items, policy="chronological") == []


def test_event_serves_several_matches_of_its_instant_and_none_later() -> None:
    items = item("s a 1", 1), item("s b 1", 3), item("s b 2", 3), item("s b 3", 4)
    assert chosen(seq(A, B), *items, policy="recent") == ["a=1 b=1", "a=1 b=2"]
    assert len(chosen(seq(A, B), *items, policy="recent", keep=True)) == 3


def test_what_is_used_up_is_no_partner_of_a_later_decision() -> None:
    where = algebra.Union(seq(A, B), algebra.LeftJoin(C, A))
    items = item("s a 1", 1), item("s b 1", 3), item("s c 1", 3), item("s c 2", 4)
    assert chosen(where, *items, policy="recent") == ["a=1 b=1", "a=1 c=1", "c=2"]
    assert chosen(where, *items, policy="recent", keep=True) == ["a=1 b=1", "a=1 c=1", "a=1 c=2"]


def test_what_was_decided_with_an_event_before_it_was_used_up_is_not_decided_again() -> None:
    where = algebra.Union(seq(A, B), seq(algebra.LeftJoin(C, A), one("d")))
    items = item("s a 1", 1), item("s b 1", 3), item("s c 1", 3), item("s d 1", 5)
    assert chosen(where, *items, policy="recent") == ["a=1 b=1"]
    assert chosen(where, items[0], *items[2:], policy="recent") == ["a=1 c=1 d=1"]


def test_events_of_all_derivations_of_a_solution_are_used_up() -> None:
    items = item("s a 1", 1), item("s a 1", 1), item("s b 1", 3), item("s b 2", 4)
    query = replace(asked(seq(A, B), solutions="set"), policy=Policy("chronological"))
    assert [seen(token)[0] for token in detected(query, items)] == ["a=1 b=1"]


def test_pending_deadline_whose_events_are_used_up_dies() -> None:
    where = algebra.Union(seq(A, B), algebra.After(A, N, 10))
    items = item("s a 1", 1), item("s b 1", 3), item("s a 2", 4)
    assert chosen(where, *items, policy="recent") == ["a=1 b=1", "a=2"]
    assert chosen(where, *items, policy="recent", keep=True) == ["a=1 b=1", "a=1", "a=2"]


def test_trailing_not_that_was_barred_stays_barred_when_that_is_used_up() -> None:
    where = algebra.Union(seq(N, B), algebra.After(A, N, 10))
    assert chosen(where, item("s a 1", 1), item("s n 1", 2), item("s b 1", 3), policy="recent") == ["b=1 n=1"]


# EP-SPARQL's own queries


def price(company: str, number: int, day: int) -> Item:
    return Item((iri(company), iri("price"), b'"%d"^^' % number + XSD + b"integer>"), day * DAY, day * DAY)


def priced(number: int) -> Triples:
    return one("price", "?company", f"?price{number}")


def compared(left: int, operator: str, factor: bytes, right: int) -> Expression:
    bound = Operation("*", (Variable(f"price{right}"), Constant(b'"' + factor + b'"^^' + XSD + b"decimal>")))
    return Operation(operator, (Variable(f"price{left}"), bound))


def test_ep_sparql_query_1_finds_a_fall_and_a_rise_in_less_than_thirty_days() -> None:
    month = Operation("<", (Call("GETDURATION", ()), Constant(b'"P30D"^^' + XSD + b"duration>")))
    tests = Operation("&&", (compared(2, "<", b"0.7", 1), Operation("&&", (compared(3, ">", b"1.05", 1), month))))
    where = algebra.Filter(tests, seq(seq(priced(1), priced(2)), priced(3)))
    fall = price("acme", 100, 0), price("acme", 69, 10)
    assert len(detected(asked(where), [*fall, price("acme", 106, 29)])) == 1
    assert detected(asked(where), [*fall, price("acme", 106, 30)]) == []
    assert detected(asked(where), [*fall, price("other", 106, 29)]) == []


def test_ep_sparql_query_2_shows_the_agency_if_there_was_one() -> None:
    fall = algebra.Filter(compared(2, "<", b"0.5", 1), seq(priced(1), priced(2)))
    where = algebra.OptionalBefore(one("downratedby", "?company", "?agency"), fall)
    prices = price("acme", 100, 2), price("acme", 49, 3)
    agency = [token.bindings.get(Variable("agency")) for token in detected(asked(where), prices)]
    rated = [replace(item("acme downratedby moody", 0), start=DAY, end=DAY), *prices]
    assert agency == [None]
    assert [token.bindings[Variable("agency")] for token in detected(asked(where), rated)] == [iri("moody")]


def test_ep_sparql_query_3_says_not_by_optionalseq() -> None:
    inner = algebra.OptionalBefore(one("acquired", "?company", "?other"), priced(2))
    nothing = Operation("!", (Call("BOUND", (Variable("other"),)),))
    where = algebra.Filter(Operation("&&", (compared(2, ">", b"1.5", 1), nothing)), seq(priced(1), inner))
    prices = price("acme", 100, 1), price("acme", 160, 3)
    bought = replace(item("acme acquired tiny", 0), start=2 * DAY, end=2 * DAY)
    assert len(detected(asked(where), prices)) == 1
    assert detected(asked(where), [prices[0], bought, prices[1]]) == []


# Rules


def rule(where: Algebra, *template: TemplateTriple, feeds: str | None = None, solutions: Solutions = "set") -> Query:
    stream = None if feeds is None else iri(feeds)
    return Query("CONSTRUCT", where, (), template, feeds=stream, is_rule=True, solutions=solutions)


def builds(predicate: str, object_: Variable | BlankNode) -> TemplateTriple:
    return TemplateTriple(Variable("x"), iri(predicate), object_)


def told(queries: list[Query], *items: Item) -> list[list[tuple]]:
    return [[seen(token) for token in tokens] for tokens in detected_all(queries, items)]


def test_what_a_rule_builds_has_the_interval_of_its_solution_and_is_there_at_the_close_of_the_instant() -> None:
    rated = rule(seq(A, B), builds("d", Variable("b")))
    found = told(
        [rated, asked(one("d")), asked(seq(one("d"), C))], item("s a 1", 1), item("s b 2", 3), item("s c 3", 4)
    )
    assert found[1] == [("d=2", 1, 3, "close")]
    assert found[2] == [("c=3 d=2", 1, 4, "arrival")]


def test_rules_run_in_rounds_within_an_instant_until_nothing_new_comes() -> None:
    start = rule(A, builds("d", Variable("a")))
    step = rule(algebra.Join(one("d"), one("next", "?d", "?e")), TemplateTriple(Variable("x"), iri("d"), Variable("e")))
    items = item("1 next 2", 5), item("2 next 1", 5), item("s a 1", 5)
    assert sorted(told([start, step, asked(one("d"))], *items)[2]) == [("d=1", 5, 5, "flush"), ("d=2", 5, 5, "flush")]


def test_optional_about_the_same_instant_waits_for_the_rule_that_builds_it() -> None:
    reads = rule(algebra.LeftJoin(A, one("d")), builds("e", Variable("d")))
    writes = rule(B, builds("d", Variable("b")))
    found = told([reads, writes, asked(one("e"))], item("s a 1", 1), item("s b 2", 1))
    assert found[2] == [("e=2", 1, 1, "flush")]


@pytest.mark.parametrize("where", [algebra.Minus(A, one("d")), algebra.After(A, one("d"), 5), algebra.Last(one("d"))])
def test_rule_whose_decision_about_an_instant_waits_for_itself_is_refused(where: Algebra) -> None:
    with pytest.raises(ValueError, match="waits for itself"):
        told([rule(where, builds("d", Variable("a")))])


def test_time_stratifies_what_is_read_as_strictly_earlier() -> None:
    counted = rule(algebra.Before(one("d"), A, 10), builds("d", Variable("a")))
    found = told([counted], item("s a 1", 0), item("s a 2", 10), item("s a 3", 11))
    assert [each[:3] for each in found[0]] == [("a=1", 0, 0), ("a=3", 11, 11)]


def test_triple_with_an_unbound_variable_is_not_built_and_the_others_are() -> None:
    made = rule(algebra.LeftJoin(A, B), builds("d", Variable("a")), builds("e", Variable("b")))
    assert [len(each) for each in told([made, asked(one("d")), asked(one("e"))], item("s a 1", 1))] == [1, 1, 0]


def test_triple_with_a_literal_as_subject_is_not_built() -> None:
    made = rule(priced(1), TemplateTriple(Variable("price1"), iri("d"), Variable("company")))
    assert [len(tokens) for tokens in detected_all([made, asked(one("d"))], [price("acme", 1, 1)])] == [1, 0]


def test_solution_that_is_found_again_in_the_next_round_builds_nothing_new() -> None:
    made = rule(A, builds("d", BlankNode("n")))
    again = rule(one("d"), builds("e", Variable("d")))
    found = detected_all([made, again, asked(one("e"))], [item("s a 1", 1)])
    assert [len(tokens) for tokens in found] == [1, 1, 1]


def test_blank_node_is_a_new_one_for_every_solution_and_one_within_it() -> None:
    made = rule(A, builds("d", BlankNode("n")), builds("e", BlankNode("n")))
    found = detected_all([made, asked(one("d")), asked(one("e"))], [item("s a 1", 1), item("s a 2", 1)])
    nodes = [[token.bindings[Variable(name)] for token in tokens] for name, tokens in zip("de", found[1:], strict=True)]
    assert nodes[0] == nodes[1]
    assert len(set(nodes[0])) == 2


def test_built_triple_belongs_to_the_stream_that_is_fed_or_to_the_one_that_is_read() -> None:
    items = [item("s a 1", 1, stream="urn:one")]
    on_two = replace(asked(one("d")), streams=(Stream(iri("two"), None),))
    for feeds, streams, heard in (
        ("two", (), 1),
        ("one", (), 0),
        (None, (Stream(iri("one"), None),), 0),
        (None, (), 1),
    ):
        made = replace(rule(A, builds("d", Variable("a")), feeds=feeds), streams=streams)
        assert len(detected_all([made, on_two], items)[1]) == heard


def test_occurrence_that_is_there_already_is_not_added_again() -> None:
    made = rule(A, builds("b", Variable("a")))
    assert len(told([made, asked(B)], item("s a 1", 1), item("s b 1", 1))[1]) == 1
    assert len(told([made, asked(B)], item("s a 1", 1), item("s b 1", 1, stream="urn:one"))[1]) == 2
