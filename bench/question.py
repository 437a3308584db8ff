"""The question to a stream: a pattern of the paper with its target, window and surroundings.

Where it stands: `expected` counts its matches, `patterns` writes its text, peers that read no query read
this.  It imports nothing, so that a measured process holds nothing of the benchmark's own.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FOREVER", "Question"]

FOREVER = 2**62  # a window that nothing leaves


@dataclass(frozen=True)
class Question:
    """One of the paper's patterns, over a stream of a rate."""

    pattern: int  # 1, 2 or 3, as in the paper's Listing 2
    target: int  # the product type asked for
    window: int = FOREVER  # µs
    rate: int = 100_000  # triples a second, nominal
    distinct: bool = False  # count an offer once while any of its matches is live
    levels: tuple[int, ...] | None = None  # levels of types asserted in the stream; None is the leaf alone
    reasoning: bool = True  # a subclass of the target counts
    static: int | None = None  # triples of static data; None is all
