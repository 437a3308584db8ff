"""What a user reads when a window, a report or an event is written wrongly: the sentence, the column and the hint."""

from __future__ import annotations

import pytest

from retewave.compiler.parse import parse
from retewave.errors import QueryError

PREFIX = "PREFIX : <http://e/> "
WINDOWS = "[RANGE 10s STEP 5s], [TRIPLES 100], [NOW] or [ALL]"
UNITS = "units are us, ms, s, m, h, d and their names: 5m, 1m30s, 90 SECONDS, PT5M; a bare number counts seconds"
REPORTS = "write REPORT WINDOW CLOSE, REPORT CONTENT CHANGE or REPORT PERIODIC 10s, each perhaps with NON EMPTY"
DECLARE = "write FROM NAMED WINDOW :w ON <stream> [RANGE 10s"
STREAM = "SELECT * FROM STREAM :s "
EVENT = "SELECT * FROM NAMED :s WIN [LND 9] AS :w EVENT ON :w { ?s ?p ?o } AS E1 "


def refused(text: str) -> tuple[str, str, str]:
    """Return the sentence, what stands at the caret, and the hint."""
    with pytest.raises(QueryError) as caught:
        parse(PREFIX + text)
    error = caught.value
    assert error.place is not None and error.place.line == 1
    return error.what, (PREFIX + text)[error.place.column - 1 :], error.hint


@pytest.mark.parametrize(
    ("text", "what", "at", "hint"),
    [
        (STREAM + "[RANGE 5 fortnights] { }", "'fortnights' cannot stand here", "fortnights", UNITS),
        (STREAM + "[RANGE 5s STEP 5 moons] { }", "'moons' cannot stand here", "moons", UNITS),
        (STREAM + "[RANGE 5s STEPP 1s] { }", "'STEPP' cannot stand here", "STEPP", "did you mean STEP?"),
        (
            STREAM + "[RANGE ${WSIZE} STEP ${WSLIDE}] { }",
            "'$' cannot stand here",
            "${WSIZE}",
            "a value stands in place of the placeholder: [RANGE 10s STEP 5s]",
        ),
        (
            STREAM + "[RANGE 0s STEP 1s] { }",
            "the width of a window is more than 0",
            ":s [",
            "a view of the current instant is [NOW]",
        ),
        (STREAM + "[RANGE 5s STEP 0] { }", "the step of a window is more than 0", "0]", ""),
        (
            STREAM + "[RANGE] { }",
            "']' cannot stand here",
            "] {",
            "how long? write [RANGE 10s], [RANGE 10s STEP 5s] or [RANGE TRIPLES 100]",
        ),
        (STREAM + "[] { }", "'[]' cannot stand here", "[]", f"which window? write {WINDOWS}"),
        (STREAM + "[10s] { }", "'10s' cannot stand here", "10s]", f"a window begins with a word: {WINDOWS}"),
        (STREAM + "RANGE 10s { }", "'RANGE' cannot stand here", "RANGE", f"a window stands in brackets: {WINDOWS}"),
        (
            STREAM + "[RANGE P1M STEP P1D] { }",
            "'P1M' is not an xsd:dayTimeDuration: days, hours, minutes and seconds, like P1DT2H or PT0.5S",
            "P1M",
            "",
        ),
        (STREAM + "[TRIPLES 5.5] { }", "what a window counts is a whole number from 1 on, not 5.5", "5.5", ""),
        (STREAM + "[TRIPLES 5 STEP 0] { }", "the step of a window is a whole number from 1 on, not 0", "0]", ""),
        (STREAM + "[TRIPLES] { }", "']' cannot stand here", "] {", "how many? write [TRIPLES 100]"),
        (
            STREAM + "[TRIPLES 5s] { }",
            "'5s' cannot stand here",
            "5s]",
            "a number alone is counted: [TRIPLES 100], [TRIPLES 100 STEP 10]",
        ),
        (
            STREAM + "[RANGE 5s STEP 1s { }",
            "'{' cannot stand here",
            "{",
            "expected ']', REPORT, STARTING, TICK or ','",
        ),
        (
            STREAM + "[RANGE 5s] [RANGE 3s] { }",
            "'[' cannot stand here",
            "[RANGE 3s]",
            "a window inside another is written [FROM 0 TO 60] OF [RANGE 10s STEP 5s]",
        ),
        (STREAM + "[FROM 5 TO 1] { }", "the window ends before it begins", "5 TO 1", "the earlier time stands first"),
        (
            STREAM + "[NOW-5s TO NOW-10s] { }",
            "the window ends before it begins",
            "NOW-5s",
            "the older bound stands first: [FROM NOW-10s TO NOW-5s]",
        ),
        (
            STREAM + '[LND "yesterday"] { }',
            "'yesterday' is not an xsd:dateTime like 2012-07-16T10:00:00Z",
            '"yesterday"',
            'write a number of seconds, or a time: "2024-01-31T12:00:00Z"^^xsd:dateTime',
        ),
        (
            STREAM + "[RANGE 5s STEP 1s] FROM STREAM :s [NOW] { }",
            "the stream <http://e/s> is named twice",
            ":s [NOW]",
            "",
        ),
    ],
)
def test_a_wrong_window_is_shown_with_the_right_words(text: str, what: str, at: str, hint: str) -> None:
    said, place, hinted = refused(text)
    assert (said, hinted) == (what, hint)
    assert place.startswith(at)


@pytest.mark.parametrize(
    ("text", "what", "at", "hint"),
    [
        (
            "SELECT * FROM NAMED WINDOW :w ON :s { }",
            "'{' cannot stand here",
            "{",
            f"which window? write {WINDOWS} behind the stream",
        ),
        (
            "SELECT * FROM NAMED WINDOW :w [NOW] { }",
            "'{' cannot stand here",
            "{",
            "on which stream? write FROM NAMED WINDOW :w ON <stream> [RANGE 10s]",
        ),
        ("SELECT * FROM NAMED WINDOW ON :s [NOW] { }", "a named window has a name", "WINDOW", f"{DECLARE}]"),
        (
            "SELECT * FROM NAMED WINDOW :w ON :s [NOW] AS :v { }",
            "the window has two names",
            ":v",
            "one of them is enough: WINDOW … or AS …",
        ),
        (
            "SELECT * FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :w ON :t [NOW] { }",
            "the window <http://e/w> is declared twice",
            ":w ON :t",
            "give each window a name of its own",
        ),
        (
            "SELECT * FROM NAMED WINDOW :wind ON :s [NOW] { WINDOW :win { } }",
            "there is no window <http://e/win>; the query declares <http://e/wind>",
            ":win {",
            "did you mean <http://e/wind>?",
        ),
        (
            "SELECT * { WINDOW :w { } }",
            "there is no window <http://e/w>; the query declares none",
            ":w {",
            "write FROM NAMED WINDOW <http://e/w> ON <stream> [RANGE 10s STEP 5s]",
        ),
        (
            STREAM + "[NOW] { WINDOW ?w { } }",
            "the query declares no window over which ?w could range",
            "?w",
            f"{DECLARE} STEP 5s]",
        ),
        (
            STREAM + "[NOW] { STREAM :s { ?x :p ?y } }",
            "STREAM without a window cannot stand in a view, and NOW makes one of the query",
            ":p",
            "write the window behind the stream: STREAM <s> [RANGE 10s] { … }",
        ),
        (
            STREAM + "[NOW] { {?x :p ?y} SEQ {?x :q ?y} }",
            "SEQ cannot stand in a view, and NOW makes one of the query",
            "SEQ",
            "make two queries: one that detects, and a view of what it builds",
        ),
        (
            "SELECT COUNT(?x) AS ?n FROM STREAM :s [NOW] { }",
            "'COUNT' cannot stand here",
            "COUNT",
            "a calculated column stands in parentheses: SELECT (COUNT(?x) AS ?n)",
        ),
        (
            "REGISTER RSTREAM :o AS SELECT ISTREAM * FROM STREAM :s [NOW] { }",
            "a view tells RSTREAM or ISTREAM, not both",
            "ISTREAM",
            "",
        ),
        (
            STREAM + "[NOW] { { SELECT ISTREAM ?x { ?x :p ?y } } }",
            "ISTREAM says what a query tells: it stands at the outer SELECT",
            "ISTREAM",
            "",
        ),
        (STREAM + "[NOW] REPORT SOMETIMES { }", "'SOMETIMES' cannot stand here", "SOMETIMES", REPORTS),
        (
            STREAM + "[NOW] REPORT PERIODIC { }",
            "PERIODIC wants the time between two reports",
            "PERIODIC",
            "write PERIODIC 10s",
        ),
        (STREAM + "[NOW] REPORT PERIODIC 0s { }", "the time between two reports is more than 0", "0s", ""),
        (
            STREAM + "[RANGE 5s STEP 1s] REPORT WINDOW CLOSE CONTENT CHANGE { }",
            "a view is reported by one policy",
            "CONTENT CHANGE",
            REPORTS,
        ),
        (
            STREAM + "[RANGE 5s STEP 1s] REPORT WINDOW CLOSE REPORT CONTENT CHANGE { }",
            "a view is reported by one policy: WINDOW CLOSE, or CONTENT CHANGE",
            "REPORT CONTENT",
            "",
        ),
        (
            STREAM + "[RANGE 5s REPORT ON_WINDOW_CLOSE] { }",
            "REPORT WINDOW CLOSE needs a window with STEP",
            "REPORT",
            "add STEP to a window, or report by CONTENT CHANGE",
        ),
    ],
)
def test_a_wrong_clause_is_shown_with_the_right_words(text: str, what: str, at: str, hint: str) -> None:
    said, place, hinted = refused(text)
    assert (said, hinted) == (what, hint)
    assert place.startswith(at)


@pytest.mark.parametrize(
    ("text", "what", "at", "hint"),
    [
        (
            EVENT + "EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 } }",
            "the event E1 is defined twice",
            "E1 { MATCH",
            "give each event pattern a name of its own",
        ),
        (EVENT + "{ MATCH { E2 } }", "there is no event E2; the query defines E1", "E2", "did you mean E1?"),
        (
            "SELECT * { MATCH { Rise SEQ Fall } }",
            "there is no event Rise; the query defines none",
            "Rise",
            "write EVENT ON :w { … } AS Rise before WHERE",
        ),
        (
            EVENT + "EVENT ON :x { ?s ?p ?o } AS E2 { MATCH { E1 } }",
            "there is no window <http://e/x>; the query declares <http://e/w>",
            ":x",
            "did you mean <http://e/w>?",
        ),
        (
            EVENT + "{ MATCH { E1 DURING E1 } }",
            "DURING cannot stand in MATCH, which knows SEQ",
            "DURING",
            "other relations in time are those of detectors: { … } DURING { … }",
        ),
        (
            EVENT + "{ MATCH { { ?s ?p ?o } SEQ E1 } }",
            "'?s' cannot stand here",
            "?s",
            "MATCH holds names: EVENT ON :w { … } AS E1 before WHERE, then MATCH { E1 SEQ E2 }",
        ),
        (
            EVENT + "{ E1 SEQ E1 }",
            "'E1' cannot stand here",
            "E1 SEQ",
            "names of events stand in MATCH: MATCH { E1 SEQ E2 }",
        ),
        (
            "SELECT * FROM NAMED :s WIN [LND 9] AS :w EVENT ON :w { } AS E1 { MATCH { E1 } }",
            "an event pattern looks for something",
            "EVENT",
            "write EVENT ON :w { ?s ?p ?o } AS E1",
        ),
        (
            "SELECT * FROM NAMED :s WIN [LND 9] AS :w EVENT ON :w { WINDOW :w { ?s ?p ?o } } AS E1 { MATCH { E1 } }",
            "WINDOW has no meaning inside EVENT, which looks at one event",
            "EVENT",
            "join it in WHERE, beside MATCH",
        ),
        (
            EVENT + "{ MATCH { E1 SEQ } }",
            "'}' cannot stand here",
            "} }",
            "expected FIRST, LAST, the name of an event, '(' or '{'",
        ),
    ],
)
def test_a_wrong_event_is_shown_with_the_right_words(text: str, what: str, at: str, hint: str) -> None:
    said, place, hinted = refused(text)
    assert (said, hinted) == (what, hint)
    assert place.startswith(at)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (STREAM + "[RANGE 5s SLIDE 1s] { }", "SLIDE is read as STEP"),
        (
            STREAM + "[RANGE 1h STEP] { }",
            "STEP has no length: the window moves with each item, and is reported when it changes; "
            "a report every minute is STEP 1m",
        ),
        (
            STREAM + "[RANGE 10 TICK TUPLE_DRIVEN] { }",
            "TICK TUPLE_DRIVEN has no effect: a report is told when the clock is beyond its time",
        ),
        (
            "SELECT * FROM NAMED WINDOW :w ON :s [NOW] { ?x :p ?y }",
            "nothing reads the window <http://e/w>: write WINDOW <http://e/w> { … } around the patterns that it holds",
        ),
        (EVENT + "{ WINDOW :w { ?x :p ?y } }", "no MATCH names the event E1: it asks nothing"),
        (
            EVENT + "{ MATCH { E1 SEQ E1 } }",
            "E1 stands in MATCH again: both events agree in all of its variables; "
            "for other values define an event with variables of its own",
        ),
        (
            "SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 5s] { ?x :p ?y }",
            "aggregation makes a view of the query: it is reported when its windows change, and [RANGE 5s] is open "
            "at its older end; for reports at steps write [RANGE 5s STEP …]",
        ),
        (
            "SELECT ?x { ?x :p ?y } LIMIT 3",
            "LIMIT makes a view of the query: it is reported when its windows change; for reports at steps write "
            "[RANGE … STEP …]",
        ),
        (STREAM + "[NOW] POLICY recent { ?x :p ?y }", "POLICY has no effect: a view has sequences in MATCH { … } only"),
        (
            "REGISTER STREAM :o UNDER ENTAILMENT REGIME <urn:rdfs> AS SELECT * FROM STREAM :s [NOW] { }",
            "UNDER ENTAILMENT REGIME has no effect: what the engine's schema entails is seen",
        ),
    ],
)
def test_what_hardly_does_what_was_meant_is_told(text: str, told: str) -> None:
    (notice,) = parse(PREFIX + text).notices
    assert notice.partition(": ")[2] == told


def test_a_window_of_a_published_text_without_prefix_is_read_and_told() -> None:
    query = parse("SELECT * FROM NAMED WINDOW :win ON <urn:s> [RANGE PT3S STEP PT1S] { WINDOW :win { ?s ?p ?o } }")
    assert query.view is not None and query.view.windows[0].name == b"<http://example.org/win>"
    told = ":win is read as <http://example.org/win>; declare PREFIX : <...> for names without a prefix"
    assert [notice.partition(": ")[2] for notice in query.notices] == [told]
