"""When the engine tells what: after each item, and as the clock is moved, what the naive meaning has told by then.

One difference is allowed.  The half of an optional operator that joins is told as soon as it is complete, which may
be at an arrival, as is what a MINUS without a shared variable keeps; the naive meaning tells both at the close of the
instant.
"""

from __future__ import annotations

from collections import Counter

from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.telling import asked, bag, law, listening, pushed, told
from helpers.told import Told
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected

import retewave as rw
from retewave.compiler.algebra import After, LeftJoin, Minus, OptionalEquals, walk

EVERYTHING = OPERATORS | {ANYWHERE}


def tells_by_now(found: Counter[Told], case: Case, length: int) -> None:
    """Check what is told when so many items have come: all that is certain, and nothing that is not."""
    so_far = case.stream[:length]
    certain = bag(detected(case.query, so_far, case.static, flush=False))
    assert certain <= found
    early = found - certain
    if not any(isinstance(each, LeftJoin | OptionalEquals | Minus) for each in walk(case.query.where)):
        assert not early
    clock = max((item.end for item in so_far), default=0)
    assert early <= Counter(
        {told: many for told, many in bag(detected(case.query, so_far, case.static)).items() if told[1] == clock}
    )


@law(150)
@given(temporal_case(operators=EVERYTHING).map(asked))
def test_after_each_item_all_is_told_that_is_certain_by_then(case: Case) -> None:
    engine, _ = listening(case)
    found = told(engine.flush())
    tells_by_now(found, case, 0)
    for place, item in enumerate(case.stream):
        found += told(pushed(engine, item))
        tells_by_now(found, case, place + 1)
    assert found + told(engine.flush()) == bag(detected(case.query, case.stream, case.static))


def moments(case: Case) -> list[int]:
    """Return the times at which a clock is worth moving to: what ends, deadlines, and those around them."""
    widths = {each.width for each in walk(case.query.where) if isinstance(each, After)} | {0}
    ends = {item.end for item in case.stream} | {item.start + width for item in case.stream for width in widths}
    return sorted({end + by for end in ends for by in (-1, 0, 1)})


def to_clock(engine: rw.Engine, times: list[int]) -> Counter[Told]:
    """Move the clock to some times, one after the other."""
    found: Counter[Told] = Counter()
    for time in times:
        found += told(engine.advance(time / 1e6))
    return found


@law(150)
@given(temporal_case(operators=EVERYTHING).map(asked), st.data())
def test_a_clock_that_is_moved_closes_what_is_before_it(case: Case, data: st.DataObject) -> None:
    engine, _ = listening(case)
    found, clock = told(engine.flush()), 0
    for place, item in enumerate([*case.stream, None]):
        ahead = [each for each in moments(case) if item is None or each <= item.end]
        for time in data.draw(st.lists(st.sampled_from(ahead), max_size=2)) if ahead else ():
            new = told(engine.advance(time / 1e6))
            found += new
            if time > clock:
                clock = time
                assert found == bag(detected(case.query, case.stream[:place], case.static, until=clock))
            else:
                assert not new
        if item is not None:
            found, clock = found + told(pushed(engine, item)), max(clock, item.end)
            tells_by_now(found, case, place + 1)
    assert found + told(engine.flush()) == bag(detected(case.query, case.stream, case.static))


@law(100)
@given(temporal_case(operators=EVERYTHING).map(asked), st.data())
def test_a_clock_that_is_moved_in_steps_tells_what_it_tells_at_once(case: Case, data: st.DataObject) -> None:
    steps = sorted(data.draw(st.lists(st.sampled_from([*moments(case), 10**6]), max_size=5)))
    in_steps, _ = listening(case)
    at_once, _ = listening(case)
    for item in case.stream[:-1]:
        pushed(in_steps, item)
        pushed(at_once, item)
    assert to_clock(in_steps, steps) == to_clock(at_once, steps[-1:])
