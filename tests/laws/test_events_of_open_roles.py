"""Logical events that differ in roles: many of them are one shape, and find what the naive meaning says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from cases.many import many
from cases.ontologies import CLASSES, INDIVIDUALS, ROLES, SECOND, random_case
from helpers.told_events import compare, engine_of, of_match, pushed, texts
from naive.detections import Graph

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def _chain(random: Random) -> str:
    """Return an expression that leads from class to class by roles."""
    one, two, three = (each.decode() for each in random.choices(CLASSES[:3], k=3))
    role, other = (random.choice(("", "", "", "inverse ")) + random.choice(ROLES).decode() for _ in "12")
    inner = two if random.random() < 0.3 else f"({two} and {other} some {three})"
    return f"({one} and {role} some {inner})"


def _linked(random: Random, graph: Graph) -> Graph:
    """Return an event with more classes and links: else chains are hardly found."""
    a, b, c = random.choices(INDIVIDUALS, k=3)
    types = {(each, b"<%b>" % TYPE.encode(), random.choice(CLASSES[:3])) for each in (a, b, c)}
    return replace(graph, triples=graph.triples | types | {(a, random.choice(ROLES), b), (b, random.choice(ROLES), c)})


@pytest.mark.filterwarnings("ignore")
def test_many_logical_events_that_differ_in_roles_are_found() -> None:
    """Those of a length are one shape, with open roles; a query that comes later opens more of them."""
    found = 0
    for seed in range(many(40)):
        random = Random(seed)
        case = random_case(random, complex_axioms=seed % 4 == 0)
        case = replace(case, graphs=tuple(_linked(random, each) for each in case.graphs), static=())
        lines = [f"EVENT <http://e/X{number}> AS {_chain(random)}" for number in range(10)]
        text = "\n".join([*lines, "RETURN ALL AS EVENT STREAM"])
        try:
            found += compare(case, text)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
        engine, query = engine_of(case, text)
        whole = Counter(map(of_match, pushed(engine, case)))
        engine, query = engine_of(case, "\n".join([*lines[:3], "RETURN <http://e/X0>, <http://e/X1>, <http://e/X2>"]))
        for place, graph in enumerate(case.graphs):
            if place == seed % 3:
                engine.register("\n".join(lines[3:]).replace("/X", "/Y"), language="obep", name="late")
            engine.push(texts(graph), time=graph.end // SECOND)
        engine.flush()
        first = {f"<http://e/X{number}>" for number in range(3)}
        assert Counter(map(of_match, query.matches)) == Counter({k: n for k, n in whole.items() if k[0] in first}), seed
    assert found > many(40) / 4
