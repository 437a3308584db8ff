"""The field `groups` of ndjson, and columns of lists: what of a match was repeated.

Data's way: a batch's groups -> **objects of their own, put into the matches' lines** -> sink.
A repetition is written as a match is, with a time in place of start and end; so kernels write all texts.  The objects
of one match's repetitions lie one behind the other, with commas between: they are put in as one piece.
Left out: CSV and TSV, which have no place for lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from retewave.repetitions import RepeatedPattern, Repetitions
from retewave.rete.words.bytes import address_of
from retewave.rete.written import lines as line_kernels

if TYPE_CHECKING:
    from retewave.match import Matches
    from retewave.rete.terms.texts import Texts

__all__ = ["GroupRows", "Lines", "put_in"]

Lines = tuple[np.ndarray, np.ndarray]  # bytes, and the end of each line

_TAIL = len(b"}}\n")  # behind a match's bindings
_BEFORE_GROUPS, _AFTER_GROUP = b'},"groups":{', b"]"


class GroupRows:
    """A batch's repetitions of one event pattern, as the writers of lines take rows."""

    number = 0  # of the batch: nothing is built of repetitions

    def __init__(self, batch: Matches, group: Repetitions) -> None:
        self.query, self.clock = RepeatedPattern(group.name, group.variables), batch.clock
        self.starts = self.ends = self.places = group.times  # a repetition is an instant
        self._batch, self._ids = batch, group.ids

    @property
    def numbered(self) -> tuple[Texts, np.ndarray]:
        """The texts of its terms, and their numbers there."""
        return self._batch.numbered_as(self._ids)

    def __len__(self) -> int:
        return len(self.starts)


def put_in(lines: Lines, groups: Sequence[tuple[Repetitions, Lines]]) -> Lines:
    """Return a batch's objects with the field `groups`.

    Each group comes with the objects of its repetitions, each with a comma before it.
    """
    texts, ends = lines
    opened = [b'%b"%b":[' % (b"," if place else b"", each.name.encode()) for place, (each, _) in enumerate(groups)]
    constants = [_BEFORE_GROUPS, _AFTER_GROUP, *opened]
    bytes_, cuts = [np.frombuffer(b"".join(constants), np.uint8)], [np.cumsum(list(map(len, constants)))]
    bytes_.append(texts)
    cuts.append(len(bytes_[0]) + np.stack([ends - _TAIL, ends], axis=1).ravel())
    count, used, known = len(ends), len(bytes_[0]) + len(texts), len(constants) + 2 * len(ends)
    rows = np.arange(count)
    order = [len(constants) + 2 * rows, np.full(count, 0)]
    for place, (group, (objects, object_ends)) in enumerate(groups):
        begins = np.concatenate([[0], object_ends])[group.offsets]
        some = np.diff(group.offsets) > 0
        bytes_.append(objects)
        cuts.append(used + np.stack([begins[:-1] + some, begins[1:]], axis=1).ravel())
        order += [np.full(count, 2 + place), known + 1 + 2 * rows, np.full(count, 1)]
        used, known = used + len(objects), known + 2 * count
    order.append(len(constants) + 1 + 2 * rows)
    return _gathered(np.concatenate(bytes_), np.concatenate(cuts), np.stack(order, axis=1))


def _gathered(bytes_: np.ndarray, cuts: np.ndarray, order: np.ndarray) -> Lines:
    """Return the pieces of each line one behind the other."""
    cuts, pieces = np.ascontiguousarray(cuts, np.int64), np.ascontiguousarray(order.ravel(), np.int64)
    sizes = np.diff(cuts, prepend=0)[order]
    ends = np.cumsum(sizes.sum(axis=1))
    out = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    line_kernels.gather(address_of(bytes_), address_of(cuts), address_of(pieces), len(pieces), address_of(out))
    return out, ends
