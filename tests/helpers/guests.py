"""Queries that come and go beside another, which must tell the same as alone."""

from __future__ import annotations

from cases.engine import case_of
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from hypothesis import strategies as st

from helpers.inside import network_of
from helpers.telling import (
    asked,
    listening,
    of_query,
    pushed,
    registered,
    told,
)
from retewave.compiler.algebra import Query
from retewave.compiler.parse import parse

EVERYTHING = OPERATORS | {ANYWHERE}
temporal = temporal_case(operators=EVERYTHING).map(asked)
guests = st.one_of(temporal.map(lambda case: case.query), case_of().map(lambda case: parse(case.text)))
places = st.integers(0, 12)


def beside_a_guest(case: Case, guest: Query, comes: int, goes: int, joins: int) -> None:
    """Check that a query tells beside a guest what it tells alone, and when; at `joins` all become one network."""
    alone, _ = listening(case)
    engine, query = listening(case)
    visitor = None
    assert of_query(engine.flush(), query) == told(alone.flush())
    for place, item in enumerate(case.stream):
        if place == comes:
            visitor = registered(engine, guest)
        if place == goes and visitor is not None:
            engine.remove(visitor)
        if place == joins:
            network_of(engine)
        assert of_query(pushed(engine, item), query) == told(pushed(alone, item))
    assert of_query(engine.flush(), query) == told(alone.flush())
