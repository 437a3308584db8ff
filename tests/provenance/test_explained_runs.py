"""Matches of sequences can be explained: by the events of their runs, which alone give each match again."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence

from cases.engine import written
from cases.many import many
from cases.sequences import Case, Room, cases
from helpers.told_runs import ToldRun, of_tokens, told_run
from naive.detectors import detected
from naive.streams import Item

import retewave as rw
from retewave.compiler.algebra import Follows, Occurs
from retewave.engine.registry import CartesianWarning, UnboundedWarning
from retewave.errors import QueryError

ROOM = Room(repeated=True, maximal=True, absent=True, maybe=True, aggregates=True, doubled=True)


def explained(case: Case, events: Sequence[Sequence[Item]]) -> list[rw.Match]:
    """Return what a case's query tells of some events, explained."""
    engine = rw.Engine(seed=1, max_future=None, allow_cartesian=True)
    with warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning):
            warnings.simplefilter("ignore", each)
        engine.register(case.query, keep=None, explain=True)
    found = []
    for event in events:
        first = event[0]
        times = (first.start / 1e6, first.end / 1e6)
        triples = [written(item.triple) for item in event]
        found += engine.push(triples, time=times, stream=first.stream, event=first.event)
    return [*found, *engine.flush()]


def taken(case: Case, match: rw.Match) -> list[list[Item]]:
    """Return the events that a match was made of, with no other triples."""
    given = {(each.event, tuple(text.encode() for text in each.terms or ())) for each in match.explain().arrivals}
    kept = [[item for item in event if (str(item.event), item.triple) in given] for event in case.events]
    return [event for event in kept if event]


def test_an_explained_sequence_tells_the_same_and_its_events_alone_give_each_match_again() -> None:
    tried = 0
    for case in cases(ROOM, range(many(250))):
        try:
            found = explained(case, case.events)
        except QueryError:
            continue
        assert Counter(map(told_run, found)) == of_tokens(detected(case.query, case.items)), f"{case}"
        last = case.where.steps[-1]
        if last.occurs is Occurs.MOST and last.between is Follows.STRICT:
            continue  # what closes it is none of its events
        for match in found[:3]:
            alone: list[ToldRun] = [told_run(each) for each in explained(case, taken(case, match))]
            assert told_run(match) in alone, f"{match.explain()}\n{case}"
            tried += 1
    assert many(250) < 250 or tried > 100


FALLS = """PREFIX : <urn:> SELECT ?s ?c WITHIN 30s FROM STREAM S <urn:S> WHERE { SEQ (A; B+, C)
    DEFINE GPM A { ?s :a ?a ; :z ?z } DEFINE GPM B { ?s :b ?b FILTER(?b > ?a) }
    DEFINE GPM C { { ?s :c ?c } UNION { ?s :d ?c } } }"""
SAID = """\
falls: ?s = :s, ?c = 3  [1, 4]
  (1) ?s :a ?a  ←  :s :a 1  [1]  stream <urn:S>  event #1
  (2) ?s :z ?z  ←  :s :z 5  [1]  stream <urn:S>  event #1
  (3) ?s :b ?b  ←  :s :b 2  [2]  stream <urn:S>  event #2
  (4) ?s :b ?b  ←  :s :b 3  [3]  stream <urn:S>  event #3
  (5) ?s :d ?c  ←  :s :d 3  [4]  stream <urn:S>  event #4
  ;       (1–2) then (3): 1 < 2, and none that fits between
  ,       (3) then (4): 2 < 3, and no event between
  ,       (4) then (5): 3 < 4, and no event between
  WITHIN  4 − 1 = 3s ≤ 30s
"""


def test_an_explanation_lists_the_events_of_a_run_and_how_each_follows() -> None:
    engine = rw.Engine()
    engine.register(FALLS, name="falls", explain=True)
    for time, said in enumerate(["a 1 z 5", "b 2", "b 3"], 1):
        words = said.split()
        pairs = zip(words[::2], words[1::2], strict=True)
        engine.push([("urn:s", f"urn:{p}", int(o)) for p, o in pairs], time=time, stream="urn:S")
    (match,) = engine.push(("urn:s", "urn:d", 3), time=4, stream="urn:S")
    assert str(match.explain()) == SAID
    assert match.explain().to_svg().startswith("<svg")
    assert len(match.explain().to_dict()["arrivals"]) == 5


def test_a_match_at_a_deadline_is_explained_too() -> None:
    engine = rw.Engine()
    engine.register(
        """PREFIX : <urn:> SELECT * WITHIN 5s FROM STREAM S <urn:S> WHERE { SEQ (A; B!)
        DEFINE GPM A { ?s :a ?a } DEFINE GPM B { ?s :b ?b } }""",
        name="quiet",
        explain=True,
    )
    engine.push(("urn:s", "urn:a", 1), time=1, stream="urn:S")
    (match,) = engine.push(("urn:t", "urn:a", 1), time=9, stream="urn:S")
    assert "WITHIN  nothing bars the run until 6" in str(match.explain())
    assert [each.event for each in match.explain().arrivals] == ["#1"]
