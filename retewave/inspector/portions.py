"""The rows that readers bring, in portions as small as a caller asks for.

Data's way: readers -> pump -> **portions** -> controller -> engine.
Invariant: rows that wait here are named to the engine, so that the dictionary keeps their terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from retewave.engine.engine import Engine
from retewave.engine.pump import Arrived, pump
from retewave.io.reading.reader import Reader
from retewave.rete.words.rows import ROW_WIDTH

__all__ = ["Portions"]

_NO_ROWS = np.empty((0, ROW_WIDTH), dtype=np.int64)


class Portions:
    """The rows of some readers; it waits where they do."""

    def __init__(self, engine: Engine, readers: Sequence[Reader]) -> None:
        self._pump = pump(engine.matcher, engine.registry, readers, engine.seconds)
        self._rest: Arrived | None = None  # rows that have been brought and not been taken
        engine.matcher.holders.append(lambda: _NO_ROWS if self._rest is None else self._rest.rows)

    def take(self, most: int) -> Arrived | None:
        """Return up to `most` rows, perhaps none if the lines read had no accepted triple; nothing at the end."""
        if self._rest is None:
            self._rest = next(self._pump, None)
        rest = self._rest
        if rest is None or len(rest.rows) <= most:
            self._rest = None
            return rest
        self._rest = replace(rest, rows=rest.rows[most:], triples=max(0, rest.triples - most))
        return replace(rest, rows=rest.rows[:most], triples=min(most, rest.triples))

    def give_back(self, arrived: Arrived) -> None:
        """Let what was taken last be the first to be taken again."""
        rest = self._rest
        if rest is not None:
            rows, triples = np.concatenate([arrived.rows, rest.rows]), arrived.triples + rest.triples
            arrived = replace(arrived, rows=rows, triples=triples)
        self._rest = arrived

    def close(self) -> None:
        """Let the readers end."""
        self._pump.close()
