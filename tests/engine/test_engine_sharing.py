"""What queries share, proved by counts of nodes, patterns and keys."""

from __future__ import annotations

from helpers.inside import network_of
from helpers.pairs import E, pair, triple

import retewave as rw
from retewave.rete.network.records import Network


def network(engine: rw.Engine) -> Network:
    return network_of(engine).lowered.network


def test_a_thousand_queries_that_differ_in_a_constant_are_one_network() -> None:
    text = "SELECT ?x {{ ?x a <http://e/T{n}> . ?x <http://e/p> ?y . ?x <http://e/q> <http://e/c{m}> }}"
    engine = rw.Engine()
    queries = [engine.register(text.format(n=n % 100, m=n // 100)) for n in range(1000)]
    built = network(engine)
    assert (len(built.nodes), len(built.alphas), len(built.terminals)) == (1, 3, 1)
    assert len(built.terminals[0].instances) == 1000
    engine.push((E + "a", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", E + "T7"), time=0)
    engine.push(triple("a", "p", 1), time=0)
    (match,) = engine.push(triple("a", "q", "c3"), time=0)
    assert match.query is queries[307]


def test_queries_with_different_windows_share_a_node_and_keep_their_windows() -> None:
    engine = rw.Engine()
    narrow, wide = engine.register(pair("1s")), engine.register(pair("10s"))
    assert len(network(engine).nodes) == 1
    engine.push(triple("a", "p", 1), time=0)
    assert [match.query for match in engine.push(triple("a", "q", 2), time=1)] == [narrow, wide]
    assert [match.query for match in engine.push(triple("a", "q", 3), time=2)] == [wide]


def test_a_longer_pattern_uses_the_join_of_a_shorter_one() -> None:
    engine = rw.Engine()
    engine.register("SELECT * { ?x <http://e/p> ?y . ?x <http://e/q> ?z . }")
    engine.register("SELECT * { ?a <http://e/p> ?b . ?a <http://e/q> ?c . ?c <http://e/r> ?d }")
    assert [len(node.slots) for node in network(engine).nodes] == [2, 2]


def test_a_triple_costs_one_look_up_however_many_patterns_there_are() -> None:
    engine = rw.Engine()
    for n in range(500):
        engine.register(f"SELECT * {{ ?x <http://e/p{n}> ?y . ?y <http://e/q{n}> ?z }}")
    built = network(engine)
    p = engine.terms.find(b"<http://e/p3>")
    assert [key for key in built.keys if key[1] == p] == [(0, p, 0)]
    assert len(built.keys[0, p, 0]) == 1
