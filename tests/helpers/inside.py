"""What tests look at inside an engine, and users do not: the one place in the tests that knows where it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import retewave as rw
from retewave.engine.compiled import CompiledNetwork
from retewave.match import Matches

__all__ = ["network_of", "poured", "sweep"]


def network_of(engine: rw.Engine) -> CompiledNetwork:
    """Return the one network of all queries; it is made now if it is not there."""
    return engine.matcher.current()


def poured(engine: rw.Engine, rows: np.ndarray) -> Iterator[list[Matches]]:
    """Pour rows in time order; yield the matches, batch by batch."""
    return engine.matcher.pour(rows, engine.shown_clock)


def sweep(engine: rw.Engine) -> int:
    """Reclaim the terms that nothing uses; return how many."""
    return engine.matcher.sweep()
