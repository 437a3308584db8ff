"""Triples for people: parts of files as Arrow columns of terms, with graph and time.

Data's way: part of a file -> scanner -> rows of ids -> **columns of terms in N-Triples form**.
Invariant: a blank node's label is its file's own.  With a time property, triples without a time are left out; with
neither a property nor a rate, all times are null.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from retewave.errors import MalformedInput
from retewave.io.lines.job import KEEP_GRAPHS, NO_GRAPHS
from retewave.io.lines.lines import LineReading, Wanted
from retewave.io.reading.formats import QUADS
from retewave.io.reading.sources import open_bytes
from retewave.io.times.times import EventTimes, NoTimes, RateTimes, Times
from retewave.rete.pack import gather
from retewave.rete.terms.acceptance import accept_all
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, EVENT, OBJECT, PREDICATE, START, SUBJECT
from retewave.spark.source.offsets import Part
from retewave.spark.source.parts import texts_of

__all__ = ["triples_of"]

_CHUNK_ROWS = 1 << 16
_TIME = pa.timestamp("us", tz="UTC")


def triples_of(part: Part, rate: float | None, time_property: str | None, *, raising: bool) -> Iterator[pa.RecordBatch]:
    """Iterate over the triples of a part; `raising` stops at the first malformed line, else it is skipped."""
    first = part.first or 0
    try:
        for text in texts_of(part.range):
            piece = _Piece(part, text, rate, time_property, raising=raising)
            yield from piece.batches(first)
            first += piece.reading.statements
    except MalformedInput:
        if raising:
            raise


class _Piece:
    """A piece of text, and the dictionary of its terms."""

    def __init__(self, part: Part, text: pa.Array, rate: float | None, time_property: str | None, *, raising: bool):
        self._terms = Terms(seed=1)
        self._graphs = np.zeros(1, np.int64)  # by the number of an event: the id of its graph
        predicate = 0 if time_property is None else self._terms.intern(b"<%b>" % time_property.encode())
        self._timed = rate is not None or predicate != 0
        self._times: Times = EventTimes(self._terms, predicate) if predicate else NoTimes()
        self._rate = rate
        wanted = Wanted(
            part.range.file,
            KEEP_GRAPHS if part.range.format in QUADS else NO_GRAPHS,
            int.from_bytes(blake2b(part.range.file.encode(), digest_size=7).digest(), "little"),
            stream=0,
            last_event=0,
            time_predicate=predicate,
            raising=raising,
            reports=1,
            chunk_rows=_CHUNK_ROWS,
        )
        opened = open_bytes(memoryview(text[0].as_buffer()), compressed=False)
        self.reading = LineReading(opened, self._terms, wanted)

    def batches(self, before: int) -> Iterator[pa.RecordBatch]:
        """Iterate over the triples; `before` statements of the stream stand before the piece."""
        if self._rate is not None:
            self._times = RateTimes(self._rate, 0)
        count = 0
        for raw in self.reading.chunks(accept_all):
            graphs = self._note_graphs(raw)
            if self._rate is not None:
                raw[:, START] += before
            rows = self._times.place(raw, count)
            count = self.reading.statements
            if isinstance(self._times, EventTimes):
                graphs = self._graphs[-rows[:, EVENT]]
            if len(rows):
                yield self._batch(rows, graphs)
        self.reading.check()

    def _note_graphs(self, raw: np.ndarray) -> np.ndarray:
        """Note which graph each event is, since a row with a time does not tell its graph any more."""
        events, graphs = -raw[:, EVENT], raw[:, END].copy()
        last = int(events.max(initial=0))
        if last >= len(self._graphs):
            self._graphs = np.concatenate([self._graphs, np.zeros(2 * last + 1 - len(self._graphs), np.int64)])
        self._graphs[events[events > 0]] = graphs[events > 0]
        return graphs

    def _batch(self, rows: np.ndarray, graphs: np.ndarray) -> pa.RecordBatch:
        ids = np.concatenate([rows[:, [SUBJECT, PREDICATE, OBJECT]].T, graphs[None, :]])
        times = pa.array(rows[:, START], _TIME, mask=np.full(len(rows), not self._timed))
        return pa.RecordBatch.from_arrays(
            [*gather(self._terms, ids).columns(), times], ["s", "p", "o", "graph", "time"]
        )
