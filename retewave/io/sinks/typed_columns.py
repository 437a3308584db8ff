"""Values of terms as columns: numbers, booleans and times as such, everything else as N-Triples text.

Data's way: batches of matches -> different terms with their values -> **columns with a type** -> tables, data frames.
Invariant: a column has a type only if every bound term of it has a value of that type, exactly; a term that is
ill-typed, too long, or of another kind makes the whole column text. So nothing is lost, and no number is wrong.
Left out: the values of lexical forms, which the dictionary has found (rete/terms/value.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from retewave.io.sinks.arrow_columns import strings
from retewave.io.sinks.lists import joined, named, table_column
from retewave.rete.terms import kinds as kinds
from retewave.rete.written.columns import encoded
from retewave.windows.times import Clock

if TYPE_CHECKING:
    from retewave.match import Matches
    from retewave.rete.terms.texts import Texts

__all__ = ["table"]

_DAY = 86_400_000_000  # microseconds
_NUMBERS = {kinds.INTEGER, kinds.DECIMAL, kinds.FLOAT, kinds.DOUBLE}
_TIMES = {  # kinds whose numbers are whole microseconds
    kinds.DATETIME: pa.timestamp("us", tz="UTC"),
    kinds.DATETIME_LOCAL: pa.timestamp("us"),
    kinds.DAYTIME_DURATION: pa.duration("us"),
}
_LONG = (-(1 << 63), (1 << 63) - 1)


@dataclass(frozen=True)
class _Column:
    """A variable's terms in some batches; a term may be there once a run of batches."""

    codes: np.ndarray  # int32 [matches]: which of the terms; -1: unbound
    runs: tuple[tuple[Texts, np.ndarray], ...]  # texts, and the terms' numbers there

    @staticmethod
    def of(runs: Sequence[tuple[Texts, np.ndarray]]) -> _Column:
        """Number the terms of runs of matches, each with its own texts."""
        codes, found, behind = [], [], 0
        for texts, ids in runs:
            of_run, terms = encoded(ids)
            codes.append(np.where(of_run < 0, -1, of_run + behind))
            found.append((texts, terms))
            behind += len(terms)
        return _Column(np.concatenate([np.empty(0, np.int64), *codes]), tuple(found))

    def known(self, field: str) -> np.ndarray:
        """Return an array of the dictionary for the terms: their kinds, their numbers, or whether these are exact."""
        empty = np.empty(0, np.float64 if field == "number" else np.uint8)
        return np.concatenate([empty, *(getattr(texts, field)[terms] for texts, terms in self.runs)])

    def lexical(self) -> list[str]:
        """Return the terms' lexical forms."""
        whole = (text.decode() for texts, terms in self.runs for text in texts.texts(terms.tolist()))
        return [text[1 : text.rindex('"')] for text in whole]

    def taken(self, values: pa.Array) -> pa.Array:
        """Return the column, if these are the values of its terms."""
        return values.take(pa.array(self.codes, mask=self.codes < 0))

    def written(self, *, typed: bool) -> pa.Array:
        """Return the column: with a type, if that is asked for and its terms have one; else in N-Triples form."""
        values = _values(self) if typed else None
        return self.text() if values is None else self.taken(values)

    def text(self) -> pa.Array:
        """Return the column in N-Triples form."""
        parts = [strings(texts, terms) for texts, terms in self.runs]
        if len({part.type for part in parts}) != 1:
            parts = [part.cast(pa.large_string()) for part in parts]
        return self.taken(pa.concat_arrays(parts) if parts else pa.array([], pa.string()))


def _values(column: _Column) -> pa.Array | None:
    """Return the values of a column's terms, if all have a value of the same type."""
    used = set(np.unique(column.known("kind")).tolist())
    number, exact = column.known("number"), bool(column.known("exact").all())
    if used == {kinds.BOOLEAN}:
        return pa.array(number == 1.0)
    if used == {kinds.INTEGER}:
        return pa.array(number.astype(np.int64)) if exact else _long(column)
    if used and used <= {kinds.FLOAT, kinds.DOUBLE}:
        return pa.array(number if exact else np.array([float(text) for text in column.lexical()]))
    if used and used <= _NUMBERS:
        return pa.array(number) if exact else None
    if used == {kinds.DATE_LOCAL}:
        return pa.array((number // _DAY).astype(np.int32)).cast(pa.date32()) if exact else None
    if len(used) == 1 and exact and (type := _TIMES.get(*used)):
        return pa.array(number.astype(np.int64)).cast(type)
    return None


def _long(column: _Column) -> pa.Array | None:
    """Return integers that a double does not hold, if they have no more than 64 bits."""
    texts = column.lexical()
    if max(map(len, texts)) > 4_000:  # Python reads no longer numerals
        return None
    integers = [int(text) for text in texts]
    return pa.array(integers, pa.int64()) if _LONG[0] <= min(integers) and max(integers) <= _LONG[1] else None


def table(batches: Sequence[Matches], variables: Iterable[str], *, typed: bool, last: int | None = None) -> pa.Table:
    """Return the matches of batches of one query as a table, or the last `last` of them."""
    columns = _times(batches, typed)
    for name in variables:
        column = _Column.of(_runs(batches, name))
        columns[name] = column.written(typed=typed)
    clock = _clock(batches)
    for each in joined(repeated for batch in batches for repeated in batch.query.repeated):
        columns[named(each.name)] = table_column(
            batches,
            each,
            lambda times: _written_times(clock, times, np.zeros(len(times), np.bool_), typed),
            lambda runs: _Column.of(runs).written(typed=typed),
        )
    whole = pa.table(columns)
    return whole if last is None else whole.slice(max(0, whole.num_rows - last))


def _runs(batches: Sequence[Matches], name: str) -> list[tuple[Texts, np.ndarray]]:
    """Return a variable's terms, batches that share their texts as one run."""
    found: list[tuple[Texts, list[np.ndarray]]] = []
    for batch in batches:
        texts, numbers = batch.numbered
        if not found or found[-1][0] is not texts:
            found.append((texts, []))
        found[-1][1].append(numbers[:, batch.query.place(name)])
    return [(texts, np.concatenate(columns)) for texts, columns in found]


# ---- start and end ----
def _times(batches: Sequence[Matches], typed: bool) -> dict[str, Any]:
    empty = np.empty(0, np.int64)
    starts = np.concatenate([empty, *(batch.starts for batch in batches)])
    ends = np.concatenate([empty, *(batch.ends for batch in batches)])
    clock = _clock(batches)
    return {
        name: _written_times(clock, times, ends < starts, typed) for name, times in (("start", starts), ("end", ends))
    }


def _clock(batches: Sequence[Matches]) -> Clock:
    return batches[-1].clock if batches else Clock("float")


def _written_times(clock: Clock, times: np.ndarray, timeless: np.ndarray, typed: bool) -> pa.Array:
    write: Callable[..., pa.Array] = _typed_times if typed else _told
    return write(clock, times, timeless)


def _typed_times(clock: Clock, times: np.ndarray, timeless: np.ndarray) -> pa.Array:
    """Return times as numbers of seconds or as timestamps, whatever they went in as."""
    if clock.kind in ("int", "float", "datetime64"):
        decoded = clock.decode_all(np.where(timeless, 0, times))
        return pa.array(decoded, mask=timeless)
    naive = clock.kind == "datetime" and clock.zone is None
    return pa.array(times, mask=timeless).cast(pa.timestamp("us", tz=None if naive else "UTC"))


def _told(clock: Clock, times: np.ndarray, timeless: np.ndarray) -> pa.Array:
    """Return times in the form in which they went in."""
    return pa.array([None if none else clock.decode(t) for t, none in zip(times.tolist(), timeless, strict=True)])
