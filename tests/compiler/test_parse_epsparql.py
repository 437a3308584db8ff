"""EP-SPARQL: the paper's texts are read as they are printed, and its examples as they are written properly."""

from __future__ import annotations

from pathlib import Path

import pytest

from retewave.compiler.algebra import (
    Extend,
    Filter,
    OptionalBefore,
    OptionalEquals,
    Query,
    Relate,
    TemplateTriple,
    Triples,
    Variable,
    Within,
    walk,
)
from retewave.compiler.languages.known import language_of
from retewave.compiler.parse import parse
from retewave.errors import QueryError

EXAMPLES = Path(__file__).parents[2] / "examples" / "epsparql"
DEFAULT = "http://example.org/"
SECOND = 1_000_000

QUERY_1 = """\
SELECT ?company WHERE
  { ?company hasStockPrice ?price1 }
  SEQ { ?company hasStockPrice ?price2 }
  SEQ { ?company hasStockPrice ?price3 }
  FILTER ( ?price2 < ?price1 * 0.7 && ?price3 > ?price1 * 1.05
    && getDURATION() < "P30D"^^xsd:duration )
"""
QUERY_2 = """\
SELECT ?company ?ratingagency WHERE
  { ?company downratedby ?ratingagency }
  OPTIONALSEQ
  { ?company hasStockPrice ?price1 }
  SEQ { ?company hasStockPrice ?price2 }
  FILTER (?price2 < ?price1 * 0.5)
"""
QUERY_3 = """\
SELECT ?company WHERE
  { ?company hasStockprice ?price1 }
  SEQ { { ?company hasAcquired ?othercompany }
        OPTIONALSEQ
        { ?company hasStockPrice ?price2 } }
  FILTER ( ?price2 < ?price1 * 1.5 && !BOUND(?othercompany) &&
          getDURATION() < "P15D"^^xsd:duration )
"""
RULE_4 = """\
CONSTRUCT ?company downratedby ?ratingagency
WHERE { ?rating1 rater ?ratingagency ;
        rated ?company ; score ?score1 }
        SEQ { ?rating2 rater ?ratingagency ;
              rated ?company ; score ?score2 }
  FILTER ( ?score2 < ?score1 )
"""
RULE_5 = """\
CONSTRUCT _:aaa :hasCount ?count . _:aaa :hasSum ?sum .
{ SELECT ?count AS ?prevcount + 1
         ?sum AS ?prevsum + ?price
  WHERE {{ ?point :hasCount ?prevcount .
           ?point :hasSum ?prevsum . }
"""


def example(name: str) -> Query:
    return parse((EXAMPLES / name).read_text(), source=name)


def printed(text: str) -> Query:
    return parse(f"PREFIX : <http://example.org/stocks#>\n{text}", language="epsparql")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (QUERY_1, "recovery.epsparql"),
        (QUERY_2, "drop.epsparql"),
        (QUERY_3.replace("Stockprice", "StockPrice").replace("2 <", "2 >"), "growth.epsparql"),
        (RULE_4, "downrating.epsparql"),
    ],
)
def test_the_papers_texts_mean_what_the_examples_say(text: str, name: str) -> None:
    one, other = printed(text), example(name)
    assert (one.where, one.projection, one.template) == (other.where, other.projection, other.template)
    assert one.notices == other.notices == ()


@pytest.mark.parametrize("text", [QUERY_1, QUERY_2, QUERY_3, RULE_4])
def test_the_papers_texts_are_read_as_they_are_printed(text: str) -> None:
    query = parse(text, language="epsparql")
    predicates = {each.predicate for node in walk(query.where) if isinstance(node, Triples) for each in node.patterns}
    assert all(isinstance(each, bytes) and each.startswith(f"<{DEFAULT}".encode()) for each in predicates)
    assert isinstance(query.where, Filter)
    (notice,) = query.notices
    assert f"is read as <{DEFAULT}" in notice and "declare PREFIX :" in notice


def test_a_prefix_that_is_declared_as_what_it_would_be_is_no_news() -> None:
    assert parse("PREFIX : <http://example.org/> SELECT * WHERE { ?x p 1 }", language="epsparql").notices == ()


def test_query_2_tells_of_a_rating_that_may_be_missing() -> None:
    found = printed(QUERY_2).where
    assert isinstance(found, Filter) and isinstance(found.pattern, Relate)
    assert isinstance(found.pattern.left, OptionalBefore) and found.pattern.left.condition is None


def test_solutions_are_a_set_and_construct_is_a_rule() -> None:
    query = printed(QUERY_1)
    assert (query.solutions, query.is_rule, query.feeds, query.language) == ("set", False, None, "epsparql")
    rule = printed(RULE_4)
    assert (rule.solutions, rule.is_rule, rule.feeds, rule.streams) == ("set", True, None, ())
    agency = TemplateTriple(Variable("company"), b"<http://example.org/stocks#downratedby>", Variable("ratingagency"))
    assert rule.template == (agency,)


def test_the_aggregates_are_read_once_their_braces_match() -> None:
    for name in ("sums.epsparql", "average.epsparql"):
        nodes = list(walk(example(name).where))
        assert any(isinstance(each, OptionalEquals) for each in nodes)
        assert any(isinstance(each, Extend) for each in nodes)


def test_every_example_has_its_language_by_its_suffix_and_tells_nothing() -> None:
    files = sorted(EXAMPLES.glob("*.epsparql"))
    assert len(files) == 6
    for file in files:
        assert language_of("", file.name).name == "epsparql"
        assert example(file.name).notices == ()


def test_the_fifth_listing_as_printed_is_refused_where_it_is_no_sparql() -> None:
    with pytest.raises(QueryError) as caught:
        parse(RULE_5, language="epsparql")
    assert caught.value.place is not None and (caught.value.place.line, caught.value.place.column) == (2, 17)
    assert caught.value.hint == "an expression stands in parentheses: SELECT (?a + ?b AS ?c)"


def test_names_are_bare_and_keywords_are_none() -> None:
    text = "SELECT * { ?x sequence A, first1, _:b, ends_2 ; a day . FILTER(?x != before1 && contains(?x, 'a')) }"
    query = parse(text, language="epsparql")
    assert isinstance(query.where, Filter) and isinstance(query.where.pattern, Triples)
    written = [str(each).replace(f"<{DEFAULT}", "<") for each in query.where.pattern.patterns]
    assert [each.split(" ", 1)[1] for each in written] == [
        "<sequence> <A>",
        "<sequence> <first1>",
        "<sequence> _:b",
        "<sequence> <ends_2>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <day>",
    ]


def test_a_width_in_whole_seconds_may_stand_behind_the_filters() -> None:
    query = parse("SELECT * WHERE { ?x p 1 } SEQ { ?x q ?y } FILTER(?y > 1) WITHIN 10", language="epsparql")
    assert isinstance(query.where, Within) and query.where.width == 10 * SECOND
    assert isinstance(query.where.pattern, Filter)
    inner = parse("SELECT * WHERE { ?x p 1 } SEQ { ?x q ?y } WITHIN 2", language="epsparql").where
    assert isinstance(inner, Within) and inner.width == 2 * SECOND


def test_names_without_brackets_are_of_this_language_only() -> None:
    with pytest.raises(QueryError, match="'hasStockPrice' cannot stand here"):
        parse(QUERY_1)
