"""Count the matches that a pattern must have, from the drawn numbers alone: no engine, no RDF.

Where it stands: every measured run compares its matches with this.  The semantics:
triple i of the stream has the time floor(i * 1e6 / rate) µs, every arrival is its own fact, and a match
is one offer's ten triples with one arrival of its product's type, the last at most a window after the first.
The product's type arrives again with each later offer of the product: so an offer matches about
as often as its product is offered within the window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retewave.bench.dataset import COUNTRIES, Dataset
from retewave.bench.generate import OFFER_TRIPLES
from retewave.bench.question import Question

__all__ = ["Static", "expected_matches", "matches_of_offers"]

_VENDOR_COUNTRY, _PRODUCER_COUNTRY = COUNTRIES.index("GB"), COUNTRIES.index("DE")


@dataclass(frozen=True)
class Static:
    """How many of the vendors, producers and products a cut of `generate.static_nt` tells of."""

    vendors: int  # the number of vendors, from the first on, that have a country
    producers: int  # the number of producers, from the first on, that have a country
    products: int  # the number of products, from the first on, that have a producer

    @staticmethod
    def cut(dataset: Dataset, triples: int | None) -> Static:
        """Return the facts of the first `triples` static triples; None: of all of them."""
        sizes = (len(dataset.vendor_country), len(dataset.producer_country), dataset.products)
        left = sum(sizes) if triples is None else triples
        known = []
        for size in sizes:
            known.append(min(size, left))
            left -= known[-1]
        return Static(*known)


def _static_mask(dataset: Dataset, question: Question) -> np.ndarray:
    """Return which offers satisfy the pattern's static part."""
    known = Static.cut(dataset, question.static)
    keep = np.ones(dataset.offers, dtype=bool)
    if question.pattern >= 2:
        vendor = dataset.offer_vendor
        keep &= (vendor <= known.vendors) & (dataset.vendor_country[vendor - 1] == _VENDOR_COUNTRY)
    if question.pattern >= 3:
        product = dataset.offer_product
        producer = dataset.product_producer[product - 1]
        keep &= (product <= known.products) & (producer <= known.producers)
        keep &= dataset.producer_country[producer - 1] == _PRODUCER_COUNTRY
    return keep


def _type_mask(dataset: Dataset, question: Question, level: int) -> np.ndarray:
    """Return which offers assert a type on a level that makes the product one of the target."""
    leaf = dataset.product_type[dataset.offer_product - 1]
    asserted = dataset.types.ancestors(leaf, level)
    of_target: np.ndarray = (
        dataset.types.below(question.target)[asserted] if question.reasoning else asserted == question.target
    )
    return of_target


def _ranges(question: Question, offers: int, width: int, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each offer which offers' types, at `place` of their triples, are near enough.

    The first half-open range is of earlier offers, up to the offer itself; the second starts with it.
    """
    first = np.arange(offers, dtype=np.int64) * width
    start = first * 1_000_000 // question.rate
    end = (first + OFFER_TRIPLES - 1) * 1_000_000 // question.rate
    kind = (first + place) * 1_000_000 // question.rate
    earliest = np.searchsorted(kind, end - question.window, "left")
    behind_latest = np.searchsorted(kind, start + question.window, "right")
    return earliest, behind_latest


def _arrivals(dataset: Dataset, question: Question, width: int, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Count for each offer the near arrivals of its product's type: before the offer, and behind it."""
    me = np.arange(dataset.offers, dtype=np.int64)
    earliest, behind_latest = _ranges(question, dataset.offers, width, place)
    group = dataset.offer_product.astype(np.int64) * (dataset.offers + 1)
    keys = np.sort(group + me)
    mine = np.searchsorted(keys, group + me)
    before = mine - np.searchsorted(keys, group + np.minimum(earliest, me))
    behind = np.searchsorted(keys, group + np.maximum(behind_latest, me)) - mine
    return before, behind


def _transitions(dataset: Dataset, question: Question, width: int, place: int) -> np.ndarray:
    """Count for each offer how often it goes from no live match to one.

    An offer that matched an earlier arrival of its type may have lost that match when the type arrives anew.
    """
    before, behind = _arrivals(dataset, question, width, place)
    me = np.arange(dataset.offers, dtype=np.int64)
    previous = np.full(dataset.offers, -1, dtype=np.int64)
    order = np.lexsort((me, dataset.offer_product))
    same = dataset.offer_product[order][1:] == dataset.offer_product[order][:-1]
    previous[order[1:][same]] = order[:-1][same]
    lost = (previous * width + place) * 1_000_000 // question.rate + question.window
    now = (me * width + place) * 1_000_000 // question.rate
    return (before > 0).astype(np.int64) + ((behind > 0) & ~((before > 0) & (lost >= now)))


def matches_of_offers(dataset: Dataset, question: Question) -> np.ndarray:
    """Return how often each offer matches when the leaf type alone is asserted.

    >>> from retewave.bench.dataset import draw
    >>> matches_of_offers(draw(products=100, offers=3, seed=1), Question(pattern=1, target=1)).tolist()
    [1, 1, 1]
    """
    before, behind = _arrivals(dataset, question, OFFER_TRIPLES + 1, OFFER_TRIPLES)
    keep = _static_mask(dataset, question) & _type_mask(dataset, question, dataset.types.depth)
    return np.where(keep, before + behind, 0)


def expected_matches(dataset: Dataset, question: Question) -> int:
    """Return how many matches the question has over the whole stream.

    >>> from retewave.bench.dataset import draw
    >>> from retewave.bench.question import Question
    >>> expected_matches(draw(products=100, offers=50, seed=1), Question(pattern=1, target=1, distinct=True))
    50
    """
    levels = question.levels or (dataset.types.depth,)
    if question.distinct and len(levels) > 1:
        raise ValueError("distinct matches are counted for one asserted level only")
    static = _static_mask(dataset, question)
    total = 0
    for place, level in enumerate(levels, OFFER_TRIPLES):
        keep = static & _type_mask(dataset, question, level)
        width = OFFER_TRIPLES + len(levels)
        if question.distinct:
            total += int(_transitions(dataset, question, width, place)[keep].sum())
        else:
            before, behind = _arrivals(dataset, question, width, place)
            total += int((before + behind)[keep].sum())
    return total
