"""Views as they are read: what makes a view of a query, its windows, reports and operators; and what is refused."""

from __future__ import annotations

import pytest

from retewave.compiler.algebra import (
    AggregateCall,
    Ago,
    Current,
    Distinct,
    Extend,
    Filter,
    Fixed,
    Grouped,
    Inside,
    InWindow,
    Landmark,
    Newest,
    Ordered,
    PathClosure,
    Projected,
    ReportPolicy,
    Sliced,
    Sliding,
    Variable,
    ViewFrame,
    Whole,
    walk,
)
from retewave.compiler.parse import parse
from retewave.errors import QueryError

S = 1_000_000
PREFIX = "PREFIX : <http://e/> "


def view_of(text: str) -> ViewFrame:
    view = parse(PREFIX + text).view
    assert view is not None
    return view


def message(text: str) -> str:
    with pytest.raises(QueryError) as caught:
        parse(PREFIX + text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("window", "extent"),
    [
        ("RANGE 10s STEP 5s", Sliding(10 * S, 5 * S)),
        ("RANGE PT10S STEP PT0.5S", Sliding(10 * S, S // 2)),
        ("RANGE 10 STEP 5", Sliding(10 * S, 5 * S)),
        ("RANGE 5 s, SLIDE 2s", Sliding(5 * S, 2 * S)),
        ("RANGE 1m30s TUMBLING", Sliding(90 * S, 90 * S)),
        ("RANGE 10s STEP 5s STARTING AT 2s", Sliding(10 * S, 5 * S, 2 * S)),
        ("TRIPLES 5", Newest(5)),
        ("RANGE TRIPLES 5", Newest(5)),
        ("ELEMENTS 10 STEP 2", Newest(10, "events", 2)),
        ("NOW", Current()),
        ("ALL", Whole()),
        ("LND 9", Landmark(9 * S)),
        ('LND "1970-01-01T00:00:09Z"', Landmark(9 * S)),
        ("FROM 1 TO 100", Fixed(S, 100 * S)),
        ("FROM NOW-PT35M TO NOW-PT5M STEP PT5M", Ago(2100 * S, 300 * S, 300 * S)),
        ("FROM NOW - 10s TO NOW", Sliding(10 * S)),
    ],
)
def test_windows_are_read_in_all_notations(window: str, extent: object) -> None:
    (found,) = view_of(f"SELECT * FROM NAMED WINDOW :w ON :s [{window}] {{ WINDOW :w {{ ?x :p ?y }} }}").windows
    assert (found.name, found.stream, found.extent) == (b"<http://e/w>", b"<http://e/s>", extent)


def test_a_window_may_be_nested_in_another() -> None:
    (found,) = view_of("SELECT * FROM STREAM :s [FROM 1 TO 9] OF [RANGE 5 STEP 5] { ?x :p ?y }").windows
    assert found.extent == Inside(Fixed(S, 9 * S), Sliding(5 * S, 5 * S))


@pytest.mark.parametrize(
    ("text", "reason", "policy"),
    [
        ("SELECT * FROM STREAM :s [RANGE 5s STEP 1s] { ?x :p ?y }", "STEP", "close"),
        ("SELECT * FROM STREAM :s [TRIPLES 5] { ?x :p ?y }", "TRIPLES", "change"),
        ("SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 5s] { ?x :p ?y }", "aggregation", "change"),
        ("SELECT ?x FROM STREAM :s [RANGE 5s] { ?x :p ?y } GROUP BY ?x", "GROUP BY", "change"),
        ("SELECT ?x FROM STREAM :s [RANGE 5s] { ?x :p ?y } ORDER BY ?x", "ORDER BY", "change"),
        ("SELECT ?x FROM STREAM :s [RANGE 5s] { ?x :p ?y } LIMIT 5", "LIMIT", "change"),
        ("SELECT ?x FROM STREAM :s [RANGE 5s] { ?x :p+ ?y }", "the property path operator '+'", "change"),
        ("ASK FROM STREAM :s [RANGE 5s] { ?x :p ?y }", "ASK", "change"),
        ("REGISTER ISTREAM :out AS SELECT * FROM STREAM :s [RANGE 5s] { ?x :p ?y }", "REGISTER ISTREAM", "change"),
        ("REGISTER QUERY q COMPUTED EVERY 5s AS SELECT * FROM STREAM :s [RANGE 5s] {}", "COMPUTED EVERY", "periodic"),
        (
            "SELECT * FROM STREAM :s [RANGE 5s] { { SELECT DISTINCT ?x { ?x :p ?y } } }",
            "DISTINCT in a subquery",
            "change",
        ),
    ],
)
def test_a_query_is_a_view_if_it_says_so_or_has_a_part_without_meaning_for_single_matches(
    text: str, reason: str, policy: str
) -> None:
    view = view_of(text)
    assert (view.reason, view.reporting.policy) == (reason, policy)


def test_a_plain_range_detects() -> None:
    query = parse(PREFIX + "SELECT DISTINCT * FROM STREAM :s [RANGE 5s] { ?x :p ?y OPTIONAL { ?y :q ?z } }")
    assert query.view is None
    assert [stream.width for stream in query.streams] == [5 * S]


def test_report_says_when_and_whether_empty_windows_count() -> None:
    policies = {
        "WINDOW CLOSE": ReportPolicy("close"),
        "CONTENT CHANGE NON EMPTY": ReportPolicy("change", non_empty=True),
        "PERIODIC 10s": ReportPolicy("periodic", 10 * S),
    }
    for written, policy in policies.items():
        text = f"SELECT * FROM STREAM :s [RANGE 5s STEP 5s] REPORT {written} {{ ?x :p ?y }}"
        assert view_of(text).reporting == policy


def test_operators_of_a_select_stand_in_the_order_of_sparql() -> None:
    query = parse(
        PREFIX + "SELECT DISTINCT ?x (AVG(?v) + 1 AS ?a) { ?x :p ?v } GROUP BY ?x HAVING (COUNT(*) > 3) "
        "ORDER BY DESC(?a) MAX(?v) LIMIT 10 OFFSET 5 VALUES ?x { :a }"
    )
    kinds = [type(each).__name__ for each in walk(query.where)]
    assert kinds[:6] == ["Sliced", "Distinct", "Projected", "Ordered", "Extend", "Join"]
    assert kinds[6:] == ["Filter", "Grouped", "Triples", "Values"]
    (grouped,) = (each for each in walk(query.where) if isinstance(each, Grouped))
    assert [call.function for _, call in grouped.aggregates] == ["AVG", "COUNT", "MAX"]
    assert query.projection == ("x", "a") and not query.distinct


def test_group_by_takes_expressions_with_and_without_a_name() -> None:
    query = parse(PREFIX + "SELECT ?k (COUNT(DISTINCT ?v) AS ?n) { ?x :p ?v } GROUP BY (?v + 1 AS ?k) STR(?x)")
    (grouped,) = (each for each in walk(query.where) if isinstance(each, Grouped))
    assert grouped.keys[0] == Variable("k") and grouped.keys[1].hidden
    assert [call for _, call in grouped.aggregates] == [AggregateCall("COUNT", Variable("v"), True)]
    assert not grouped.implicit


def test_subqueries_paths_and_windows_are_operators() -> None:
    query = parse(
        PREFIX + "SELECT ?x FROM NAMED WINDOW :w ON STREAM :s [RANGE 10 STEP 2] "
        "{ WINDOW ?w { ?x :p* ?y } { SELECT ?x (MAX(?v) AS ?m) { ?x :r ?v } GROUP BY ?x } }"
    )
    kinds = {type(each) for each in walk(query.where)}
    assert {InWindow, PathClosure, Grouped, Projected, Extend} <= kinds
    assert not kinds & {Sliced, Distinct, Ordered, Filter}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT ?y { ?x :p ?y } GROUP BY ?x", "?y is neither a key of GROUP BY nor in an aggregate"),
        ("SELECT * { ?x :p ?y } GROUP BY ?x", "SELECT * cannot be grouped"),
        ("SELECT ?x { ?x :p ?y FILTER(COUNT(?y) > 1) }", "an aggregate stands in SELECT, HAVING and ORDER BY only"),
        ("SELECT (COUNT(*) AS ?n) { { ?x :p ?y } SEQ { ?x :q ?z } }", "SEQ cannot stand in a view"),
        ("SELECT * FROM STREAM :s [RANGE 5s STEP 0] { ?x :p ?y }", "the step of a window is more than 0"),
        ("SELECT * FROM STREAM :s [FROM 5 TO 1] { ?x :p ?y }", "the window ends before it begins"),
        ("SELECT * FROM STREAM :s [TRIPLES 0] { ?x :p ?y }", "what a window counts is a whole number from 1 on, not 0"),
        ("SELECT * FROM NAMED WINDOW :w ON :s [NOW] { WINDOW :v { ?x :p ?y } }", "there is no window <http://e/v>"),
        (
            "SELECT * FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :w ON :s [ALL] { }",
            "the window <http://e/w> is declared twice",
        ),
        (
            "SELECT * FROM STREAM :s [NOW] REPORT WINDOW CLOSE { ?x :p ?y }",
            "REPORT WINDOW CLOSE needs a window with STEP",
        ),
        ("SELECT * { GRAPH :g { ?x :p ?y } }", "GRAPH stands in views only"),
        ("SELECT DISTINCT ON (?x) ?x FROM STREAM :s [RANGE 5s STEP 1s] { ?x :p ?y }", "DISTINCT ON has no meaning"),
    ],
)
def test_what_has_no_meaning_in_a_view_is_refused(text: str, sentence: str) -> None:
    assert sentence in message(text)


def test_a_view_that_reads_like_a_detector_is_told_of() -> None:
    told = parse(PREFIX + "SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 5s] { ?x :p ?y }").notices
    assert told == (
        "<query>:1:30: aggregation makes a view of the query: it is reported when its windows change, and [RANGE 5s] "
        "is open at its older end; for reports at steps write [RANGE 5s STEP …]",
    )
    assert not parse(PREFIX + "SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 5s STEP 5s] { ?x :p ?y }").notices
