"""Routing: the shards that an input row goes to.

Data's way: rows -> dispatch (ε + α) -> **routing** -> packets of rows, one a shard.
A row is dispatched as it is in a network; each tuple that an α asked for plays a *role* for each pattern that this α
serves.  A role names the columns whose terms are told into parts, and what is added for the parts that the tuple leaves
open.  A row that plays several roles goes to a shard once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from retewave.rete.dispatch import alpha_of_edges, dispatch, edge_number
from retewave.rete.filters.interpreter import part_of
from retewave.rete.terms.kinds import Values
from retewave.rete.words.bare import tail, words
from retewave.rete.words.jit import kernel
from retewave.rete.words.layout import N_STRIDE, T_COLUMNS, T_EDGES
from retewave.rete.words.rows import ROW_WIDTH

__all__ = ["Role", "Routing"]

# The words of a role.
_DIMENSIONS, _OPEN_BEGIN, _OPEN_COUNT, _FIRST, _COLUMNS = 0, 1, 2, 3, 4
_COLUMN, _SHARE, _STRIDE, _DIMENSION_WIDTH = 0, 1, 2, 3


@dataclass(frozen=True)
class Role:
    """What a tuple of an α test may be used for: one pattern of one shape."""

    bound: tuple[tuple[int, int, int], ...]  # (column, parts, stride) of the share variables that it binds
    open: tuple[tuple[int, int], ...]  # (parts, stride) of the share variables that it does not
    first: int  # the shard of the first cell


@kernel
def _send(roles, role, opens, item, hashes, shards, stamps, stamp, to, count):  # type: ignore[no-untyped-def]
    """Note the shards that a tuple in a role goes to; return the new number of notes."""
    cell = roles[role + _FIRST]
    for d in range(roles[role + _DIMENSIONS]):
        at = role + _COLUMNS + d * _DIMENSION_WIDTH
        hashed = hashes[item[T_COLUMNS + roles[at + _COLUMN]]]
        cell += part_of(hashed, roles[at + _SHARE]) * roles[at + _STRIDE]
    begin = roles[role + _OPEN_BEGIN]
    for i in range(begin, begin + roles[role + _OPEN_COUNT]):
        shard = (cell + opens[i]) % shards
        if stamps[shard] != stamp:
            stamps[shard] = stamp
            to[count] = shard
            count += 1
    return count


@kernel
def _route(net, rows, lo, hi, kinds, hashes, stack, alphas, roles, opens, starts, shards, stamps, to, of):  # type: ignore[no-untyped-def]
    """Note (shard, row) for the rows from `lo` on; return the first row that there was no room for, and the notes."""
    records, flat, tuples, kind, there = words(net), words(rows), words(stack), words(kinds), words(hashes)
    of_edges, role_words, open_words, marks, found = words(alphas), words(roles), words(opens), words(stamps), words(to)
    stride, count = net[N_STRIDE], 0
    for row in range(lo, hi):
        if count + shards > len(to):
            return row, count
        top = dispatch(records, flat, row * ROW_WIDTH, kind, tuples)
        before = count
        for at in range(0, top, stride):
            alpha = of_edges[edge_number(records, tuples[at + T_EDGES])]
            for i in range(starts[alpha], starts[alpha + 1]):
                item, role = tail(tuples, at), role_words[i]
                count = _send(role_words, role, open_words, item, there, shards, marks, row, found, count)
        for i in range(before, count):
            of[i] = row
    return hi, count


class Routing:
    """The routing of one network over some shards."""

    def __init__(self, net: np.ndarray, stack: np.ndarray, roles: Sequence[Sequence[Role]], shards: int) -> None:
        self._net, self._stack, self._shards = net, stack.copy(), shards
        self._alphas = alpha_of_edges(net, len(roles))
        self._starts = np.zeros(len(roles) + 1, np.int64)
        places: list[int] = []  # of the roles, alpha by alpha
        records: list[int] = []
        opens: list[int] = []
        for alpha, found in enumerate(roles):
            for role in dict.fromkeys(found):
                places.append(len(records))
                records += _record(role, opens)
            self._starts[alpha + 1] = len(places)
        shift = len(places)  # the places stand before the records
        self._roles = np.array([*(place + shift for place in places), *records, 0], dtype=np.int64)
        self._opens = np.array([*opens, 0], dtype=np.int64)

    def route(self, rows: np.ndarray, values: Values) -> list[tuple[int, np.ndarray]]:
        """Return (shard, the places of the rows that go there, in their order), for each shard that any goes to."""
        rows = np.ascontiguousarray(rows)
        to, of = np.empty(2 * len(rows) + self._shards, np.int64), np.empty(2 * len(rows) + self._shards, np.int64)
        stamps = np.full(self._shards, -1, np.int64)
        done, notes = 0, [(to[:0], of[:0])]
        while done < len(rows):
            done, count = _route(
                self._net, rows.reshape(-1), done, len(rows), values.kind, values.hashes, self._stack, self._alphas,
                self._roles, self._opens, self._starts, self._shards, stamps, to, of,
            )  # fmt: skip
            notes.append((to[:count].copy(), of[:count].copy()))
        shards, places = (np.concatenate(column) for column in zip(*notes, strict=True))
        order = np.argsort(shards.astype(np.int16 if self._shards < 1 << 15 else np.int64), kind="stable")
        numbers, begins, counts = np.unique(shards[order], return_index=True, return_counts=True)
        found = zip(numbers.tolist(), begins.tolist(), counts.tolist(), strict=True)
        return [(shard, places[order[begin : begin + count]]) for shard, begin, count in found]


def _record(role: Role, opens: list[int]) -> list[int]:
    """Return a role's words, and add its open cells to the list of them all."""
    begin = len(opens)
    steps = [[part * stride for part in range(parts)] for parts, stride in role.open]
    opens += [sum(each) for each in product(*steps)]
    return [len(role.bound), begin, len(opens) - begin, role.first, *(word for each in role.bound for word in each)]
