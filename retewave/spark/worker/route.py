"""Stage 1: from texts to packets of rows, one a shard.

Data's way: N-Triples or N-Quads texts -> scanner -> rows with times -> routing -> **packets** -> shards.
Nothing that no α accepts is sent, and nothing is sent twice to one shard.  Invariant: the latest time that came in is
told even when nothing is sent, so that event time goes on.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from retewave.compiler.plan.plan import tested
from retewave.compiler.plan.shape import Listener, shapes_of
from retewave.engine.compiled import CompiledNetwork
from retewave.engine.engine import Engine
from retewave.errors import UsageError
from retewave.io.lines.job import KEEP_GRAPHS
from retewave.io.lines.lines import LineReading, Room, Wanted
from retewave.io.reading.sources import open_bytes
from retewave.io.times.times import EventTimes, NoTimes, RateTimes, Times
from retewave.rete.pack import pack
from retewave.rete.route import Role, Routing
from retewave.rete.words.rows import END, EVENT, OBJECT, ROW_WIDTH, START, STREAM, SUBJECT
from retewave.spark.driver.job import Job
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Packet", "Router", "router_of"]

_REPORTS = 20
_MIX = np.uint64(0x9E3779B97F4A7C15)
_CHUNK_ROWS = 1 << 20


@dataclass(frozen=True)
class Packet:
    """Rows for one shard."""

    shard: int  # which shard
    oldest: int  # microseconds: the earliest time in it
    newest: int  # microseconds: the latest time in it, or of all that came in
    payload: bytes  # packed rows; empty: there are none, only a time


@dataclass
class IncomingCounts:
    """The counts of triples that came in since the last call."""

    triples: int = 0  # well-formed statements, unused ones included
    malformed: int = 0  # malformed lines
    untimed: int = 0  # accepted triples without a time
    first_malformed: list[str] = field(default_factory=list)  # the first malformed lines


_NO_ROWS = np.empty((0, ROW_WIDTH), np.int64)


class Router:
    """Scans texts and sends their rows to the shards of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.engine = job.engine()
        self.counts = IncomingCounts()
        self._room = Room()
        compiled = self.engine.matcher.current()
        self._acceptance = compiled.acceptance
        self._streams = dict(self.engine.registry.streams)
        state, listeners = compiled.runtime.state, self.engine.registry.listeners()
        self._routing = Routing(state.net, state.stack, _roles(job, listeners, compiled), job.shards)
        self._views = _views(job, listeners, self.engine)

    def text(
        self,
        texts: pa.Array,
        *,
        times: np.ndarray | None = None,
        first: np.ndarray | None = None,
        streams: pa.Array | None = None,
        scopes: np.ndarray | None = None,
        name: str = "<stream>",
    ) -> list[Packet]:
        """Route texts, each a line or a whole document of N-Triples or N-Quads.

        A text's time is given in `times` (microseconds), or by the job's rate and the ordinal of its `first` statement,
        or by its graphs.  `streams` are the IRIs of the texts' streams.  `scopes` number the documents that texts
        belong to: labels of blank nodes are a document's own.  Without it all texts are one document.
        """
        reading = _Texts(texts)
        if first is not None or scopes is not None:
            parts = [self._of_one(reading, place, times, first, scopes, name) for place in range(len(texts))]
            rows = np.concatenate([np.empty((0, ROW_WIDTH), np.int64), *(rows for rows, _, _ in parts)])
            places = np.concatenate([np.empty(0, np.int64), *(at for _, at, _ in parts)])
            newest = max((time for _, _, time in parts), default=BEFORE_ALL)
        else:
            rows, places, newest = self._of_all(reading, times, name)
            newest = newest if times is None or not len(times) else int(times.max())
        if streams is not None:
            heard = rows[:, STREAM] >= 0
            rows[heard, STREAM] = self._stream_numbers(streams)[places[heard]]
        found = self._packets(rows, newest)
        if self.engine.terms.due():
            self.engine.matcher.sweep()
        return found

    def end(self) -> Packet:
        """Return a packet that tells that nothing comes any more."""
        from retewave.spark.worker.routing import END

        return Packet(0, BEFORE_ALL, END, b"")

    def take_counts(self) -> IncomingCounts:
        """Return the counts since the last call."""
        taken, self.counts = self.counts, IncomingCounts()
        return taken

    # ---- scanning ----
    def _of_all(self, reading: _Texts, times: np.ndarray | None, name: str) -> tuple[np.ndarray, np.ndarray, int]:
        """Scan all texts as one document; return rows, their text, and the latest time that graphs told."""
        by_place = times is not None
        if not by_place and self.job.time_property is None:
            raise UsageError("nothing tells the time: give times, ordinals for a rate, or a time property")
        timing = self._times(None)
        rows = self._scan(reading.joined(), timing, 0, name, places=by_place)
        if times is None:
            return rows, np.zeros(len(rows), np.int64), _newest(timing)
        places = reading.places(rows[:, START])
        rows[:, START] = rows[:, END] = times[places]
        return rows, places, BEFORE_ALL

    def _of_one(
        self,
        reading: _Texts,
        place: int,
        times: np.ndarray | None,
        first: np.ndarray | None,
        scopes: np.ndarray | None,
        name: str,
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Scan one text, which is a document, or a part of one, of its own; return rows, their text, the latest time.

        Statements that no pattern takes tell it, too.
        """
        timing, before = self._times(None if first is None else int(first[place])), self.counts.triples
        rows = self._scan(reading.one(place), timing, 0 if scopes is None else int(scopes[place]), name)
        newest = _newest(timing)
        if isinstance(timing, _Nominal) and self.counts.triples > before:
            newest = timing.time_of(self.counts.triples - before - 1)
        if times is not None:
            rows[:, START] = rows[:, END] = newest = int(times[place])
        return rows, np.full(len(rows), place), newest

    def _times(self, first: int | None) -> Times:
        if first is not None:
            if self.job.rate is None:
                raise UsageError("ordinals tell a time only with a rate")
            return _Nominal(self.job.rate, self.job.start, first)
        if self.job.time_property is None:
            return _AsTheyAre()
        predicate = self.engine.terms.intern(b"<" + self.job.time_property.encode() + b">")
        self.engine.terms.pin([predicate])
        return EventTimes(self.engine.terms, predicate)

    def _scan(self, data: Any, times: Times, scope: int, name: str, *, places: bool = False) -> np.ndarray:
        terms, raising = self.engine.terms, self.job.on_error == "raise"
        predicate = 0
        if self.job.time_property is not None and isinstance(times, EventTimes):
            predicate = terms.find(b"<" + self.job.time_property.encode() + b">")
        wanted = Wanted(name, KEEP_GRAPHS, scope, 0, 0, predicate, raising, _REPORTS, _CHUNK_ROWS, places=places)
        reading = LineReading(open_bytes([data], compressed=False), terms, wanted, self._room)
        rows, first = [np.empty((0, ROW_WIDTH), np.int64)], 0
        for raw in reading.chunks(lambda: self._acceptance):
            rows.append(times.place(raw, first))
            first = reading.statements
        times.finish()
        reading.check()
        counts = self.counts
        counts.triples, counts.malformed = counts.triples + reading.statements, counts.malformed + reading.malformed
        counts.untimed += times.untimed
        counts.first_malformed += [str(fault) for fault in reading.faults][: _REPORTS - len(counts.first_malformed)]
        found = np.concatenate(rows)
        events = found[:, EVENT] < 0
        if events.any():
            found[events, EVENT] -= secrets.randbits(60)  # events of other texts have other numbers
        return found

    def _stream_numbers(self, iris: pa.Array) -> np.ndarray:
        """Return the job's numbers of streams; one behind the last for a stream that no query names, 0 for none."""
        coded = iris.dictionary_encode() if not pa.types.is_dictionary(iris.type) else iris
        known = [self._streams.get(iri, len(self._streams) + 1) for iri in coded.dictionary.to_pylist()]
        indices = coded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        numbers: np.ndarray = np.array([*known, 0], np.int64)[indices]
        return numbers

    # ---- sending ----
    def _packets(self, rows: np.ndarray, newest: int) -> list[Packet]:
        unheard = rows[:, STREAM] < 0  # they were there to tell a time
        rows = rows[~unheard] if unheard.any() else rows
        newest = max(newest, int(rows[:, END].max(initial=BEFORE_ALL)))
        found = list(self._sent(rows))
        if newest == BEFORE_ALL:
            return found
        if self.job.announces or self.job.clocked:
            reached = {packet.shard for packet in found if packet.newest == newest or not self.job.clocked}
            found += [Packet(shard, newest, newest, b"") for shard in range(self.job.shards) if shard not in reached]
        elif not any(packet.newest == newest for packet in found):
            found.append(Packet(0, newest, newest, b""))
        return found

    def _sent(self, rows: np.ndarray) -> Iterator[Packet]:
        terms = self.engine.terms
        found = dict(self._routing.route(rows, terms.values))
        if self.job.by_event and found:
            found = self._by_event(rows, np.unique(np.concatenate([*found.values()])))
        if len(rows):
            found |= dict.fromkeys(self._views, np.arange(len(rows)))
        if len(rows) and self.job.last and 0 not in self._views:  # the first item of all begins the reports
            found[0] = np.union1d(found.get(0, np.empty(0, np.int64)), [rows[:, END].argmin()])
        for shard, places in found.items():
            mine = rows[places]
            ends = mine[:, END]
            plain = not (mine[:, STREAM].any() or mine[:, EVENT].any() or (mine[:, START] != ends).any())
            numbers = [ends] if plain else [ends, mine[:, START], mine[:, STREAM], mine[:, EVENT]]
            payload = pack(terms, mine[:, SUBJECT : OBJECT + 1].T, numbers)
            yield Packet(shard, int(ends.min()), int(ends.max()), payload)

    def _by_event(self, rows: np.ndarray, used: np.ndarray) -> dict[int, np.ndarray]:
        """Return the used rows by the shards of their events' instants: equal detections of an instant are one."""
        events = np.where(rows[:, EVENT] == 0, np.arange(len(rows)) + 1, rows[:, EVENT])
        _, first, numbers = np.unique(events, return_index=True, return_inverse=True)
        mixed = rows[first, END].astype(np.uint64) * _MIX
        places = ((mixed ^ (mixed >> np.uint64(29))) % np.uint64(self.job.shards)).astype(np.int64)
        shards = places[numbers.reshape(-1)][used]
        return {shard: used[shards == shard] for shard in np.unique(shards).tolist()}


def _newest(times: Times) -> int:
    """Return the latest time that graphs have told, unless a row has it."""
    found = times.newest(_NO_ROWS, 0) if isinstance(times, EventTimes) else None
    return BEFORE_ALL if found is None else found


class _Nominal(RateTimes):
    """The times of a part of a document at a rate."""

    def __init__(self, rate: float, start: int, before: int) -> None:
        super().__init__(rate, start)
        self._before = before  # statements of the document before the part

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Make times of the ordinals."""
        raw[:, START] += self._before
        return super().place(raw, first)

    def time_of(self, ordinal: int) -> int:
        """Return the time of one of the part's statements."""
        row = np.zeros((1, ROW_WIDTH), np.int64)
        row[0, START] = ordinal
        return int(self.place(row, 0)[0, END])


class _AsTheyAre(NoTimes):
    """Rows are given their times afterwards."""

    def place(self, raw: np.ndarray, first: int) -> np.ndarray:
        """Leave the rows as they are."""
        return raw


class _Texts:
    """An array of texts as bytes."""

    def __init__(self, texts: pa.Array) -> None:
        chunks = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        self._texts = chunks.cast(pa.large_binary()).fill_null(b"")
        _, offsets, data = self._texts.buffers()
        self._data = memoryview(data if data is not None else b"")
        ends = np.frombuffer(offsets, np.int64) if offsets is not None else np.zeros(1, np.int64)
        self._offsets = ends[self._texts.offset : self._texts.offset + len(self._texts) + 1]
        self._begins = self._offsets[:-1] - self._offsets[0] + np.arange(len(self._texts))

    def joined(self) -> Any:
        """Return all texts, a line's end between each two."""
        if len(self._texts) == 0:
            return b""
        if len(self._texts) == 1:
            return self.one(0)
        whole = pa.LargeListArray.from_arrays(pa.array([0, len(self._texts)], pa.int64()), self._texts)
        return memoryview(pc.binary_join(whole, pa.scalar(b"\n", pa.large_binary()))[0].as_buffer())

    def one(self, place: int) -> Any:
        """Return one text."""
        return self._data[self._offsets[place] : self._offsets[place + 1]]

    def places(self, offsets: np.ndarray) -> np.ndarray:
        """Return in which texts these places of the joined bytes are."""
        if len(self._begins) == 1:
            return np.zeros(len(offsets), np.int64)
        return np.searchsorted(self._begins, offsets, side="right") - 1


def _roles(job: Job, listeners: Sequence[Listener], compiled: CompiledNetwork) -> list[list[Role]]:
    """Return the roles of each α of a network."""
    found: list[list[Role]] = [[] for _ in compiled.lowered.network.alphas]
    for shape, scheme in zip(shapes_of(listeners), job.spread, strict=True):
        strides = dict(zip(scheme.shares, scheme.strides(), strict=True))
        for pattern in shape.patterns:
            of = tested(pattern)
            bound = tuple((of.columns[v], parts, strides[v, parts]) for v, parts in scheme.shares if v in of.columns)
            free = tuple((parts, strides[v, parts]) for v, parts in scheme.shares if v not in of.columns)
            found[compiled.lowered.alphas[compiled.plan.number(of.test)]].append(Role(bound, free, scheme.first))
    return found


def _views(job: Job, listeners: Sequence[Listener], engine: Engine) -> tuple[int, ...]:
    """Return the shards that run whole views: they hear all items, as any of them may move a window."""
    views = {each.number for each in listeners if engine.registry.queries[each.number].is_view}
    shapes = [(shape, s) for shape, s in zip(shapes_of(listeners), job.spread, strict=True) if s.cells == 1]
    return tuple(sorted({s.first for shape, s in shapes if any(m.listener.number in views for m in shape.members)}))


_MOST_ROUTERS = 4  # that a process keeps
_routers: dict[str, Router] = {}  # the one that was used last is the last


def router_of(job: Job) -> Router:
    """Return the router of a job in this process."""
    name = f"{job.digest} {job.on_error}"
    router = _routers.pop(name, None) or Router(job)
    while len(_routers) >= _MOST_ROUTERS:
        del _routers[next(iter(_routers))]
    _routers[name] = router
    return router
