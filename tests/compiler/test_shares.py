"""The planner of shares: what is sent where, and why."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.compiler.shares import NO_MATCHES, Load, Scheme, _best
from retewave.rete.terms.dictionary import Terms
from retewave.spark.driver.job import Job, OneShardWarning
from retewave.spark.worker.route import Router

PREFIX = "PREFIX e: <http://e/>\n"
STAR = PREFIX + "SELECT * WHERE { ?o e:product ?p . ?o e:price ?x . ?o e:vendor ?v }"
TRIANGLE = PREFIX + "SELECT * WHERE { ?a e:p ?b . ?b e:q ?c . ?c e:r ?a }"


def shares_of(text: str, shards: int, **options: Any) -> dict[str, int]:
    """Return the shares of a query with one shape, by the variables' names."""
    job = Job.of([text], shards=shards, **options)
    (shares,) = (each.shares for each in job.plan.queries)
    return {variable.removeprefix("?"): parts for variable, parts in shares.items()}


def test_patterns_that_share_one_variable_are_spread_by_it_and_sent_once() -> None:
    job = Job.of([STAR], shards=8)
    assert shares_of(STAR, 8) == {"o": 8}
    assert job.spread[0].copies == (1.0, 1.0, 1.0)
    assert job.spread[0].replication == 1.0


def test_a_triangle_is_spread_by_all_its_variables() -> None:
    assert shares_of(TRIANGLE, 8) == {"a": 2, "b": 2, "c": 2}
    assert shares_of(TRIANGLE, 27) == {"a": 3, "b": 3, "c": 3}


def test_what_static_data_feeds_weighs_nothing() -> None:
    text = PREFIX + "SELECT * WHERE { ?o e:product ?p . ?o e:price ?x . ?p a e:T }"
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert shares_of(text, 8) != {"o": 8}
    assert shares_of(text, 8, static=[f"<http://e/p> {kind} <http://e/T> .".encode()]) == {"o": 8}


def test_a_sample_of_the_stream_tells_the_planner_what_is_frequent_and_what_is_uneven() -> None:
    text = PREFIX + "SELECT * WHERE { ?o e:product ?p . ?p e:rating ?r }"
    offers = b"".join(b"<http://e/o%d> <http://e/product> <http://e/p%d> .\n" % (i, i % 50) for i in range(200))
    ratings = b"".join(b"<http://e/p%d> <http://e/rating> <http://e/r> .\n" % i for i in range(50))
    assert shares_of(text, 4, sample=offers + ratings) == {"p": 4}
    popular = b"".join(b"<http://e/o%d> <http://e/product> <http://e/p1> .\n" % i for i in range(200))
    assert shares_of(text, 4, sample=popular + ratings[: ratings.index(b"\n") + 1]) == {"o": 4}


def test_a_sample_with_times_tells_the_planner_where_the_matches_are() -> None:
    text = PREFIX + "SELECT * FROM STREAM <http://e/s> [RANGE 1000s] WHERE { ?o e:product ?p . ?r e:of ?p }"
    lines = []
    for i in range(200):
        product = 0 if i % 5 == 0 else i
        lines.append(b"<http://e/o%d> <http://e/product> <http://e/p%d> .\n" % (i, product))
        lines.append(b"<http://e/r%d> <http://e/of> <http://e/p%d> .\n" % (i, product))
    sample = b"".join(lines)
    assert shares_of(text, 4, sample=sample) == {"p": 4}  # of 400 triples 80 are about one product
    assert "p" not in shares_of(text, 4, sample=sample, rate=1.0)  # of 1,760 matches 1,600 are


def test_the_part_with_the_most_frequent_term_has_its_share_of_the_others_too() -> None:
    offers, product = [frozenset((0,))] * 9, ((1, 0.1),)
    bound = (*offers, frozenset((0, 1)), frozenset((1,)))
    loads = (*[Load()] * 9, Load(1.0, product), Load(0.3, product))
    assert _best(bound, loads, NO_MATCHES, (0, 1), 64).shares == ((0, 64),)


def test_distinct_is_spread_only_by_what_it_shows() -> None:
    assert shares_of(PREFIX + "SELECT DISTINCT ?v WHERE { ?a e:q ?b . ?b e:r ?v }", 8) == {"v": 8}


def test_distinct_on_is_spread_by_what_it_compares_shown_or_not() -> None:
    where = "?a WHERE { ?a e:q ?b . ?b e:r ?v }"
    assert shares_of(PREFIX + f"SELECT DISTINCT ON (?v) {where}", 8) == {"v": 8}
    assert shares_of(PREFIX + f"SELECT DISTINCT ON (?b ?v) FOR 5m {where}", 8) == {"b": 8}
    with pytest.warns(OneShardWarning, match="DISTINCT compares rows"):
        assert shares_of(PREFIX + f"SELECT DISTINCT ON () FOR 5m {where}", 8) == {}


def test_a_query_that_cannot_be_spread_runs_in_one_shard_and_says_why() -> None:
    with pytest.warns(OneShardWarning, match="ground runs in one shard: no pattern has a variable"):
        job = Job.of({"ground": PREFIX + "SELECT * WHERE { e:a e:b e:c }"}, shards=3)
    assert job.spread[0].cells == 1
    assert "only: no pattern has a variable" in job.explain()
    union = PREFIX + "SELECT DISTINCT ?x ?y WHERE { { ?x e:p e:a } UNION { ?y e:q e:a } }"
    with pytest.warns(OneShardWarning, match="DISTINCT compares rows"):
        Job.of([union], shards=3)


def test_one_shard_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job = Job.of([PREFIX + "SELECT * WHERE { e:a e:b e:c }"], shards=1)
    assert job.explain().startswith("1 shard\n")


def test_the_explanation_names_shares_copies_and_what_a_pattern_lacks() -> None:
    said = Job.of(
        {"offers": PREFIX + "SELECT * WHERE { ?o e:product ?p . ?o e:price ?x . ?p e:kind e:T }"}, shards=2
    ).explain()
    assert said.splitlines()[3:] == [
        "query offers",
        "  by ?o in 2 parts: 2 of 2 shards; the busiest gets 67% of what the patterns take, "
        "a triple goes to 1.33 shards",
        "    ?o e:product ?p  -> 1 shard",
        "    ?o e:price ?x  -> 1 shard",
        "    ?p e:kind e:T  -> 2 shards, it has no ?o",
    ]


@settings(deadline=None)
@given(
    st.lists(st.frozensets(st.integers(0, 3), min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=4, max_size=4),
    st.dictionaries(st.integers(0, 3), st.sampled_from([0.1, 0.5, 1.0])),
    st.sampled_from([0.0, 1.0, 9.0]),
    st.integers(2, 16),
)
def test_no_other_shares_give_the_busiest_shard_less(
    bound: list[frozenset[int]], weights: list[float], heaviest: dict[int, float], found: float, shards: int
) -> None:
    told = tuple(heaviest.items())
    loads = tuple(Load(weight, told) for weight, _ in zip(weights, bound, strict=False))
    variables = sorted(frozenset().union(*bound))
    best = _best(tuple(bound), loads, Load(found, told), tuple(variables), shards)
    assert best.cells <= shards

    def part(variable: int, many: int) -> float:
        """The most frequent term, and an even part of all others."""
        return heaviest.get(variable, 0.0) + (1 - heaviest.get(variable, 0.0)) / many

    def busiest(given: dict[int, int]) -> float:
        kept = [math.prod(part(v, given[v]) for v in of if v in given) for of in (*bound, given)]
        return sum(load.weight * each for load, each in zip((*loads, Load(found)), kept, strict=True))

    mine = busiest(dict(best.shares))
    for first in variables:
        for second in variables:
            for parts in range(1, shards + 1):
                other = {first: parts} | ({second: shards // parts} if second != first else {})
                assert mine <= busiest(other) + 1e-6


def test_every_cell_is_a_shard_of_its_own() -> None:
    scheme = Scheme(((0, 2), (3, 3)), 5, ())
    assert scheme.cells == 6
    parts = [scheme.parts_of(shard, 8) for shard in range(8)]
    assert sorted(each for each in parts if each) == [(a, b) for a in range(2) for b in range(3)]
    assert parts.count(None) == 2


def test_terms_are_told_into_parts_alike_in_every_process() -> None:
    job = Job.of([STAR], shards=8)
    lines = pa.array([f"<http://e/o{i}> <http://e/price> '{i}' .".replace("'", '"') for i in range(100)])
    one, other = Router(job), Router(job)
    other.engine.terms.intern(b"<http://e/that-the-other-has-not-seen>")
    times = np.arange(100)
    told = [[(p.shard, p.oldest, p.newest) for p in each.text(lines, times=times)] for each in (one, other)]
    assert told[0] == told[1]
    assert len({shard for shard, _, _ in told[0]}) == 8


def test_the_hash_of_a_term_is_that_of_its_text_and_the_seed() -> None:
    here, there = Terms(seed=9), Terms(seed=9)
    there.intern(b"<http://e/before>")
    a, b = here.intern(b"<http://e/x>"), there.intern(b"<http://e/x>")
    assert here.values.hashes[a] == there.values.hashes[b]
    assert Terms(seed=8).values.hashes[1] != here.values.hashes[a]
