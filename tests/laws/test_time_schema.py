"""Operators of time under a schema: the engine tells what the naive meaning tells of all that each item entails.

Schemas that state facts of their own are set aside: a left side of MINUS or OPTIONAL that static data alone may give
has no place in time.
"""

from __future__ import annotations

import warnings

from cases.engine import written
from cases.entailing import Entailing, entailing
from helpers.telling import bag, law, pushed, registered, told
from hypothesis import assume, given
from naive.detectors import detected
from naive.epsilon import entailed, facts

import retewave as rw
from retewave.epsilon.schema import Schema, SchemaWarning


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
