"""What a user reads when operators of time stand where they mean nothing: the sentence, the place and the hint."""

from __future__ import annotations

import pytest

from retewave.compiler.parse import parse
from retewave.errors import QueryError

XSD = "http://www.w3.org/2001/XMLSchema#"
RANGE = "SELECT * FROM STREAM <urn:s> [RANGE 10s] FROM STREAM <urn:t> [RANGE 5s] { %s }"
SEQ_JOINS = "SEQ can: { … } SEQ NOT { … } SEQ { … }"


def refused(text: str) -> tuple[int, int, str, str]:
    """Return line, column, sentence and hint."""
    with pytest.raises(QueryError) as caught:
        parse(text)
    error = caught.value
    assert error.place is not None
    return error.place.line, error.place.column, error.what, error.hint


def refused_pattern(pattern: str) -> tuple[int, str, str]:
    """Return the column in a pattern where it goes wrong, the sentence and the hint."""
    head = "SELECT * { "
    line, column, what, hint = refused(f"{head}{pattern} }}")
    assert line == 1
    return column - len(head), what, hint


def test_the_whole_message_shows_the_place_and_how_to_mend_it() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT * WHERE {\n  { ?x <urn:a> 1 }\n  SEQ NOT { ?x <urn:b> 2 } }")
    assert str(caught.value) == (
        "<query>:3:7: a chain that ends with NOT needs WITHIN\n"
        "    SEQ NOT { ?x <urn:b> 2 } }\n"
        "        ^\n"
        "  hint: how long after? write { … } SEQ NOT { … } WITHIN 5m"
    )


@pytest.mark.parametrize(
    ("pattern", "column", "word", "hint"),
    [
        ("{?x ?p 1} OPTIONAL SEQ {?x ?p 2}", 20, "SEQ", "did you mean OPTIONALSEQ?"),
        (
            "{?x ?p 1} SEQ OPTIONAL {?x ?p 2}",
            15,
            "OPTIONAL",
            "only what is earlier may be missing: { … } OPTIONALSEQ { … }",
        ),
        ("{?x ?p 1} EQUALS OPTIONAL {?x ?p 2}", 18, "OPTIONAL", "did you mean EQUALSOPTIONAL?"),
        (
            "{?x ?p 1} OPTIONAL EQUALS {?x ?p 2}",
            20,
            "EQUALS",
            "the optional group comes second: { … } EQUALSOPTIONAL { … }",
        ),
        ("{?x ?p 1} SEQU {?x ?p 2}", 11, "SEQU", "did you mean SEQ?"),
        ("{?x ?p 1} OVERLAPED_BY {?x ?p 2}", 11, "OVERLAPED_BY", "did you mean OVERLAPPED_BY?"),
        ("{?x ?p 1} WITHN 5m", 11, "WITHN", "did you mean WITHIN?"),
        ("?x ?p 1 SEQ {?x ?p 2}", 9, "SEQ", "SEQ stands between groups: { … } SEQ { … }"),
        ("{?x ?p 1} SEQ ?x ?p 2", 15, "?x", "what stands behind SEQ wants braces: { … } SEQ { … }"),
        (
            "{?x ?p 1} FILTER(1 = 2) meets {?x ?p 2}",
            25,
            "meets",
            "a FILTER stands in the braces of its group, or behind all groups that meets joins",
        ),
        (
            "{?x ?p 1} AND {?x ?p 2}",
            11,
            "AND",
            "groups side by side are joined without a word; in time, SEQ joins them",
        ),
        ("{?x ?p 1} NOT EXISTS {?x ?p 2}", 15, "EXISTS", "did you mean FILTER NOT EXISTS { … }?"),
        ("{?x ?p 1} EXISTS {?x ?p 2}", 11, "EXISTS", "did you mean FILTER EXISTS { … }?"),
        ("{?x ?p 1} WITHIN 5", 18, "5", "a width has a unit, ms, s, m, h or d: WITHIN 5m"),
        ("?x ?p 1 WITHIN 5m", 9, "WITHIN", "WITHIN bounds a group or a chain of groups: { … } WITHIN 5m"),
        ("?x <urn:p> FIRST", 12, "FIRST", "FIRST chooses from a group: FIRST { … }"),
        ("{?x ?p 1} POLICY recent", 11, "POLICY", "POLICY stands behind the FROM clauses, before WHERE"),
    ],
)
def test_a_word_that_cannot_stand_there_is_told_with_what_was_meant(
    pattern: str, column: int, word: str, hint: str
) -> None:
    assert refused_pattern(pattern) == (column, f"{word!r} cannot stand here", hint)


@pytest.mark.parametrize(
    ("text", "word", "hint"),
    [
        (
            "{ ?x p 1 } OPTIONAL SEQ { ?x p 2 }",
            "OPTIONAL",
            "in time, did you mean OPTIONALSEQ? OPTIONAL as in SPARQL stands in the braces of WHERE",
        ),
        ("{ ?x p 1 } WITHIN 5 fortnights", "fortnights", "a width has a unit, ms, s, m, h or d: WITHIN 5m"),
    ],
)
def test_in_ep_sparql_without_outer_braces_the_hints_are_as_good(text: str, word: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(f"SELECT ?x WHERE {text}", language="epsparql")
    assert (caught.value.what, caught.value.hint) == (f"{word!r} cannot stand here", hint)


@pytest.mark.parametrize(
    ("pattern", "column", "what", "hint"),
    [
        (
            "{?x ?p 1} SEQ {?x ?p 2} OPTIONAL {?x ?p 3}",
            25,
            "OPTIONAL beside SEQ wants braces",
            "write { { … } SEQ { … } } OPTIONAL { … }, or OPTIONAL in the group that it belongs to",
        ),
        (
            "{?x ?p 1} OPTIONAL {?x ?p 2} SEQ {?x ?p 3}",
            30,
            "OPTIONAL beside SEQ wants braces",
            "write OPTIONAL { { … } SEQ { … } }, or { { … } OPTIONAL { … } } SEQ { … }",
        ),
        (
            "{?x ?p 1} MINUS {?x ?p 2} WITHIN 5m",
            27,
            "MINUS beside WITHIN wants braces",
            "write MINUS { { … } WITHIN 5m }, or { { … } MINUS { … } } WITHIN 5m",
        ),
        (
            "{?x ?p 1} UNION {?x ?p 2} DURING {?x ?p 3}",
            11,
            "UNION beside DURING wants braces",
            "write { { … } UNION { … } } DURING { … }, or { { … } DURING { … } } UNION { … }",
        ),
        (
            "{?x ?p 1} SEQ {?x ?p 2} UNION {?x ?p 3}",
            25,
            "UNION beside SEQ wants braces",
            "write { { … } UNION { … } } SEQ { … }, or { { … } SEQ { … } } UNION { … }",
        ),
    ],
)
def test_union_and_optional_beside_a_chain_want_braces(pattern: str, column: int, what: str, hint: str) -> None:
    assert refused_pattern(pattern) == (column, what, hint)


@pytest.mark.parametrize(
    ("pattern", "column", "what", "hint"),
    [
        (
            "{?x ?p 1} SEQ NOT {?x ?p 2}",
            15,
            "a chain that ends with NOT needs WITHIN",
            "how long after? write { … } SEQ NOT { … } WITHIN 5m",
        ),
        (
            "NOT {?x ?p 1} SEQ {?x ?p 2}",
            1,
            "a chain that begins with NOT needs WITHIN",
            "how long before? write NOT { … } SEQ { … } WITHIN 5m",
        ),
        (
            "NOT {?x ?p 1}",
            1,
            "NOT needs a group that it is compared with",
            "write NOT { … } SEQ { … } WITHIN 5m, or { … } SEQ NOT { … } WITHIN 5m",
        ),
        (
            "NOT {?x ?p 1} WITHIN 5m SEQ {?x ?p 1}",
            1,
            "NOT needs a group that it is compared with",
            "write NOT { … } SEQ { … } WITHIN 5m, or { … } SEQ NOT { … } WITHIN 5m",
        ),
        (
            "{?x ?p 1} SEQ NOT {?x ?p 2} SEQ NOT {?x ?p 3} SEQ {?x ?p 4}",
            33,
            "one NOT stands between two groups",
            "write NOT { { … } UNION { … } }: neither of them may be there",
        ),
        ("{?x ?p 1} MEETS NOT {?x ?p 2} WITHIN 5m", 11, "MEETS cannot stand beside NOT", SEQ_JOINS),
        ("{?x ?p 1} OPTIONALSEQ NOT {?x ?p 2} WITHIN 5m", 11, "OPTIONALSEQ cannot stand beside NOT", SEQ_JOINS),
        ("{?x ?p 1} SEQ NOT {?x ?p 2} DURING {?x ?p 3}", 29, "DURING cannot stand beside NOT", SEQ_JOINS),
        ("NOT {?x ?p 1} EQUALS {?x ?p 2} WITHIN 5m", 15, "EQUALS cannot stand beside NOT", SEQ_JOINS),
        (
            "{?x ?p 1} UNION NOT {?x ?p 2}",
            17,
            "NOT stands beside SEQ",
            "write { … } SEQ NOT { … } SEQ { … }; MINUS { … } and FILTER NOT EXISTS { … } look at no order in time",
        ),
        (
            "{ {?x ?p 1} SEQ NOT {?x ?p 2} WITHIN 5m } SEQ {?x ?p 3} WITHIN 10s",
            57,
            "WITHIN 10s can never hold: the NOT before it takes 5m",
            "write WITHIN 5m or more",
        ),
    ],
)
def test_not_where_it_cannot_be_decided(pattern: str, column: int, what: str, hint: str) -> None:
    assert refused_pattern(pattern) == (column, what, hint)


def test_a_missing_within_is_proposed_with_the_width_of_the_window() -> None:
    text = "SELECT * FROM STREAM <urn:s> [RANGE 90s] { {?x ?p 1} SEQ NOT {?x ?p 2} }"
    assert refused(text)[3] == "how long after? write { … } SEQ NOT { … } WITHIN 1m30s"
    parse(text.replace("2} }", "2} WITHIN 1m30s }"))


def test_a_trailing_not_is_no_wider_than_what_the_streams_keep() -> None:
    def said(pattern: str) -> str:
        return refused(RANGE % pattern)[2]

    assert said("{?x ?p 1} SEQ NOT {?x ?p 2} WITHIN 11s").startswith("WITHIN 11s is wider than RANGE 10s")
    assert said("STREAM <urn:t> {?x ?p 1} SEQ NOT {?x ?p 2} WITHIN 6s").startswith("WITHIN 6s is wider than RANGE 5s")
    parse(RANGE % "STREAM <urn:s> {?x ?p 1} SEQ NOT STREAM <urn:t> {?x ?p 2} WITHIN 10s")
    parse(RANGE % "NOT {?x ?p 1} SEQ {?x ?p 2} WITHIN 1h")
    parse("SELECT * FROM STREAM <urn:s> { {?x ?p 1} SEQ NOT {?x ?p 2} WITHIN 1d }")


def test_a_stream_that_the_query_does_not_listen_to() -> None:
    assert refused(RANGE % "STREAM <urn:u> {?x ?p 1}")[2:] == (
        "the query does not listen to the stream <urn:u>",
        "did you mean <urn:t>?",
    )
    assert refused(RANGE % "STREAM <http://e> {?x ?p 1}")[3] == "add FROM STREAM <http://e>"


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("SELECT * POLICY latest { ?x ?p ?y }", 17, "'latest' cannot stand here"),
        ("SELECT * POLICY recent FROM STREAM <urn:s> { ?x ?p ?y }", 10, "POLICY stands once, behind the FROM clauses"),
        ("SELECT * POLICY recent POLICY naive { ?x ?p ?y }", 10, "POLICY stands once, behind the FROM clauses"),
        ("REGISTER STREAM <urn:s> AS SELECT * { ?x ?p ?y }", 10, "only CONSTRUCT feeds a stream"),
        ("SELECT ?n { {?x ?p 1} MINUS {?x ?p ?n} }", 8, "?n has no value outside of the group that is looked for"),
        ("SELECT (getDURATION() AS ?d) { ?x ?p ?y }", 9, "getDURATION() stands in FILTER only"),
        ("SELECT * { ?x ?p ?y BIND(1 + getendtime() AS ?d) }", 30, "getendtime() stands in FILTER only"),
    ],
)
def test_policies_streams_and_times_where_they_cannot_stand(text: str, column: int, what: str) -> None:
    assert refused(text)[:3] == (1, column, what)


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("'P1M'^^xsd:duration", "P1M has months, which have no fixed length"),
        ("'-P1Y2DT3H'^^xsd:duration", "-P1Y2DT3H has months, which have no fixed length"),
        ("'P2M'^^xsd:yearMonthDuration", "a duration of months has no fixed length"),
        ("'5m'^^xsd:duration", "'5m' is not a duration"),
        ("'P1M'^^xsd:dayTimeDuration", "'P1M' is not a duration"),
        ("'PT5M'", 'getDURATION() is compared with "PT5M", which is no duration'),
        ("5", f'getDURATION() is compared with "5"^^<{XSD}integer>, which is no duration'),
    ],
)
def test_a_length_of_time_is_compared_with_days_hours_minutes_and_seconds(written: str, what: str) -> None:
    hint = 'write it in days, hours, minutes and seconds: "PT5M"^^xsd:duration'
    head = f"PREFIX xsd: <{XSD}>\nSELECT * {{ ?x ?p 1 FILTER("
    assert refused(f"{head}getDURATION() < {written}) }}") == (2, 43, what, hint)
    assert refused(f"{head}{written} > getDURATION()) }}") == (2, 27, what, hint)


MOMENT = 'write a moment as "2024-01-31T12:00:00Z"^^xsd:dateTime'
SECONDS = "where times are numbers, they are seconds since 1970: write "
FIFTH_SECOND = f'{SECONDS}"1970-01-01T00:00:05Z"^^xsd:dateTime'
FIVE_SECONDS = f'{SECONDS}"PT5S"^^xsd:duration'
LENGTH = 'write a duration as "PT5M"^^xsd:duration'


@pytest.mark.parametrize(
    ("written", "what", "hint"),
    [
        ("getSTARTTIME() > 5", "a dateTime is compared with a number, which is never true", FIFTH_SECOND),
        ("'2024' < getENDTIME()", "a string is compared with a dateTime, which is never true", MOMENT),
        (
            "getENDTIME() != ?x - 5 || getENDTIME() != 5.5",
            "a dateTime is compared with a number, which is always true",
            MOMENT,
        ),
        ("getENDTIME() = '2024-01-01'^^xsd:date", "a dateTime is compared with a date, which is never true", MOMENT),
        (
            "getENDTIME() - getSTARTTIME() < 5",
            "a duration is compared with a number, which is never true",
            FIVE_SECONDS,
        ),
        ("getENDTIME() < getDURATION()", "a dateTime is compared with a duration, which is never true", MOMENT),
        ("getDURATION() + 5 < ?x", "a duration + a number has no value", LENGTH),
        ("getENDTIME() -5 < ?x", "a dateTime + a number has no value", LENGTH),
        ("getDURATION() * 2 < ?x", "a duration * a number has no value", "durations are added and subtracted"),
    ],
)
def test_a_time_of_the_solution_beside_what_is_of_another_kind_is_refused(written: str, what: str, hint: str) -> None:
    text = f"PREFIX xsd: <{XSD}> SELECT * {{ ?x <urn:p> ?y FILTER({written}) }}"
    assert refused(text)[2:] == (what, hint)


@pytest.mark.parametrize(
    "written",
    [
        "getENDTIME() - getSTARTTIME() < 'PT5S'^^xsd:duration",
        "getSTARTTIME() + 'PT5S'^^xsd:dayTimeDuration > ?x",
        "getDURATION() - 'PT5S'^^xsd:duration + getSTARTTIME() > ?x",
        "getENDTIME() > ?x + 5",
        "1 < 'a'",  # what has no time in it is SPARQL's
    ],
)
def test_what_may_be_true_of_times_is_taken(written: str) -> None:
    parse(f"PREFIX xsd: <{XSD}> SELECT * {{ ?x <urn:p> ?y FILTER({written}) }}")


A, N = "{ ?x <urn:p> ?y }", "{ ?a <urn:q> ?b }"


@pytest.mark.parametrize(
    ("pattern", "column", "name"),
    [
        (f"{A} SEQ NOT {N} WITHIN 5s", 34, "NOT"),
        (f"NOT {N} SEQ {A} WITHIN 5s", 12, "NOT"),
        (f"{A} SEQ NOT {N} SEQ {A}", 34, "NOT"),
        (f"?x <urn:p> ?y FILTER NOT EXISTS {N}", 33, "NOT EXISTS"),
        (f"?x <urn:p> ?y MINUS {N}", 26, "MINUS"),
    ],
)
def test_a_group_that_shares_no_variable_with_what_it_is_compared_with_is_told_of(
    pattern: str, column: int, name: str
) -> None:
    (notice,) = parse(f"SELECT * {{ {pattern} }}").notices
    so = "so it takes nothing away" if name == "MINUS" else "so any such triple decides for all"
    assert notice == (
        f"<query>:1:{column}: {name} {{ … }} shares no variable with what it is compared with, {so}; let both name the "
        "same thing"
    )


@pytest.mark.parametrize(
    "pattern",
    [
        f"{A} SEQ NOT {{ ?a <urn:q> ?b FILTER(?b > ?y) }} WITHIN 5s",
        f"{A} SEQ NOT {{ <urn:alarm> <urn:is> <urn:off> }} WITHIN 5s",
        f"{A} SEQ NOT {{ ?x <urn:q> ?b }} WITHIN 5s",
        "?x <urn:p> ?y MINUS { ?x <urn:q> ?b }",
    ],
)
def test_a_group_that_has_to_do_with_what_it_is_compared_with_is_not_told_of(pattern: str) -> None:
    assert parse(f"SELECT * {{ {pattern} }}").notices == ()
