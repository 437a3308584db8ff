"""A group of static data alone has no place in time: where it is asked for, an error says so, and where."""

from __future__ import annotations

import pytest

import retewave as rw
from retewave.errors import QueryError

STATIC = [[("urn:tokyo", "urn:in", "urn:japan"), ("urn:t1", "urn:celsius", 1)]]
SCHEMA = b"<urn:celsius> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <urn:reads> ."
KNOWN, HEARD = "{ ?c <urn:in> ?j }", "{ ?c <urn:says> ?v }"


def refused(pattern: str) -> QueryError:
    engine = rw.Engine(schema=SCHEMA, static=STATIC)
    with pytest.raises(QueryError) as caught:
        engine.register(f"SELECT * {{ {pattern} }}")
    return caught.value


@pytest.mark.parametrize(
    ("pattern", "column", "name"),
    [
        (f"{KNOWN} SEQ {HEARD}", 31, "SEQ"),
        (f"{HEARD} SEQ {KNOWN}", 33, "SEQ"),
        (f"{KNOWN} MEETS {HEARD}", 31, "MEETS"),
        (f"{KNOWN} OPTIONALSEQ {HEARD}", 31, "OPTIONALSEQ"),
        (f"{HEARD} EQUALSOPTIONAL {KNOWN}", 33, "EQUALSOPTIONAL"),
        (f"{HEARD} SEQ NOT {KNOWN} WITHIN 5s", 37, "NOT"),
        (f"NOT {HEARD} SEQ {KNOWN} WITHIN 5s", 12, "NOT"),
        (f"?c <urn:in> ?j OPTIONAL {HEARD}", 27, "OPTIONAL"),
        (f"?c <urn:in> ?j MINUS {HEARD}", 27, "MINUS"),
        (f"?c <urn:in> ?j FILTER EXISTS {HEARD}", 34, "EXISTS"),
    ],
)
def test_what_static_data_alone_gives_is_refused_where_its_time_is_asked_for(
    pattern: str, column: int, name: str
) -> None:
    error = refused(pattern)
    assert error.what == f"{name} asks when {{ ?c <urn:in> ?j }} is, and static data gives that, which has no time"
    assert error.place is not None
    assert error.place.column == column


def test_what_static_data_entails_counts_too() -> None:
    assert refused("{ ?c <urn:reads> ?j } SEQ { ?c <urn:says> ?v }").what.startswith(
        "SEQ asks when { ?c <urn:reads> ?j }"
    )


@pytest.mark.parametrize(
    "pattern",
    [
        f"{{ ?c <urn:in> ?j ; <urn:says> ?w }} SEQ {HEARD}",
        f"{KNOWN} . {{ {HEARD} SEQ {{ ?c <urn:says> ?w }} }}",
        f"{{ STREAM <urn:s> {KNOWN} }} SEQ {HEARD}",
        f"{HEARD} OPTIONAL {KNOWN}",
        f"{HEARD} MINUS {KNOWN}",
        "{ <urn:kyoto> <urn:in> ?c } SEQ { ?a <urn:says> ?c }",
        "{ ?c <urn:in> <urn:china> } SEQ { ?c <urn:says> ?v }",
    ],
)
@pytest.mark.filterwarnings("ignore::retewave.engine.registry.UnboundedWarning")
def test_what_the_stream_may_bring_is_taken(pattern: str) -> None:
    rw.Engine(schema=SCHEMA, static=STATIC).register(f"SELECT * {{ {pattern} }}")


@pytest.mark.filterwarnings("ignore::retewave.engine.registry.UnboundedWarning")
def test_static_data_that_comes_after_the_query_is_looked_at_too() -> None:
    engine = rw.Engine()
    engine.register(f"SELECT * {{ {KNOWN} SEQ {HEARD} }}")
    with pytest.raises(QueryError, match="which has no time"):
        engine.load(static=STATIC)
