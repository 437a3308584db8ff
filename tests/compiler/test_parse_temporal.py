"""Operators of time become algebra: chains of groups, their filters, streams and what is registered as a rule."""

from __future__ import annotations

import pytest

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    Exists,
    Filter,
    First,
    Join,
    Last,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
    Policy,
    Relate,
    TriplePattern,
    Triples,
    Union,
    Variable,
    Within,
    operands,
)
from retewave.compiler.expressions.tree import Call, Constant, Operation, to_sparql
from retewave.compiler.parse import parse
from retewave.windows.relations import SEQ, code_of

SECOND = 1_000_000
MINUTE = 60 * SECOND
XSD = "http://www.w3.org/2001/XMLSchema#"
A, B, C, N = (
    Triples((TriplePattern(Variable("x"), f"<urn:{name}>".encode(), Variable(name)),)) for name in ("a", "b", "c", "n")
)


def where(text: str, head: str = "SELECT *") -> Algebra:
    """Return the algebra of a pattern in which A, B, C and N stand for groups of one triple."""
    for name in "ABCN":
        text = text.replace(f"{{{name}", f"{{ ?x <urn:{name.lower()}> ?{name.lower()} ")
    return parse(f"PREFIX xsd: <{XSD}> {head} {{ {text} }}").where


def compared(left: str, operator: str, right: str) -> Operation:
    return Operation(operator, (Variable(left), Variable(right)))


# Relations


@pytest.mark.parametrize(
    "name",
    [
        "SEQ",
        "EQUALS",
        "BEFORE",
        "AFTER",
        "MEETS",
        "MET_BY",
        "OVERLAPS",
        "OVERLAPPED_BY",
        "STARTS",
        "STARTED_BY",
        "DURING",
        "CONTAINS",
        "FINISHES",
        "FINISHED_BY",
        "seq",
        "During",
    ],
)
def test_every_relation_joins_two_groups(name: str) -> None:
    assert where(f"{{A}} {name} {{B}}") == Relate(A, code_of(name), B)


def test_a_chain_is_read_from_the_left() -> None:
    assert where("{A} SEQ {B} DURING {C}") == Relate(Relate(A, SEQ, B), code_of("during"), C)
    assert where("{A} SEQ { {B} DURING {C} }") == Relate(A, SEQ, Relate(B, code_of("during"), C))


def test_an_operator_knows_where_it_is_written() -> None:
    found = parse("SELECT * {\n  { ?x <urn:p> 1 }\n  SEQ { ?x <urn:p> 2 } }", source="q.rq").where
    assert isinstance(found, Relate) and str(found.place) == "q.rq:3:3"


def test_a_chain_joins_what_stands_beside_it() -> None:
    assert where("?x <urn:c> ?c . {A} SEQ {B}") == Join(C, Relate(A, SEQ, B))


def test_contains_is_still_a_function() -> None:
    found = where("{A} CONTAINS {B} FILTER CONTAINS(?a, 'x')")
    assert isinstance(found, Filter) and found.pattern == Relate(A, code_of("contains"), B)
    assert isinstance(found.expression, Call) and found.expression.function == "CONTAINS"


def test_optionalseq_has_its_optional_part_on_the_left_and_equalsoptional_on_the_right() -> None:
    assert where("{A} OPTIONALSEQ {B}") == OptionalBefore(A, B)
    assert where("{A} EQUALSOPTIONAL {B}") == OptionalEquals(A, B)
    assert where("{A} OPTIONALSEQ {B} SEQ {C}") == Relate(OptionalBefore(A, B), SEQ, C)


# WITHIN


def test_within_bounds_all_to_its_left() -> None:
    assert where("{A} SEQ {B} WITHIN 10s SEQ {C}") == Relate(Within(Relate(A, SEQ, B), 10 * SECOND), SEQ, C)
    assert where("{A} SEQ { {B} WITHIN 10s }") == Relate(A, SEQ, Within(B, 10 * SECOND))
    assert where("{A} WITHIN 10 s") == Within(A, 10 * SECOND)
    assert where("{A} WITHIN 10s WITHIN 5s") == Within(Within(A, 10 * SECOND), 5 * SECOND)


# NOT


def test_not_between_two_groups() -> None:
    assert where("{A} SEQ NOT {N} SEQ {B}") == Between(A, N, B)
    assert where("{A} SEQ NOT {N} SEQ {B} SEQ {C}") == Relate(Between(A, N, B), SEQ, C)
    assert where("{A} SEQ {B} BEFORE NOT {N} SEQ {C}") == Between(Relate(A, SEQ, B), N, C)


def test_not_at_the_beginning_takes_its_width_from_the_next_within() -> None:
    assert where("NOT {N} SEQ {A} WITHIN 5m") == Within(Before(N, A, 5 * MINUTE), 5 * MINUTE)
    bounded = Within(Relate(Before(N, A, 5 * MINUTE), SEQ, B), 5 * MINUTE)
    assert where("NOT {N} SEQ {A} SEQ {B} WITHIN 5m") == bounded
    assert where("NOT {N} SEQ {A} SEQ {B} WITHIN 5m SEQ {C} WITHIN 9m") == Within(Relate(bounded, SEQ, C), 9 * MINUTE)


def test_not_at_the_end_takes_its_width_from_the_within_behind_it() -> None:
    assert where("{A} SEQ NOT {N} WITHIN 5m") == Within(After(A, N, 5 * MINUTE), 5 * MINUTE)
    found = where("{A} SEQ {B} WITHIN 1m SEQ NOT {N} WITHIN 5m SEQ {C}")
    after = After(Within(Relate(A, SEQ, B), MINUTE), N, 5 * MINUTE)
    assert found == Relate(Within(after, 5 * MINUTE), SEQ, C)


def test_not_at_both_ends_and_between() -> None:
    found = where("NOT {N} SEQ {A} SEQ NOT {C} SEQ {B} SEQ NOT {N} WITHIN 5m")
    between = Between(Before(N, A, 5 * MINUTE), C, B)
    assert found == Within(After(between, N, 5 * MINUTE), 5 * MINUTE)


# FIRST, LAST, STREAM


def test_first_and_last_choose_from_a_group() -> None:
    assert where("FIRST {A}") == First(A)
    assert where("LAST {A} SEQ FIRST {B}") == Relate(Last(A), SEQ, First(B))


def test_stream_says_where_all_triples_inside_come_from() -> None:
    def on(stream: bytes, pattern: Triples) -> Triples:
        (only,) = pattern.patterns
        return Triples((TriplePattern(*only.terms, stream),))

    assert where("STREAM <urn:s> {A} SEQ {B}") == Relate(on(b"<urn:s>", A), SEQ, B)
    found = where("STREAM <urn:s> { ?x <urn:a>/!<urn:b> ?y . ?x ?p [ ?q 1 ] { ?x <urn:c> 1 } MINUS { ?x <urn:d> 2 } }")
    waiting, sources = [found], set()
    while waiting:
        each = waiting.pop()
        waiting += operands(each)
        if isinstance(each, Triples):
            sources |= {pattern.source for pattern in each.patterns}
    assert sources == {b"<urn:s>"}
    assert where("?x <urn:a> ?a STREAM <urn:s> { ?x <urn:b> ?b } ?x <urn:c> ?c") == Triples(
        (*A.patterns, *on(b"<urn:s>", B).patterns, *C.patterns)
    )
    assert where("NOT STREAM <urn:s> {N} SEQ {A} WITHIN 5s") == Within(
        Before(on(b"<urn:s>", N), A, 5 * SECOND), 5 * SECOND
    )


# OPTIONAL, MINUS, EXISTS and the filters of such groups


def test_optional_and_minus_take_what_stands_before_them() -> None:
    assert where("?x <urn:a> ?a OPTIONAL {B} MINUS {N}") == Minus(LeftJoin(A, B), N)
    assert where("OPTIONAL {A} ?x <urn:b> ?b") == Join(LeftJoin(Triples(()), A), B)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("?x <urn:a> ?a OPTIONAL {B FILTER(?a < ?b)}", LeftJoin(A, B, compared("a", "<", "b"))),
        ("{A FILTER(?a < ?b)} OPTIONALSEQ {B}", OptionalBefore(A, B, compared("a", "<", "b"))),
        ("{A} EQUALSOPTIONAL {B FILTER(?a < ?b)}", OptionalEquals(A, B, compared("a", "<", "b"))),
        ("{A} SEQ NOT {N FILTER(?a < ?b)} SEQ {B}", Between(A, N, B, compared("a", "<", "b"))),
        (
            "NOT {N FILTER(?a < ?n)} SEQ {A} WITHIN 1m",
            Within(Before(N, A, MINUTE, compared("a", "<", "n")), MINUTE),
        ),
        (
            "{A} SEQ NOT {N FILTER(?a < ?n)} WITHIN 1m",
            Within(After(A, N, MINUTE, compared("a", "<", "n")), MINUTE),
        ),
        ("?x <urn:a> ?a FILTER EXISTS {B FILTER(?a < ?b)}", Exists(A, B, compared("a", "<", "b"))),
    ],
)
def test_the_filters_of_an_optional_an_absent_or_a_looked_for_group_see_the_other_side(
    text: str, node: Algebra
) -> None:
    assert where(text) == node
    assert parse(f"SELECT * {{ {text.replace('{A', '{ ?x <urn:a> ?a ')} }}".replace("{B", "{").replace("{N", "{"))


def test_several_filters_of_such_a_group_are_one_condition_and_those_of_groups_inside_it_stay() -> None:
    found = where("{A FILTER(?a < 1) FILTER(?a < ?b)} OPTIONALSEQ {B}")
    assert isinstance(found, OptionalBefore) and found.condition is not None
    assert to_sparql(found.condition).startswith("((?a < ") and to_sparql(found.condition).endswith("&& (?a < ?b))")
    inner = where("{ {A FILTER(?a < ?x)} } OPTIONALSEQ {B}")
    assert inner == OptionalBefore(Filter(compared("a", "<", "x"), A), B)
    assert where("{A FILTER(?a < ?x)} SEQ {B}") == Relate(Filter(compared("a", "<", "x"), A), SEQ, B)


def test_a_filter_behind_a_chain_is_around_the_whole_group() -> None:
    assert where("{A} SEQ {B} FILTER(?a < ?b)") == Filter(compared("a", "<", "b"), Relate(A, SEQ, B))
    assert where("{A} OPTIONALSEQ {B} FILTER(?a < ?b)") == Filter(compared("a", "<", "b"), OptionalBefore(A, B))


def test_exists_is_a_node_around_what_the_group_joins_and_a_part_of_a_conjunction() -> None:
    assert where("FILTER NOT EXISTS {N} ?x <urn:a> ?a") == Exists(A, N, negated=True)
    found = where("?x <urn:a> ?a FILTER(?a < ?x && EXISTS {B} && !EXISTS {N})")
    assert found == Filter(compared("a", "<", "x"), Exists(Exists(A, B), N, negated=True))


def test_a_blank_node_before_and_behind_exists_is_one() -> None:
    query = parse("SELECT * { _:b ?p 1 FILTER EXISTS { ?p ?q 1 } _:b ?q 2 }")
    assert isinstance(query.where, Exists) and isinstance(query.where.pattern, Triples)


# Times in filters


def test_times_are_functions_of_filters() -> None:
    found = where("{A} SEQ {B} FILTER(getDURATION() < 'P30D'^^xsd:duration && GETSTARTTIME() != getEndTime())")
    assert isinstance(found, Filter) and isinstance(found.expression, Operation)
    length, apart = found.expression.operands
    assert length == Operation("<", (Call("GETDURATION", ()), Constant(f'"P30D"^^<{XSD}duration>'.encode())))
    assert apart == Operation("!=", (Call("GETSTARTTIME", ()), Call("GETENDTIME", ())))


@pytest.mark.parametrize(
    "written", ["'PT5M'^^xsd:dayTimeDuration", "'P1DT2H'^^xsd:duration", "?a", "'P0M'^^xsd:duration"]
)
def test_lengths_of_time_without_months_may_be_compared(written: str) -> None:
    where(f"{{A}} FILTER(getDURATION() <= {written})")
    where(f"{{A}} FILTER({written} > getDURATION())")


# Subqueries


def test_a_subquery_hides_what_it_does_not_show() -> None:
    found = where("?x <urn:a> ?y { SELECT ?x { ?x <urn:b> ?y } }")
    hidden = Variable("_:.1")
    assert found == Triples(
        (
            TriplePattern(Variable("x"), b"<urn:a>", Variable("y")),
            TriplePattern(Variable("x"), b"<urn:b>", hidden),
        )
    )


def test_a_subquery_hides_what_stands_in_absent_groups_and_conditions_only() -> None:
    query = parse(
        "SELECT * { { SELECT ?x (?a + 1 AS ?z) {"
        " { ?x <urn:a> ?a } SEQ NOT { ?x <urn:n> ?n FILTER(?n > ?a) } SEQ { ?x <urn:b> ?b } } } }"
    )
    assert query.projection == ("x", "z")
    assert "?n" not in str(query.where) and "name='n'" not in repr(query.where) and "name='a'" not in repr(query.where)


# Braces, policies, rules


def test_where_may_go_without_outer_braces() -> None:
    bare = parse("SELECT ?x WHERE { ?x <urn:a> ?a } SEQ { ?x <urn:b> ?b } FILTER (?a < ?b) FILTER(?a > 1) .")
    braced = parse("SELECT ?x WHERE { { ?x <urn:a> ?a } SEQ { ?x <urn:b> ?b } FILTER (?a < ?b) FILTER(?a > 1) }")
    assert bare.where == braced.where


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ("", Policy()),
        ("POLICY unrestricted", Policy()),
        ("policy NAIVE", Policy("naive")),
        ("POLICY chronological", Policy("chronological")),
        ("POLICY recent KEEP", Policy("recent", keep=True)),
    ],
)
def test_a_policy_stands_behind_the_streams(written: str, policy: Policy) -> None:
    assert parse(f"SELECT * FROM STREAM <urn:s> [RANGE 5m] {written} WHERE {{ ?x ?p ?y }}").policy == policy


def test_keep_beside_a_policy_that_uses_nothing_up_is_told() -> None:
    (notice,) = parse("SELECT * POLICY naive KEEP { ?x ?p ?y }").notices
    assert notice == "<query>:1:23: KEEP has no effect: naive uses nothing up"


def test_a_registered_stream_is_fed_by_construct() -> None:
    query = parse("REGISTER STREAM :alarms AS PREFIX : <urn:> CONSTRUCT { ?x :hot 1 } { ?x :is 2 }")
    assert (query.feeds, query.is_rule, query.name) == (b"<urn:alarms>", True, None)
    plain = parse("REGISTER STREAM alarms AS CONSTRUCT { ?x <urn:hot> 1 } { ?x <urn:is> 2 }")
    assert (plain.feeds, plain.is_rule, plain.name) == (None, False, "alarms")


def test_one_group_is_itself() -> None:
    assert where("{A}") == A
    assert where("{A} UNION FIRST {B}") == Union(A, First(B))
