"""Random schemas, with queries in time and streams in their terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from cases.epsilon import Case as Reasoned
from cases.epsilon import cases
from cases.temporal import ANYWHERE, OPERATORS, Case, known, pattern_of, ranges, room_of, stream_of
from retewave.compiler.algebra import Query, visible
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
