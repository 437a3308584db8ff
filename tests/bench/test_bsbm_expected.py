"""The counted matches are those of nested loops over the stream's text, and near the official stream's."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.bench.dataset import COUNTRIES, Dataset, draw
from retewave.bench.expected import expected_matches
from retewave.bench.generate import hierarchy_nt, offers_nt, static_nt
from retewave.bench.question import FOREVER, Question

CASES = many(60)


def tiny(products: int, offers: int, seed: int) -> Dataset:
    """A dataset of 21 types whose few vendors and producers are often in the countries asked for."""
    dataset = draw(products, offers, seed, type_scale=100)
    rng = np.random.default_rng(seed)
    return replace(
        dataset,
        product_producer=np.sort(rng.integers(1, 6, products)),
        producer_country=rng.choice([COUNTRIES.index("DE"), 0], 5),
        vendor_country=rng.choice([COUNTRIES.index("GB"), 0], 4),
        offer_vendor=np.sort(rng.integers(1, 5, offers)),
    )


def triples(text: bytes) -> list[list[str]]:
    return [re.sub(r"\S+/(\w+/?>)", r"<\1", line).split(" ")[:3] for line in text.decode().splitlines()]


def subclasses(dataset: Dataset, target: str) -> set[str]:
    known = {target}
    for child, _, parent in triples(hierarchy_nt(dataset)):  # breadth first: a parent stands before its children
        if parent in known:
            known.add(child)
    return known


def static_holds(static: list[list[str]], pattern: int, vendor: str, product: str) -> bool:
    facts = {(s, o.rpartition("#")[2]) for s, _, o in static}
    if pattern >= 2 and (vendor, "GB>") not in facts:
        return False
    if pattern < 3:
        return True
    return any((producer, "DE>") in facts for s, _, producer in static if s == product)


def spans(dataset: Dataset, question: Question) -> list[tuple[str, int, int]]:
    """Every match as (offer, first time, last time), by nested loops over the stream's text."""
    stream = triples(b"".join(offers_nt(dataset, question.levels)))
    total = len(dataset.vendor_country) + len(dataset.producer_country) + dataset.products
    static = triples(static_nt(dataset, total if question.static is None else question.static))
    target = f"<ProductType{question.target}>"
    kinds = subclasses(dataset, target) if question.reasoning else {target}
    time = [i * 1_000_000 // question.rate for i in range(len(stream))]
    typed = [(time[i], s) for i, (s, p, o) in enumerate(stream) if o in kinds and "type" in p]
    found = []
    for i in [i for i, (_, _, o) in enumerate(stream) if o == "<Offer>"]:
        offer, product, vendor = stream[i][0], stream[i + 1][2], stream[i + 2][2]
        if static_holds(static, question.pattern, vendor, product):
            for when, typed_product in typed:
                first, last = min(time[i], when), max(time[i + 9], when)
                if typed_product == product and last - first <= question.window:
                    found.append((offer, first, last))
    return found


def reports(found: list[tuple[str, int, int]], window: int) -> int:
    """How often an offer's support goes from nothing live to something, matches taken as they end."""
    live_until: dict[str, int] = {}
    count = 0
    for offer, first, last in sorted(found, key=lambda match: match[2]):
        count += live_until.get(offer, -1) < last
        live_until[offer] = max(live_until.get(offer, -1), first + window)
    return count


questions = st.builds(
    Question,
    pattern=st.sampled_from([1, 2, 3]),
    target=st.integers(1, 21),
    window=st.sampled_from([0, 3, 9, 10, 11, 20, 21, 22, 50, 110, 111, 300, 1_000, FOREVER]),
    rate=st.sampled_from([300_000, 1_000_000, 2_000_000]),
    distinct=st.booleans(),
    levels=st.sampled_from([None, (2,), (1,)]),
    reasoning=st.booleans(),
    static=st.sampled_from([None, 1, 3, 50, 500]),
)


@settings(max_examples=CASES, deadline=None)
@given(question=questions, products=st.integers(10, 400), offers=st.integers(1, 60), seed=st.integers(0, 99))
def test_counted_matches_are_those_of_nested_loops(question: Question, products: int, offers: int, seed: int) -> None:
    dataset = tiny(products, offers, seed)
    found = spans(dataset, question)
    naive = reports(found, question.window) if question.distinct else len(found)
    assert expected_matches(dataset, question) == naive


@settings(max_examples=many(20), deadline=None)
@given(
    target=st.integers(1, 21),
    reasoning=st.booleans(),
    window=st.sampled_from([12, 15, 100, FOREVER]),
    seed=st.integers(0, 99),
)
def test_with_all_ancestors_asserted_each_assertion_is_its_own_arrival(
    target: int, reasoning: bool, window: int, seed: int
) -> None:
    dataset = tiny(products=20, offers=20, seed=seed)
    question = Question(1, target, window, rate=1_000_000, levels=(2, 1, 0), reasoning=reasoning)
    assert expected_matches(dataset, question) == len(spans(dataset, question))


def test_the_nested_loops_find_matches_of_every_pattern() -> None:
    dataset = tiny(products=50, offers=100, seed=4)
    counts = [len(spans(dataset, Question(pattern, 1))) for pattern in (1, 2, 3)]
    assert counts[0] > counts[1] > counts[2] > 0


def test_a_window_has_its_matches_up_to_its_bound_and_none_behind() -> None:
    dataset = draw(products=1_000_000, offers=1, seed=1)
    counts = [expected_matches(dataset, Question(1, 1, window, rate=1_000_000)) for window in (9, 10, 11)]
    assert counts == [0, 1, 1]


def test_whole_stream_counts_are_near_the_official_ones() -> None:
    dataset = draw(products=10_000, offers=200_000, seed=7)
    assert expected_matches(dataset, Question(1, 2, distinct=True)) == pytest.approx(41_912, rel=0.06)
    assert expected_matches(dataset, Question(1, 2)) == pytest.approx(1_079_804, rel=0.06)


def test_a_stream_without_reasoning_has_the_matches_of_the_one_with() -> None:
    dataset = draw(products=10_000, offers=20_000, seed=7)
    reasoned = Question(1, 2, rate=100_000)
    asserted = Question(1, 2, rate=100_000, levels=(1,), reasoning=False)
    assert expected_matches(dataset, asserted) == expected_matches(dataset, reasoned) > 0
