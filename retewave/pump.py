"""Readers into one stream: scanned in threads of their own, merged by time.

Data's way: readers -> **merged rows** -> order -> network.
Reading and matching overlap: each reader scans in a thread (without the GIL) while the engine matches.  A gate keeps
the dictionary from being swept while a scan is under way; a reader that waits for its source stands outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

import numpy as np

from retewave.live import Live
from retewave.registry import Registry
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.io.reader import Reader

__all__ = ["Arrived", "pump"]


@dataclass(frozen=True)
class Arrived:
    """Rows of all readers up to some time."""

    rows: np.ndarray  # input rows
    triples: int  # triples read for them, refused ones included
    clock: Clock  # how their times are told


def pump(live: Live, registry: Registry, readers: Sequence[Reader]) -> Iterator[Arrived]:
    """Yield the rows of all readers."""
    for reader in readers:
        clock = Clock("float") if reader.rate is not None else Clock("datetime", zone=UTC)
        for chunk in reader.chunks(live.terms, live.acceptance, registry.stream_number(None)):
            yield Arrived(chunk.rows, chunk.triples, clock)
