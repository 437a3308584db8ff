"""Partial sums of doubles: terms that hold a sum as it is, as a fraction, so that the whole is rounded once.

Data's way: doubles of a shard's group -> **a term** -> the last task -> the sum of all shards.
No language can write such a term, and none leaves a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from rdflib import Literal
from rdflib.term import Node

__all__ = ["partial_sum", "without_fractions"]

_KIND = "urn:retewave:partial-sum"


def partial_sum(total: Fraction) -> bytes:
    """Return a sum as a term's text.

    >>> partial_sum(Fraction(13, 4))
    b'"13/4"^^<urn:retewave:partial-sum>'
    """
    return f'"{total}"^^<{_KIND}>'.encode()


def without_fractions(terms: Iterable[Node]) -> Iterator[Node | Fraction]:
    """Yield the sum of all partial sums, if there are any, and all other terms."""
    exact: Fraction | None = None
    for each in terms:
        if isinstance(each, Literal) and str(each.datatype) == _KIND:
            exact = (exact or Fraction()) + Fraction(str(each))
        else:
            yield each
    if exact is not None:
        yield exact
