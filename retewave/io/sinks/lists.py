"""Columns of lists: a batch's groups as Arrow has them, one column `groups.NAME` for each event pattern.

Data's way: groups of batches -> **lists of structs**: time, and the pattern's variables -> tables.
Invariant: a match without repetitions has an empty list; a match whose query does not know the pattern has none.
Left out: the types of the values (retewave/io/sinks/typed_columns.py), and ndjson (retewave/io/sinks/groups.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from retewave.io.sinks.arrow_columns import moments, strings
from retewave.repetitions import RepeatedPattern, Repetitions, repetitions_of

if TYPE_CHECKING:
    from retewave.match import Matches
    from retewave.rete.terms.texts import Texts

__all__ = ["column_of", "joined", "list_type", "named", "table_column"]


_NO_TIMES = np.zeros(0, np.int64)


def named(name: str) -> str:
    """Return the name of an event pattern's column: no variable has a dot."""
    return f"groups.{name}"


def joined(all_: Iterable[RepeatedPattern]) -> tuple[RepeatedPattern, ...]:
    """Return event patterns of several queries, those of one name as one."""
    found: dict[str, tuple[str, ...]] = {}
    for each in all_:
        found[each.name] = tuple(dict.fromkeys((*found.get(each.name, ()), *each.variables)))
    return tuple(RepeatedPattern(name, variables) for name, variables in found.items())


def list_type(repeated: RepeatedPattern, time: pa.DataType) -> pa.DataType:
    """Return the type of a column whose terms are N-Triples texts."""
    fields = [("time", time), *((name, pa.string()) for name in repeated.variables)]
    return pa.list_(pa.struct(fields))


def list_column(offsets: np.ndarray, fields: dict[str, pa.Array]) -> pa.ListArray:
    """Return a column of lists of structs; the fields' entries lie one behind the other."""
    structs = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), structs)


def column_of(batch: Matches, rows: slice, repeated: RepeatedPattern, time: pa.DataType) -> pa.Array:
    """Return the column of some matches of a batch, in texts."""
    group = next((each for each in repetitions_of(batch) if each.name == repeated.name), None)
    first, behind, _ = rows.indices(len(batch))
    if group is None:
        return pa.nulls(behind - first, list_type(repeated, time))
    within = slice(int(group.offsets[first]), int(group.offsets[behind]))
    times = group.times[within]
    at = moments(times, np.zeros(len(times), np.bool_), time)
    texts, numbers = batch.numbered_as(group.ids[within])
    fields = {"time": at}
    for name in repeated.variables:
        known = name in group.variables
        ids = numbers[:, group.variables.index(name)] if known else np.zeros(len(times), np.int64)
        used, places = np.unique(ids, return_inverse=True)
        found = strings(texts, used[used > 0]).cast(pa.string())
        codes = places - int(len(used) > 0 and used[0] == 0)
        fields[name] = found.take(pa.array(codes, mask=codes < 0))
    return list_column(group.offsets[first : behind + 1] - within.start, fields)


def groups_of(batches: Sequence[Matches], name: str) -> list[tuple[Matches, Repetitions]]:
    """Return an event pattern's group in each batch, an empty one where a batch has none."""
    found = []
    for batch in batches:
        none = Repetitions(name, (), np.zeros(len(batch) + 1, np.int64), _NO_TIMES, np.zeros((0, 0), np.int64))
        found.append((batch, next((each for each in repetitions_of(batch) if each.name == name), none)))
    return found


def _offsets(groups: Iterable[Repetitions]) -> np.ndarray:
    counts = [np.diff(each.offsets) for each in groups]
    found: np.ndarray = np.concatenate(
        [np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *counts]))]
    )
    return found


def table_column(
    batches: Sequence[Matches],
    repeated: RepeatedPattern,
    times: Callable[[np.ndarray], pa.Array],
    terms: Callable[[Sequence[tuple[Texts, np.ndarray]]], pa.Array],
) -> pa.ListArray:
    """Return the column of several batches; `times` and `terms` make columns of times and of terms."""
    found = groups_of(batches, repeated.name)
    at = times(np.concatenate([np.zeros(0, np.int64), *(group.times for _, group in found)]))
    fields = {"time": at}
    for name in repeated.variables:
        runs = []
        for batch, group in found:
            if name in group.variables:
                texts, numbers = batch.numbered_as(group.ids)
                runs.append((texts, numbers[:, group.variables.index(name)]))
        fields[name] = terms(runs)
    return list_column(_offsets(group for _, group in found), fields)
