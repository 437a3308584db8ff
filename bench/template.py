"""Fill a text template with columns of numbers, fast: how the generator writes gigabytes of N-Triples.

Where it stands: `generate` has one template a file and one row of numbers a repetition of it.  The
template's constant parts are copied, its slots written as digits, by one jitted loop.
Left out: escaping; the benchmark's terms need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, TypeVar

import numpy as np
from numba import njit

__all__ = ["Template", "chunks"]

INTEGER, CENTS, DATE = range(3)  # how a slot's number is written
KINDS = {"": INTEGER, "cents": CENTS, "date": DATE}
DIGITS = 20  # no slot is written longer than this

F = TypeVar("F", bound=Callable[..., Any])

# Plain njit, not the engine's `kernel`: everything that these functions call is in this file, so
# numba's own stamp of the cache is right.
_jit: Callable[[F], F] = njit(cache=True, nogil=True)


@dataclass(frozen=True)
class Template:
    """Constant parts of a text and the slots between them; the last part has no slot behind it."""

    text: np.ndarray  # uint8: all constant parts, one behind the other
    ends: np.ndarray  # int64: where each part ends in `text`
    names: tuple[str, ...]  # the column that each slot takes its number from
    kinds: np.ndarray  # int64: how each slot's number is written

    @staticmethod
    def parse(pattern: str) -> Template:
        """Read `{column}`, `{column:cents}` (123 is 1.23) and `{column:date}` (20080620 is 2008-06-20)."""
        parts, names, kinds = [], [], []
        for literal, name, kind, _ in Formatter().parse(pattern):
            parts.append(literal.encode())
            if name is not None:
                names.append(name)
                kinds.append(KINDS[kind or ""])
        if len(parts) == len(names):
            parts.append(b"")
        return Template(
            np.frombuffer(b"".join(parts), dtype=np.uint8),
            np.cumsum([len(part) for part in parts]).astype(np.int64),
            tuple(names),
            np.array(kinds, dtype=np.int64),
        )

    def fill(self, columns: Mapping[str, np.ndarray]) -> bytes:
        """Return the template repeated for every row of the columns.

        >>> price = Template.parse('<o{offer}> "{price:cents}" "{day:date}" .')
        >>> price.fill({"offer": np.array([7]), "price": np.array([1205]), "day": np.array([20080620])})
        b'<o7> "12.05" "2008-06-20" .'
        """
        values = np.column_stack([columns[name] for name in self.names]).astype(np.int64)
        out = np.empty(len(values) * (len(self.text) + DIGITS * len(self.names)), dtype=np.uint8)
        return out[: _fill(out, self.text, self.ends, self.kinds, values)].tobytes()


def chunks(template: Template, columns: Mapping[str, np.ndarray], rows: int = 16_384) -> Iterator[bytes]:
    """Yield the filled template a number of rows at a time, so that no file has to fit in memory."""
    count = len(next(iter(columns.values())))
    for start in range(0, count, rows):
        yield template.fill({name: column[start : start + rows] for name, column in columns.items()})


@_jit
def _digits(out: np.ndarray, at: int, value: int, width: int) -> int:
    """Write a number with at least `width` digits; return where it ends."""
    length, rest = 1, value // 10
    while rest > 0:
        length += 1
        rest //= 10
    length = max(length, width)
    for k in range(length):
        out[at + length - 1 - k] = 48 + value % 10
        value //= 10
    return at + length


@_jit
def _slot(out: np.ndarray, at: int, value: int, kind: int) -> int:
    """Write a slot's number in its own way; return where it ends."""
    if kind == CENTS:
        at = _digits(out, at, value // 100, 1)
        out[at] = 46  # .
        return _digits(out, at + 1, value % 100, 2)
    if kind == DATE:
        at = _digits(out, at, value // 10_000, 4)
        out[at] = 45  # -
        at = _digits(out, at + 1, value // 100 % 100, 2)
        out[at] = 45
        return _digits(out, at + 1, value % 100, 2)
    return _digits(out, at, value, 1)


@_jit
def _fill(out: np.ndarray, text: np.ndarray, ends: np.ndarray, kinds: np.ndarray, values: np.ndarray) -> int:
    """Write the template once a row of values; return the number of bytes written."""
    at = 0
    for row in range(values.shape[0]):
        start = 0
        for part in range(len(ends)):
            for k in range(start, ends[part]):
                out[at + k - start] = text[k]
            at += ends[part] - start
            start = ends[part]
            if part < len(kinds):
                at = _slot(out, at, values[row, part], kinds[part])
    return at
