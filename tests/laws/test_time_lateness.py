"""Streams that lag behind, and streams whose end was said too early: what is told in time, and what stays told."""

from __future__ import annotations

from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.telling import asked, bag, law, listening, pushed, told
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.detectors import detected
from naive.streams import Item

import retewave as rw
from retewave.compiler.algebra import After, Algebra, Union, walk

EVERYTHING = OPERATORS | {ANYWHERE}
temporal = temporal_case(operators=EVERYTHING).map(asked)
LAGS = [1, 2, 1000, 1500, 2000, 4000]


@st.composite
def lagging(draw: st.DrawFn, stream: list[Item], lateness: int) -> list[Item]:
    """Draw an order in which no item lags behind the newest one by more than a lateness."""
    delays = draw(st.lists(st.integers(0, lateness), min_size=len(stream), max_size=len(stream)))
    order = sorted(range(len(stream)), key=lambda place: stream[place].end + delays[place])
    return [stream[place] for place in order]


@law(120)
@given(temporal, st.sampled_from(LAGS), st.data())
def test_a_stream_that_lags_within_lateness_tells_what_it_tells_in_order(
    case: Case, lateness: int, data: st.DataObject
) -> None:
    engine, _ = listening(case, lateness=lateness / 1e6)
    stream = data.draw(lagging(case.stream, lateness))
    here: list[Item] = []
    found = told(engine.flush())
    for item in stream:
        found, here = found + told(pushed(engine, item)), [*here, item]
        mark = max(each.end for each in here) - lateness
        in_order = sorted(here, key=lambda each: each.end)
        assert bag(detected(case.query, in_order, case.static, until=mark)) <= found
        ready = [each for each in in_order if each.end <= mark]
        assert found <= bag(detected(case.query, ready, case.static))
    assert engine.stats()["late"] == 0
    assert found + told(engine.flush()) == bag(detected(case.query, case.stream, case.static))


@law(120)
@given(temporal, st.sampled_from([0, 0, *LAGS]), st.data())
def test_what_is_late_is_as_if_it_had_not_come(case: Case, lateness: int, data: st.DataObject) -> None:
    late: list[rw.LateItem] = []
    engine, _ = listening(case, lateness=lateness / 1e6, on_late=late.extend)
    found, kept, newest, missed = told(engine.flush()), [], 0, 0
    for item in data.draw(st.permutations(case.stream)):
        found += told(pushed(engine, item))
        if newest - lateness <= item.end:
            kept.append(item)
        else:
            missed += 1
        newest = max(newest, item.end)
    found += told(engine.flush())
    assert len(late) == missed
    assert found == bag(detected(case.query, sorted(kept, key=lambda item: item.end), case.static))


def ends_at_once(where: Algebra) -> bool:
    """Tell whether no deadline is inside another operator: what is told at a deadline is not used any further."""
    match where:
        case After():
            return not any(isinstance(each, After) for part in (where.pattern, where.absent) for each in walk(part))
        case Union(left, right):
            return ends_at_once(left) and ends_at_once(right)
    return not any(isinstance(each, After) for each in walk(where))


@law(150)
@given(temporal, st.integers(1, 12))
def test_who_pushes_on_after_a_flush_between_instants_loses_nothing_and_what_was_told_stays_told(
    case: Case, stop: int
) -> None:
    assume(ends_at_once(case.query.where))
    begin, rest = case.stream[:stop], case.stream[stop:]
    assume(not rest or begin[-1].end < rest[0].end)
    engine, _ = listening(case)
    at_flush = told([*engine.flush(), *(match for item in begin for match in pushed(engine, item)), *engine.flush()])
    so_far, whole = (bag(detected(case.query, stream, case.static)) for stream in (begin, case.stream))
    assert at_flush == so_far
    assert not engine.flush()
    later = told([*(match for item in rest for match in pushed(engine, item)), *engine.flush()])
    assert at_flush + later == so_far | whole
