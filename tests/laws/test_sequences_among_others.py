"""Sequences of events among others: as EP-SPARQL's SEQ, as rules that feed each other, registered late.

The cases are seeds, as in `test_engine_sequences.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from random import Random

from cases.many import many
from cases.sequences import Room, cases, drawn
from helpers.sequences import event, letters, query, sequence
from helpers.told import Told, of_token, shown
from helpers.told_rules import by_query
from helpers.told_runs import ToldRun, engine_for, flushed, of_tokens, pushed, registered
from naive.detectors import detected, detected_all
from naive.streams import Item
from naive.tokens import Token

import retewave as rw
from retewave.compiler.algebra import Query
from retewave.compiler.parse import parse
from retewave.errors import QueryError

ALL = Room(repeated=True, maximal=True, absent=True, maybe=True, aggregates=True, doubled=True)
ELSE = query(sequence("Z", {"Z": "?s else ?z"}))

# ---- EP-SPARQL ----

PATTERNS = ("?s {} ?{}", "?s {} ?x", "?t {} ?{}", "?s {} 1")


def pair(random: Random) -> tuple[str, str]:
    """Return the same sequence in SPAseq and in EP-SPARQL."""
    gpms, groups = [], []
    for name in "ABC"[: random.randint(1, 3)]:
        words = random.choice(PATTERNS).format(random.choice("abc"), name.lower())
        subject, predicate, object_ = words.split()
        pattern = f"{subject} <urn:{predicate}> {object_}"
        if random.random() < 0.3:
            pattern = f"{{ {pattern} }} UNION {{ {subject} <urn:{random.choice('abc')}> {object_} }}"
        gpms.append(f"DEFINE GPM {name} {{ {pattern} }}")
        groups.append(f"{{ {pattern} }}")
    width = random.choice((None, 2, 4))
    within = "" if width is None else f"WITHIN {width}s"
    steps = ": ".join("ABC"[: len(gpms)])
    seq = f"SELECT * {within} WHERE {{ SEQ ({steps}) {' '.join(gpms)} }}"
    body = " SEQ ".join(groups)
    bounded = f"FILTER(getDURATION() <= 'PT{width}S'^^<http://www.w3.org/2001/XMLSchema#duration>)" if width else ""
    return seq, f"SELECT * WHERE {{ {body} {bounded} }}"


def of_triples(text: str, language: str, events: list[list[Item]]) -> set[Told]:
    engine = rw.Engine(seed=1, allow_cartesian=True, max_future=None)
    engine.register(text, language=language)
    found = [match for each in events for match in engine.push(said(each)[0], time=said(each)[1])]
    return set(map(shown, [*found, *engine.flush()]))


def said(item: list[Item]) -> tuple[tuple[str, ...], float]:
    (only,) = item
    return tuple(text.decode() for text in only.triple), only.end / 1e6


def test_a_sequence_of_any_later_events_is_a_seq_of_ep_sparql_where_each_event_is_a_triple() -> None:
    found = 0
    for seed in range(many(200)):
        random = Random(seed)
        seq, ep = pair(random)
        times = sorted(random.choices(range(8), k=random.randint(2, 8)))
        events = [
            event(time * 1_000_000, f"{random.choice('hk')} {random.choice('abc')} {random.randint(1, 2)}")
            for time in times
        ]
        expected = of_triples(ep, "epsparql", events)
        assert of_triples(seq, "spaseq", events) == expected, f"{seed}: {seq}\n{ep}\n{events}"
        found += bool(expected)
    assert many(200) < 200 or found > 50


# ---- rules ----

RULES = ("A; B", "A: B", "A, B", "A; B+", "A, B+!, C", "A; B!", "A; B?; C", "(A & B)")
READERS = ("M", "M; C", "C, M", "M; M2", "A; M!; C", "M+; C", "M!; C", "C; M!")
GPMS = (
    """DEFINE GPM A { ?s <urn:a> ?a } DEFINE GPM B { ?s <urn:b> ?b FILTER(?b >= ?a) } DEFINE GPM C { ?s <urn:c> ?c }"""
)
MADE = """DEFINE GPM M { ?s <urn:made> ?m } DEFINE GPM M2 { ?s <urn:made> ?n } DEFINE GPM A { ?s <urn:a> ?a }
    DEFINE GPM C { ?s <urn:c> ?c }"""


def rule_and_reader(rule: str, reader: str) -> list[Query]:
    built = "REGISTER STREAM <urn:out> AS CONSTRUCT { ?s <urn:made> ?a . ?s <urn:also> ?a } WITHIN 0.000004s"
    return [
        parse(f"{built} WHERE {{ SEQ ({rule}) {GPMS} }}", language="spaseq"),
        parse(f"SELECT * WITHIN 0.000005s WHERE {{ SEQ ({reader}) {MADE} }}", language="spaseq"),
    ]


def told_of_rules(queries: list[Query], events: list[list[Item]]) -> list[Counter[Told]]:
    engine = rw.Engine(seed=1, max_future=None, allow_cartesian=True)
    names = [registered(engine, each).name for each in queries]
    found: list[rw.Match] = []
    for each in events:
        times = each[0].start / 1e6, each[0].end / 1e6
        triples = [tuple(text.decode() for text in item.triple) for item in each]
        found += engine.push(triples, time=times, stream=each[0].stream, event=each[0].event)
    told = by_query([*found, *engine.flush()])
    return [told.get(name, Counter()) for name in names]


def test_what_a_sequence_builds_comes_in_again_as_an_event_for_other_sequences() -> None:
    pairs = list(product(RULES, READERS))
    found = 0
    for seed in range(many(200)):
        rule, reader = pairs[seed % len(pairs)]
        queries = rule_and_reader(rule, reader)
        events = drawn(Random(seed), Room(events=8)).events
        tokens = detected_all(queries, [item for each in events for item in each])
        expected = [Counter(map(_of(parsed), of)) for parsed, of in zip(queries, tokens, strict=True)]
        assert told_of_rules(queries, events) == expected, f"{seed}: {rule} / {reader}\n{events}"
        found += bool(expected[1])
    assert many(200) < 200 or found > 40


def _of(parsed: Query) -> Callable[[Token], Told]:
    """Return what makes of a token what its query tells: a rule tells what its template mentions."""
    names = {"s", "a"} if parsed.form == "CONSTRUCT" else None

    def told(token: Token) -> Told:
        start, end, bindings = of_token(token)
        return start, end, tuple(each for each in bindings if names is None or each[0] in names)

    return told


# ---- registered late ----


def told_late(asked: Query, events: list[list[Item]], comes: int) -> Counter[ToldRun]:
    engine, _ = engine_for(ELSE)
    for each in events[:comes]:
        pushed(engine, each)
    late = registered(engine, asked)
    found = [match for match in engine.advance(0) if match.query is late]
    assert not found
    return sum((pushed(engine, each) for each in events[comes:]), Counter()) + flushed(engine)


def test_a_sequence_that_is_registered_late_finds_what_follows_from_what_comes_after_it() -> None:
    for seed, case in enumerate(cases(ALL, range(many(250)))):
        comes = Random(seed).randint(1, len(case.events))
        try:
            found = told_late(case.query, case.events, comes)
        except QueryError:
            continue
        rest = [item for each in case.events[comes:] for item in each]
        clock = case.events[comes - 1][0].end
        assert found == of_tokens(detected(case.query, rest, registered=clock)), f"comes at {comes}\n{case}"


# ---- many at once ----


def test_sequences_of_one_engine_tell_what_each_tells_alone() -> None:
    stream = letters("aabcbacbbcac")
    where = [
        sequence(text, LETTERS, width=6) for text in ("A; B; C", "A, B", "A; B+!; C", "A; B!; C", "A, B!, C", "A; C!")
    ]
    engine = rw.Engine(seed=1, max_future=None)
    queries = [registered(engine, query(each)) for each in where]
    found = [match for each in stream for match in engine.push(said(each)[0], time=said(each)[1])] + engine.flush()
    for asked, each in zip(queries, where, strict=True):
        own = Counter(shown(match) for match in found if match.query is asked)
        assert own == _plain(detected(query(each), [item for one in stream for item in one]))


LETTERS = {each.upper(): f"?s {each} ?{each}" for each in "abc"}


def _plain(tokens: Iterable[Token]) -> Counter[Told]:
    return Counter(map(of_token, tokens))
