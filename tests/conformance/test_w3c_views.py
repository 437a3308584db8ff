"""The evaluation tests of SPARQL 1.1 as views: the data in a window that forgets nothing, at one instant and spread.

Spread over instants, in random orders, the last report must be what SPARQL says of all data.  A case that does not run
has its reason here.
"""

from __future__ import annotations

import atexit
import random
import tempfile
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from cases.many import many
from helpers.w3c_cases import CASES, Case, alike, built, expected, named_alike, plain, rows_of, triples_of
from pyoxigraph import Quad, RdfFormat, serialize
from pyoxigraph import parse as read_graph

import retewave as rw
from retewave.compiler.algebra import ReportPolicy
from retewave.compiler.parse import parse

EVERY_SECOND = ReportPolicy("periodic", 1_000_000)
ORDERS = many(5)
WITHOUT: dict[str, tuple[int, str]] = {}  # what an error names -> in how many cases, and why: every case runs

pytestmark = [
    pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning"),
    pytest.mark.filterwarnings("ignore:.*has no value here:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*shares no variable:UserWarning"),
    pytest.mark.skipif(not CASES, reason="the W3C suite is not at ../shared/w3c"),
]


def refused(case: Case) -> str | None:
    """Return what a query is refused for, by its name; None if it runs."""
    try:
        rw.Engine().register("REGISTER RSTREAM <urn:out> AS " + case.text, language="sparql")
    except rw.QueryError as error:
        why, is_not_there, _ = error.what.partition(" is not supported yet")
        if not is_not_there:
            raise
        return why
    return None


@cache
def absolute(path: Path) -> Path:
    """Return a file of the same triples in which no IRI is relative."""
    triples = [quad.triple for quad in read_graph(path=str(path), base_iri=path.as_uri())]
    with tempfile.NamedTemporaryFile("wb", suffix=".nt", delete=False) as file:
        serialize(triples, file, format=RdfFormat.N_TRIPLES)
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return Path(file.name)


def engine_of(case: Case) -> tuple[rw.Engine, rw.Query]:
    """Return an engine with a query as a view that is reported every second."""
    why = refused(case)
    if why is not None:
        pytest.skip(f"{why}: {WITHOUT[why][1]}")
    parsed = parse("REGISTER RSTREAM <urn:out> AS " + case.text, language="sparql")
    assert parsed.view is not None
    files = {each.as_uri(): absolute(each) for each in case.graphs}
    view = replace(parsed.view, reporting=EVERY_SECOND, graphs=tuple(f"<{name}>".encode() for name in files))
    engine = rw.Engine(datasets=files)
    return engine, engine.register(replace(parsed, view=view, graphs=tuple(files)))


def check(case: Case, query: rw.Query, report: rw.Report) -> None:
    """Compare a report with the result of a case."""
    matches = list(report)
    if query.is_construct:
        graph = read_graph(path=str(case.result), base_iri=case.result.as_uri())
        assert built(matches) == named_alike(Quad(q.subject, q.predicate, plain(q.object)) for q in graph)
    else:
        assert alike(rows_of(query, matches)) == alike(expected(case.result))


@pytest.mark.parametrize("name", CASES)
def test_a_view_of_one_instant_is_sparql(name: str) -> None:
    case = CASES[name]
    engine, query = engine_of(case)
    triples = triples_of(case)
    if not triples:
        pytest.skip("there is no item, so there is no report")
    engine.push(triples, time=1)
    engine.flush()
    (report,) = engine.reports(query)
    check(case, query, report)


@pytest.mark.parametrize("name", CASES)
def test_the_last_report_of_data_that_come_in_any_order_is_sparql(name: str) -> None:
    case = CASES[name]
    for seed in range(ORDERS):
        engine, query = engine_of(case)
        triples = triples_of(case)
        if not triples:
            pytest.skip("there is no item, so there is no report")
        random.Random(seed).shuffle(triples)
        for time, triple in enumerate(triples, start=1):
            engine.push(triple, time=time)
        engine.flush()
        *_, report = engine.reports(query)
        check(case, query, report)


def test_what_does_not_run_is_refused_and_the_reasons_still_hold() -> None:
    refusals = Counter(why for case in CASES.values() if (why := refused(case)) is not None)
    assert refusals == {why: number for why, (number, _) in WITHOUT.items()}
