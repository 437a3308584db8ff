"""Windows as each published dialect writes them: the clause, the brackets, the units; and what is read of it."""

from __future__ import annotations

import pytest

from retewave.compiler.algebra import (
    Ago,
    Current,
    Extent,
    Fixed,
    Inside,
    InWindow,
    Landmark,
    Newest,
    Query,
    ReportPolicy,
    Sliding,
    ViewFrame,
    Whole,
    walk,
)
from retewave.compiler.languages.known import language_of, named
from retewave.compiler.parse import parse

S = 1_000_000
M, H, D = 60 * S, 3_600 * S, 86_400 * S
PREFIX = "PREFIX : <http://e/> "
STREAM = b"<http://e/s>"


def read(text: str) -> Query:
    return parse(PREFIX + text)


def view_of(text: str) -> ViewFrame:
    view = read(text).view
    assert view is not None
    return view


@pytest.mark.parametrize(
    ("window", "extent"),
    [
        ("[RANGE PT10S STEP PT5S]", Sliding(10 * S, 5 * S)),
        ("[RANGE PT0.5S]", Sliding(S // 2)),
        ("[RANGE PT3H SLIDE PT10M]", Sliding(3 * H, 10 * M)),
        ("[RANGE PT1h step PT30M]", Sliding(H, 30 * M)),
        ("[RANGE P1DT2H STEP P1D]", Sliding(26 * H, D)),
        ("[RANGE 5 s, SLIDE 2s]", Sliding(5 * S, 2 * S)),
        ("[RANGE 10 STEP 2]", Sliding(10 * S, 2 * S)),
        ("[RANGE 0.5 STEP 0.25]", Sliding(S // 2, S // 4)),
        ("[SLIDING 10 SLIDE 2]", Sliding(10 * S, 2 * S)),
        ("[TUMBLING 10]", Sliding(10 * S, 10 * S)),
        ("[RANGE 1h TUMBLING]", Sliding(H, H)),
        ("[range 3000ms step 1500ms]", Sliding(3 * S, 1_500_000)),
        ("[RANGE 1h STEP]", Sliding(H)),
        ("[RANGE 1m 30s]", Sliding(90 * S)),
        ("[RANGE 1m 30s SLIDE 10 s]", Sliding(90 * S, 10 * S)),
        ("[range 3s ]", Sliding(3 * S)),
        ("[RANGE 2000us STEP 1000000ns]", Sliding(2_000, 1_000)),
        ("[RANGE 10s STEP 5s STARTING AT 3s]", Sliding(10 * S, 5 * S, 3 * S)),
        ("[RANGE 10s TUMBLING STARTING AT 1970-01-01T00:00:03Z]", Sliding(10 * S, 10 * S, 3 * S)),
        ("[NOW - 10 S SLIDE 10 S]", Sliding(10 * S, 10 * S)),
        ("[NOW- 4 S SLIDE 4 S]", Sliding(4 * S, 4 * S)),
        ("[NOW - 1 HOURS SLIDE 1 HOURS]", Sliding(H, H)),
        ("[NOW - 1 HR]", Sliding(H)),
        ("[NOW - 90 DAY]", Sliding(90 * D)),
        ("[NOW - 100 MS]", Sliding(S // 10)),
        ("[FROM NOW-PT35M TO NOW-PT5M STEP PT5M]", Ago(35 * M, 5 * M, 5 * M)),
        ("[NOW - 10 MINUTE TO NOW - 5 MINUTE SLIDE 3 MINUTE]", Ago(10 * M, 5 * M, 3 * M)),
        ("[FROM NOW-10s TO NOW-4s TUMBLING]", Ago(10 * S, 4 * S, 6 * S)),
        ("[FROM NOW - 10s TO NOW STEP 5s]", Sliding(10 * S, 5 * S)),
        ("[ELEMENTS 10 STEP 2]", Newest(10, "events", 2)),
        ("[ELEMENTS 10]", Newest(10, "events")),
        ("[TRIPLES 5]", Newest(5)),
        ("[RANGE TRIPLES 10]", Newest(10)),
        ("[RANGE TRIPLES 10 TUMBLING]", Newest(10, step=10)),
        ("[NOW]", Current()),
        ("[now]", Current()),
        ("[ALL]", Whole()),
        ("[LND 9]", Landmark(9 * S)),
        ("[LND 1H]", Landmark(H)),
        ('[LND "1970-01-01T01:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>]', Landmark(H)),
        ("[START 10 END 20]", Fixed(10 * S, 20 * S)),
        ("[FROM 1m TO PT2M]", Fixed(M, 2 * M)),
        ("[FROM 3 TO 9] OF [RANGE 5 STEP 1]", Inside(Fixed(3 * S, 9 * S), Sliding(5 * S, S))),
        ("[FROM 3 TO 9] OF [ALL] OF [NOW]", Inside(Inside(Fixed(3 * S, 9 * S), Whole()), Current())),
    ],
)
def test_every_published_window_is_read_in_every_clause(window: str, extent: Extent) -> None:
    clauses = (
        f"SELECT * FROM NAMED WINDOW :w ON :s {window} {{ WINDOW :w {{ ?x :p ?y }} }}",
        f"SELECT * FROM NAMED WINDOW :w ON STREAM :s {window} {{ WINDOW ?w {{ ?x :p ?y }} }}",
        f"SELECT ISTREAM * FROM NAMED WINDOW ON STREAM :s {window} AS :w {{ WINDOW :w {{ ?x :p ?y }} }}",
        f"SELECT * FROM NAMED WINDOW :w {window} ON STREAM :s {{ WINDOW :w {{ ?x :p ?y }} }}",
        f"SELECT * FROM WINDOW {window} ON STREAM :s {{ ?x :p ?y }}",
        f"SELECT * FROM NAMED :s WIN {window} AS :w {{ WINDOW :w {{ ?x :p ?y }} }}",
        f"REGISTER RSTREAM :o AS SELECT * FROM STREAM :s {window} {{ ?x :p ?y }}",
        f"REGISTER RSTREAM :o AS SELECT * FROM NAMED STREAM :s {window} {{ ?x :p ?y }}",
        f"SELECT * {{ STREAM :s {window} {{ ?x :p ?y }} }}",
    )
    for text in clauses:
        (found,) = view_of(text).windows
        assert (found.stream, found.extent) == (STREAM, extent), text
        assert (found.name is None) == ("WINDOW :w" not in text and "AS :w" not in text and "{ STREAM" not in text)


def test_a_window_reads_what_follows_as_its_dialect_means_it() -> None:
    for text in (
        "SELECT * FROM NAMED WINDOW <w> ON :s [RANGE 10s] { WINDOW <w> { ?x :p ?y } }",  # relative, without BASE
        "SELECT * { STREAM :s [RANGE 10s] { ?x :p ?y } }",
        "SELECT * FROM NAMED STREAM :s [RANGE 10s STEP 5s] { GRAPH :s { ?x :p ?y } }",
    ):
        query = read(text)
        assert query.view is not None
        (window,), (read_from,) = query.view.windows, [each for each in walk(query.where) if isinstance(each, InWindow)]
        assert window.name == read_from.window


def test_a_named_stream_that_no_graph_asks_for_is_merged() -> None:
    both = view_of(
        "SELECT * FROM NAMED STREAM :s [RANGE 1m STEP 1m] FROM NAMED STREAM :t [NOW] { GRAPH :t { ?x :p ?y } }"
    )
    assert [window.name for window in both.windows] == [None, b"<http://e/t>"]


def test_equal_windows_in_place_are_one() -> None:
    text = (
        "SELECT * { STREAM :s [RANGE 15s] { ?a :p ?b } STREAM :s [RANGE PT15S] { ?b :p ?c } "
        "STREAM :s [NOW] { ?c :p ?d } }"
    )
    view = view_of(text)
    assert [window.extent for window in view.windows] == [Sliding(15 * S), Current()]
    asked = [each.window for each in walk(read(text).where) if isinstance(each, InWindow)]
    assert asked == [view.windows[0].name, view.windows[0].name, view.windows[1].name]


@pytest.mark.parametrize(
    ("text", "told", "name", "feeds"),
    [
        ("REGISTER ISTREAM :out AS SELECT * FROM STREAM :s [RANGE 5s] {}", "ISTREAM", "http://e/out", None),
        ("REGISTER DSTREAM out AS SELECT * FROM STREAM :s [RANGE 5s] {}", "DSTREAM", "out", None),
        ("SELECT ISTREAM DISTINCT * FROM STREAM :s [RANGE 5s] {}", "ISTREAM", None, None),
        ("CONSTRUCT DSTREAM { ?x :q ?y } FROM STREAM :s [RANGE 5s] { ?x :p ?y }", "DSTREAM", None, None),
        ("SELECT * { STREAM :s [NOW] { ?x :p ?y } }", "ISTREAM", None, None),
        ("SELECT RSTREAM * { STREAM :s [NOW] { ?x :p ?y } }", "RSTREAM", None, None),
        ("SELECT * FROM STREAM :s [NOW] { ?x :p ?y }", "RSTREAM", None, None),
        ("REGISTER QUERY q AS PREFIX a: <http://a/> SELECT * FROM STREAM a:s [NOW] { }", "RSTREAM", "q", None),
        (
            "REGISTER STREAM :o AS CONSTRUCT { ?x :q ?y } FROM STREAM :s [NOW] { ?x :p ?y }",
            "RSTREAM",
            None,
            "<http://e/o>",
        ),
        ("REGISTER STREAM :o AS SELECT * FROM STREAM :s [NOW] { }", "RSTREAM", "http://e/o", None),
        ("REGISTER <urn:X> CONSTRUCT { ?x :q ?y } FROM STREAM :s [NOW] { ?x :p ?y }", "RSTREAM", None, "<urn:X>"),
        ("REGISTER STREAM q COMPUTED EVERY 5s AS SELECT * FROM STREAM :s [RANGE 5s] {}", "RSTREAM", "q", None),
    ],
)
def test_what_is_told_stands_at_register_or_at_the_head(
    text: str, told: str, name: str | None, feeds: str | None
) -> None:
    query = read(text)
    assert query.view is not None and query.view.told == told
    assert (query.name, None if query.feeds is None else query.feeds.decode()) == (name, feeds)


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ("[RANGE 10s STEP 2s] REPORT WINDOW CLOSE NON EMPTY", ReportPolicy("close", non_empty=True)),
        ("[RANGE 10s STEP 2s] REPORT CONTENT CHANGE", ReportPolicy("change")),
        ("[RANGE 10s STEP 2s] REPORT NON EMPTY PERIODIC 1 MINUTE", ReportPolicy("periodic", M, True)),
        ("[RANGE 10 SLIDE 2 REPORT ON_WINDOW_CLOSE TICK TIME_DRIVEN]", ReportPolicy("close")),
        ("[SLIDING 10 SLIDE 2 REPORT ON_CONTENT_CHANGE TICK TUPLE_DRIVEN]", ReportPolicy("change")),
        ("[RANGE 10 SLIDE 2 REPORT NON_EMPTY_CONTENT TICK BATCH_DRIVEN]", ReportPolicy("change", non_empty=True)),
        ("[RANGE 10 REPORT PERIODIC 5]", ReportPolicy("periodic", 5 * S)),
    ],
)
def test_a_report_stands_behind_the_clauses_or_in_the_window(written: str, policy: ReportPolicy) -> None:
    assert view_of(f"SELECT * FROM STREAM :s {written} {{ ?x :p ?y }}").reporting == policy
    assert view_of(f"SELECT * FROM NAMED WINDOW :w ON :s {written} {{ WINDOW :w {{ ?x :p ?y }} }}").reporting == policy


def test_a_view_says_why_it_is_one() -> None:
    reasons = {
        "SELECT * FROM STREAM :s [RANGE 5s SLIDE 1s] { }": "SLIDE",
        "SELECT * FROM STREAM :s [RANGE 5s TUMBLING] { }": "TUMBLING",
        "SELECT * FROM STREAM :s [ELEMENTS 5] { }": "ELEMENTS",
        "SELECT * FROM STREAM :s [NOW-5s] { }": "NOW-…",
        "SELECT * FROM STREAM :s [LND 0] { }": "LND",
        "SELECT * FROM STREAM :s [ALL] OF [RANGE 5s] { }": "ALL",
        "SELECT * FROM WINDOW [RANGE 5s] ON :s { }": "FROM WINDOW",
        "SELECT * FROM NAMED :s WIN [RANGE 5s] AS :w { WINDOW :w { } }": "WIN … AS",
        "SELECT ISTREAM * FROM STREAM :s [RANGE 5s] { }": "SELECT ISTREAM",
        "SELECT * FROM STREAM :s [RANGE 5s] REPORT CONTENT CHANGE { }": "REPORT",
        "SELECT * { STREAM :s [RANGE 5s] { } }": "STREAM with a window",
    }
    assert {text: view_of(text).reason for text in reasons} == reasons


def test_what_only_looks_like_a_view_detects() -> None:
    for text in (
        "SELECT * FROM STREAM :s [RANGE 5] { ?x :p ?y }",
        "SELECT * FROM NAMED STREAM :s [RANGE PT5S] { ?x :p ?y }",
        "SELECT * FROM STREAM :s [RANGE 1m 30s] { STREAM :s { ?x :p ?y } }",
        "REGISTER STREAM :o AS CONSTRUCT { ?x :q ?y } FROM STREAM :s [RANGE 5s] { ?x :p ?y }",
        "SELECT * FROM STREAM :s [RANGE 0s] { ?x :p ?y }",
    ):
        assert read(text).view is None, text


def test_all_dialects_are_one_language_of_several_suffixes() -> None:
    for suffix in ("rspql", "rsepql", "csparql", "cqels", "rq", "sparql"):
        assert named(suffix) is named("sparql") is language_of("", f"alarm.{suffix}")
