"""Stage 3 for files of text: packed matches become lines, many at once.

Data's way: packed matches -> **texts of whole lines** -> files or a terminal.
Invariant: the lines are those that `retewave run` writes; a term is written once a pack, however many matches hold it,
and the rest is put together by Arrow, not match by match.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from retewave.io.sink_terms import json_term
from retewave.spark.settling import settle
from retewave.windows.times import Clock, format_datetime

if TYPE_CHECKING:
    from retewave.spark.carried import Carried
    from retewave.spark.job import Job
    from retewave.spark.stats import Stats

__all__ = ["LINES", "Lines", "ndjson", "ntriples"]

LINES = "value string"
_SECONDS = Clock("float")


@dataclass(frozen=True)
class Lines:
    """Writes packed matches as texts without a last line's end; goes to the workers."""

    carried: Carried  # the job
    triples: bool  # N-Triples, for queries that all build triples; else ndjson
    stats: Stats | None  # told of matches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches of a task."""
        job = self.carried.job()
        for batch in batches:
            for packed in batch.column(0):
                lines = ntriples(packed.as_py()) if self.triples else ndjson(job, packed.as_py())
                if self.stats is not None:
                    self.stats.found(len(lines))
                if len(lines):
                    yield pa.RecordBatch.from_arrays([_one_text(lines)], ["value"])
        settle()


def _one_text(lines: pa.Array) -> pa.Array:
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(whole, "\n")


def ndjson(job: Job, packed: bytes) -> pa.Array:
    """Return a JSON object a match: query, start, end, bindings in SPARQL's JSON; what is unbound is left out."""
    places, numbers, texts = _parts(packed)
    queries = pa.array([json.dumps(query.name, ensure_ascii=False) for query in job.queries], pa.string())
    timeless = numbers[2] < numbers[1]
    written = pa.array([json_term(text).decode() for text in texts], pa.string())
    members = [_members(name, written, column) for name, column in zip(job.columns, places, strict=True)]
    bindings = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, ""), 1) if members else ""
    starts, ends = (_moments(times, timeless, seconds=job.rate is not None) for times in numbers[1:])
    query = queries.take(pa.array(numbers[0]))
    head = pc.binary_join_element_wise('{"query":', query, ',"start":', starts, ',"end":', ends, "")
    return pc.binary_join_element_wise(head, ',"bindings":{', bindings, "}}", "")


def ntriples(packed: bytes) -> pa.Array:
    """Return the N-Triples that CONSTRUCT queries have built."""
    places, _, texts = _parts(packed)
    spelled = pa.array(texts, pa.binary()).cast(pa.string())
    return pc.binary_join_element_wise(*[spelled.take(pa.array(column - 1)) for column in places], ".", " ")


def _parts(packed: bytes) -> tuple[np.ndarray, np.ndarray, list[bytes]]:
    from retewave.rete.pack import unpack_texts

    table, numbers = unpack_texts(packed)
    bounds, whole = [0, *table.ends.tolist()], table.texts.tobytes()
    return table.places, numbers, [whole[a:b] for a, b in pairwise(bounds)]


def _members(name: str, written: pa.Array, column: np.ndarray) -> pa.Array:
    """Return a variable as members of the bindings object, each with a comma before it; nothing where it is unbound."""
    keyed = pc.binary_join_element_wise(f",{json.dumps(name, ensure_ascii=False)}:", written, "")
    return pc.fill_null(keyed.take(pa.array(column - 1, mask=column == 0)), "")


def _moments(times: np.ndarray, timeless: np.ndarray, *, seconds: bool) -> pa.Array:
    used, inverse = np.unique(np.where(timeless, 0, times), return_inverse=True)
    written: list[Any] = [
        str(_SECONDS.decode(time)) if seconds else f'"{format_datetime(time)}"' for time in used.tolist()
    ]
    found = pa.array(written, pa.string()).take(pa.array(inverse))
    return pc.if_else(pa.array(timeless), "null", found)
