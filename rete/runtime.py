"""A network that runs: the kernel, poured into batch by batch.

Data's way: rows -> **runtime** (kernel) -> output rows.  It knows nothing of queries' texts, terms' texts or time
other than as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from retewave.rete.dispatch import alpha_of_edges
from retewave.rete.facts import FACT_WIDTH, static_facts
from retewave.rete.feed import put_built
from retewave.rete.filters.codes import FALSE, TRUE, UNDECIDED
from retewave.rete.finishing import FinishedRuns
from retewave.rete.kernel import run, run_looking
from retewave.rete.memories import NetworkMemories
from retewave.rete.state import CELLS, State, connect
from retewave.rete.terms.kinds import Values
from retewave.rete.terms.marks import mark_instant
from retewave.rete.words import layout
from retewave.rete.words.bytes import address_of
from retewave.rete.words.pages import Pool, grown
from retewave.rete.words.progress import (
    P_ASKED,
    P_ASKED_ROW,
    P_BUILDING,
    P_COUNT,
    P_FACTS,
    P_LAST_ROW,
    P_MARKED,
    P_MOST,
    P_ROW,
    P_ROWS,
    P_STEP_TOP,
    P_STEPPING,
    P_TOP,
    P_UNTIL,
    P_VERDICT,
)
from retewave.rete.words.rows import ROW_WIDTH
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL, LATEST, STATIC_END, STATIC_START

__all__ = ["EndlessRules", "LiveRowsAtBound", "Runtime"]

MOST_OUTPUT = 1 << 14  # output rows after which the kernel pauses between two input rows
FEW = 1 << 10  # output rows; fewer are copied


_ASKED = {  # by kind of question to Python: the section of its records, and their words
    layout.ASKED_PROBE: (layout.N_PROBES, layout.PROBE_WIDTH),
    layout.ASKED_EDGE: (layout.N_EDGES, layout.EDGE_WIDTH),
    layout.ASKED_STEP: (layout.N_STEPS, layout.STEP_WIDTH),
}


class LiveRowsAtBound(Exception):
    """The bound on live rows is met."""

    def __init__(self, poured: int) -> None:
        super().__init__(f"{poured} rows poured")
        self.poured = poured  # rows of the batch that went in before


class EndlessRules(Exception):
    """Rules have built more at one instant than they may."""


class _Pause(NamedTuple):
    """Where the kernel has paused."""

    said: int  # why
    row: int  # the first row that is not poured
    out: np.ndarray  # output rows
    values: Values  # the values of terms, those of terms that rules have made included


@dataclass
class Runtime(NetworkMemories):
    """The arrays of a running network, and the kernel that runs on them."""

    memo: np.ndarray  # uint8[filter, TermId]: Python's verdicts of filters on one variable
    _cells: np.ndarray = field(init=False)  # where the arrays are, for the kernel
    _address: int = field(init=False)  # of the cells
    # the arrays whose addresses the cells have
    _connected: tuple[State, Values, np.ndarray] | None = field(init=False, default=None)
    _progress: memoryview = field(init=False)  # state.progress, of which single words are read and written faster
    nothing: np.ndarray = field(init=False)  # no output rows
    _outs: Pool = field(init=False)  # arrays for output rows
    _no_rows: np.ndarray = field(init=False)
    _kernel: Callable[[int, np.ndarray], int] = field(init=False)  # the kernel that runs such a network
    # says whether a filter is true that the kernel has to know and cannot decide: is it an edge's or a probe's, the
    # number of that, the tuple
    ask: Callable[[int, int, np.ndarray], bool] = field(init=False)
    # makes input rows of the triples that rules build, where the kernel cannot; and returns the values of terms then
    build: Callable[[np.ndarray], tuple[np.ndarray, Values]] = field(init=False)
    _built: int = field(init=False, default=0)  # output rows at hand that have been looked through for this

    def __post_init__(self) -> None:
        super().__post_init__()
        net = self.state.net
        self._cells = np.zeros(CELLS, dtype=np.int64)
        self._address, self._progress = address_of(self._cells), self.state.progress.data
        self._kernel = run_looking if net[layout.N_LOOKS] else run
        self.nothing = np.empty((0, int(net[layout.N_OUT_WIDTH])), dtype=np.int64)
        self._outs = Pool(self.state.out.shape)
        self._no_rows = np.empty((0, ROW_WIDTH), dtype=np.int64)
        self._finished = FinishedRuns(self.network)
        self._ahead: np.ndarray | None = None  # the feed as the last call has left it, if that looked ahead

    def pour(self, rows: np.ndarray, values: Values) -> Iterator[np.ndarray]:
        """Pour input rows in time order; yield what matches, batch by batch, as arrays of output rows.

        Items that are intervals need a network that is made for them.
        """
        yield from self._run(rows, 0, values)

    def pour_some(self, rows: np.ndarray, values: Values) -> tuple[np.ndarray, int, int]:
        """Pour input rows until there is output enough: the output, how many went in, and what stops it.

        That is DONE, OUTPUT_FULL, AT_LIMIT (the bound on live rows), INTERVAL (an item that only a network for
        intervals can take) or NEEDS_ARENA (no network can hold more).
        """
        said, poured, out, _ = self._go_on(rows, 0, 0, values)
        return out, poured, said

    def pour_facts(self, facts: np.ndarray, values: Values) -> Iterator[np.ndarray]:
        """Pour facts: what static data or another network's memories give to the α tests."""
        if len(facts):
            yield from self._run(facts.reshape(-1, FACT_WIDTH), 1, values)

    def pour_static_tuple(self, alpha: int, columns: tuple[int, ...], values: Values) -> Iterator[np.ndarray]:
        """Send one row of inline data along the edges of its record."""
        net, stack = self.state.net, self.state.stack
        record = net[layout.N_ALPHAS] + alpha * layout.ALPHA_WIDTH
        stack[: layout.T_COLUMNS] = [
            net[record + layout.ALPHA_EDGES], net[record + layout.ALPHA_EDGE_COUNT],
            STATIC_END, STATIC_START, STATIC_START,
        ]  # fmt: skip
        stack[layout.T_COLUMNS : layout.T_COLUMNS + len(columns)] = columns
        self.state.progress[P_TOP] = net[layout.N_STRIDE]
        yield from self._run(np.empty((0, FACT_WIDTH), dtype=np.int64), 1, values)

    def static_facts(self, rows: np.ndarray, values: Values) -> np.ndarray:
        """Return the facts that static rows give; `distinct_facts` tells them apart."""
        net, flat = self.state.net, np.ascontiguousarray(rows).reshape(-1)
        of_edges = alpha_of_edges(net, len(self.network.alphas))
        facts: np.ndarray = static_facts(net, flat, values.kind, self.state.stack, of_edges)
        return facts

    def _run(self, rows: np.ndarray, facts: int, values: Values) -> Iterator[np.ndarray]:
        row, said = 0, layout.OUTPUT_FULL
        while said != layout.DONE:
            said, row, out, values = self._go_on(rows, facts, row, values)
            if len(out):
                yield out
            if said == layout.AT_LIMIT:
                raise LiveRowsAtBound(row)
            if said == layout.INTERVAL:
                raise ValueError("an item is an interval, and the network is made for instants alone")
            if said == layout.NEEDS_ARENA:
                raise self.full()
            if said == layout.ENDLESS:
                raise EndlessRules(self.options.max_derivations)

    def _go_on(self, rows: np.ndarray, facts: int, row: int, values: Values) -> _Pause:
        """Run the kernel from a row on until it pauses."""
        self._ahead = None
        if self._finished.slots and self._finished.is_due(self):
            self._finished.collect(self)
        self._connect_anew(values)
        word = self._progress
        word[P_ROW], word[P_LAST_ROW], word[P_FACTS], word[P_COUNT], word[P_ROWS], word[P_MOST] = (
            row,
            len(rows),
            facts,
            0,
            0,
            1 << 62 if self.network.settles else MOST_OUTPUT,  # a choice needs all candidates
        )
        if not rows.flags.c_contiguous:
            rows = np.ascontiguousarray(rows)
        self._built = 0
        while True:
            said = self._kernel(self._address, rows)
            if said == layout.NEEDS_VERDICT:
                word[P_VERDICT] = TRUE if self._asked() else FALSE
            elif said == layout.NEEDS_BUILT:
                values = self._feed(values)
            elif said == layout.NEEDS_CLEARING:
                self.clear()
            elif not self._goes_on(said):
                break
            self._connect_anew(values)
        values = self._feed(values)
        count = word[P_COUNT]
        out = self._taken(count) if count else self.nothing
        return _Pause(said, word[P_ROW], out, values)

    def _goes_on(self, said: int) -> bool:
        """Tell whether there is room now for what there was none: a larger array, or what was used up is collected."""
        if said == layout.AT_LIMIT:
            return self.clear() + self._finished.collect(self) > 0
        return layout.NEEDS_ARENA <= said < layout.ENDLESS and self.make_room(said)

    def _asked(self) -> bool:
        """Ask about the tuple, or the tuple and the row beside it, on which a filter must be decided."""
        net, word, stride = self.state.net, self._progress, int(self.state.net[layout.N_STRIDE])
        kind = layout.ASKED_PROBE if word[P_ASKED_ROW] else layout.ASKED_EDGE
        kind = layout.ASKED_STEP if word[P_STEPPING] else kind
        section, width = _ASKED[kind]
        begin = word[P_STEP_TOP] + stride if word[P_STEPPING] else word[P_TOP] + (-stride if kind else stride)
        number = (word[P_ASKED] - int(net[section])) // width
        return self.ask(kind, number, self.state.stack[begin : begin + stride])

    def _feed(self, values: Values) -> Values:
        """Let Python build what rules feed of the output rows at hand; return the values of all terms then."""
        word, width = self._progress, self.nothing.shape[1]
        if not word[P_BUILDING]:
            return values
        rows = self.state.out[self._built * width : word[P_COUNT] * width].reshape(-1, width)
        word[P_BUILDING], self._built = 0, word[P_COUNT]
        built, values = self.build(rows)
        feed = put_built(self.state.feed, built)
        if feed is not self.state.feed:
            self.state = self.state._replace(feed=feed)
        if word[P_MARKED]:
            mark_instant(self.state.feed, self._marks)
        return values

    def recalled(self, memo: int, term: int) -> int:
        """Return the verdict that a row of the memo remembers of a term, UNDECIDED if there is none."""
        return int(self.memo[memo, term]) if 0 < term < self.memo.shape[1] else UNDECIDED

    def remember(self, memo: int, term: int, verdict: int) -> None:
        """Enter a verdict on a term in a row of the memo: the kernel knows it from there on."""
        if term >= self.memo.shape[1]:
            wider = np.zeros((len(self.memo), max(2 * self.memo.shape[1], term + 1)), dtype=np.uint8)
            wider[:, : self.memo.shape[1]] = self.memo
            self.memo = wider
        self.memo[memo, term] = verdict

    def advance(self, until: int, values: Values) -> Iterator[np.ndarray]:
        """Decide what is due before a time: nothing that ends before it comes any more; yield what matches."""
        self._progress[P_UNTIL] = until
        try:
            yield from self._run(self._no_rows, 0, values)
        finally:
            self._progress[P_UNTIL] = BEFORE_ALL
        self.arena[layout.A_NOW] = max(int(self.arena[layout.A_NOW]), min(until, LATEST + 1) - 1)

    @property
    def due(self) -> int:
        """The earliest time at which something that waits is decided, or comes in; AFTER_ALL: nothing waits."""
        return int(min(self.arena[layout.A_DUE], self.state.feed[layout.F_DUE]))

    @property
    def undecided(self) -> int:
        """How many tuples wait at probes for their decisions."""
        states = map(self.probe_state, range(len(self.network.probes)))
        return sum(int(self.arena[state + layout.W_COUNT]) for state in states)

    def catch_up(self, now: int, values: Values) -> Iterator[np.ndarray]:
        """Decide on the facts poured what was due before a time; yield what matches.  Rules build nothing of it."""
        self._progress[P_UNTIL] = now
        try:
            yield from self._run(np.empty((0, FACT_WIDTH), dtype=np.int64), 1, values)
        finally:
            self._progress[P_UNTIL] = BEFORE_ALL

    def foretell(self, values: Values) -> Iterator[np.ndarray]:
        """Yield what would match if nothing more came; all goes on as if nobody had asked."""
        arena, feed = self.state.arena, self.state.feed
        if self.due == AFTER_ALL:
            return
        copied = grown(arena[: arena[layout.A_TOP]], len(arena))
        self.state = self.state._replace(arena=copied, feed=feed.copy())
        try:
            yield from self.advance(AFTER_ALL, values)
        finally:
            self._ahead, self.state = self.state.feed, self.state._replace(arena=arena, feed=feed)

    @property
    def counted(self) -> np.ndarray:
        """The feed that has the counts of rules; after a flush, those that they have in it, too."""
        return self.state.feed if self._ahead is None else self._ahead

    def _taken(self, count: int) -> np.ndarray:
        """Return the output rows: few are copied, many are handed on as they are, in an array that comes back."""
        out, width = self.state.out, self.nothing.shape[1]
        rows = out[: count * width].reshape(count, width)
        if count < FEW:
            return rows.copy()
        if self._outs.shape != out.shape:
            self._outs = Pool(out.shape)
        self.state = self.state._replace(out=self._outs.take())
        return rows

    def _connect_anew(self, values: Values) -> None:
        """Tell the kernel where the arrays are, if any is another one than at the last time."""
        known = self._connected
        if known is None or known[0] is not self.state or known[1] is not values or known[2] is not self.memo:
            self._connect(values)

    def _connect(self, values: Values) -> None:
        connect(self._cells, self.state, values, self.memo)
        self._connected = self.state, values, self.memo
