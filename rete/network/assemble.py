"""Lay the records of a network out as the one int64 array that the kernel reads, and make the empty state for it.

Data's way: plan -> records -> **the network's array, the arena** -> the kernel.
What each word is stands in `rete/words/layout.py`.  A wire that does not fit is an error here, where it is laid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from retewave.rete.dispatch import key_home, predicate_home
from retewave.rete.memory.arena import mix
from retewave.rete.network.copies import copies_of, keys_of, number_of_run, number_of_tuple, only_edge
from retewave.rete.network.gathering import (
    aside_places,
    aside_words,
    gathers,
    leads_to,
    looked_for,
    rows_noted,
    slot_aside,
)
from retewave.rete.network.pairs import ComparedPair, pairs_of
from retewave.rete.network.records import (
    TUPLE_TIMES,
    Comparison,
    Edge,
    Instance,
    Network,
    Node,
    Probe,
    Relation,
    Route,
    Slot,
    State,
    Step,
)
from retewave.rete.network.stars import IN_ROW, star_of
from retewave.rete.operators.join import MOST_SLOTS
from retewave.rete.words import layout as at
from retewave.rete.words.reals import word_of
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL, EARLIEST

__all__ = ["assemble", "new_arena"]


def assemble(network: Network, seed: int, *, counting: bool = False) -> np.ndarray:
    """Lay a network out as the kernel's `net` array.

    One that counts tries all combinations, so that what each filter refuses is counted at the filter.
    """
    return _Assembler(network, seed, counting).net()


class _Assembler:
    """Lays a network out: sections one after the other, their places in the header, the lists behind them all.

    The sections' sizes are known before their records are made, so a record can say where another one will be.
    """

    def __init__(self, network: Network, seed: int, counting: bool) -> None:
        self.network, self.counting = network, counting
        self.seed = np.int64(seed)
        self.times = network.times
        self.predicates = sorted({*network.known, *(p for _, p, _ in network.keys if p)})
        self.header = [0] * at.N_HEADER
        self.records: list[int] = []  # of all sections that are made
        self.lists: list[int] = []  # columns, relations and programs
        self.known_lists: dict[tuple[int, ...], int] = {}  # where each of them begins
        self.wide = at.T_COLUMNS + network.widest
        self.room = _first_room(len(network.slots), len(network.nodes), len(network.edges()))  # the next state's place
        self.aside = self._asides()  # of each node that gathers, the place in the arena of what is aside
        found = {number: star_of(network, network.nodes[number]) for number in self.aside}
        self.stars = {number: star for number, star in found.items() if star is not None}  # of those that take any
        begin = at.N_HEADER
        for section, words in self._sizes().items():
            self.header[section] = begin
            begin += words

    def _sizes(self) -> dict[int, int]:
        """Return the words of each section, in their order."""
        network = self.network
        shaped = sum(1 for s, _, o in network.keys if s or o)
        keyed = sum(len({i.parameters for i in t.instances}) for t in network.terminals if t.parameters)
        return {
            at.N_PREDICATES: _open_size(len(self.predicates)) * at.PREDICATE_WIDTH,
            at.N_UNKNOWN: at.PREDICATE_WIDTH,
            at.N_KEYS: _open_size(shaped) * at.KEY_WIDTH,
            at.N_ROUTES: sum(map(len, network.keys.values())) * at.ROUTE_WIDTH,
            at.N_ALPHAS: len(network.alphas) * at.ALPHA_WIDTH,
            at.N_EDGES: len(network.edges()) * at.EDGE_WIDTH,
            at.N_SLOTS: len(network.slots) * at.SLOT_WIDTH,
            at.N_NODES: len(network.nodes) * at.NODE_WIDTH,
            at.N_PROBES: len(network.probes) * at.PROBE_WIDTH,
            at.N_STATES: len(network.states) * at.STATE_WIDTH,
            at.N_STEPS: len(network.steps) * at.STEP_WIDTH,
            at.N_TERMINALS: len(network.terminals) * at.TERMINAL_WIDTH,
            at.N_INSTANCES: sum(len(terminal.instances) for terminal in network.terminals) * at.INSTANCE_WIDTH,
            at.N_INSTANCE_KEYS: _open_size(keyed) * at.INSTANCE_KEY_WIDTH,
            at.N_STREAMS: len(network.streams) * self._stream_width(),
            at.N_LISTS: 0,
        }

    def net(self) -> np.ndarray:
        network, header = self.network, self.header
        times = self.times
        header[at.N_SEED], header[at.N_TIMES], header[at.N_END] = int(self.seed), times, min(times, 2)
        header[at.N_START] = times if times == 3 else at.R_WINDOW_START
        header[at.N_INSTANTS] = not network.intervals
        looks = network.built != frozenset() or any(node.comparisons for node in network.nodes)
        header[at.N_LOOKS] = looks or any(edge.kind > at.TO_TERMINAL for edge in network.edges())
        self._dispatch()
        self._records()
        self._streams()
        gathering = [self._at(at.N_NODES, node, at.NODE_WIDTH) for node in self.aside]
        header[at.N_GATHERING], header[at.N_GATHERING_COUNT] = self._list(gathering), len(gathering)
        header[at.N_STARS] = len(self.stars)
        pairs = any(pairs_of(step.program) for step in network.steps)
        header[at.N_NUMBERS] = pairs or any(node.comparisons for node in network.nodes)
        header[at.N_BUILT] = -1 if network.built is None else len(network.built)
        header[at.N_BUILT_LIST] = self._list(sorted(network.built or ()))
        header[at.N_STRIDE] = self.wide
        header[at.N_MOST_ROUTES] = 4 * max((len(found) for found in network.keys.values()), default=0)
        return np.array(header + self.records + self.lists, dtype=np.int64)

    def _put(self, section: int, words: list[int]) -> None:
        """Add a section; it has to come where its place was said to be."""
        if self.header[section] != at.N_HEADER + len(self.records):
            raise AssertionError(f"section {section} is not where it was planned")
        self.records += words

    def _at(self, section: int, number: int, width: int) -> int:
        """Return where a record is."""
        return self.header[section] + number * width

    def _list(self, words: tuple[int, ...] | list[int]) -> int:
        """Add a list, unless there is an equal one; return where it begins."""
        known = self.known_lists.get(tuple(words))
        if known is None:
            known = self.known_lists[tuple(words)] = self.header[at.N_LISTS] + len(self.lists)
            self.lists.extend(words)
        return known

    def _lists(self, records: list[list[int]]) -> int:
        """Add some records, one behind the other; return where they begin."""
        return self._list([word for record in records for word in record])

    def _program(self, program: tuple[int, ...]) -> list[int]:
        begin = self._list(program)
        return [begin, begin + len(program)]

    def _dispatch(self) -> None:
        keys = self.network.keys
        routes: list[int] = []
        predicates = {p: [p, 0, 0, 0] for p in (0, *self.predicates)}
        table = [0] * (self.header[at.N_ROUTES] - self.header[at.N_KEYS])
        mask = len(table) // at.KEY_WIDTH - 1
        for (s, p, o), found in keys.items():
            begin, count = self.header[at.N_ROUTES] + len(routes), len(found)
            routes += [word for route in found for word in self._route(route, p, o)]
            if s or o:
                home = int(key_home(self.seed, s, p, o, mask))
                _put(table, home, [s, p, o, begin, count], at.KEY_WIDTH, at.KEY_COUNT)
                predicates[p][at.PREDICATE_SHAPES] |= _shape(s, o)
            else:
                predicates[p][at.PREDICATE_BEGIN : at.PREDICATE_COUNT + 1] = begin, count
        for predicate in (each for star in self.stars.values() for each in star.predicates):
            predicates[predicate][at.PREDICATE_SHAPES] |= at.SHAPE_STAR
        self.header[at.N_KEY_MASK] = mask
        unknown = predicates.pop(0)
        self._predicates(predicates)
        self._put(at.N_UNKNOWN, unknown)
        self._put(at.N_KEYS, table)
        self._put(at.N_ROUTES, routes)

    def _predicates(self, predicates: dict[int, list[int]]) -> None:
        size = _open_size(len(predicates))
        table, mask = [0] * (size * at.PREDICATE_WIDTH), size - 1
        for p, record in predicates.items():
            _put(table, int(predicate_home(self.seed, p, mask)), record, at.PREDICATE_WIDTH, at.PREDICATE_ID)
        self._put(at.N_PREDICATES, table)
        self.header[at.N_PREDICATE_MASK] = mask

    def _route(self, route: Route, predicate: int, obj: int) -> list[int]:
        """Return the words of a route of the inputs that have this predicate and object, if they are not 0."""
        if not 0 <= route.alpha < len(self.network.alphas):
            raise IndexError(f"a route leads to α {route.alpha}, but there are {len(self.network.alphas)}")
        alpha = self.network.alphas[route.alpha]
        derived = (
            route.subject != at.FROM_SUBJECT
            or route.predicate not in (at.FROM_PREDICATE, predicate or at.FROM_PREDICATE)
            or route.object not in (at.FROM_OBJECT, obj or at.FROM_OBJECT)
        )
        flags = route.guard * at.FLAG_GUARD | route.twin * at.FLAG_TWIN
        flags |= derived * at.FLAG_DERIVES | (alpha.equal != 0) * at.FLAG_EQUAL | (alpha.streams >= 0) * at.FLAG_STREAMS
        flags |= alpha.given * at.FLAG_GIVEN | alpha.whole * at.FLAG_WHOLE
        place = self._at(at.N_ALPHAS, route.alpha, at.ALPHA_WIDTH)
        return [place, route.subject, route.predicate, route.object, flags]

    def _records(self) -> None:
        network = self.network
        edges: list[int] = []
        alphas: list[int] = []
        for alpha in network.alphas:
            alphas += [alpha.streams, alpha.equal, *self._edges(alpha.edges, edges)]
        nodes = [word for i, node in enumerate(network.nodes) for word in self._node(i, node, edges)]
        probes = [word for probe in network.probes for word in self._probe(probe, edges)]
        states = [word for i, state in enumerate(network.states) for word in self._state(i, state, edges)]
        steps = [word for step in network.steps for word in self._step(step, edges)]
        self._put(at.N_ALPHAS, alphas)
        self._put(at.N_EDGES, edges)
        self._put(at.N_SLOTS, [word for i, slot in enumerate(network.slots) for word in self._slot(i, slot)])
        self._put(at.N_NODES, nodes)
        self._put(at.N_PROBES, probes)
        self._put(at.N_STATES, states)
        self._put(at.N_STEPS, steps)
        self.header[at.N_SLOT_COUNT], self.header[at.N_NODE_COUNT] = len(network.slots), len(network.nodes)
        self.header[at.N_PROBE_COUNT], self.header[at.N_STATE_COUNT] = len(network.probes), len(network.states)
        self._terminals()

    def _edges(self, edges: list[Edge], words: list[int]) -> tuple[int, int]:
        begin = self.header[at.N_EDGES] + len(words)
        for edge in edges:
            words += [self._kind(edge), self._target(edge), *self._program(edge.program)]
            payload = [TUPLE_TIMES.get(column, column) for column in edge.payload]
            words += [self._list(edge.keys), self._list(payload), len(payload)]
        return begin, len(edges)

    def _kind(self, edge: Edge) -> int:
        """Return an edge's kind: rows that have readings are stored in another way."""
        if edge.kind != at.TO_SLOT or not 0 <= edge.target < len(self.network.slots):
            return edge.kind
        slot = self.network.slots[edge.target]
        if slot.node in self.aside:
            return at.TO_GATHERED
        return at.TO_COMPARED if self.network.nodes[slot.node].readings(slot.index) else at.TO_SLOT

    def _target(self, edge: Edge) -> int:
        """Return where an edge leads; it must fit that."""
        network = self.network
        targets: dict[int, tuple[Sequence[object], int, int]] = {
            at.TO_SLOT: (network.slots, at.N_SLOTS, at.SLOT_WIDTH),
            at.TO_MEMORY: (network.slots, at.N_SLOTS, at.SLOT_WIDTH),
            at.TO_PASSING: (network.slots, at.N_SLOTS, at.SLOT_WIDTH),
            at.TO_INSTANT: (network.slots, at.N_SLOTS, at.SLOT_WIDTH),
            at.TO_SPENT: (network.slots, at.N_SLOTS, at.SLOT_WIDTH),
            at.TO_INSTANTS: (network.slots, at.N_SLOTS, at.SLOT_WIDTH),
            at.TO_STATE: (network.states, at.N_STATES, at.STATE_WIDTH),
            at.TO_STEP: (network.steps, at.N_STEPS, at.STEP_WIDTH),
            at.TO_PROBE: (network.probes, at.N_PROBES, at.PROBE_WIDTH),
            at.TO_TERMINAL: (network.terminals, at.N_TERMINALS, at.TERMINAL_WIDTH),
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
        return self._at(section, edge.target, width)

    def _slot(self, number: int, slot: Slot) -> list[int]:
        node = self.network.nodes[slot.node]
        readings = self._readings(slot)
        lists, words, passing = at.G_KEY + node.keys, 1 + self.times + slot.columns + len(readings), 0
        if node.passing == slot.index:
            passing = self.room
            self.room += words
        events, rank = ([self._row_word(column) for column in columns] for columns in (slot.events, slot.rank))
        return [
            self._at(at.N_NODES, slot.node, at.NODE_WIDTH), slot.index, words,
            _state(number), lists + slot.index, passing, self._list(events), len(events),
            self._list(rank), len(rank), slot.latest,
            self._lists(readings), len(readings), slot.length,
            slot_aside(self.network, slot, self.aside[slot.node]) if slot.node in self.aside else 0,
        ]  # fmt: skip

    def _readings(self, slot: Slot) -> list[list[int]]:
        """Return the words of each reading of a slot."""
        node = self.network.nodes[slot.node]
        found = []
        for i, (reading, upper) in enumerate(node.readings(slot.index)):
            numbers = [word_of(each) for each in (reading.factor, reading.constant, reading.slack)]
            of, into = self._row_word(reading.column), self._row_word(slot.columns + i)
            found.append([of, into, *numbers, upper, self._extreme(node, slot.index, i)])
        return found

    def _extreme(self, node: Node, slot: int, reading: int) -> int:
        """Return the word of a group that has the extreme of a slot's reading; rows that only pass have none."""
        if slot == node.passing:
            return at.NONE
        before = sum(len(node.readings(each)) for each in range(slot) if each != node.passing)
        return at.G_KEY + node.keys + len(node.slots) + before + reading

    def _comparison(self, node: Node, comparison: Comparison) -> list[int]:
        """Return the words of a comparison: of each side the slot, the row's word and the group's."""
        words = []
        for side in (comparison.lower, comparison.upper):
            number = next(i for i, (reading, _) in enumerate(node.readings(side.slot)) if reading is side)
            columns = self.network.slots[node.slots[side.slot]].columns
            words += [side.slot, self._row_word(columns + number), self._extreme(node, side.slot, number)]
        return words

    def _probe(self, probe: Probe, edges: list[int]) -> list[int]:
        """Return the words of a probe."""
        slot = self.network.slots[probe.slot]
        first, count = self._edges(probe.edges, edges)
        relations = [word for each in probe.relations for word in self._relation(each, self._of_probe)]
        seen = [self._row_word(column) for column in probe.seen]
        taken = [self._row_word(column) for column in probe.taken]
        self.wide = max(self.wide, at.T_COLUMNS + probe.columns + max(len(probe.seen), len(probe.taken)))
        if at.B_COLUMNS + probe.columns >= at.MOST_GROUP_WORDS:
            raise ValueError(f"a probe's tuple of {probe.columns} columns is too wide")
        state = self.room
        self.room += at.W_WIDTH
        return [
            self._at(at.N_NODES, slot.node, at.NODE_WIDTH), self._at(at.N_SLOTS, probe.slot, at.SLOT_WIDTH),
            probe.decided, probe.wanted, probe.streamed, probe.joint, probe.deadline, probe.reach,
            self._list(relations), len(probe.relations), *self._program(probe.program),
            probe.columns, self._list(seen), len(seen), self._list(probe.keys),
            first, count, state, probe.level, self._list(taken), len(taken),
            self._list([at.T_COLUMNS + column for column in probe.events]), len(probe.events),
            self._list([self._of_probe((0, column)) for column in probe.rank]), probe.windowed,
        ]  # fmt: skip

    def _state(self, number: int, state: State, edges: list[int]) -> list[int]:
        """Return the words of a state."""
        self.wide = max(self.wide, at.T_COLUMNS + state.columns + state.own + len(state.tells))
        slot = 0 if state.slot < 0 else self._at(at.N_SLOTS, state.slot, at.SLOT_WIDTH)
        first, count = self._edges(state.edges, edges)
        link = 0 if state.link < 0 else self._row_word(state.link)
        behind = state.columns + state.marks
        numbers = [self._row_word(word) for i, column in enumerate(state.numbers) for word in (column, behind + i)]
        to_it = (place for node, place in self.aside.items() if leads_to(self.network.nodes[node], number))
        return [
            slot, state.columns, state.marks, state.strict, state.undying, first, count, link, state.once,
            next(to_it, 0), self._list(numbers), len(state.numbers), 1 + number if state.own else 0,
            self._list([at.T_COLUMNS + column for column in state.tells]), len(state.tells),
            state.strict and not state.undying and not state.marks,
        ]  # fmt: skip

    def _step(self, step: Step, edges: list[int]) -> list[int]:
        """Return the words of a step."""
        self.wide = max(self.wide, at.T_COLUMNS + max(len(step.out), step.columns + len(step.seen)))
        state = 0 if step.state < 0 else self._at(at.N_STATES, step.state, at.STATE_WIDTH)
        mark = at.NO_WORD if step.mark < 0 else self._row_word(self.network.states[step.state].columns + step.mark)
        instants = 0 if step.instants < 0 else self._at(at.N_SLOTS, step.instants, at.SLOT_WIDTH)
        equal = [word for run, column in step.equal for word in (self._row_word(run), column)]
        seen = [column if column == at.OF_ROW else self._row_word(column) for column in step.seen]
        out = [word for place, column in step.out for word in (place, self._of_step(place, column))]
        compared = [[each.allowed, *self._sides(step, each)] for each in pairs_of(step.program)]
        first, count = self._edges(step.edges, edges)
        return [
            state, step.follows, mark, step.window, self._list(keys_of(self.network, step)),
            instants, self._list(step.instant_keys), self._list(equal), len(step.equal),
            *self._program(step.program), step.columns, self._list(seen), len(seen),
            self._list(out), len(step.out), first, count, *(step.tumbling or (0, 0)), max(0, step.state),
            self._lists(compared), len(compared), first if only_edge(self.network, step) else 0, self._copies(step),
        ]  # fmt: skip

    def _sides(self, step: Step, pair: ComparedPair) -> list[int]:
        """Return the words of both sides of a comparison."""
        words: list[int] = []
        for place in pair.places:
            if place >= step.columns:
                number = number_of_run(self.network.states[step.state], step.seen[place - step.columns])
                words += at.PAIR_RUN, self._row_word(number)
            elif step.event >= 0:
                words += at.PAIR_TUPLE, at.T_COLUMNS + number_of_tuple(self.network.states[step.event], place)
            else:
                words += at.PAIR_TERM, at.T_COLUMNS + place
        return words

    def _copies(self, step: Step) -> int:
        """Add how the rows of runs are made of others; return where that is, 0 if it is not so."""
        found = copies_of(self.network, step)
        if found is None or self.counting:
            return 0
        word = self._row_word
        run = {word(into): word(of) for into, of in found.of_run}
        event = {word(into): at.T_COLUMNS + TUPLE_TIMES.get(of, of) for into, of in found.of_tuple}
        constants = {word(into): value for into, value in found.constants}
        numbers = {word(into): word(of) for into, of in found.numbers}
        pairs = [pair for each in (run, event, constants, numbers) for pair in each.items()]
        number = self.network.states[step.edges[0].target].slot
        slot = self._slot(number, self.network.slots[number])
        return self._list([
            self._at(at.N_SLOTS, number, at.SLOT_WIDTH), slot[at.SLOT_STATE], slot[at.SLOT_ROW_WORDS],
            slot[at.SLOT_LIST], 1 << slot[at.SLOT_INDEX], at.NO_WORD if found.link < 0 else word(found.link),
            len(run), len(event), len(constants), len(numbers), *(each for pair in pairs for each in pair),
        ])  # fmt: skip

    def _of_step(self, place: int, column: int) -> int:
        """Return the word beside the place in what a step writes."""
        if place == 1:
            return TUPLE_TIMES.get(column, column)
        return column if place < 0 else self._row_word(column)

    def _relation(self, relation: Relation, word: Callable[[tuple[int, int]], int]) -> list[int]:
        earlier, later = relation.earlier, relation.later
        return [earlier[0], word(earlier), relation.gap, later[0], word(later)]

    def _of_probe(self, time: tuple[int, int]) -> int:
        return self._row_word(time[1]) if time[0] else at.T_COLUMNS + TUPLE_TIMES.get(time[1], time[1])

    def _row_word(self, column: int) -> int:
        """Return where a row has a column, or one of its times."""
        if column == at.OF_END:
            return self.header[at.N_END]
        if column == at.OF_WINDOW:
            return at.R_WINDOW_START
        return self.header[at.N_START] if column == at.OF_START else 1 + self.times + column

    def _node(self, number: int, node: Node, edges: list[int]) -> list[int]:
        if not 1 <= len(node.slots) <= MOST_SLOTS:
            raise ValueError(f"a node has 1 to {MOST_SLOTS} slots, not {len(node.slots)}")
        lists = at.G_KEY + node.keys
        group_words = lists + len(node.slots) + 2 * len(node.comparisons)
        # Whoever fits without ends must fit with them: the first interval must not find a network too wide.
        widest = max(self.network.slots[slot].columns for slot in node.slots)
        row_words = 1 + max(2, self.times) + widest + 2 * len(node.comparisons)
        if group_words >= at.MOST_GROUP_WORDS or row_words >= at.PAGE:
            raise ValueError(f"a node's groups of {group_words} words or its rows of {row_words} are too wide")
        first, count = self._edges(node.edges, edges)
        foreseen = first if _foreseen(node) else at.NONE
        last, columns = self._listener(node), node.out
        if last is not None:
            first, count, columns = last.query, last.branch, [node.out[column] for column in last.out]
        out: list[int] = []
        for slot, column in columns:
            out += [len(node.slots), at.G_KEY + column] if slot < 0 else [slot, self._row_word(column)]
        relations = [self._relation(each, lambda time: self._row_word(time[1])) for each in node.relations]
        compared = [] if self.counting else [self._comparison(node, each) for each in node.comparisons]
        relations += [[lower, word, 0, upper, other] for lower, word, _, upper, other, _ in compared]
        self.wide = max(self.wide, at.T_COLUMNS + len(node.out))
        return [
            number, int(mix(self.seed, np.int64(number))),
            len(node.slots), (1 << len(node.slots)) - 1, _state(node.slots[0]),
            node.keys, lists, group_words,
            _state(len(self.network.slots)) + number,
            node.window, self._list(out), len(columns), self._lists(relations), len(relations),
            first, count, last is not None, foreseen,
            self._at(at.N_SLOTS, node.slots[0], at.SLOT_WIDTH),
            0 if node.spent < 0 else self._at(at.N_NODES, node.spent, at.NODE_WIDTH),
            self._lists(compared), len(compared),
            *self._gathered(number, node),
        ]  # fmt: skip

    def _asides(self) -> dict[int, int]:
        """Give the nodes that gather room in the arena; a network that counts gathers nothing."""
        found = {}
        for number, node in enumerate(self.network.nodes):
            if not self.counting and gathers(self.network, node):
                found[number] = self.room
                self.room += aside_words(node)
        return found

    def _gathered(self, number: int, node: Node) -> list[int]:
        """Return the words of a node that are for what it gathers."""
        if number not in self.aside:
            return [0] * (at.NODE_WIDTH - at.NODE_ASIDE)
        given = any(alpha.given for alpha in self.network.alphas)
        places = aside_places(self.network, node, self.aside[number])
        direct = [edge for edge in node.edges if edge.at_once and edge.kind == at.TO_STATE]
        instants = [edge for edge in node.edges if edge.at_once and edge.kind == at.TO_INSTANTS]
        states = []
        for edge in direct:
            state = self._at(at.N_STATES, edge.target, at.STATE_WIDTH)
            states += [state, len(edge.payload), *edge.payload]
        ahead = []
        for looked, keys in looked_for(self.network, node):
            ahead.append([self._at(at.N_NODES, looked, at.NODE_WIDTH), self._list(keys)])
        return [
            self.aside[number], at.GIVEN_COLUMNS if given else at.ALPHA_COLUMNS, self._list(places),
            len(node.edges) - len(direct) - len(instants), len(instants),
            self._list(states), len(direct), self._lists(ahead), len(ahead), self._star(number, node),
        ]  # fmt: skip

    def _star(self, number: int, node: Node) -> int:
        """Add how a node takes whole stars; return where that is, 0 if it does not."""
        star = self.stars.get(number)
        if star is None:
            return 0
        words = [star.streams, self._list([word for pair in star.out for word in pair])]
        words.append(rows_noted(node, self.aside[number]))
        for predicate, (place, edge) in zip(star.predicates, star.edges, strict=True):
            words += [predicate, self._at(at.N_EDGES, place, at.EDGE_WIDTH), self._list([IN_ROW[i] for i in edge.keys])]
        return self._list(words)

    def _listener(self, node: Node) -> Instance | None:
        """Return the query that is all that listens to a node, if every tuple of the node matches it as it is."""
        if len(node.edges) != 1 or node.edges[0].kind != at.TO_TERMINAL or node.edges[0].program:
            return None
        terminal = self.network.terminals[node.edges[0].target]
        if terminal.parameters or len(terminal.instances) != 1:
            return None
        one = terminal.instances[0]
        plain = not one.program and one.builds == at.BUILDS_NOTHING
        return one if plain and one.window >= node.window else None

    def _stream_width(self) -> int:
        return 1 + max((number for shifts in self.network.streams for number in shifts), default=0)

    def _streams(self) -> None:
        width = self._stream_width()
        words = [shifts.get(i, at.REFUSED) for shifts in self.network.streams for i in range(width)]
        self._put(at.N_STREAMS, words)
        self.header[at.N_STREAM_WIDTH] = width

    def _terminals(self) -> None:
        terminals: list[int] = []
        instances: list[int] = []
        keyed: list[list[int]] = []
        most_out = max((state.columns for state in self.network.states), default=0) if self._tells_runs() else 0
        most_built = 0
        for terminal in self.network.terminals:
            ordered = sorted(terminal.instances, key=lambda i: i.parameters)
            place, begin = self.header[at.N_TERMINALS] + len(terminals), self.header[at.N_INSTANCES] + len(instances)
            former: tuple[int, ...] = ()
            for instance in ordered:
                most_out, most_built = max(most_out, len(instance.out)), max(most_built, len(instance.template))
                if instance.parameters != former:
                    here = self.header[at.N_INSTANCES] + len(instances)
                    keyed.append([self._parameter_hash(place, instance.parameters), here, 0])
                if terminal.parameters:
                    keyed[-1][at.INSTANCE_KEY_COUNT] += 1
                former = instance.parameters
                instances += self._instance(place, instance)
            terminals += [self._list(terminal.parameters), len(terminal.parameters), begin, len(ordered)]
        self._put(at.N_TERMINALS, terminals)
        self._put(at.N_INSTANCES, instances)
        self.header[at.N_OUT_WIDTH], self.header[at.N_MOST_BUILT] = at.O_COLUMNS + most_out, most_built
        self._instance_keys(keyed)

    def _tells_runs(self) -> bool:
        return any(instance.link >= 0 for terminal in self.network.terminals for instance in terminal.instances)

    def _parameter_hash(self, terminal: int, parameters: tuple[int, ...]) -> int:
        h = mix(self.seed, np.int64(terminal))
        for parameter in parameters:
            h = mix(h, np.int64(parameter))
        return int(h)

    def _instance(self, terminal: int, instance: Instance) -> list[int]:
        return [
            instance.query, instance.branch, instance.window, *self._program(instance.program),
            self._list(instance.out), len(instance.out), self._list((terminal, *instance.parameters)),
            instance.builds, self._list([part for triple in instance.template for part in triple]),
            len(instance.template), instance.stream, instance.link,
        ]  # fmt: skip

    def _instance_keys(self, keyed: list[list[int]]) -> None:
        size = _open_size(len(keyed))
        table, mask = [0] * (size * at.INSTANCE_KEY_WIDTH), size - 1
        for record in keyed:
            home = record[at.INSTANCE_KEY_HASH] & mask
            _put(table, home, record, at.INSTANCE_KEY_WIDTH, at.INSTANCE_KEY_COUNT)
        self._put(at.N_INSTANCE_KEYS, table)
        self.header[at.N_INSTANCE_KEY_MASK] = mask


def _foreseen(node: Node) -> bool:
    """Say whether tuples that go on to another node are near when all slots but one have rows: not with two slots."""
    return len(node.slots) > 2 and len(node.edges) > 0 and node.edges[0].kind == at.TO_SLOT


def _shape(s: int, o: int) -> int:
    return (at.SHAPE_SPO if o else at.SHAPE_SP) if s else at.SHAPE_PO


def _open_size(entries: int) -> int:
    """Return the records of an open-addressing table of at most half load: a power of two."""
    size = 2
    while size < 2 * entries + 1:
        size *= 2
    return size


def _state(slot: int) -> int:
    """Return where the arena has a slot's state; behind the last one are the last groups of the nodes."""
    return at.A_HEADER + slot * at.S_WIDTH


def _put(table: list[int], home: int, record: list[int], width: int, used: int) -> None:
    """Put a record in an open-addressing table; the word `used` of an empty record is 0."""
    slots = len(table) // width
    while table[home * width + used]:
        home = (home + 1) & (slots - 1)
    table[home * width : (home + 1) * width] = record


def _first_room(slots: int, nodes: int, edges: int) -> int:
    """Return where the arena has room behind the states of slots, the last groups and the counters of edges."""
    return _state(slots) + nodes + edges


def new_arena(network: Network, net: np.ndarray, *, words: int = 1 << 14) -> np.ndarray:
    """Return the empty state of a network."""
    slots, nodes, edges = len(network.slots), len(network.nodes), len(network.edges())
    agenda = _first_room(slots, nodes, edges) + _passing_words(network) + len(network.probes) * at.W_WIDTH
    agenda += sum(aside_words(node) for node in network.nodes if gathers(network, node))
    nowhere = agenda + 3 * (len(network.probes) + 1)
    buckets = nowhere + (at.MOST_GROUP_WORDS if network.states else 0)
    count = at.PAGE
    top = buckets + count
    while words < top + 8 * at.PAGE:
        words *= 2
    arena = np.zeros(words, dtype=np.int64)
    arena[at.A_SLOT_STATES], arena[at.A_EDGE_COUNTERS] = _state(0), _state(slots) + nodes
    arena[at.A_BUCKETS], arena[at.A_BUCKET_MASK], arena[at.A_TOP] = buckets, count - 1, top
    arena[at.A_NOW], arena[at.A_MOST_WORDS] = EARLIEST, 1 << 31
    arena[at.A_AGENDA], arena[at.A_DUE] = agenda, AFTER_ALL
    if network.states:
        arena[at.A_NOWHERE], arena[nowhere + at.G_MASK] = nowhere, -1
    for edge in network.edges():
        if edge.kind == at.TO_INSTANTS:
            arena[arena[at.A_SLOT_STATES] + edge.target * at.S_WIDTH + at.S_SINCE] = BEFORE_ALL
    for probe in range(len(network.probes)):
        state = int(net[int(net[at.N_PROBES]) + probe * at.PROBE_WIDTH + at.PROBE_STATE])
        arena[state + at.W_SINCE] = arena[state + at.W_SINCE_END] = BEFORE_ALL
    return arena


def _passing_words(network: Network) -> int:
    passing = ((node, network.slots[node.slots[node.passing]]) for node in network.nodes if node.passing >= 0)
    return sum(1 + network.times + slot.columns + len(node.readings(slot.index)) for node, slot in passing)
