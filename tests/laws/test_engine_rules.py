"""What rules build comes in again: the engine tells what the naive meaning says, of rules and of who reads them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from cases.rules import RulesCase, rules_case
from cases.temporal import OPERATORS
from helpers.telling import law, listening_all, named, pushed
from helpers.told import Told
from helpers.told_rules import by_query, naive
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected_all
from naive.streams import Item

import retewave as rw
from retewave.compiler.algebra import Variable, visible
from retewave.compiler.parse import parse

OTHER = "SELECT * WHERE { ?s <http://e/p> ?o . ?o <http://e/q> ?t }"
PLAIN = frozenset({"join", "union", "seq", "filter"})


@pytest.mark.parametrize(("operators", "depth"), [(OPERATORS, 2), (PLAIN, 1)], ids=["all", "joins"])
@law(300)
@given(data=st.data())
def test_the_engine_tells_what_the_naive_meaning_of_rules_says(
    operators: frozenset[str], depth: int, data: st.DataObject
) -> None:
    case: RulesCase = data.draw(rules_case(operators=operators, depth=depth))
    engine, queries = listening_all(case.queries, case.static)
    found = engine.flush()
    for place in range(len(case.stream)):
        found += pushed(engine, case.stream[place])
    assert by_query([*found, *engine.flush()]) == naive(case, queries)


@law(300)
@given(rules_case(), st.data())
def test_a_snapshot_between_two_items_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, case: RulesCase, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(case.stream)))
    case = replace(case, queries=[replace(query, text=f"rule {place}") for place, query in enumerate(case.queries)])
    engine, queries = listening_all(case.queries, case.static)
    found = engine.flush()
    for place in range(cut):
        found += pushed(engine, case.stream[place])
    told = by_query(found)
    path = tmp_path_factory.getbasetemp() / "rules.snapshot"
    engine.snapshot(path)
    with named(*case.queries):
        engine = rw.Engine.restore(path)
    found = [match for place in range(cut, len(case.stream)) for match in pushed(engine, case.stream[place])]
    for name, more in by_query([*found, *engine.flush()]).items():
        told[name] = told.get(name, Counter()) + more
    assert told == naive(case, queries)


@law(300)
@given(rules_case(), st.data())
def test_other_queries_come_and_go(case: RulesCase, data: st.DataObject) -> None:
    comes = data.draw(st.integers(0, len(case.stream)))
    goes = data.draw(st.integers(comes, len(case.stream)))
    engine, queries = listening_all(case.queries, case.static)
    other, found = None, engine.flush()
    for place in range(len(case.stream) + 1):
        if place == comes:
            other = engine.register(
                "SELECT * WHERE { ?s <http://e/p> ?o . ?o <http://e/q> ?t }", name="other", keep=None
            )
        if place == goes and other is not None:
            engine.remove(other)
        found += pushed(engine, case.stream[place]) if place < len(case.stream) else engine.flush()
    told = by_query(found)
    told.pop("other", None)
    assert told == naive(case, queries)


def _showing_all(case: RulesCase) -> RulesCase:
    """Return a case whose queries show all of their variables: what is told early is known again by them."""
    names = (tuple(variable.name for variable in visible(query.where)) for query in case.queries)
    shown_all = zip(case.queries, names, strict=True)
    queries = [query if query.is_rule else replace(query, projection=of) for query, of in shown_all]
    return replace(case, queries=queries)


@law(300)
@given(rules_case().map(_showing_all), st.lists(st.integers(0, 10), max_size=3))
def test_flushes_tell_what_there_would_be_and_change_nothing(case: RulesCase, flushed: list[int]) -> None:
    engine, queries = listening_all(case.queries, case.static)
    found = engine.flush()
    for place, item in enumerate(case.stream):
        for _ in range(flushed.count(place)):
            found += engine.flush()
        found += pushed(engine, item)
    most: dict[str, Counter[Told]] = {}
    for length in {*flushed, len(case.stream)}:
        for name, told in naive(replace(case, stream=case.stream[:length]), queries).items():
            most[name] = most.get(name, Counter()) | told
    assert by_query([*found, *engine.flush()]) == most


def test_a_solution_of_static_data_alone_is_told_and_builds_nothing_here_and_there() -> None:
    rule = "REGISTER STREAM <urn:s> AS CONSTRUCT { ?x <http://e/q> ?y } WHERE { ?x <http://e/known> ?y }"
    reader = "SELECT * WHERE { ?x <http://e/q> ?y }"
    static = frozenset({(b"<http://e/a>", b"<http://e/known>", b"<http://e/b>")})
    stream = [Item((b"<http://e/b>", b"<http://e/q>", b"<http://e/c>"), 1, 1)]
    queries = [parse(text) for text in (rule, reader)]
    told_of_rule, told_of_reader = detected_all(queries, stream, static)
    assert [each.is_static for each in told_of_rule] == [True]
    assert [each.bindings[Variable("x")] for each in told_of_reader] == [b"<http://e/b>"]
    engine = rw.Engine(static=[[("http://e/a", "http://e/known", "http://e/b")]])
    for text, name in ((rule, "rule"), (reader, "reader")):
        engine.register(text, name=name)
    found = [*engine.push(("http://e/b", "http://e/q", "http://e/c"), time=1), *engine.flush()]
    assert sorted((match.query.name, match.start is None) for match in found) == [("reader", False), ("rule", True)]
