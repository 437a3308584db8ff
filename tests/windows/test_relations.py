"""What a relation refuses is counted apart from what the window refuses."""

from __future__ import annotations

from cases.conjunctions import MS
from cases.many import many
from helpers.inside import network_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.reports import matches
from naive.streams import Item

import retewave as rw
from retewave.compiler.parse import parse
from retewave.viz.explain.counts import count
from retewave.windows.relations import AFTER, BEFORE, NAMES

P, Q = (b"<http://e/%s>" % name for name in (b"p", b"q"))
PAIR = "SELECT * FROM STREAM <http://e/s> [RANGE %dms] { { ?x <http://e/p> ?a } %s { ?x <http://e/q> ?b } }"
RELATED = [NAMES[code].replace(" ", "_").upper() for code in range(1, len(NAMES)) if code not in (BEFORE, AFTER)]


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """Draw triples with intervals, in the order of their ends."""
    end, found = 0, []
    for _ in range(draw(st.integers(3, 10))):
        end += MS * draw(st.integers(0, 2))
        subject = b"<http://e/s%d>" % draw(st.integers(1, 2))
        triple = (subject, draw(st.sampled_from([P, Q])), b"<http://e/o%d>" % draw(st.integers(1, 2)))
        found.append(Item(triple, end - MS * draw(st.integers(0, 3)), end))
    return found


def poured(text: str, stream: list[Item]) -> rw.Engine:
    """Return an engine that has seen a stream."""
    engine = rw.Engine(stats=True, max_future=None)
    engine.register(text, name="related")
    for item in stream:  # the first interval makes another network
        s, p, o = (part.decode() for part in item.triple)
        engine.push((s, p, o), time=(item.start / 1e6, item.end / 1e6))
    return engine


@settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(items(), st.sampled_from(RELATED), st.sampled_from([0, 2, 4, 100]))
def test_what_a_relation_refuses_is_counted_apart_from_what_the_window_refuses(
    stream: list[Item], name: str, window: int
) -> None:
    (join,) = count(network_of(poured(PAIR % (window, name), stream))).joins
    young = len(matches(parse(PAIR % (window, "")), stream))
    related_and_young = len(matches(parse(PAIR % (window, name)), stream))
    assert (join.hits, join.refused_by_relation) == (related_and_young, young - related_and_young)
