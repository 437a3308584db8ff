"""What laws of engines share: how many cases they try, a stream as rows, and matches wherever they were found."""

from __future__ import annotations

from collections import Counter

import numpy as np
from cases.engine import written
from cases.many import many
from hypothesis import HealthCheck, settings
from naive.streams import Item

import retewave as rw
from retewave.rete.words.rows import END, ROW_WIDTH, START, STREAM

LAW = settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))


def rows_of(engine: rw.Engine, stream: list[Item]) -> np.ndarray:
    """Return a stream as input rows."""
    rows = np.zeros((len(stream), ROW_WIDTH), dtype=np.int64)
    for place, item in enumerate(stream):
        rows[place, :3] = engine.encode([written(item.triple)])[0]
        rows[place, START], rows[place, END] = item.start, item.end
        rows[place, STREAM] = engine.registry.stream_number(item.stream)
    return rows


def anywhere(matches: Counter) -> Counter:
    """Forget at which arrival matches were found."""
    found: Counter = Counter()
    for (start, end, bindings, _), count in matches.items():
        found[start, end, bindings] += count
    return found
