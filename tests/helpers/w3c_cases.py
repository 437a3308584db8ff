"""The W3C's evaluation tests of SPARQL: each a query, data and solutions, compared up to the names of blank nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad

import retewave as rw
from helpers.w3c import MF, NUMBERS, QT, RDF, RS, SUITE, graph_of, path_of, read

FORMATS = {
    ".srx": pyoxigraph.QueryResultsFormat.XML,
    ".srj": pyoxigraph.QueryResultsFormat.JSON,
    ".tsv": pyoxigraph.QueryResultsFormat.TSV,
}
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


def rows_of(query: rw.Query, matches: list[rw.Match]) -> Rows:
    texts = ([(name, match.text(name)) for name in query.variables] for match in matches)
    return Counter(row_of((name, read(text)) for name, text in pairs if text) for pairs in texts)


def built(matches: list[rw.Match]) -> frozenset[str]:
    triples = ([read(term.n3()) for term in triple] for match in matches for triple in match.triples)
    return named_alike(Quad(s, p, plain(o)) for s, p, o in triples)
