"""Random rules that feed back, queries that read what these build, and a stream to ask them of.

A rule builds triples of a predicate of its own.  Rules that read what rules build make no new terms, so that an instant
comes to an end; and no decision about an instant waits for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st
from naive.rules import strata
from naive.streams import Item

from cases.engine import STREAMS
from cases.temporal import (
    NUMBERS,
    OPERATORS,
    PREDICATES,
    SOLUTIONS,
    SUBJECTS,
    X,
    known,
    pattern_of,
    policy,
    ranges,
    room_of,
    stream_of,
)
from retewave.compiler.algebra import BlankNode, Query, TemplateTriple, visible

BUILT = (b"<http://e/built1>", b"<http://e/built2>")  # the predicates of what rules build
FEEDS = [None, None, *(f"<{iri}>".encode() for iri in STREAMS)]


@dataclass(frozen=True)
class RulesCase:
    """Rules and queries, and what they are asked of."""

    queries: list[Query]  # rules first
    stream: list[Item]  # in the order of their ends
    static: frozenset  # triples that are always there

    @property
    def rules(self) -> int:
        """How many of the queries are rules."""
        return sum(query.is_rule for query in self.queries)


@st.composite
def rules_case(
    draw: st.DrawFn,
    *,
    operators: frozenset[str] = OPERATORS,
    depth: int = 2,
    leaves: int = 3,
    most: int = 10,
    policies: bool = False,
) -> RulesCase:
    """Draw one rule or two, and one query."""
    rules = [draw(_rule(place, operators, depth, leaves)) for place in range(draw(st.integers(1, 2)))]
    streams = draw(ranges)
    room = replace(room_of(operators, streams), predicates=(*BUILT[: len(rules)] * 2, *PREDICATES[:2]))
    where = draw(pattern_of(room, depth, leaves, may_choose=True))
    shown = tuple(variable.name for variable in visible(where))
    solutions = draw(st.sampled_from(SOLUTIONS))
    queries = [*rules, Query("SELECT", where, shown, streams=streams, solutions=solutions)]
    if policies:
        queries = [replace(query, policy=draw(policy())) for query in queries]
    assume(_can_be_ordered(queries))
    return RulesCase(queries, draw(stream_of(most=most)), frozenset(draw(st.lists(known, max_size=2))))


@st.composite
def _rule(draw: st.DrawFn, place: int, operators: frozenset[str], depth: int, leaves: int) -> Query:
    reads_rules = draw(st.booleans())
    streams = draw(ranges)
    feeds = draw(st.sampled_from(FEEDS))
    room = room_of(operators - {"extend"} if reads_rules else operators, streams)
    if reads_rules:
        room = replace(room, predicates=(*PREDICATES, *BUILT * 2))
    where = draw(pattern_of(room, draw(st.sampled_from([0, 0, 1, depth])), leaves, may_choose=True))
    terms = [*(visible(where) or [X]), SUBJECTS[0], *([] if reads_rules else [BlankNode("n")])]
    subject = draw(st.sampled_from([terms[0], terms[0], *terms]))
    objects = draw(st.lists(st.sampled_from([*terms, NUMBERS[0]]), min_size=1, max_size=2, unique=True))
    template = tuple(TemplateTriple(subject, BUILT[place], each) for each in objects)
    solutions = draw(st.sampled_from(SOLUTIONS[::-1]))
    return Query("CONSTRUCT", where, (), template, streams=streams, feeds=feeds, is_rule=True, solutions=solutions)


def _can_be_ordered(queries: list[Query]) -> bool:
    try:
        return bool(strata(queries, lambda triple: {triple}))
    except ValueError:
        return False
