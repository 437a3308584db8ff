"""The texts and values of some terms by number, as arrays that a caller may hold.

Data's way: the dictionary, or a copy of some of it -> **texts by number** -> matches that are decoded or written.
Invariant: the arrays stay right for every number that was handed out before they were fetched, as long as
nobody reclaims it; behind every text there is a block of bytes that may be read.
Left out: looking numbers up by text, and who reclaims (rete/terms/dictionary.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from retewave.errors import UsageError
from retewave.rete.words.bytes import BLOCK

__all__ = ["Texts"]


class Texts(NamedTuple):
    """The texts and values of terms, by their numbers."""

    arena: np.ndarray  # uint8: the texts
    spans: np.ndarray  # int64 [number, 2]: where in the arena a text starts, its size; no size: no term has the number
    kind: np.ndarray  # uint8: retewave.rete.terms.kinds
    number: np.ndarray  # float64: retewave.rete.terms.kinds
    exact: np.ndarray  # uint8: retewave.rete.terms.kinds

    def text(self, term: int) -> bytes:
        """Return the text of a number."""
        if not 0 < term < len(self.spans) or self.spans[term, 1] == 0:
            raise UsageError(f"no term has the id {term}")
        start, size = self.spans[term].tolist()
        return self.arena[start : start + size].tobytes()

    def texts(self, terms: Iterable[int]) -> list[bytes]:
        """Return the texts of many numbers."""
        wanted = np.fromiter(terms, np.int64)
        unknown = (wanted <= 0) | (wanted >= len(self.spans))
        spans = self.spans[np.where(unknown, 0, wanted)]
        unknown |= spans[:, 1] == 0
        if unknown.any():
            raise UsageError(f"no term has the id {wanted[unknown][0]}")
        arena = self.arena.data  # its slices cost half as much as an array's
        return [arena[start : start + size].tobytes() for start, size in spans.tolist()]

    @classmethod
    def of(cls, texts: np.ndarray, ends: np.ndarray) -> Texts:
        """Return texts that lie one behind the other as the texts of the numbers 1, 2, 3…, without values."""
        spans = np.zeros((len(ends) + 1, 2), np.int64)
        spans[2:, 0] = ends[:-1]
        spans[1:, 1] = ends - spans[1:, 0]
        kinds = np.zeros(len(spans), np.uint8)
        return cls(np.concatenate([texts, np.zeros(BLOCK, np.uint8)]), spans, kinds, np.zeros(len(spans)), kinds)

    def copied(self, terms: np.ndarray) -> Texts:
        """Return the texts of some numbers, numbered anew: 1, 2, 3…"""
        texts = self.texts(terms.tolist())
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        copy = Texts.of(np.frombuffer(b"".join(texts), np.uint8), np.cumsum(sizes))
        places = np.concatenate([np.zeros(1, np.int64), terms])
        return copy._replace(kind=self.kind[places], number=self.number[places], exact=self.exact[places])
