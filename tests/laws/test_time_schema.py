"""Operators of time under a schema: the engine tells what the naive meaning tells of all that each item entails.

Schemas that state facts of their own are set aside: a left side of MINUS or OPTIONAL that static data alone may give
has no place in time.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from cases.engine import written
from cases.epsilon import Case as Reasoned
from cases.epsilon import cases
from cases.temporal import ANYWHERE, OPERATORS, Case, known, pattern_of, ranges, room_of, stream_of
from hypothesis import assume, given
from hypothesis import strategies as st
from laws.telling import bag, law, pushed, registered, told
from naive.detectors import detected
from naive.epsilon import entailed, facts

import retewave as rw
from retewave.compiler.algebra import Query, visible
from retewave.epsilon.schema import Schema, SchemaWarning
from retewave.epsilon.vocabulary import TYPE


@dataclass(frozen=True)
class Entailing:
    """A schema, and a case in its terms."""

    schema: Reasoned
    case: Case


@st.composite
def entailing(draw: st.DrawFn) -> Entailing:
    """Draw a schema, a query on its properties, and a stream and static data of its triples."""
    reasoned = draw(cases())
    terms = sorted({term for triple in (*reasoned.schema, *reasoned.data) for term in triple if b"<http://e/" in term})
    properties = [term for term in terms if b"/p" in term] or [b"<http://e/p>"]
    streams = draw(ranges)
    room = replace(room_of(OPERATORS | {ANYWHERE}, streams), predicates=(*properties, *properties, TYPE))
    where = draw(pattern_of(room, draw(st.integers(1, 3)), 4, may_choose=True))
    names = tuple(variable.name for variable in visible(where) if variable.name)
    given_triples = st.sampled_from(reasoned.data)
    stream = [replace(item, triple=draw(given_triples)) for item in draw(stream_of())]
    static = frozenset(draw(st.lists(known, max_size=2)))
    return Entailing(reasoned, Case(Query("SELECT", where, names, streams=streams, solutions="bag"), stream, static))


@law(250)
@given(entailing())
def test_what_a_schema_entails_is_there_or_is_not_in_time(each: Entailing) -> None:
    case, schema = each.case, [list(each.schema.schema)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        axioms = Schema.load(schema).axioms
        assume(not facts(axioms))
        static = [[written(triple) for triple in sorted(case.static)]]
        engine = rw.Engine(schema, static, seed=1, max_future=None, allow_cartesian=True)
        registered(engine, case.query)
        found = told(engine.flush())
    for item in case.stream:
        found += told(pushed(engine, item))
    found += told(engine.flush())
    assert found == bag(detected(case.query, case.stream, case.static, lambda triple: entailed(axioms, triple)))
