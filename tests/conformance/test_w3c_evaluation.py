"""The W3C's evaluation tests, SPARQL 1.0's and 1.1's: EP-SPARQL on one instant is SPARQL, the C-SPARQL frame its bag.

The triples of a test's data are one push, and the engine is flushed.  Solutions are compared with the W3C's up to the
names of blank nodes.  Rows have no order, so ORDER BY without LIMIT is left out.  What asks for nothing but joins finds
the same when every triple has an instant of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from conformance.test_w3c_functions import MF, NUMBERS, QT, RDF, RS, SUITE, graph_of, path_of, read
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad

import retewave as rw

FORMATS = {
    ".srx": pyoxigraph.QueryResultsFormat.XML,
    ".srj": pyoxigraph.QueryResultsFormat.JSON,
    ".tsv": pyoxigraph.QueryResultsFormat.TSV,
}
NOT_RUN = {  # what is refused first -> in how many tests, and why
    "a view": (124, "views are in test_w3c_views.py"),
    "ASK": (53, "a detector tells solutions; those of expressions are asked as SELECT in test_w3c_functions.py"),
    "GRAPH": (42, "there are no named graphs"),
    "FROM NAMED": (2, "there are no named graphs"),
    "GROUP BY": (27, "aggregates have no meaning for single matches"),
    "HAVING": (1, "aggregates have no meaning for single matches"),
    "aggregation": (10, "aggregates have no meaning for single matches"),
    "ORDER BY": (14, "with LIMIT or OFFSET, or in a subquery: single matches have no order"),
    "DISTINCT in a subquery": (1, "single matches of a subquery are not counted"),
    "NOT EXISTS inside an expression": (1, "a probe is no part of a condition"),
    "the property path operator '*'": (7, "paths of any length are no joins"),
    "the property path operator '+'": (4, "paths of any length are no joins"),
    "the property path operator '?'": (4, "paths of no length hold of terms that no triple brings"),
}
TOLD_ONCE = {  # solutions that SPARQL has twice, as two alternatives have them: EP-SPARQL's are a set
    "sparql10/reduced/reduced-1",
    "sparql11/bind/bind07",
    "sparql11/bindings/values5",
}
ENDLESS = {  # in EP-SPARQL CONSTRUCT is a rule: these make new blank nodes of each triple, their own included
    "sparql10/construct/construct-3",
    "sparql10/construct/construct-4",
    "sparql11/construct/constructlist",
}
NEGATIVE = re.compile(r"\b(OPTIONAL|MINUS|EXISTS|CONSTRUCT)\b", re.IGNORECASE)
WORDS_ONLY = re.compile(r"<[^<>\s]*>|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")
ORDERED = re.compile(r"\bORDER\s+BY\b[^{}]*\Z", re.IGNORECASE)
CUT = re.compile(r"\b(LIMIT|OFFSET)\b", re.IGNORECASE)

Row = tuple[tuple[str, Any], ...]
Rows = Counter[Row]


@dataclass(frozen=True)
class Case:
    """One case of a manifest."""

    query: Path
    data: Path | None
    result: Path
    graphs: tuple[Path, ...] = ()  # its named graphs: each has its place as its name

    @property
    def text(self) -> str:
        """The query, with a base and without an order."""
        text = self.query.read_text(encoding="utf-8")
        ordered = ORDERED.search(text)
        if ordered is not None and not CUT.search(ordered[0]):
            text = text[: ordered.start()]
        return f"BASE <{self.query.as_uri()}> {text}"


def cases() -> Iterator[tuple[str, Case]]:
    for manifest in sorted(SUITE.glob("sparql1?/*/manifest.ttl")):
        folder = manifest.parent.relative_to(SUITE).as_posix()
        graph = graph_of(manifest)
        listed = {each for (_, predicate), first in graph.items() if predicate == f"{RDF}first" for each in first}
        for (subject, predicate), kinds in graph.items():
            if predicate != f"{RDF}type" or NamedNode(f"{MF}QueryEvaluationTest") not in kinds or subject not in listed:
                continue
            (action,), (result,) = graph[subject, f"{MF}action"], graph[subject, f"{MF}result"]
            data = graph.get((action, f"{QT}data"))
            query = path_of(graph[action, f"{QT}query"][0])
            name = f"{folder}/{subject.value.rpartition('#')[2]}"
            graphs = tuple(path_of(each) for each in graph.get((action, f"{QT}graphData"), []))
            yield name, Case(query, path_of(data[0]) if data else None, path_of(result), graphs)


CASES = dict(cases())

pytestmark = [
    pytest.mark.filterwarnings("ignore::retewave.engine.accepting.CartesianWarning"),
    pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning"),
    pytest.mark.filterwarnings("ignore:.*has no value here:UserWarning"),
    pytest.mark.skipif(not CASES, reason="the W3C suite is not at ../shared/w3c"),
]


def plain(term: Any) -> Any:
    """Return a term: numbers are equal however they are written, tags of language in whatever case."""
    if not isinstance(term, Literal):
        return term
    if term.language:
        return Literal(term.value, language=term.language.lower())
    kind = term.datatype.value.rpartition("#")[2]
    if kind not in NUMBERS:
        return term
    try:
        value = float(term.value) if kind in ("double", "float") else Decimal(term.value).normalize() + 0
    except (ValueError, ArithmeticError):  # ill-typed
        return term
    return Literal(str(value), datatype=term.datatype)


def named_alike(quads: Iterator[Quad]) -> frozenset[str]:
    """Return a graph's lines, with the names of blank nodes that every graph like it gets."""
    graph = Dataset(quads)
    graph.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return frozenset(map(str, graph))


def alike(rows: Rows) -> frozenset[str]:
    """Return rows and how often each is there, up to the names of blank nodes."""

    def quads() -> Iterator[Quad]:
        for row, count in rows.items():
            node = BlankNode()
            yield Quad(node, NamedNode("urn:count"), Literal(str(count)))
            yield from (Quad(node, NamedNode(f"urn:variable:{name}"), term) for name, term in row)

    return named_alike(quads())


def row_of(pairs: Iterator[tuple[str, Any]]) -> Row:
    return tuple(sorted(((name, plain(term)) for name, term in pairs), key=lambda pair: pair[0]))


def expected(path: Path) -> Rows:
    if path.suffix in FORMATS:
        with path.open("rb") as file:
            found: Any = pyoxigraph.parse_query_results(file, format=FORMATS[path.suffix])
            if isinstance(found, pyoxigraph.QueryBoolean):
                return Counter([()] if bool(found) else [])
            names = [each.value for each in found.variables]
            return Counter(row_of((n, row[n]) for n in names if row[n] is not None) for row in found)
    graph = graph_of(path)
    for (_, predicate), objects in graph.items():
        if predicate == f"{RS}boolean":
            return Counter([()] if objects[0].value == "true" else [])
    solutions = [each for (_, predicate), objects in graph.items() if predicate == f"{RS}solution" for each in objects]
    return Counter(
        row_of(
            (graph[each, f"{RS}variable"][0].value, graph[each, f"{RS}value"][0])
            for each in graph.get((solution, f"{RS}binding"), [])
        )
        for solution in solutions
    )


def triples_of(case: Case) -> list[tuple[str, str, str]]:
    if case.data is None:
        return []
    quads = pyoxigraph.parse(path=str(case.data), base_iri=case.data.as_uri())
    return list(dict.fromkeys((str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads))


@cache
def refused(case: Case, language: str) -> str | None:
    """Return what a query is refused for, by its name; None if it runs."""
    try:
        if rw.Engine(allow_cartesian=True).register(case.text, language=language).is_view:
            return "a view"
    except rw.QueryError as error:
        what, is_not_there, _ = error.what.partition(" is not supported yet")
        what, is_for_views, _ = what.partition(" stands in views only")
        if not is_not_there and not is_for_views:
            raise
        return what.removeprefix("<query>: ").removesuffix(" in a view")
    return None


def matches_of(case: Case, language: str, *, spread: bool = False) -> tuple[rw.Query, list[rw.Match]]:
    """Return what a query finds in its data, which come at once or spread over instants."""
    why = refused(case, language)
    if why is not None:
        pytest.skip(f"{why}: {NOT_RUN[why][1]}")
    engine = rw.Engine(allow_cartesian=True)
    query = engine.register(case.text, language=language)
    triples = triples_of(case)
    matches = []
    for time, pushed in enumerate([[each] for each in triples] if spread else [triples]):
        matches += engine.push(pushed, time=time)
    return query, matches + engine.flush()


def rows_of(query: rw.Query, matches: list[rw.Match]) -> Rows:
    texts = ([(name, match.text(name)) for name in query.variables] for match in matches)
    return Counter(row_of((name, read(text)) for name, text in pairs if text) for pairs in texts)


def built(matches: list[rw.Match]) -> frozenset[str]:
    triples = ([read(term.n3()) for term in triple] for match in matches for triple in match.triples)
    return named_alike(Quad(s, p, plain(o)) for s, p, o in triples)


def check(name: str, language: str) -> None:
    case = CASES[name]
    query, matches = matches_of(case, language)
    if query.is_construct:
        graph = pyoxigraph.parse(path=str(case.result), base_iri=case.result.as_uri())
        assert built(matches) == named_alike(Quad(q.subject, q.predicate, plain(q.object)) for q in graph)
        return
    rows, wanted = rows_of(query, matches), expected(case.result)
    if language == "epsparql" and name in TOLD_ONCE:
        assert rows.total() < wanted.total()
        rows, wanted = Counter(set(rows)), Counter(set(wanted))
    assert alike(rows) == alike(wanted)


@pytest.mark.parametrize("name", CASES)
def test_the_c_sparql_frame_gives_the_bag_of_sparql(name: str) -> None:
    check(name, "sparql")


@pytest.mark.parametrize("name", CASES)
def test_ep_sparql_on_one_instant_is_sparql(name: str) -> None:
    if name not in ENDLESS:
        check(name, "epsparql")
        return
    engine = rw.Engine(max_derivations=1000)
    engine.register(CASES[name].text, language="epsparql")
    engine.push(triples_of(CASES[name]), time=1)
    with pytest.raises(rw.LimitError, match="rules have built more than 1,000 triples at one instant"):
        engine.flush()


@pytest.mark.parametrize("name", [name for name in CASES if not NEGATIVE.search(WORDS_ONLY.sub("", CASES[name].text))])
def test_what_only_joins_finds_the_same_when_the_triples_come_one_after_the_other(name: str) -> None:
    case = CASES[name]
    rows = rows_of(*matches_of(case, "epsparql", spread=True))
    assert alike(Counter(set(rows))) == alike(Counter(set(expected(case.result))))


def test_what_is_not_run_is_refused_and_the_reasons_still_hold() -> None:
    refused_in_views = ("a view", "GRAPH", "FROM NAMED", "NOT EXISTS inside an expression")
    views = {why: NOT_RUN[why] for why in refused_in_views} | {"GRAPH": (31, ""), "FROM NAMED": (10, "")}
    events = {why: told for why, told in NOT_RUN.items() if why != "a view"}
    for language, reasons in (("sparql", views), ("epsparql", events)):
        refusals = Counter(why for case in CASES.values() if (why := refused(case, language)) is not None)
        assert refusals == {why: number for why, (number, _) in reasons.items()}


def test_the_suite_is_complete() -> None:
    assert len(CASES) == 515  # with the 13 that load a document by FROM
