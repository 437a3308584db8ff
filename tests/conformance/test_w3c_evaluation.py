"""The W3C's evaluation tests, SPARQL 1.0's and 1.1's: EP-SPARQL on one instant is SPARQL, the C-SPARQL frame its bag.

The triples of a test's data are one push, and the engine is flushed.  Solutions are compared with the W3C's up to the
names of blank nodes.  Rows have no order, so ORDER BY without LIMIT is left out.  What asks for nothing but joins finds
the same when every triple has an instant of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pyoxigraph
import pytest
from helpers.w3c_cases import CASES, Case, alike, built, expected, named_alike, plain, rows_of, triples_of
from pyoxigraph import Quad

import retewave as rw

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
pytestmark = [
    pytest.mark.filterwarnings("ignore::retewave.engine.accepting.CartesianWarning"),
    pytest.mark.filterwarnings("ignore::retewave.engine.accepting.UnboundedWarning"),
    pytest.mark.filterwarnings("ignore:.*has no value here:UserWarning"),
    pytest.mark.skipif(not CASES, reason="the W3C suite is not at ../shared/w3c"),
]


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
