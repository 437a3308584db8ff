"""Flushes between items: each tells what there would be if nothing more came, and changes nothing of what comes later.

So of equal solutions as many are told as the whole stream has, or one of the streams that end at a flush: the most.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.inside import sweep
from helpers.telling import asked, bag, changes_kept, law, listening, named, pushed, registered, told
from helpers.told import Told
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected

import retewave as rw
from retewave.compiler.algebra import Query, visible

EVERYTHING = OPERATORS | {ANYWHERE}
places = st.lists(st.integers(0, 12), max_size=4)


def showing_all(case: Case) -> Case:
    """Return a case that shows all of its variables: what is told early is known again by them."""
    names = tuple(variable.name for variable in visible(case.query.where))
    return asked(replace(case, query=replace(case.query, projection=names, text="case")))


temporal = temporal_case(operators=EVERYTHING).map(showing_all)


def most_told(case: Case, flushed: list[int]) -> Counter[Told]:
    """Return what is told of a stream that is flushed in front of some of its items, and at its end."""
    found: Counter[Told] = Counter()
    for length in {*flushed, len(case.stream)}:
        found |= bag(detected(case.query, case.stream[:length], case.static))
    return found


def told_with_flushes(engine: rw.Engine, case: Case, flushed: list[int]) -> Counter[Told]:
    """Push all of a stream, with flushes in front of some items, and flush; return what is told."""
    found = told(engine.flush())
    for place, item in enumerate(case.stream):
        for _ in range(flushed.count(place)):
            found += told(engine.flush())
        found += told(pushed(engine, item))
    return found + told(engine.flush())


@law(200)
@given(temporal, places)
def test_flushes_tell_what_there_would_be_and_change_nothing(case: Case, flushed: list[int]) -> None:
    engine, _ = listening(case)
    assert told_with_flushes(engine, case, flushed) == most_told(case, flushed)


@law(100)
@given(
    case=temporal,
    guest=temporal,
    flushed=st.integers(0, 12),
    done=st.integers(0, 12),
    what=st.sampled_from(["restore", "come", "sweep"]),
)
def test_what_a_flush_has_told_outlives_what_is_done_behind_it(
    case: Case, guest: Case, flushed: int, done: int, what: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    engine, query = listening(case)
    path, found = tmp_path_factory.getbasetemp() / "flushed.snapshot", told(engine.flush())
    with changes_kept(apart=True), named(case.query):
        for place, item in enumerate(case.stream):
            found += of_number(engine.flush(), query.number) if place == flushed else Counter()
            if place == done:
                engine = after(what, engine, guest.query, path)
            found += of_number(pushed(engine, item), query.number)
        found += of_number(engine.flush(), query.number)
    assert found == most_told(case, [flushed] if flushed < len(case.stream) else [])


def of_number(matches: list[rw.Match], number: int) -> Counter[Told]:
    """Return what the matches of the query of a number tell."""
    return told(match for match in matches if match.query.number == number)


def after(what: str, engine: rw.Engine, guest: Query, path: Path) -> rw.Engine:
    """Do something to an engine; return the engine that goes on."""
    match what:
        case "restore":
            engine.snapshot(path)
            return rw.Engine.restore(path)
        case "come":
            registered(engine, guest)
        case "sweep":
            sweep(engine)
    return engine
