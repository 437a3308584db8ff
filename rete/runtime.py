"""A network that runs: its arrays, poured into batch by batch.

Data's way: rows -> **runtime** (kernel) -> output rows.  It knows nothing of queries' texts, terms' texts or time
other than as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from retewave.errors import LimitError
from retewave.rete.dispatch import alpha_of_edges
from retewave.rete.facts import FACT_WIDTH, slot_places, slot_rows, static_facts
from retewave.rete.feed import feed_counts, instant_rows, larger_feed, new_feed, put_built, put_feed_counts, put_instant
from retewave.rete.filters.codes import FALSE, TRUE, UNDECIDED
from retewave.rete.kernel import run, run_looking
from retewave.rete.memory.carry import ROW_TIMES, empty_slot, put_rows
from retewave.rete.memory.collect import collect_now
from retewave.rete.memory.due import WAITING_TIMES, put_waiting, waiting_rows
from retewave.rete.network.assemble import assemble, new_arena
from retewave.rete.network.records import Network
from retewave.rete.state import CELLS, State, connect, new_state
from retewave.rete.terms.kinds import Values
from retewave.rete.terms.marks import mark_all_waiting, mark_instant, mark_terms, new_cursor
from retewave.rete.words import layout
from retewave.rete.words.bytes import address_of
from retewave.rete.words.pages import Pool, extended, grown
from retewave.rete.words.progress import (
    P_ASKED,
    P_ASKED_ROW,
    P_BUILDING,
    P_COUNT,
    P_FACTS,
    P_LAST_ROW,
    P_MARKED,
    P_MARKS,
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

__all__ = ["EndlessRules", "LiveRowsAtBound", "Options", "Runtime"]

MOST_OUTPUT = 1 << 14  # output rows after which the kernel pauses between two input rows
FEW = 1 << 10  # output rows; fewer are copied
FIRST_GROWTH = 1 << 22  # words that an arena has at least once it has outgrown its first size


_ASKED = {  # where the records are of what Python is asked for, and their words
    layout.ASKED_PROBE: (layout.N_PROBES, layout.PROBE_WIDTH),
    layout.ASKED_EDGE: (layout.N_EDGES, layout.EDGE_WIDTH),
    layout.ASKED_STEP: (layout.N_STEPS, layout.STEP_WIDTH),
}


@dataclass(frozen=True)
class Options:
    """What a user may choose of a running network."""

    seed: int  # of the hash tables
    max_live_rows: int = 0  # bound on streamed rows that are stored; 0 for none
    shed: bool = False  # at the bound: drop the oldest rows, counted, instead of stopping
    stats: bool = False  # keep counters by memory and edge
    max_derivations: int = 1_000_000  # occurrences that rules may build at one instant
    max_runs: int = 0  # bound on the runs of sequences; 0 for none


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
class Runtime:
    """The arrays of a running network."""

    network: Network  # the records it was made from
    options: Options  # what the user chose
    depth: int  # stack that the deepest filter program needs
    memo: np.ndarray  # uint8[filter, TermId]: what Python said of filters on one variable
    state: State = field(init=False)  # net, arena and what the kernel works with
    _cells: np.ndarray = field(init=False)  # where the arrays are, for the kernel
    _address: int = field(init=False)  # of the cells
    # what the cells have the addresses of
    _connected: tuple[State, Values, np.ndarray] | None = field(init=False, default=None)
    _progress: memoryview = field(init=False)  # state.progress, of which single words are read and written faster
    nothing: np.ndarray = field(init=False)  # no output rows
    _marks: np.ndarray = field(init=False)  # of terms, while they are being marked
    _cursor: np.ndarray = field(init=False)  # how far that is
    _outs: Pool = field(init=False)  # arrays for output rows
    _no_rows: np.ndarray = field(init=False)
    _kernel: Callable[[int, np.ndarray], int] = field(init=False)  # what runs such a network
    # says whether a filter is true that the kernel has to know and cannot decide: is it an edge's or a probe's, the
    # number of that, the tuple
    ask: Callable[[int, int, np.ndarray], bool] = field(init=False)
    # makes input rows of what rules build of output rows, where the kernel cannot; and the values of terms then
    build: Callable[[np.ndarray], tuple[np.ndarray, Values]] = field(init=False)
    _built: int = field(init=False, default=0)  # output rows at hand that have been looked through for this

    def __post_init__(self) -> None:
        net = assemble(self.network, self.options.seed, counting=self.options.stats)
        arena = new_arena(self.network, net)
        arena[layout.A_LIMIT], arena[layout.A_SHEDDING] = self.options.max_live_rows, self.options.shed
        arena[layout.A_COUNTING], arena[layout.A_MOST_RUNS] = self.options.stats, self.options.max_runs
        self.state = new_state(net, arena, self.depth, self.options.max_derivations)
        self._cells = np.zeros(CELLS, dtype=np.int64)
        self._address, self._progress = address_of(self._cells), self.state.progress.data
        self._kernel = run_looking if net[layout.N_LOOKS] else run
        self.nothing = np.empty((0, int(net[layout.N_OUT_WIDTH])), dtype=np.int64)
        self._outs = Pool(self.state.out.shape)
        self._no_rows = np.empty((0, ROW_WIDTH), dtype=np.int64)
        self._ahead: np.ndarray | None = None  # the feed as the last call has left it, if that looked ahead

    @property
    def arena(self) -> np.ndarray:
        """The network's memories."""
        return self.state.arena

    @property
    def net(self) -> np.ndarray:
        """The network's records as words."""
        return self.state.net

    @property
    def has_ends(self) -> bool:
        """Whether its rows have ends of their own: some may be no instants."""
        return bool(self.state.net[layout.N_TIMES] > 1)

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
        self._connect_anew(values)
        word = self._progress
        word[P_ROW], word[P_LAST_ROW], word[P_FACTS], word[P_COUNT], word[P_ROWS], word[P_MOST] = (
            row,
            len(rows),
            facts,
            0,
            0,
            1 << 62 if self.network.settles else MOST_OUTPUT,  # what is chosen among is whole
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
            return self.clear() > 0
        return layout.NEEDS_ARENA <= said < layout.ENDLESS and self._make_room(said)

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
        states = map(self._probe_state, range(len(self.network.probes)))
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

    def _make_room(self, said: int) -> bool:
        """Make the array that is too small larger, if it may grow.

        The arena grows in leaps, since what is not used of it takes no memory, and where it is, if it can.
        """
        state = self.state
        if said == layout.NEEDS_STACK:
            self.state = state._replace(stack=grown(state.stack, 2 * len(state.stack)))
        elif said == layout.NEEDS_OUT:
            self.state = state._replace(out=grown(state.out, 2 * len(state.out)))
        elif said == layout.NEEDS_FEED:
            self.state = state._replace(feed=larger_feed(state.feed))
        elif len(state.arena) < state.arena[layout.A_MOST_WORDS]:
            words = min(max(4 * len(state.arena), FIRST_GROWTH), int(state.arena[layout.A_MOST_WORDS]))
            self.state = state._replace(arena=extended(state.arena, words))
        else:
            return False
        return True

    def full(self) -> LimitError:
        """Return the error that the arena cannot grow."""
        return LimitError(
            f"the memories fill {int(self.arena[layout.A_MOST_WORDS]) >> 27} GiB, the most that one network can hold",
            hint="narrow the windows, bound them with max_live_rows, or split the queries over several engines",
        )

    def put_arena(self, arena: np.ndarray) -> None:
        """Take over the memories of a network of the same meaning."""
        roomy = grown(arena, max(len(self.state.arena), 2 * len(arena)))
        for word in (layout.A_LIMIT, layout.A_SHEDDING, layout.A_COUNTING, layout.A_MOST_RUNS):
            roomy[word] = self.state.arena[word]
        self.state = self.state._replace(arena=roomy)

    def bound(self, rows: int, runs: int) -> None:
        """Bound the live rows and the runs from now on; 0 for no bound."""
        self.arena[layout.A_LIMIT], self.arena[layout.A_MOST_RUNS] = rows, runs

    def collect(self) -> None:
        """Drop every row that is due."""
        collect_now(self.state.arena, self.state.net)

    def begin_marking(self, marks: np.ndarray) -> None:
        """Begin to mark the terms that streamed rows hold; rows that come from now on mark theirs."""
        self._marks, self._cursor = marks, new_cursor()
        self._progress[P_MARKS], self._progress[P_MARKED] = address_of(marks), len(marks)
        mark_all_waiting(self.state.net, self.state.arena, marks)
        mark_instant(self.state.feed, marks)

    def mark_some(self, most: int) -> int:
        """Mark the terms of at most `most` of the rows that were there at first; return what is left of `most`."""
        slots = len(self.network.slots)
        return int(mark_terms(self.state.net, self.state.arena, slots, self._marks, self._cursor, most))

    def end_marking(self) -> None:
        """Let rows come without marking their terms."""
        self._progress[P_MARKED] = 0

    def go_on_from(self, now: int) -> None:
        """Let the clock be no earlier than a time."""
        self.arena[layout.A_NOW] = max(int(self.arena[layout.A_NOW]), now)

    def look_from(self, probe: int, start: int, end: int) -> None:
        """Let a probe know only what starts, or ends, at a time or later: other absence is not decided."""
        state = self._probe_state(probe)
        self.arena[state + layout.W_SINCE], self.arena[state + layout.W_SINCE_END] = start, end

    def _probe_state(self, probe: int) -> int:
        net = self.state.net
        return int(net[net[layout.N_PROBES] + probe * layout.PROBE_WIDTH + layout.PROBE_STATE])

    def waiting_of(self, probe: int) -> tuple[tuple[int, int], np.ndarray]:
        """Return what a probe knows, as `look_from` takes it, and the tuples that wait at it: `rete/memory/due.py`."""
        net, arena = self.state.net, self.state.arena
        place = int(net[layout.N_PROBES]) + probe * layout.PROBE_WIDTH
        rows: np.ndarray = waiting_rows(net, arena, place)
        state = self._probe_state(probe)
        return (int(arena[state + layout.W_SINCE]), int(arena[state + layout.W_SINCE_END])), rows

    def put_waiting(self, probe: int, since: tuple[int, int], rows: np.ndarray) -> None:
        """Let a probe know from then on what it looks at, and such tuples wait at it, and no others."""
        while int(self.arena[layout.A_TOP]) + (len(rows) + 1) * (rows.shape[1] + layout.B_COLUMNS) > len(self.arena):
            if not self._make_room(layout.NEEDS_ARENA):
                raise self.full()
        place = int(self.state.net[layout.N_PROBES]) + probe * layout.PROBE_WIDTH
        put_waiting(self.state.net, self.state.arena, place, np.ascontiguousarray(rows))
        self.look_from(probe, *since)

    def clear(self) -> int:
        """Collect the rows and waiting tuples that hold events which are used up, and these; return how many."""
        now, before = int(self.arena[layout.A_NOW]), int(self.arena[layout.A_LIVE])
        for node in sorted({each.spent for each in self.network.nodes if each.spent >= 0}):
            (slot,) = self.network.nodes[node].slots
            marks = self.rows_of(slot)
            over = marks[:, 1] < now
            self._clear(node, marks[over, ROW_TIMES])
            self.put_rows(slot, marks[~over])
        self.arena[layout.A_SPENT] = 0
        return before - int(self.arena[layout.A_LIVE])

    def _clear(self, node: int, events: np.ndarray) -> None:
        """Collect what holds some events, of the nodes for which another one says what is used up."""
        for number, slot in enumerate(self.network.slots):
            if self.network.nodes[slot.node].spent == node and slot.events:
                rows, keys = self.rows_of(number), self.network.nodes[slot.node].keys
                kept = ~np.isin(rows[:, [ROW_TIMES + keys + column for column in slot.events]], events).any(axis=1)
                if not kept.all():
                    self.put_rows(number, rows[kept])
                    self.arena[layout.A_COLLECTED] += int(np.count_nonzero(~kept))
        for number, probe in enumerate(self.network.probes):
            if self.network.nodes[self.network.slots[probe.slot].node].spent == node and probe.events:
                since, rows = self.waiting_of(number)
                kept = ~np.isin(rows[:, [WAITING_TIMES + column for column in probe.events]], events).any(axis=1)
                if not kept.all():
                    self.put_waiting(number, since, rows[kept])

    @property
    def instant(self) -> tuple[np.ndarray, np.ndarray]:
        """What was given and built at the instant, in a network with rules, and its counts: `rete/feed.py`."""
        return instant_rows(self.state.feed), feed_counts(self.state.feed)

    @property
    def yet_to_come(self) -> np.ndarray:
        """What rules have built at the instant and has not come in, as input rows."""
        rows = instant_rows(self.state.feed)
        return rows[rows[:, layout.OCCURRENCE_WAITS] != 0, :ROW_WIDTH]

    def put_instant(self, rows: np.ndarray, counts: np.ndarray) -> None:
        """Let this have been given and built at the instant, and nothing else."""
        self.state = self.state._replace(feed=put_instant(new_feed(self.options.max_derivations), rows))
        put_feed_counts(self.state.feed, counts)

    def give_up_instant(self) -> None:
        """Let what rules have built at the instant, and what has not come in, be gone."""
        rows, counts = self.instant
        self.put_instant(rows[:0], np.concatenate([[0], counts[1:]]))

    def put_rows(self, slot: int, rows: np.ndarray) -> None:
        """Let a slot have these streamed rows, and no others: as `rows_of` returns them."""
        net, put = self.state.net, 0
        place = int(net[layout.N_SLOTS]) + slot * layout.SLOT_WIDTH
        number = next(i for i, edge in enumerate(self.network.edges()) if self.network.slot_of(edge) == slot)
        edge = int(net[layout.N_EDGES]) + number * layout.EDGE_WIDTH
        empty_slot(net, self.state.arena, place)
        rows = np.ascontiguousarray(rows)
        while (put := put_rows(net, self.state.arena, place, edge, rows, put)) < len(rows):
            if not self._make_room(layout.NEEDS_ARENA):
                raise self.full()

    def run_of(self, row: int, state: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the parts of a run from its last row on: the number of the state, and the columns there."""
        net, arena = self.state.net, self.state.arena
        own = 1 + int(net[layout.N_TIMES])
        while row:
            record = self.network.states[state]
            columns: list[int] = arena[row + own : row + own + record.columns].tolist()
            yield state, columns
            link = columns[record.link] if record.link >= 0 else 0
            row, state = link & (1 << layout.LINK_STATE) - 1, link >> layout.LINK_STATE

    def links_to(self, state: int) -> np.ndarray:
        """Return the links to the runs of a state, in the order of its rows."""
        places: np.ndarray = slot_places(self.state.net, self.state.arena, self.network.states[state].slot)
        return places | state << layout.LINK_STATE

    def put_links(self, state: int, links: np.ndarray) -> None:
        """Let the runs of a state have these links to the runs before them, row by row."""
        record = self.network.states[state]
        places: np.ndarray = slot_places(self.state.net, self.state.arena, record.slot)
        self.state.arena[places + 1 + int(self.state.net[layout.N_TIMES]) + record.link] = links

    def rows_of(self, slot: int) -> np.ndarray:
        """Return the streamed rows of a slot: end, window start, start, the key's columns, the row's."""
        record = self.network.slots[slot]
        keys = self.network.nodes[record.node].keys
        rows: np.ndarray = slot_rows(self.state.net, self.state.arena, slot, keys, record.columns)
        return rows
