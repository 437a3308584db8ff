"""The arrays that a running network works with, and the cells that tell the kernel where they are.

Invariant: who replaces an array calls `connect` again, and keeps all of them alive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retewave.rete.feed import new_feed
from retewave.rete.filters.interpreter import Filters
from retewave.rete.filters.strings import VIEW_WIDTH
from retewave.rete.operators.join import GROUP
from retewave.rete.terms.kinds import Values
from retewave.rete.words.bytes import address_of
from retewave.rete.words.layout import N_MOST_ROUTES, N_OUT_WIDTH, N_STRIDE
from retewave.rete.words.progress import P_UNTIL, P_WIDTH
from retewave.windows.intervals import BEFORE_ALL

__all__ = [
    "CELLS",
    "C_ARENA",
    "C_ARENA_WORDS",
    "C_BOUNDS",
    "C_FEED",
    "C_KINDS",
    "C_MEMO",
    "C_MEMO_WIDTH",
    "C_NET",
    "C_NUMBERS",
    "C_OUT",
    "C_OUT_WORDS",
    "C_PROGRESS",
    "C_STACK",
    "C_STACK_WORDS",
    "C_TERMS",
    "C_TERM_ARENA",
    "C_TERM_EXACT",
    "C_TERM_HASHES",
    "C_TERM_KIND",
    "C_TERM_NUMBER",
    "C_TERM_SPANS",
    "C_VIEWS",
    "C_WORK",
    "Sizes",
    "State",
    "View",
    "connect",
    "new_state",
]

# The cells that tell the kernel where the arrays are: those of State in its order, those of terms; then sizes.
C_NET, C_ARENA, C_STACK, C_OUT, C_WORK, C_PROGRESS, C_KINDS, C_NUMBERS, C_BOUNDS, C_TERMS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
C_VIEWS, C_FEED, C_TERM_KIND, C_TERM_NUMBER, C_TERM_EXACT, C_TERM_HASHES, C_TERM_SPANS, C_TERM_ARENA = range(10, 18)
C_MEMO, C_MEMO_WIDTH, C_ARENA_WORDS, C_STACK_WORDS, C_OUT_WORDS = range(18, 23)
CELLS = 23


class State(NamedTuple):
    """The arrays that a running network works with."""

    net: np.ndarray  # the network as data
    arena: np.ndarray  # its memories
    stack: np.ndarray  # tuples on their way
    out: np.ndarray  # output rows, one after the other
    work: np.ndarray  # the combination at hand
    progress: np.ndarray  # where the kernel is: P_* words
    kinds: np.ndarray  # the filter interpreter's stack, as are the next four
    numbers: np.ndarray
    bounds: np.ndarray
    terms: np.ndarray
    views: np.ndarray
    feed: np.ndarray  # the occurrences of an instant, with those that rules build: `rete/feed.py`


def new_state(net: np.ndarray, arena: np.ndarray, depth: int, most_built: int) -> State:
    """Return the arrays of a network; `depth`: the stack that its deepest filter program needs."""
    depth += 1
    stride, width = int(net[N_STRIDE]), int(net[N_OUT_WIDTH])
    progress = np.zeros(P_WIDTH, dtype=np.int64)
    progress[P_UNTIL] = BEFORE_ALL
    return State(
        net,
        arena,
        stack=np.zeros((int(net[N_MOST_ROUTES]) + 64) * stride, dtype=np.int64),
        out=np.zeros(256 * width, dtype=np.int64),
        work=np.zeros(GROUP + 1, dtype=np.int64),
        progress=progress,
        kinds=np.zeros(depth, dtype=np.int64),
        numbers=np.zeros(depth, dtype=np.float64),
        bounds=np.zeros(depth, dtype=np.float64),
        terms=np.zeros(depth, dtype=np.int64),
        views=np.zeros(depth * VIEW_WIDTH, dtype=np.int64),
        feed=new_feed(most_built),
    )


def connect(cells: np.ndarray, state: State, values: Values, memo: np.ndarray) -> None:
    """Write the arrays' addresses to the cells; a caller that replaces an array calls again, and keeps all alive."""
    arrays = (*state, *values, memo)
    cells[:C_MEMO_WIDTH] = [address_of(array) for array in arrays]
    cells[C_MEMO_WIDTH:] = memo.shape[1], len(state.arena), len(state.stack), len(state.out)


class View(NamedTuple):
    """The arrays that filters read."""

    filters: Filters  # the interpreter's programs (they stand in `net`), memo and stack
    values: Values  # the values of terms


class Sizes(NamedTuple):
    """The sizes of the arrays."""

    arena: int  # words that may be used before a step
    stack: int  # words
    out: int  # rows
