"""Queries become algebra: the whole of SPARQL's syntax that runs, C-SPARQL's frame, and the paper's queries."""

from __future__ import annotations

import pytest
from rdflib import Literal

from retewave.compiler.algebra import (
    BlankNode,
    Extend,
    Filter,
    Join,
    Query,
    Stream,
    TemplateTriple,
    TriplePattern,
    Triples,
    Union,
    Values,
    Variable,
)
from retewave.compiler.expressions.evaluate import term_of
from retewave.compiler.expressions.tree import to_sparql
from retewave.compiler.parse import parse
from retewave.compiler.rewrite.normal import MOST_BRANCHES, branches
from retewave.errors import QueryError

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
MINUTE = 60_000_000

FIGURE_4 = """\
REGISTER QUERY MultiplePlaceNotification AS
PREFIX twd: <http://twitter.example.org/ns#>.
PREFIX sma: <http://socialmedia.example.org/ns#>.
PREFIX sioc: <http://rdfs.org/sioc/ns#>.
PREFIX fb: <http://facebook.example.org/ns#>.
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>.
SELECT ?tweet ?fbpost ?user
FROM STREAM <http://facebook.example.org/update/stream>
[RANGE 5m]
FROM STREAM <http://twitter.example.org/update/stream>
[RANGE 5m]
FROM <http://foaf.example.org/friends.rdf>
WHERE {
  ?tweet rdf:type twd:Tweet.
  ?tweet sma:talksAbout ?place.
  ?twitteraccount sioc:creator_of ?tweet.
  ?twitteraccount sioc:account_of ?user.
  ?fbpost rdf:type fb:StatusUpdate.
  ?fbpost sma:talksAbout ?place.
  ?fbaccount sioc:creator_of ?fbpost.
  ?fbaccount sioc:account_of ?user.
}
"""

LISTING_2 = """\
REGISTER QUERY BSBSOfferDetection AS
PREFIX bsbm-voc:<http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/>
PREFIX bsbm-inst:<http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/>
PREFIX rdf:<http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX dc:<http://purl.org/dc/elements/1.1/>
SELECT ?offer ?product ?vendor ?price ?from ?to ?delivery ?webpage
?publisher ?date
FROM STREAM <http://bsbm.org/stream>
FROM <http://members.sti2.at/~rdjank/ProductTypeHierarchy.rdf>
WHERE {
?offer rdf:type bsbm-voc:Offer.
?offer bsbm-voc:product ?product.
?offer bsbm-voc:vendor ?vendor.
?offer bsbm-voc:price ?price.
?offer bsbm-voc:validFrom ?from.
?offer bsbm-voc:validTo ?to.
?offer bsbm-voc:deliveryDays ?delivery.
?offer bsbm-voc:offerWebpage ?webpage.
?offer dc:publisher ?publisher.
?offer dc:date ?date.
?product rdf:type bsbm-inst:TargetProductType%s
}
"""


def patterns(query: Query) -> list[str]:
    assert isinstance(query.where, Triples)
    return [str(pattern) for pattern in query.where.patterns]


def where(text: str) -> list[str]:
    return patterns(parse(f"PREFIX : <urn:> SELECT * {{ {text} }}"))


def filtered(text: str) -> str:
    query = parse(f"SELECT * {{ ?a ?b ?c FILTER({text}) }}")
    assert isinstance(query.where, Filter)
    return to_sparql(query.where.expression).replace(f"^^<{XSD}integer>", "").replace('"', "")


# The paper


def test_figure_4_is_read_as_it_is_printed() -> None:
    query = parse(FIGURE_4)
    assert query.name == "MultiplePlaceNotification"
    assert query.projection == ("tweet", "fbpost", "user")
    assert query.streams == (
        Stream(b"<http://facebook.example.org/update/stream>", 5 * MINUTE),
        Stream(b"<http://twitter.example.org/update/stream>", 5 * MINUTE),
    )
    assert query.dataset == ("http://foaf.example.org/friends.rdf",)
    assert len(patterns(query)) == 8
    assert patterns(query)[0] == f"?tweet <{RDF}type> <http://twitter.example.org/ns#Tweet>"


def test_listing_2_is_read_with_a_stream_without_a_range() -> None:
    query = parse(LISTING_2 % "")
    assert query.streams == (Stream(b"<http://bsbm.org/stream>", None),)
    assert len(query.projection) == 10
    assert len(patterns(query)) == 11


def test_listing_2_may_write_iris_without_brackets() -> None:
    more = ". ?vendor bsbm-voc:country http://downloade.org/rdf/iso-3166/countries#GB"
    assert patterns(parse(LISTING_2 % more))[-1].endswith(" <http://downloade.org/rdf/iso-3166/countries#GB>")


# Triples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x a :C", [f"?x <{RDF}type> <urn:C>"]),
        ("?x :p 1, ?y ; :q ?z ; .", [f'?x <urn:p> "1"^^<{XSD}integer>', "?x <urn:p> ?y", "?x <urn:q> ?z"]),
        ("[] :p ?x", ["_:.1 <urn:p> ?x"]),
        ("[ :p ?x ] :q ?y", ["_:.1 <urn:p> ?x", "_:.1 <urn:q> ?y"]),
        ("[ :p ?x ]", ["_:.1 <urn:p> ?x"]),
        ("?x :p [ :q [ :r ?y ] ]", ["_:.2 <urn:r> ?y", "_:.1 <urn:q> _:.2", "?x <urn:p> _:.1"]),
        ("_:b :p ?x . FILTER(1 = 1) ?x :q _:c", None),
        ("?x :p ()", [f"?x <urn:p> <{RDF}nil>"]),
        (
            "(?x) :p ?y",
            [f"_:.1 <{RDF}first> ?x", f"_:.1 <{RDF}rest> <{RDF}nil>", "_:.1 <urn:p> ?y"],
        ),
        ("?x ?p 'a', \"b\"@EN, '''c\"d'''", ['?x ?p "a"', '?x ?p "b"@en', '?x ?p "c\\"d"']),
        ("?x ?p -1.5, +2, 1e3, true", None),
        (r"?x ?p 'tab\tquote\"\u00e9'", ['?x ?p "tab\tquote\\"é"']),
        (r"?x :a\-b\.c ?y", ["?x <urn:a-b.c> ?y"]),
        ("?x :a%20b.c ?y.", ["?x <urn:a%20b.c> ?y"]),
        ("$x $p $y", ["?x ?p ?y"]),
    ],
)
def test_triples_are_spelled_out(text: str, expected: list[str] | None) -> None:
    query = parse(f"PREFIX : <urn:> SELECT * {{ {text} }}")
    if expected is not None:
        assert patterns(query) == expected


def test_numbers_keep_their_lexical_form() -> None:
    assert [line.split()[-1] for line in where("?x ?p -1.5, +2, 01, 1e3, true")] == [
        f'"-1.5"^^<{XSD}decimal>',
        f'"+2"^^<{XSD}integer>',
        f'"01"^^<{XSD}integer>',
        f'"1e3"^^<{XSD}double>',
        f'"true"^^<{XSD}boolean>',
    ]


def test_a_string_of_the_datatype_string_is_a_plain_string() -> None:
    assert where(f"?x ?p 'a'^^<{XSD}string>") == ['?x ?p "a"']


def test_a_blank_node_is_a_variable_that_select_star_leaves_out() -> None:
    query = parse("SELECT * { _:b ?p _:b }")
    assert query.projection == ("p",)
    assert patterns(query) == ["_:b ?p _:b"]


def test_a_filter_does_not_end_a_basic_graph_pattern() -> None:
    query = parse("SELECT * { _:b ?p 1 FILTER(?p = 1) _:b ?q 2 }")
    assert isinstance(query.where, Filter)
    assert isinstance(query.where.pattern, Triples)


# Paths


def test_a_sequence_joins_on_a_hidden_variable() -> None:
    assert where("?x :p/:q ?y") == ["?x <urn:p> _:.1", "_:.1 <urn:q> ?y"]


def test_the_inverse_of_a_sequence_runs_backwards() -> None:
    assert where("?x ^(:p/:q) ?y") == ["?y <urn:p> _:.1", "_:.1 <urn:q> ?x"]


def test_an_alternative_is_a_union() -> None:
    found = parse("SELECT * { ?x <urn:p>|^a ?y }").where
    assert isinstance(found, Union)
    assert isinstance(found.right, Triples)
    assert str(found.right.patterns[0]) == f"?y <{RDF}type> ?x"


def test_a_negated_set_is_a_filtered_predicate() -> None:
    found = parse("SELECT * { ?x !(<urn:p>|a) ?y }").where
    assert isinstance(found, Filter)
    assert to_sparql(found.expression) == f"(_:.1 NOT IN (<urn:p>, <{RDF}type>))"


# Expressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("?a -1", "(?a + -1)"),
        ("?a -1 * 2", "(?a + (-1 * 2))"),
        ("-?a", "(- ?a)"),
        ("!?a && ?b || ?c", "(((! ?a) && ?b) || ?c)"),
        ("?a < ?b", "(?a < ?b)"),
        ("?a IN (1, 2)", "(?a IN (1, 2))"),
        ("?a NOT IN ()", "(?a NOT IN ())"),
        ("regex(?a, 'x', 'i')", "REGEX(?a, x, i)"),
        ("isURI(?a) = isIri(?a)", "(ISIRI(?a) = ISIRI(?a))"),
        ("if(bound(?a), 1, coalesce(?b, 2))", "IF(BOUND(?a), 1, COALESCE(?b, 2))"),
        ("rand() < 1", "(RAND() < 1)"),
        ("bnode() = bnode('x')", "(BNODE() = BNODE(x))"),
        (f"<{XSD}integer>(?a) = 1", f"(<{XSD}integer>(?a) = 1)"),
    ],
)
def test_expressions_bind_as_the_grammar_says(text: str, expected: str) -> None:
    assert filtered(text) == expected


# Groups, data, forms


def test_a_filter_covers_its_group_wherever_it_stands() -> None:
    query = parse("SELECT * { FILTER(?x > 1) ?x ?p ?y { ?y ?q ?z } }")
    assert isinstance(query.where, Filter)
    assert query.where.pattern == parse("SELECT * { ?x ?p ?y { ?y ?q ?z } }").where


def test_bind_extends_what_stands_before_it() -> None:
    found = parse("SELECT * { ?x ?p ?y BIND(?y + 1 AS ?z) { ?z ?q 1 } UNION { ?z ?r 1 } }").where
    assert isinstance(found, Join)
    assert isinstance(found.left, Extend)
    assert isinstance(found.right, Union)


def test_an_expression_in_the_projection_extends_the_whole_pattern() -> None:
    query = parse("SELECT ?x (?y * 2 AS ?z) (?z + 1 AS ?w) { ?x <urn:p> ?y }")
    assert query.projection == ("x", "z", "w")
    assert isinstance(query.where, Extend)
    assert query.where.variable == Variable("w")


def test_values_may_stand_in_a_group_or_after_the_query() -> None:
    inside = parse("SELECT * { ?x <urn:p> ?y VALUES (?x ?y) { (1 UNDEF) (UNDEF 'a') } }").where
    after = parse("SELECT * { ?x <urn:p> ?y } VALUES (?x ?y) { (1 UNDEF) (UNDEF 'a') }").where
    assert inside == after
    assert isinstance(inside, Join)
    one = f'"1"^^<{XSD}integer>'.encode()
    assert inside.right == Values((Variable("x"), Variable("y")), ((one, None), (None, b'"a"')))


def test_construct_keeps_its_template() -> None:
    query = parse("PREFIX : <urn:> CONSTRUCT { ?x :p _:b . _:b :q [] } WHERE { ?x :r 1 }")
    assert query.form == "CONSTRUCT"
    assert query.template == (
        TemplateTriple(Variable("x"), b"<urn:p>", BlankNode("b")),
        TemplateTriple(BlankNode("b"), b"<urn:q>", BlankNode(".1")),
    )


def test_short_construct_uses_its_pattern_as_template() -> None:
    query = parse("CONSTRUCT FROM STREAM <urn:s> [RANGE 1s] WHERE { ?x <urn:p> ?y }")
    assert query.template == (TemplateTriple(Variable("x"), b"<urn:p>", Variable("y")),)
    assert query.where == Triples((TriplePattern(Variable("x"), b"<urn:p>", Variable("y")),))


def test_distinct_and_reduced_are_kept() -> None:
    assert parse("SELECT DISTINCT * { ?x ?p ?y }").distinct
    assert parse("SELECT REDUCED * { ?x ?p ?y }").reduced


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [
        ("5ms", 5_000),
        ("5 s", 5_000_000),
        ("1.5s", 1_500_000),
        ("5M", 300_000_000),
        ("2h", 7_200_000_000),
        ("1d", 86_400_000_000),
        ("1h30m", 5_400_000_000),
        ("1m30.5s", 90_500_000),
    ],
)
def test_durations_are_whole_microseconds(written: str, microseconds: int) -> None:
    assert parse(f"SELECT * FROM STREAM <urn:s> [RANGE {written}] {{ ?x ?p ?y }}").streams[0].width == microseconds


def test_a_relative_file_beside_the_query_stays_relative() -> None:
    assert parse("SELECT * FROM <schema/onto.ttl> { ?x ?p ?y }").dataset == ("schema/onto.ttl",)


def test_relative_iris_are_resolved_against_the_base() -> None:
    query = parse("BASE <http://e.org/a/b> PREFIX x: <c#> SELECT * FROM <f.ttl> { ?x x:p <../d?e> }")
    assert query.dataset == ("http://e.org/a/f.ttl",)
    assert patterns(query) == ["?x <http://e.org/a/c#p> <http://e.org/d?e>"]


def test_comments_and_hashes_in_iris_are_told_apart() -> None:
    assert patterns(parse("# a query\nSELECT * { # pattern\n ?x <urn:p#q> ?y } # end")) == ["?x <urn:p#q> ?y"]


def test_a_pattern_knows_where_it_is_written() -> None:
    query = parse("SELECT * {\n  ?x <urn:p> ?y .\n  ?y <urn:q> ?z }", source="query.rq")
    assert isinstance(query.where, Triples)
    assert [str(pattern.place) for pattern in query.where.patterns] == ["query.rq:2:6", "query.rq:3:6"]


@pytest.mark.parametrize(
    ("written", "lexical"),
    [
        (r'"\\"', "\\"),
        (r'"\\$"', "\\$"),
        (r'"a\"b"', 'a"b'),
        (r"'a\'b'", "a'b"),
        (r'"\t\n\r\b\f"', "\t\n\r\b\f"),
        ('"""a"b""c\nd"""', 'a"b""c\nd'),
        (r'"""a\""""', 'a"'),
        ("''", ""),
        ("''''''", ""),
        ("'''a''b'''", "a''b"),
        ('"a#b"', "a#b"),
    ],
)
def test_strings_are_unescaped(written: str, lexical: str) -> None:
    query = parse(f"SELECT * {{ ?x ?p {written} }}")
    assert isinstance(query.where, Triples)
    assert term_of(query.where.patterns[0].object) == Literal(lexical)  # type: ignore[arg-type]


def test_a_thousand_alternatives_are_not_a_thousand_levels() -> None:
    condition = " || ".join(f"?x = {number}" for number in range(3_000))
    query = parse(f"SELECT * {{ ?x ?p ?y FILTER({condition}) }}")
    assert isinstance(query.where, Filter)
    assert to_sparql(query.where.expression).count("||") == 2_999
    unions = " UNION ".join(f"{{ ?x <urn:p{number}> ?y }}" for number in range(MOST_BRANCHES))
    predicates = [branch.patterns[0].predicate for branch in branches(parse(f"SELECT * {{ {unions} }}"))]
    assert predicates == [f"<urn:p{number}>".encode() for number in range(MOST_BRANCHES)]


def test_a_pattern_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(QueryError, match="nested too deeply"):
        parse("SELECT * " + "{" * 5_000 + "}" * 5_000)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("?x <urn:p> ?y FILTER(?z > 1 && ?z < ?y)", ["1:33: ?z"]),
        ("?x <urn:p> ?y { ?y <urn:q> ?z FILTER(?x = ?y) }", ["1:49: ?x"]),
        ("?x <urn:p> ?y BIND(?z AS ?w) ?y <urn:q> ?z", ["1:31: ?z"]),
        ("?x <urn:p> ?y FILTER(?z = 1) ?y <urn:q> ?z", []),
        ("{ ?x <urn:p> ?y } UNION { ?x <urn:q> ?z } FILTER(BOUND(?z))", []),
    ],
    ids=["nowhere", "outside the group", "later than BIND", "later than a filter", "in one alternative"],
)
def test_variables_that_can_have_no_value_are_told_with_their_places(pattern: str, told: list[str]) -> None:
    notices = parse(f"SELECT * {{ {pattern} }}").notices
    assert [notice.removeprefix("<query>:").partition(" has no value")[0] for notice in notices] == told


def test_a_variable_of_the_select_clause_that_can_have_no_value_is_told_with_the_likely_one() -> None:
    (notice,) = parse("SELECT (?prise + 1 AS ?more) { ?x <urn:p> ?price }").notices
    assert notice.startswith("<query>:1:9: ?prise has no value here") and notice.endswith("did you mean ?price?")


def test_a_byte_order_mark_windows_lines_and_small_letters_are_taken() -> None:
    lines = [
        "\ufeffprefix p: <urn:>",
        "register query Q as",
        "select ?x from stream p:s [range 1M]",
        "where { ?x a ?y }",
    ]
    query = parse("\r\n".join(lines))
    assert (query.name, query.projection, query.streams[0].width) == ("Q", ("x",), MINUTE)
