"""The W3C's evaluation tests of expressions, SPARQL 1.0's and 1.1's: each through an engine.

The data are pushed triple by triple, all at one time, and the engine is flushed; the matches are the solutions. An
engine finds nothing where nothing comes: a query without a triple pattern is given one, and ASK is asked as SELECT.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from helpers.w3c import MF, NUMBERS, QT, RDF, RS, SUITE, graph_of, path_of, read
from pyoxigraph import BlankNode, Literal, NamedNode

import retewave as rw

FOLDERS = [
    *(f"sparql11/{name}" for name in ("functions", "cast", "bind", "project-expression")),
    *(f"sparql10/{name}" for name in ("expr-builtin", "expr-ops", "expr-equals", "regex", "type-promotion", "cast")),
    *("sparql10/boolean-effective-value", "sparql10/i18n", "sparql10/bound"),
]
ANYTHING = "<urn:anything>"
Row = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Case:
    """One case of a manifest."""

    name: str
    query: Path
    data: Path | None
    result: Path


def cases() -> Iterator[Case]:
    for folder in FOLDERS:
        manifest = SUITE / folder / "manifest.ttl"
        graph = graph_of(manifest) if manifest.exists() else {}
        for (subject, predicate), kinds in graph.items():
            if predicate == f"{RDF}type" and NamedNode(f"{MF}QueryEvaluationTest") in kinds:
                (action,), (result,) = graph[subject, f"{MF}action"], graph[subject, f"{MF}result"]
                data = graph.get((action, f"{QT}data"))
                name = f"{folder}/{subject.value.rpartition('#')[2]}"
                query = path_of(graph[action, f"{QT}query"][0])
                yield Case(name, query, path_of(data[0]) if data else None, path_of(result))


def value(term: Any) -> object:
    """Return what a term is: blank nodes are alike, numbers are equal however they are written."""
    if isinstance(term, BlankNode):
        return "_:"
    if isinstance(term, Literal) and term.datatype.value.rpartition("#")[2] in NUMBERS:
        kind = term.datatype.value.rpartition("#")[2]
        try:
            return kind, float(term.value) if kind in ("double", "float") else Decimal(term.value)
        except (ValueError, ArithmeticError):  # ill-typed
            return term.value, kind
    return str(term).lower() if isinstance(term, Literal) and term.language else str(term)


def expected(path: Path) -> Counter[Row] | bool:
    if path.suffix == ".srx":
        with path.open("rb") as file:
            found = pyoxigraph.parse_query_results(file, format=pyoxigraph.QueryResultsFormat.XML)
            if isinstance(found, pyoxigraph.QueryBoolean):
                return bool(found)
            names = [each.value for each in found.variables]
            return Counter(
                tuple(sorted((name, value(row[name])) for name in names if row[name] is not None)) for row in found
            )
    graph = graph_of(path)
    truth = [objects[0] for (_, predicate), objects in graph.items() if predicate == f"{RS}boolean"]
    if truth:
        return bool(truth[0].value == "true")
    solutions = [each for (_, predicate), objects in graph.items() if predicate == f"{RS}solution" for each in objects]
    rows: Counter[Row] = Counter()
    for solution in solutions:
        pairs = [
            (graph[each, f"{RS}variable"][0].value, value(graph[each, f"{RS}value"][0]))
            for each in graph.get((solution, f"{RS}binding"), [])
        ]
        rows[tuple(sorted(pairs, key=str))] += 1
    return rows


def found(case: Case) -> Counter[Row]:
    text = case.query.read_text(encoding="utf-8")
    text = re.sub(r"\bASK\b", "SELECT *", text)
    text, alone = re.subn(r"^([^{]*\{)(\s*(?:\}|BIND|FILTER))", rf"\1 {ANYTHING} {ANYTHING} {ANYTHING} . \2", text)
    engine = rw.Engine(allow_cartesian=True)
    query = engine.register(f"BASE <{case.query.as_uri()}> {text}")
    triples: Any = pyoxigraph.parse(path=str(case.data), base_iri=case.data.as_uri()) if case.data else []
    matches = list(engine.push((ANYTHING,) * 3, time=0)) if alone else []
    for quad in triples:
        matches += engine.push(tuple(map(str, (quad.subject, quad.predicate, quad.object))), time=0)
    matches += engine.flush()
    rows: Counter[Row] = Counter()
    for match in matches:
        texts = [(name, match.text(name)) for name in query.variables]
        pairs = [(name, value(read(text))) for name, text in texts if text]
        rows[tuple(sorted(pairs, key=str))] += 1
    return rows


CASES = {case.name: case for case in cases()}


@pytest.mark.filterwarnings("ignore::retewave.engine.registry.CartesianWarning")
@pytest.mark.skipif(not CASES, reason="the W3C suite is not at ../shared/w3c")
@pytest.mark.parametrize("name", CASES)
def test_an_expression_has_the_value_that_the_w3c_gives_it(name: str) -> None:
    try:
        rows = found(CASES[name])
    except rw.QueryError as error:
        if "is not supported yet" not in error.what:
            raise
        pytest.skip(error.what)
    wanted = expected(CASES[name].result)
    assert (bool(rows) if isinstance(wanted, bool) else rows) == wanted
