"""The last task of a view in two stages: it puts together what the shards have sent of each report, and tells matches.

Data's way: parts of reports (`parts`) -> wait until all shards have told -> **the rest of the view** -> packed matches.
A shard tells its reports up to the watermark in each micro-batch, and may be ahead of it; so once the watermark has
come to a report's time, all parts of it are there.  A shard that has nothing in its windows may send no part.
The store has what waits, and the rows of the latest report where the next one is compared with them.
Invariant: a step is a function of the store and its arguments, and nothing else is remembered between two steps.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from retewave.compiler.algebra import Variable
from retewave.compiler.view_parts import ViewPart
from retewave.match import Matches
from retewave.rete.pack import pack, unpack
from retewave.spark.driver.job import Job
from retewave.spark.worker.matches import clock_of, finder_of
from retewave.spark.worker.parts import rows_of
from retewave.spark.worker.progress import Store, check_job
from retewave.views.evaluate import Evaluation
from retewave.views.expressions import ColumnExpressions
from retewave.views.relation import Bag, without

__all__ = ["LastResult", "LastTask", "last_of"]

Arrived = tuple[int, bytes]  # microseconds: the time of a report; a part of it


@dataclass(frozen=True)
class LastResult:
    """The result of a step."""

    found: list[bytes]  # packed matches
    wake: int | None  # microseconds: when the watermark has come to this, there is more to do; None: nothing waits


@dataclass
class _Kept:
    """What the store has of a view."""

    digest: str  # of the job
    held: list[tuple[int, int]] = field(default_factory=list)  # the time of each part that waits, and its chunk
    number: int = 0  # of the next chunk
    former: str = ""  # the packed rows of the latest report, if the next needs them


class LastTask:
    """The last task of all views of a job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._engine = job.engine(whole=True)
        self._finder, self._clock = finder_of(job, self._engine), clock_of(job)
        self._queries = {query.name: query for query in self._engine.queries}

    def step(self, store: Store, view: int, arrived: Iterable[Arrived], until: int) -> LastResult:
        """Take in parts of a view's reports, and tell the reports up to a time, which all shards have reached."""
        data = store.meta()
        kept = _Kept(self.job.digest) if data is None else _Kept(**json.loads(data))
        check_job(kept.digest, self.job.digest)
        due: dict[int, list[bytes]] = {}
        for time, number in kept.held:
            if time <= until:
                due.setdefault(time, []).append(store.chunk(number))
                store.drop(number)
        kept.held = [(time, number) for time, number in kept.held if time > until]
        for time, payload in arrived:
            if time <= until:
                due.setdefault(time, []).append(payload)
            else:
                store.put_chunk(kept.number, payload)
                kept.held.append((time, kept.number))
                kept.number += 1
        found, kept.former = self._told(view, due, kept.former)
        store.put_meta(json.dumps(asdict(kept)).encode())
        return LastResult(found, min((time for time, _ in kept.held), default=None))

    def whole(self, view: int, arrived: Iterable[Arrived]) -> list[bytes]:
        """Tell all reports of a view."""
        due: dict[int, list[bytes]] = {}
        for time, payload in arrived:
            due.setdefault(time, []).append(payload)
        return self._told(view, due, "")[0]

    def _told(self, view: int, due: Mapping[int, list[bytes]], former: str) -> tuple[list[bytes], str]:
        """Return the matches of reports, by their times, and the rows of the last of them if the next needs them."""
        terms = self._engine.terms
        rows = None
        if former:
            ids, numbers = unpack(terms, b64decode(former))
            rows = ids.T if len(ids) else np.zeros((numbers.shape[1], 0), np.int64)
        found = []
        for time in sorted(due):
            batch, rows = self._report(view, time, sorted(due[time]), rows)
            found.append(self._finder.packed(batch))
        if due and rows is not None:
            packed = pack(terms, np.ascontiguousarray(rows.T), [np.zeros(len(rows), np.int64)])
            former = b64encode(packed).decode()
        if terms.due():
            self._engine.matcher.sweep()
        return found, former

    def _report(
        self, view: int, time: int, payloads: list[bytes], former: np.ndarray | None
    ) -> tuple[Matches, np.ndarray | None]:
        """Return what a report tells, and its rows if the next needs them."""
        stated = self.job.queries[view]
        query, part, frame = self._queries[stated.name], stated.part, stated.parsed.view
        assert part is not None and part.inner.view is not None and frame is not None
        parts = [rows_of(self._engine.terms, payload) for payload in payloads]
        there = np.concatenate([each.there for each in parts])
        kept = None
        if part.inner.view.told == "CHANGES":
            gone = np.concatenate([each.gone for each in parts])
            rows = without(there, gone) if frame.told == "ISTREAM" else without(gone, there)
        else:
            rows = self._evaluated(part.outer, Bag(_sent(part), there), query.variables)
            if stated.parsed.form == "ASK":
                rows = rows[:1]
            if frame.told != "RSTREAM":
                before = rows[:0] if former is None else former
                kept = rows
                rows = without(rows, before) if frame.told == "ISTREAM" else without(before, rows)
        opened = parts[0].opened
        batch = Matches(
            query, self._engine.terms, self._clock, rows, np.full(len(rows), opened), np.full(len(rows), time)
        )
        batch.reported = opened, time
        return batch, kept

    def _evaluated(self, outer: Any, sent: Bag, names: Iterable[str]) -> np.ndarray:
        terms = self._engine.terms
        found = Evaluation(terms, ColumnExpressions(terms), lambda _: sent).of(outer)
        return found.projected([Variable(name) for name in names]).ids


def _sent(part: ViewPart) -> tuple[Variable, ...]:
    """Return the columns of what shards send."""
    return tuple(map(Variable, part.inner.projection))


_lasts: dict[tuple[str, str | None], LastTask] = {}  # the one of the last job


def last_of(job: Job) -> LastTask:
    """Return the last task of a job in this process."""
    name = job.digest, job.lines
    if name not in _lasts:
        _lasts.clear()
        _lasts[name] = LastTask(job)
    return _lasts[name]
