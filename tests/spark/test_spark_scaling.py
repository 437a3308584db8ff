"""The simulation of many shards: its loads are those of the real router, and its figures mean what they say."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from retewave.bench.dataset import draw
from retewave.bench.expected import expected_matches
from retewave.bench.generate import OFFER_TRIPLES, offers_nt
from retewave.bench.scaling_costs import Costs, rows_of_shards
from retewave.bench.spark_scaling import (
    BY_PRODUCT,
    SAMPLED,
    UNSAMPLED,
    Case,
    cases,
    cut,
    figures_of,
    popular,
    scheme_of,
    seconds_of,
    spread,
)
from retewave.bench.vocabulary import OFFER, PRODUCT
from retewave.compiler.shares import Scheme
from retewave.rete.filters.interpreter import part_of
from retewave.spark.driver.job import Job

OFFERS = 1_500
COSTS = Costs(scan=4e-7, row_bytes=10.0, shuffle=1e-9, row=4e-7, match=6e-7)
NAMES = [case.name for case in cases(1)]


@cache
def case_named(name: str) -> Case:
    return next(case for case in cases(OFFERS) if case.name == name)


def as_the_engine_does(case: Case, job: Job) -> Callable[[np.ndarray, int, int], np.ndarray]:
    """Return what tells terms into parts as the job's own hash does."""
    names = {number: name for variables in case.patterns() for number, name in variables.items()}
    terms, data = job.engine().terms, case.dataset

    def text(name: str, number: int) -> bytes:
        if name == "offer":
            return OFFER.format(vendor=data.offer_vendor[number], offer=number + 1).encode()
        return PRODUCT.format(producer=data.product_producer[number - 1], product=number).encode()

    def part(numbers: np.ndarray, variable: int, parts: int) -> np.ndarray:
        different, places = np.unique(numbers, return_inverse=True)
        ids = terms.intern_many([text(names[variable], int(number)) for number in different])
        return np.array([part_of(terms.values.hashes[each], parts) for each in ids], np.int64)[places]

    return part


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shards", [2, 8, 64])
@pytest.mark.parametrize("sample", [0, 500])
def test_every_shard_has_the_rows_that_the_router_sends_it(name: str, shards: int, sample: int) -> None:
    case = case_named(name)
    job = case.job(shards, sample)
    got = spread(case, job.spread[0], shards, as_the_engine_does(case, job))
    sent = rows_of_shards(job, b"".join(offers_nt(case.dataset)))
    first = job.spread[0].first
    assert np.roll(got.rows, first).tolist() == sent.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("plan", [SAMPLED, UNSAMPLED, BY_PRODUCT])
@pytest.mark.parametrize("shards", [1, 7, 50])
def test_all_matches_are_in_some_shard_and_rows_are_replicated_as_the_plan_says(
    name: str, plan: str, shards: int
) -> None:
    case = case_named(name)
    scheme = scheme_of(case, plan, shards, 500)
    got = spread(case, scheme, shards)
    assert len(got.rows) == len(got.matches) == shards
    assert got.matches.sum() == expected_matches(case.dataset, case.question)
    sizes = [len(next(iter(case.columns(each).values()))) for each in case.patterns()]
    assert got.taken == sum(sizes)
    assert got.rows.sum() == sum(size * copies for size, copies in zip(sizes, scheme.copies, strict=True))


def test_a_sample_tells_where_the_matches_of_popular_products_are() -> None:
    case = case_named("product-keyed, popular products")
    found = {each.plan: each for each in figures_of(case, COSTS, [64], 500)}
    assert found.keys() == {SAMPLED, UNSAMPLED, BY_PRODUCT}
    others = [each for plan, each in found.items() if plan != SAMPLED]
    assert all(found[SAMPLED].match_skew < each.match_skew for each in others)
    assert all(found[SAMPLED].speed_up > each.speed_up for each in others)


@pytest.mark.parametrize("name", NAMES)
def test_with_a_sample_a_plan_is_not_predicted_to_be_slower(name: str) -> None:
    speed_up = {each.plan: each.speed_up for each in figures_of(case_named(name), COSTS, [64], 500)}
    assert speed_up[SAMPLED] >= 0.95 * speed_up[UNSAMPLED]


def test_one_shard_is_as_fast_as_itself_and_more_are_faster_but_not_more_than_so_many_times() -> None:
    case = case_named("pattern 1, BSBM")
    found = [each for each in figures_of(case, COSTS, [1, 2, 8], 500) if each.plan == SAMPLED]
    assert found[0].speed_up == pytest.approx(1.0)
    assert [each.speed_up <= each.shards for each in found] == [True, True, True]
    assert found[0].speed_up < found[1].speed_up < found[2].speed_up


def test_the_time_of_one_shard_is_the_sum_of_what_everything_costs() -> None:
    case = case_named("pattern 1, BSBM")
    got = spread(case, Scheme((), 0, ()), 1)
    matches = expected_matches(case.dataset, case.question)
    of_rows = got.taken * (COSTS.row + COSTS.row_bytes * COSTS.shuffle)
    seconds = OFFERS * (OFFER_TRIPLES + 1) * COSTS.scan + of_rows + matches * COSTS.match
    assert seconds_of(case, got, COSTS) == pytest.approx(seconds)


def test_popular_products_follow_the_law_that_they_are_drawn_by() -> None:
    drawn = popular(draw(100, 20_000, seed=1), 1.0)
    counts = np.sort(np.bincount(drawn.offer_product))[::-1]
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.15)
    assert drawn.offer_product.min() >= 1 and drawn.offer_product.max() <= 100


def test_a_cut_stream_is_the_beginning_of_the_whole() -> None:
    whole = draw(100, 50, seed=1)
    assert b"".join(offers_nt(whole)).startswith(b"".join(offers_nt(cut(whole, 20))))
