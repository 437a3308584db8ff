"""The one int64 array of a network while it is laid out: where sections, records and lists are.

Data's way: records -> **sections of words** -> the network's array.
A wire that does not fit is an error here, where it is laid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from retewave.rete.network.gathering import aside_words, columns_aside, gathers, keeps_aside
from retewave.rete.network.records import TUPLE_TIMES, Edge, Network, Probe, Relation, Slot, State
from retewave.rete.network.stars import star_of
from retewave.rete.words import layout

__all__ = ["Laying", "enter", "first_room", "open_size", "slot_state", "stream_width"]


class Laying:
    """A network's array while it is laid out: sections one after the other, their places in the header, then all lists.

    The sections' sizes are known before their records are made, so a record can say where another one will be.
    """

    def __init__(self, network: Network, seed: int, counting: bool) -> None:
        self.network, self.counting = network, counting
        self.seed = np.int64(seed)
        self.times = network.times
        self.predicates = sorted({*network.known, *(p for _, p, _ in network.keys if p)})
        self.header = [0] * layout.N_HEADER
        self.records: list[int] = []  # of all sections that are made
        self.lists: list[int] = []  # columns, relations and programs
        self.known_lists: dict[tuple[int, ...], int] = {}  # where each of them begins
        self.wide = layout.T_COLUMNS + network.widest
        self.room = first_room(len(network.slots), len(network.nodes), len(network.edges()))  # the next state's place
        self.aside: dict[int, int] = {}  # of each node that gathers, the place in the arena of what is aside
        for number, node in enumerate(network.nodes):
            if not counting and gathers(network, node):  # a network that counts gathers nothing
                self.aside[number] = self.take(aside_words(node))
        found = {number: star_of(network, network.nodes[number]) for number in self.aside}
        self.stars = {number: star for number, star in found.items() if star is not None}  # of those that take any
        self.kept: dict[int, int] = {}  # of each state that keeps solutions aside, the place in the arena
        for number in range(0 if counting else len(network.states)):
            if keeps_aside(network, number):
                self.kept[number] = self.take(layout.T_COLUMNS + columns_aside(network, number))
        begin = layout.N_HEADER
        for section, words in self._sizes().items():
            self.header[section] = begin
            begin += words

    def _sizes(self) -> dict[int, int]:
        """Return the words of each section, in their order."""
        network = self.network
        shaped = sum(1 for s, _, o in network.keys if s or o)
        keyed = sum(len({i.parameters for i in t.instances}) for t in network.terminals if t.parameters)
        return {
            layout.N_PREDICATES: open_size(len(self.predicates)) * layout.PREDICATE_WIDTH,
            layout.N_UNKNOWN: layout.PREDICATE_WIDTH,
            layout.N_KEYS: open_size(shaped) * layout.KEY_WIDTH,
            layout.N_ROUTES: sum(map(len, network.keys.values())) * layout.ROUTE_WIDTH,
            layout.N_ALPHAS: len(network.alphas) * layout.ALPHA_WIDTH,
            layout.N_EDGES: len(network.edges()) * layout.EDGE_WIDTH,
            layout.N_SLOTS: len(network.slots) * layout.SLOT_WIDTH,
            layout.N_NODES: len(network.nodes) * layout.NODE_WIDTH,
            layout.N_PROBES: len(network.probes) * layout.PROBE_WIDTH,
            layout.N_STATES: len(network.states) * layout.STATE_WIDTH,
            layout.N_STEPS: len(network.steps) * layout.STEP_WIDTH,
            layout.N_TERMINALS: len(network.terminals) * layout.TERMINAL_WIDTH,
            layout.N_INSTANCES: sum(len(terminal.instances) for terminal in network.terminals) * layout.INSTANCE_WIDTH,
            layout.N_INSTANCE_KEYS: open_size(keyed) * layout.INSTANCE_KEY_WIDTH,
            layout.N_STREAMS: len(network.streams) * stream_width(network),
            layout.N_LISTS: 0,
        }

    def take(self, words: int) -> int:
        """Take words of the arena that are behind all states of slots; return where they begin."""
        begin = self.room
        self.room += words
        return begin

    def widen(self, columns: int) -> None:
        """Make the stack's tuples wide enough for some columns."""
        self.wide = max(self.wide, layout.T_COLUMNS + columns)

    def put(self, section: int, words: list[int]) -> None:
        """Add a section; it has to come where its place was said to be."""
        if self.header[section] != layout.N_HEADER + len(self.records):
            raise AssertionError(f"section {section} is not where it was planned")
        self.records += words

    def place_of(self, section: int, number: int, width: int) -> int:
        """Return where a record is."""
        return self.header[section] + number * width

    def listed(self, words: tuple[int, ...] | list[int]) -> int:
        """Add a list, unless there is an equal one; return where it begins."""
        known = self.known_lists.get(tuple(words))
        if known is None:
            known = self.known_lists[tuple(words)] = self.header[layout.N_LISTS] + len(self.lists)
            self.lists.extend(words)
        return known

    def listed_records(self, records: list[list[int]]) -> int:
        """Add some records, one behind the other; return where they begin."""
        return self.listed([word for record in records for word in record])

    def program(self, program: tuple[int, ...]) -> list[int]:
        """Add a filter's program; return where it begins and ends."""
        begin = self.listed(program)
        return [begin, begin + len(program)]

    def edges(self, edges: list[Edge], words: list[int]) -> tuple[int, int]:
        """Add the words of some edges; return where they begin, and how many edges there are."""
        begin = self.header[layout.N_EDGES] + len(words)
        for edge in edges:
            words += [self._kind(edge), self._target(edge), *self.program(edge.program)]
            payload = [TUPLE_TIMES.get(column, column) for column in edge.payload]
            words += [self.listed(edge.keys), self.listed(payload), len(payload)]
        return begin, len(edges)

    def _kind(self, edge: Edge) -> int:
        """Return an edge's kind: rows that have readings are stored in another way."""
        if edge.kind != layout.TO_SLOT or not 0 <= edge.target < len(self.network.slots):
            return edge.kind
        slot = self.network.slots[edge.target]
        if slot.node in self.aside:
            return layout.TO_GATHERED
        return layout.TO_COMPARED if self.network.nodes[slot.node].readings(slot.index) else layout.TO_SLOT

    def _target(self, edge: Edge) -> int:
        """Return where an edge leads; it must fit that."""
        network = self.network
        targets: dict[int, tuple[Sequence[object], int, int]] = {
            layout.TO_SLOT: (network.slots, layout.N_SLOTS, layout.SLOT_WIDTH),
            layout.TO_MEMORY: (network.slots, layout.N_SLOTS, layout.SLOT_WIDTH),
            layout.TO_PASSING: (network.slots, layout.N_SLOTS, layout.SLOT_WIDTH),
            layout.TO_INSTANT: (network.slots, layout.N_SLOTS, layout.SLOT_WIDTH),
            layout.TO_SPENT: (network.slots, layout.N_SLOTS, layout.SLOT_WIDTH),
            layout.TO_INSTANTS: (network.slots, layout.N_SLOTS, layout.SLOT_WIDTH),
            layout.TO_STATE: (network.states, layout.N_STATES, layout.STATE_WIDTH),
            layout.TO_STEP: (network.steps, layout.N_STEPS, layout.STEP_WIDTH),
            layout.TO_PROBE: (network.probes, layout.N_PROBES, layout.PROBE_WIDTH),
            layout.TO_TERMINAL: (network.terminals, layout.N_TERMINALS, layout.TERMINAL_WIDTH),
        }
        records, section, width = targets[edge.kind]
        if not 0 <= edge.target < len(records):
            raise IndexError(f"an edge leads to number {edge.target} of {len(records)} ({edge})")
        record = records[edge.target]
        if isinstance(record, Slot):
            if len(edge.payload) != record.columns or len(edge.keys) != network.nodes[record.node].keys:
                raise ValueError(f"{edge} does not fit {record}")
        elif isinstance(record, Probe | State) and len(edge.payload) != record.columns:
            raise ValueError(f"{edge} does not fit {record}")
        return self.place_of(section, edge.target, width)

    def relation(self, relation: Relation, word: Callable[[tuple[int, int]], int]) -> list[int]:
        """Return the words of a relation; `word` says where a time is."""
        earlier, later = relation.earlier, relation.later
        return [earlier[0], word(earlier), relation.gap, later[0], word(later)]

    def row_word(self, column: int) -> int:
        """Return where a row has a column, or one of its times."""
        if column == layout.OF_END:
            return self.header[layout.N_END]
        if column == layout.OF_WINDOW:
            return layout.R_WINDOW_START
        return self.header[layout.N_START] if column == layout.OF_START else 1 + self.times + column


def stream_width(network: Network) -> int:
    """Return how many words an α's row of streams has: the streams by number, and the unnamed one."""
    return 1 + max((number for shifts in network.streams for number in shifts), default=0)


def open_size(entries: int) -> int:
    """Return the records of an open-addressing table of at most half load: a power of two."""
    size = 2
    while size < 2 * entries + 1:
        size *= 2
    return size


def enter(table: list[int], home: int, record: list[int], width: int, used: int) -> None:
    """Put a record in an open-addressing table; the word `used` of an empty record is 0."""
    slots = len(table) // width
    while table[home * width + used]:
        home = (home + 1) & (slots - 1)
    table[home * width : (home + 1) * width] = record


def slot_state(slot: int) -> int:
    """Return where the arena has a slot's state; behind the last one are the last groups of the nodes."""
    return layout.A_HEADER + slot * layout.S_WIDTH


def first_room(slots: int, nodes: int, edges: int) -> int:
    """Return where the arena has room behind the states of slots, the last groups and the counters of edges."""
    return slot_state(slots) + nodes + edges
