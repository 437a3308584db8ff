"""Draw the benchmark's products, producers, vendors and offers, by the published rules of BSBM.

Where it stands: the numbers behind the files that `generate` writes, and behind the matches that
`expected` counts, both from the same arrays.  Invariant: one seed, one dataset, on every machine.
Left out: reviews, features, labels: the patterns do not read them.

The rules (BSBM dataset specification): products a producer ~ N(50, 50/3), offers a vendor ~ N(2000, 2000/3),
a product's leaf type is half-normal over the leaves, an offer's product normal over the products, its
delivery normal over 21 days, its price uniform in 5..10,000, its dates uniform around the 97 days before
2008-06-20.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retewave.bench.hierarchy import Hierarchy, branching, hierarchy

__all__ = ["COUNTRIES", "Dataset", "draw"]

COUNTRIES = ("US", "GB", "JP", "CN", "DE", "FR", "ES", "RU", "KR", "AT")
_COUNTRY_WEIGHTS = np.array([40, 10, 10, 10, 5, 5, 5, 5, 5, 5]) / 100
_TODAY = np.datetime64("2008-06-20")
_PRODUCTS_A_PRODUCER = 50
_OFFERS_A_VENDOR = 2_000


@dataclass(frozen=True)
class Dataset:
    """Everything that is drawn.  Things are numbered from 1; index n - 1 of a column is about thing n."""

    types: Hierarchy  # the product types
    product_type: np.ndarray  # by product: its leaf type
    product_producer: np.ndarray  # by product: its producer; never decreases
    producer_country: np.ndarray  # by producer: an index of COUNTRIES
    vendor_country: np.ndarray  # by vendor: an index of COUNTRIES
    offer_product: np.ndarray  # by offer
    offer_vendor: np.ndarray  # by offer; never decreases
    price: np.ndarray  # by offer, in cents
    published: np.ndarray  # by offer, days since 1970
    valid_from: np.ndarray  # by offer, days since 1970; at most 90 before it was published
    valid_to: np.ndarray  # by offer, days since 1970; 7 to 90 after it was published
    delivery: np.ndarray  # by offer, days

    @property
    def offers(self) -> int:
        """The number of offers."""
        return len(self.offer_product)

    @property
    def products(self) -> int:
        """The number of products."""
        return len(self.product_type)


def _normal_until(rng: np.random.Generator, mean: float, limit: float, count: int) -> np.ndarray:
    """Draw from N(mean, 1), again and again until all lie in 0..limit."""
    drawn = rng.normal(mean, 1.0, count)
    while True:
        outside = (drawn < 0) | (drawn > limit)
        if not outside.any():
            return drawn
        drawn[outside] = rng.normal(mean, 1.0, int(outside.sum()))


def _spread(rng: np.random.Generator, mean: float, limit: float, top: int, count: int) -> np.ndarray:
    """Draw whole numbers in 1..top, normal with the limit at the top."""
    drawn = _normal_until(rng, mean, limit, count) / limit * top
    return np.minimum(drawn.astype(np.int64) + 1, top)


def _owners(rng: np.random.Generator, average: int, count: int) -> np.ndarray:
    """Deal 1..count to owners in turn, N(average, average / 3) to each; return each thing's owner."""
    shares: list[np.ndarray] = []
    while sum(int(share.sum()) for share in shares) < count:
        drawn = _normal_until(rng, 3.0, np.inf, count // average + 10)
        shares.append((drawn / 3 * average).astype(np.int64) + 1)
    share = np.concatenate(shares)
    return np.repeat(np.arange(1, len(share) + 1), share)[:count]


def _countries(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.choice(len(COUNTRIES), size=count, p=_COUNTRY_WEIGHTS)


def draw(products: int, offers: int, seed: int, type_scale: int | None = None) -> Dataset:
    """Draw a dataset; `type_scale` is the number of products that the hierarchy is made for, if another.

    >>> small = draw(products=100, offers=50, seed=1)
    >>> small.types.size, int(small.offer_product.max()) <= 100
    (21, True)
    """
    rng = np.random.default_rng(seed)
    types = hierarchy(branching(type_scale or products))
    leaves = types.level(types.depth)
    producer = _owners(rng, _PRODUCTS_A_PRODUCER, products)
    vendor = _owners(rng, _OFFERS_A_VENDOR, offers)
    published = _TODAY.astype(np.int64) - rng.integers(1, 98, offers)
    return Dataset(
        types=types,
        product_type=leaves.start - 1 + _spread(rng, 0.0, 2.0, len(leaves), products),
        product_producer=producer,
        producer_country=_countries(rng, int(producer[-1])),
        vendor_country=_countries(rng, int(vendor[-1])),
        offer_product=_spread(rng, 2.0, 4.0, products, offers),
        offer_vendor=vendor,
        price=rng.integers(500, 1_000_000, offers),
        published=published,
        valid_from=published - rng.integers(0, 91, offers),
        valid_to=published + rng.integers(7, 91, offers),
        delivery=_spread(rng, 2.0, 14.2, 21, offers),
    )
