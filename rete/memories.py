"""What the memories of a network hold: taken out, put back, bounded and collected.

Data's way: records -> arrays -> **rows, waiting tuples, runs, an instant** -> another network, a snapshot, an answer.
The kernel runs in `retewave.rete.runtime`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from retewave.errors import LimitError
from retewave.rete.facts import slot_places, slot_rows
from retewave.rete.feed import feed_counts, instant_rows, larger_feed, new_feed, put_feed_counts, put_instant
from retewave.rete.memory.carry import ROW_TIMES, empty_slot, put_rows
from retewave.rete.memory.collect import collect_now
from retewave.rete.memory.due import WAITING_TIMES, put_waiting, waiting_rows
from retewave.rete.network.assemble import assemble
from retewave.rete.network.empty import new_arena
from retewave.rete.network.records import Network
from retewave.rete.state import State, new_state
from retewave.rete.terms.marks import mark_all_waiting, mark_instant, mark_terms, new_cursor
from retewave.rete.words import layout
from retewave.rete.words.bytes import address_of
from retewave.rete.words.pages import extended, grown
from retewave.rete.words.progress import P_MARKED, P_MARKS
from retewave.rete.words.rows import ROW_WIDTH

__all__ = ["NetworkMemories", "Options"]

FIRST_GROWTH = 1 << 22  # words that an arena has at least once it has outgrown its first size


@dataclass(frozen=True)
class Options:
    """What a user may choose of a running network."""

    seed: int  # of the hash tables
    max_live_rows: int = 0  # bound on streamed rows that are stored; 0 for none
    shed: bool = False  # at the bound: drop the oldest rows, counted, instead of stopping
    stats: bool = False  # keep counters by memory and edge
    max_derivations: int = 1_000_000  # occurrences that rules may build at one instant
    max_runs: int = 0  # bound on the runs of sequences; 0 for none


@dataclass
class NetworkMemories:
    """The arrays of a network."""

    network: Network  # the records they were made from
    options: Options  # the user's choices
    depth: int  # stack that the deepest filter program needs
    state: State = field(init=False)  # net, arena and the kernel's working arrays
    _marks: np.ndarray = field(init=False)  # of terms, while they are being marked
    _cursor: np.ndarray = field(init=False)  # how far that is

    def __post_init__(self) -> None:
        net = assemble(self.network, self.options.seed, counting=self.options.stats)
        arena = new_arena(self.network, net)
        arena[layout.A_LIMIT], arena[layout.A_SHEDDING] = self.options.max_live_rows, self.options.shed
        arena[layout.A_COUNTING], arena[layout.A_MOST_RUNS] = self.options.stats, self.options.max_runs
        self.state = new_state(net, arena, self.depth, self.options.max_derivations)

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

    def make_room(self, said: int) -> bool:
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

    def go_on_from(self, now: int) -> None:
        """Let the clock be no earlier than a time."""
        self.arena[layout.A_NOW] = max(int(self.arena[layout.A_NOW]), now)

    def collect(self) -> None:
        """Drop every row that is due."""
        collect_now(self.state.arena, self.state.net)

    def begin_marking(self, marks: np.ndarray) -> None:
        """Begin to mark the terms that streamed rows hold; rows that come from now on mark theirs."""
        self._marks, self._cursor = marks, new_cursor()
        self.state.progress[P_MARKS], self.state.progress[P_MARKED] = address_of(marks), len(marks)
        mark_all_waiting(self.state.net, self.state.arena, marks)
        mark_instant(self.state.feed, marks)

    def mark_some(self, most: int) -> int:
        """Mark the terms of at most `most` of the rows that were there at first; return what is left of `most`."""
        slots = len(self.network.slots)
        return int(mark_terms(self.state.net, self.state.arena, slots, self._marks, self._cursor, most))

    def end_marking(self) -> None:
        """Let rows come without marking their terms."""
        self.state.progress[P_MARKED] = 0

    def rows_of(self, slot: int) -> np.ndarray:
        """Return the streamed rows of a slot: end, window start, start, the key's columns, the row's."""
        record = self.network.slots[slot]
        keys = self.network.nodes[record.node].keys
        rows: np.ndarray = slot_rows(self.state.net, self.state.arena, slot, keys, record.columns)
        return rows

    def put_rows(self, slot: int, rows: np.ndarray) -> None:
        """Let a slot have these streamed rows, and no others: as `rows_of` returns them."""
        net, put = self.state.net, 0
        place = int(net[layout.N_SLOTS]) + slot * layout.SLOT_WIDTH
        number = next(i for i, edge in enumerate(self.network.edges()) if self.network.slot_of(edge) == slot)
        edge = int(net[layout.N_EDGES]) + number * layout.EDGE_WIDTH
        empty_slot(net, self.state.arena, place)
        rows = np.ascontiguousarray(rows)
        while (put := put_rows(net, self.state.arena, place, edge, rows, put)) < len(rows):
            if not self.make_room(layout.NEEDS_ARENA):
                raise self.full()
        if len(rows):
            self._keep_no_more(place, int(rows[:, 0].max()))

    def _keep_no_more(self, place: int, end: int) -> None:
        """Let a state of solutions, by its slot's place, keep none of an instant aside: those there are in its rows."""
        net, arena = self.state.net, self.state.arena
        first = int(net[layout.N_KEPT])
        for state in net[first : first + int(net[layout.N_KEPT_COUNT])]:
            if net[state + layout.STATE_SLOT] == place:
                kept = net[state + layout.STATE_KEPT]
                arena[kept + layout.T_EDGES], arena[kept + layout.T_END] = 0, end

    def look_from(self, probe: int, start: int, end: int) -> None:
        """Let a probe know only what starts, or ends, at a time or later: other absence is not decided."""
        state = self.probe_state(probe)
        self.arena[state + layout.W_SINCE], self.arena[state + layout.W_SINCE_END] = start, end

    def waiting_of(self, probe: int) -> tuple[tuple[int, int], np.ndarray]:
        """Return what a probe knows, as `look_from` takes it, and the tuples that wait at it: `rete/memory/due.py`."""
        net, arena = self.state.net, self.state.arena
        place = int(net[layout.N_PROBES]) + probe * layout.PROBE_WIDTH
        rows: np.ndarray = waiting_rows(net, arena, place)
        state = self.probe_state(probe)
        return (int(arena[state + layout.W_SINCE]), int(arena[state + layout.W_SINCE_END])), rows

    def put_waiting(self, probe: int, since: tuple[int, int], rows: np.ndarray) -> None:
        """Let a probe know from then on what it looks at, and such tuples wait at it, and no others."""
        while int(self.arena[layout.A_TOP]) + (len(rows) + 1) * (rows.shape[1] + layout.B_COLUMNS) > len(self.arena):
            if not self.make_room(layout.NEEDS_ARENA):
                raise self.full()
        place = int(self.state.net[layout.N_PROBES]) + probe * layout.PROBE_WIDTH
        put_waiting(self.state.net, self.state.arena, place, np.ascontiguousarray(rows))
        self.look_from(probe, *since)

    def probe_state(self, probe: int) -> int:
        """Return where the arena has a probe's state."""
        net = self.state.net
        return int(net[net[layout.N_PROBES] + probe * layout.PROBE_WIDTH + layout.PROBE_STATE])

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
