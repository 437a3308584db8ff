"""Columns of Arrow from matches: terms as dictionaries of N-Triples texts, times as numbers or timestamps.

Data's way: ids and times of a batch -> **Arrow's arrays** -> record batches, tables, data frames.
Invariant: a term's text is there once a column, however many matches have it, and never as a Python string.
Left out: which columns there are, and values of terms (retewave/io/sinks/typed_columns.py).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from retewave.rete.terms.texts import Texts
from retewave.rete.written.columns import encoded, spelled
from retewave.windows.times import in_seconds

__all__ = ["MOST_BYTES", "TERMS", "moments", "strings", "terms"]

TERMS = pa.dictionary(pa.int32(), pa.string())
MOST_BYTES = (1 << 31) - 1  # of a column's texts together: Arrow's strings have offsets of 32 bits


def strings(texts: Texts, ids: np.ndarray) -> pa.StringArray | pa.LargeStringArray:
    """Return the texts of some ids; large strings where there are too many bytes."""
    joined, ends = spelled(texts, ids)
    offset, kind = (np.int32, pa.StringArray) if len(joined) <= MOST_BYTES else (np.int64, pa.LargeStringArray)
    offsets = np.zeros(len(ids) + 1, offset)
    offsets[1:] = ends
    return kind.from_buffers(len(ids), pa.py_buffer(offsets), pa.py_buffer(joined))


def terms(texts: Texts, ids: np.ndarray) -> pa.DictionaryArray:
    """Return a column of ids as a dictionary of N-Triples texts; null where it is unbound."""
    codes, found = encoded(ids)
    indices = pa.array(codes, mask=codes < 0) if len(codes) and codes.min() < 0 else pa.array(codes)
    return pa.DictionaryArray.from_arrays(indices, strings(texts, found), safe=False)


def moments(times: np.ndarray, timeless: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Return a column of times, as seconds or as timestamps; null where all is static."""
    values = in_seconds(times) if pa.types.is_floating(kind) else np.ascontiguousarray(times)
    return pa.array(values, mask=timeless if timeless.any() else None).cast(kind)
