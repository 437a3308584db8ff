"""What a user reads when a query is wrong: the sentence, the place, the caret and the hint."""

from __future__ import annotations

import pytest

from retewave.compiler.parse import parse
from retewave.errors import QueryError, UsageError


def message(text: str) -> str:
    with pytest.raises(QueryError) as caught:
        parse(text)
    place = caught.value.place
    assert place is not None and 1 <= place.line <= text.count("\n") + 1
    return str(caught.value)


def test_unknown_prefix_suggests_the_nearest_one() -> None:
    assert message("PREFIX foaf: <urn:f>\nSELECT ?s { ?s foa:knows ?o }") == (
        "<query>:2:16: the prefix foa: is not declared\n"
        "  SELECT ?s { ?s foa:knows ?o }\n"
        "                 ^\n"
        "  hint: did you mean foaf:?"
    )


def test_unknown_prefix_of_a_well_known_vocabulary_comes_with_its_declaration() -> None:
    assert message("SELECT ?s { ?s rdf:type ?o }") == (
        "<query>:1:16: the prefix rdf: is not declared\n"
        "  SELECT ?s { ?s rdf:type ?o }\n"
        "                 ^\n"
        "  hint: add PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>"
    )


@pytest.mark.parametrize(
    ("text", "language", "hint"),
    [
        ("SELECT * { ?x foo:p ?y }", None, "add PREFIX foo: <...>"),
        ("PREFIX b: <urn:b> PREFIX a: <urn:a> SELECT * { ?x foo:p ?y }", None, "; the query declares a:, b:"),
        ("SELECT * { ?x foo:p ?y }", "epsparql", "add PREFIX foo: <...>; :, xsd: need no declaration"),
        (
            "PREFIX xsd: <urn:x> SELECT * { ?x foo:p ?y }",
            "epsparql",
            "add PREFIX foo: <...>; the query declares xsd:; : needs no declaration",
        ),
    ],
)
def test_unknown_prefix_tells_what_the_query_declares_and_what_is_there_anyway(
    text: str, language: str | None, hint: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text, language=language)
    assert caught.value.hint is not None and caught.value.hint.endswith(hint)


def test_projected_variable_that_does_not_occur_suggests_the_nearest_one() -> None:
    assert message("SELECT ?nme { ?s <urn:p> ?name }") == (
        "<query>:1:8: ?nme does not occur in the pattern\n"
        "  SELECT ?nme { ?s <urn:p> ?name }\n"
        "         ^\n"
        "  hint: did you mean ?name?"
    )


def test_misspelt_keyword_suggests_the_right_one() -> None:
    assert message("SELECT * {\n  ?s ?p ?o\n  FILTR(?o > 1) }") == (
        "<query>:3:3: 'FILTR' cannot stand here\n    FILTR(?o > 1) }\n    ^\n  hint: did you mean FILTER?"
    )


def test_query_that_stops_says_what_is_missing() -> None:
    assert message("SELECT ?s { ?s <urn:p> ?o") == (
        "<query>:1:26: the query ends too early\n"
        "  SELECT ?s { ?s <urn:p> ?o\n"
        "                           ^\n"
        "  hint: expected '}', BIND, FILTER, FIRST, GRAPH, LAST, MATCH, MINUS ..."
    )


def test_empty_query_says_how_to_begin() -> None:
    assert message("") == (
        "<query>:1:1: the query ends too early\n  hint: expected ASK, BASE, CONSTRUCT, PREFIX, REGISTER or SELECT"
    )


def test_wrong_duration_names_the_units() -> None:
    assert message("SELECT * FROM STREAM <urn:s> [RANGE 5 fortnights] { ?s ?p ?o }") == (
        "<query>:1:39: 'fortnights' cannot stand here\n"
        "  SELECT * FROM STREAM <urn:s> [RANGE 5 fortnights] { ?s ?p ?o }\n"
        "                                        ^\n"
        "  hint: units are us, ms, s, m, h, d and their names: 5m, 1m30s, 90 SECONDS, PT5M; a bare number "
        "counts seconds"
    )


def test_bind_of_a_bound_variable_is_refused() -> None:
    assert message("SELECT * { ?s <urn:p> ?o BIND(1 AS ?o) }") == (
        "<query>:1:36: ?o is bound already\n"
        "  SELECT * { ?s <urn:p> ?o BIND(1 AS ?o) }\n"
        "                                     ^\n"
        "  hint: AS needs a variable that is new here"
    )


def test_a_function_that_is_mistyped_is_told_with_the_likely_one() -> None:
    said = message("SELECT * { ?s ?p ?o FILTER(strlenn(?o) > 3) }")
    assert said.startswith("<query>:1:28: 'strlenn' cannot stand here") and said.endswith("did you mean STRLEN?")


def test_a_pattern_that_is_none_is_told_at_the_character_where_it_goes_wrong() -> None:
    assert message('SELECT * { ?s ?p ?o\n  FILTER(REGEX(?o, "a\\\\.b(c")) }') == (
        "<query>:2:26: REGEX's pattern: a ( that is not closed\n"
        '    FILTER(REGEX(?o, "a\\\\.b(c")) }\n'
        "                           ^\n"
        "  hint: write \\\\( for the character"
    )


@pytest.mark.parametrize(
    ("call", "column", "sentence"),
    [
        ("REGEX(?o, 'a', 'iz')", 45, "REGEX's flags: there is no flag 'z'"),
        ("REGEX(?o, '\\\\bword')", 39, r"REGEX's pattern: \b is not of XPath"),
        ("REGEX(?o, '''a\n(''')", 38, "REGEX's pattern: a ( that is not closed"),
        ("REGEX(?o, 5)", 38, 'REGEX\'s pattern is "5"^^'),
        ("REGEX(?o, 'a'@en)", 38, 'REGEX\'s pattern is "a"@en'),
        ("REPLACE(?o, 'x*', '-')", 41, "REPLACE's pattern: it matches the empty string, too"),
        ("REPLACE(?o, ?s, 'a$')", 46, "REPLACE's replacement: a $ in the replacement without a group's number"),
        ("REPLACE(?o, 'x', '\\\\1')", 46, r"REPLACE's replacement: a \ in the replacement"),
    ],
)
def test_constant_patterns_flags_and_replacements_are_checked(call: str, column: int, sentence: str) -> None:
    said = message(f"SELECT * {{ ?s ?p ?o FILTER({call}) }}")
    assert said.startswith(f"<query>:1:{column}: {sentence}")


@pytest.mark.parametrize(
    "call", ["REGEX(?o, '(', 'q')", "REGEX(?o, '(', ?s)", "REGEX(?o, ?s, 'q')", "REPLACE(?o, ?s, '$1')"]
)
def test_a_pattern_that_may_be_one_is_not_refused(call: str) -> None:
    parse(f"SELECT * {{ ?s ?p ?o BIND({call} AS ?x) }}")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('SELECT * { ?s ?p "abc }', "1:18: a string does not end"),
        ("SELECT * { ?s ?p ?o FILTER(?o > ) }", "1:33: ')' cannot stand here"),
        ("SELECT * { ?s <p> ?o }", "1:15: <p> is relative and the query has no BASE"),
        ("SELECT * { _:b <urn:p> 1 { _:b <urn:q> 2 } }", "1:28: the blank node _:b is used in two basic"),
        ("CONSTRUCT { ?s <urn:p>/<urn:q> 1 } { ?s <urn:p> 1 }", "1:16: a CONSTRUCT template cannot hold a"),
        ("CONSTRUCT { ?s <urn:p> ?x } { ?s <urn:p> ?o }", "1:24: ?x does not occur in the pattern"),
        ("SELECT * { VALUES (?a ?b) { (1) } }", "1:30: a row of VALUES has 1 values for 2 variables"),
        ("SELECT * { VALUES (?a ?a) { (1 1) } }", "1:20: VALUES names a variable twice"),
        ("SELECT ?s ?s { ?s ?p ?o }", "1:11: ?s is projected twice"),
        ("SELECT (1 AS ?s) { ?s ?p ?o }", "1:14: ?s is bound already"),
        ("SELECT * FROM STREAM <urn:s> FROM STREAM <urn:s> { }", "1:42: the stream <urn:s> is named twice"),
        ("SELECT * { FILTER(<urn:f>(1)) }", "1:19: the function <urn:f> is not known"),
        ("SELECT * FROM STREAM <urn:s> [RANGE 1.5ms] FROM STREAM <urn:t> [RANGE 0.0001ms] {}", "whole number"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, sentence: str) -> None:
    assert sentence in message(text)


@pytest.mark.parametrize(
    ("text", "column", "name"),
    [
        ("SELECT * { SERVICE SILENT <urn:s> { ?o ?q 1 } }", 12, "SERVICE"),
        ("DESCRIBE <urn:x>", 1, "DESCRIBE"),
        ("SELECT * { ?s ?p ?o BIND(EXISTS { ?s ?q 1 } AS ?x) }", 26, "EXISTS inside an expression"),
        ("SELECT * { ?s ?p ?o FILTER(1 = 2 || NOT EXISTS { ?s ?q 1 }) }", 37, "NOT EXISTS inside an expression"),
        ("SELECT (SUM(EXISTS { ?s ?q 1 }) AS ?n) { ?s ?p ?o }", 13, "EXISTS inside an aggregate"),
        (
            "ASK { ?s ?p ?o OPTIONAL { ?s ?q ?z FILTER(?z || EXISTS { ?s ?r 1 }) } }",
            49,
            "EXISTS inside an expression that looks at two groups",
        ),
        ("CONSTRUCT WHERE { ?s ?p [] }", 25, "a blank node in CONSTRUCT WHERE"),
    ],
)
def test_what_is_not_supported_yet_is_named_where_it_stands(text: str, column: int, name: str) -> None:
    said = message(text)
    assert said.startswith(f"<query>:1:{column}: {name} is not supported yet")


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"cobol.*\n.*sparql, epsparql, spaseq, obep, sparkwave"):
        parse("", language="cobol")


@pytest.mark.parametrize("written", [r"\uD800", "\ud800"])
def test_half_a_surrogate_pair_is_refused(written: str) -> None:
    assert message(f"SELECT * {{\n ?x ?p '{written}' }}") == "<query>:2:9: U+D800 is not a character"


def test_an_escape_beyond_unicode_is_refused() -> None:
    assert "cannot stand here" in message(r"SELECT * { ?x ?p <urn:\U00110000> }")
