"""The original Sparkwave's pattern files are read as they are."""

from __future__ import annotations

import pytest

from retewave.compiler.algebra import Filter, Triples
from retewave.compiler.expressions.tree import to_sparql
from retewave.compiler.parse import parse
from retewave.errors import QueryError

SENSORS = """\
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX s: <http://example.org/sensors#>

# where the schema is
EPSILON_ONTOLOGY = "support/sensors.owl"
STATIC_INSTANCES = "support/rooms.nt"

HANDLERS{
#   HANDLER { "class" = "example.Off" }
    HANDLER {
        "class" = "example.ConsoleHandler"
        "verbose" = "true"
    }
}

CONSTRUCT {
    s:EventX rdf:type s:Alarm .
    s:EventX s:date "NOW()"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
    s:EventX s:reported_by ?sensor .
} WHERE {
    ?sensor rdf:type s:Thermometer .
    ?sensor s:reads ?value .
    FILTER (?value >= 20.5)
    ?sensor s:stands_in s:Room1 .
    TIMEWINDOW (100)
}
"""


def test_a_pattern_file_gives_files_window_template_and_notices() -> None:
    query = parse(SENSORS, source="alarm.tpg")
    assert (query.language, query.form, query.window) == ("sparkwave", "CONSTRUCT", 100_000)
    assert (query.schema, query.static) == (("support/sensors.owl",), ("support/rooms.nt",))
    assert len(query.template) == 3
    assert query.notices == (
        "alarm.tpg:8:1: HANDLERS has no effect: give a callback or a sink instead",
        'alarm.tpg:18:21: "NOW()" stays as it is: only the original\'s handlers replaced it',
    )
    assert isinstance(query.where, Filter)
    assert isinstance(query.where.pattern, Triples)
    assert len(query.where.pattern.patterns) == 3


def test_a_pattern_file_is_known_by_its_words() -> None:
    assert parse(SENSORS).language == "sparkwave"
    assert parse('SELECT * { ?x ?p "TIMEWINDOW" } # HANDLERS').language == "sparql"


def test_null_names_no_file() -> None:
    query = parse('EPSILON_ONTOLOGY = "null" STATIC_INSTANCES = "null" SELECT * WHERE { ?x ?p ?y . TIMEWINDOW (5) }')
    assert (query.schema, query.static) == ((), ())
    assert query.projection == ("x", "p", "y")


def test_select_may_name_its_variables() -> None:
    assert parse("SELECT ?y ?x WHERE { ?x ?p ?y TIMEWINDOW (5) }").projection == ("y", "x")


def test_prefixes_may_be_assigned() -> None:
    query = parse('PREFIX sw = "urn:sw#" PREFIX = "urn:" SELECT * WHERE { ?x sw:p :c . TIMEWINDOW (1000) }')
    assert isinstance(query.where, Triples)
    assert str(query.where.patterns[0]) == "?x <urn:sw#p> <urn:c>"


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_filters_compare_with_every_operator(operator: str) -> None:
    query = parse(f"SELECT * WHERE {{ ?x ?p ?y . FILTER (?y {operator} 10) TIMEWINDOW (5) }}")
    assert isinstance(query.where, Filter)
    assert to_sparql(query.where.expression).startswith(f"(?y {operator} ")


@pytest.mark.parametrize("head", ["", "SELECT\n"])
def test_the_earlier_layout_of_bare_lines_is_read(head: str) -> None:
    text = (
        f"{head}?x http://www.w3.org/1999/02/22-rdf-syntax-ns#type http://example.org/voc#Offer\n"
        '?x http://example.org/voc#name "Paul"^^<http://www.w3.org/2001/XMLSchema#string> \n'
        "?x http://example.org/date\t?date\nTIMEWINDOW (50)"
    )
    query = parse(text, source="old.tpg")
    assert (query.window, query.projection) == (50_000, ("x", "date"))
    assert isinstance(query.where, Triples)
    assert str(query.where.patterns[1]) == '?x <http://example.org/voc#name> "Paul"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT * WHERE { {?x ?p ?y TIMEWINDOW (1)} AND {?y ?q ?z TIMEWINDOW (2)} }", "1:44: AND between groups"),
        ("SELECT * WHERE { {?x ?p ?y} BEFORE (10,20) {?y ?q ?z} TIMEWINDOW (2) }", "cannot stand here"),
        (
            "SELECT * WHERE { {?x ?p ?y TIMEWINDOW (1)} BEFORE (10,20) {?y ?q ?z} }",
            "1:44: BEFORE between groups is not supported yet",
        ),
        ("SELECT * WHERE { ?x ?p ?y TIMEWINDOW (1) TIMEWINDOW (2) }", "1:42: a pattern has one TIMEWINDOW"),
        ("SELECT * WHERE { ?x ?p ?y } TIMEWINDOW (1)", "TIMEWINDOW stands in the braces of WHERE, in milliseconds"),
    ],
)
def test_what_a_pattern_file_cannot_say_is_an_error(text: str, sentence: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert sentence in str(caught.value)
