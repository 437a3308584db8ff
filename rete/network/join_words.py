"""The words of joins: slots and nodes, their readings and comparisons, and what they gather.

Data's way: slots and nodes of a network -> **words** -> the network's array; `rete/operators/join.py` reads them.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import mix
from retewave.rete.network.gathering import aside_places, looked_for, rows_noted, slot_aside
from retewave.rete.network.laying import Laying, slot_state
from retewave.rete.network.records import Comparison, Instance, Node, Slot
from retewave.rete.operators.join import MOST_SLOTS
from retewave.rete.words import layout
from retewave.rete.words.reals import word_of

__all__ = ["node_words", "slot_words"]


def slot_words(laid: Laying, number: int, slot: Slot) -> list[int]:
    """Return the words of a slot."""
    node = laid.network.nodes[slot.node]
    readings = _readings(laid, slot)
    lists, words, passing = layout.G_KEY + node.keys, 1 + laid.times + slot.columns + len(readings), 0
    if node.passing == slot.index:
        passing = laid.take(words)
    events, rank = ([laid.row_word(column) for column in columns] for columns in (slot.events, slot.rank))
    return [
        laid.place_of(layout.N_NODES, slot.node, layout.NODE_WIDTH), slot.index, words,
        slot_state(number), lists + slot.index, passing, laid.listed(events), len(events),
        laid.listed(rank), len(rank), slot.latest,
        laid.listed_records(readings), len(readings), slot.length,
        slot_aside(laid.network, slot, laid.aside[slot.node]) if slot.node in laid.aside else 0,
    ]  # fmt: skip


def _readings(laid: Laying, slot: Slot) -> list[list[int]]:
    """Return the words of each reading of a slot."""
    node = laid.network.nodes[slot.node]
    found = []
    for i, (reading, upper) in enumerate(node.readings(slot.index)):
        numbers = [word_of(each) for each in (reading.factor, reading.constant, reading.slack)]
        of, into = laid.row_word(reading.column), laid.row_word(slot.columns + i)
        found.append([of, into, *numbers, upper, _extreme(laid, node, slot.index, i)])
    return found


def _extreme(laid: Laying, node: Node, slot: int, reading: int) -> int:
    """Return the word of a group that has the extreme of a slot's reading; rows that only pass have none."""
    if slot == node.passing:
        return layout.NONE
    before = sum(len(node.readings(each)) for each in range(slot) if each != node.passing)
    return layout.G_KEY + node.keys + len(node.slots) + before + reading


def _comparison(laid: Laying, node: Node, comparison: Comparison) -> list[int]:
    """Return the words of a comparison: of each side the slot, the row's word and the group's."""
    words = []
    for side in (comparison.lower, comparison.upper):
        number = next(i for i, (reading, _) in enumerate(node.readings(side.slot)) if reading is side)
        columns = laid.network.slots[node.slots[side.slot]].columns
        words += [side.slot, laid.row_word(columns + number), _extreme(laid, node, side.slot, number)]
    return words


def node_words(laid: Laying, number: int, node: Node, edges: list[int]) -> list[int]:
    """Return the words of a node; `edges` gets the words of its edges."""
    if not 1 <= len(node.slots) <= MOST_SLOTS:
        raise ValueError(f"a node has 1 to {MOST_SLOTS} slots, not {len(node.slots)}")
    lists = layout.G_KEY + node.keys
    group_words = lists + len(node.slots) + 2 * len(node.comparisons)
    # Whoever fits without ends must fit with them: the first interval must not find a network too wide.
    widest = max(laid.network.slots[slot].columns for slot in node.slots)
    row_words = 1 + max(2, laid.times) + widest + 2 * len(node.comparisons)
    if group_words >= layout.MOST_GROUP_WORDS or row_words >= layout.PAGE:
        raise ValueError(f"a node's groups of {group_words} words or its rows of {row_words} are too wide")
    first, count = laid.edges(node.edges, edges)
    foreseen = first if _foreseen(node) else layout.NONE
    last, columns = _listener(laid, node), node.out
    if last is not None:
        first, count, columns = last.query, last.branch, [node.out[column] for column in last.out]
    out: list[int] = []
    for slot, column in columns:
        out += [len(node.slots), layout.G_KEY + column] if slot < 0 else [slot, laid.row_word(column)]
    relations = [laid.relation(each, lambda time: laid.row_word(time[1])) for each in node.relations]
    compared = [] if laid.counting else [_comparison(laid, node, each) for each in node.comparisons]
    relations += [[lower, word, 0, upper, other] for lower, word, _, upper, other, _ in compared]
    laid.widen(len(node.out))
    return [
        number, int(mix(laid.seed, np.int64(number))),
        len(node.slots), (1 << len(node.slots)) - 1, slot_state(node.slots[0]),
        node.keys, lists, group_words,
        slot_state(len(laid.network.slots)) + number,
        node.window, laid.listed(out), len(columns), laid.listed_records(relations), len(relations),
        first, count, last is not None, foreseen,
        laid.place_of(layout.N_SLOTS, node.slots[0], layout.SLOT_WIDTH),
        0 if node.spent < 0 else laid.place_of(layout.N_NODES, node.spent, layout.NODE_WIDTH),
        laid.listed_records(compared), len(compared),
        *_gathered(laid, number, node),
    ]  # fmt: skip


def _gathered(laid: Laying, number: int, node: Node) -> list[int]:
    """Return the words of a node that are for what it gathers."""
    if number not in laid.aside:
        return [0] * (layout.NODE_WIDTH - layout.NODE_ASIDE)
    given = any(alpha.given for alpha in laid.network.alphas)
    places = aside_places(laid.network, node, laid.aside[number])
    direct = [edge for edge in node.edges if edge.at_once and edge.kind == layout.TO_STATE]
    instants = [edge for edge in node.edges if edge.at_once and edge.kind == layout.TO_INSTANTS]
    states = []
    for edge in direct:
        state = laid.place_of(layout.N_STATES, edge.target, layout.STATE_WIDTH)
        states += [state, len(edge.payload), *edge.payload]
    ahead = []
    for looked, keys in looked_for(laid.network, node):
        ahead.append([laid.place_of(layout.N_NODES, looked, layout.NODE_WIDTH), laid.listed(keys)])
    return [
        laid.aside[number], layout.GIVEN_COLUMNS if given else layout.ALPHA_COLUMNS, laid.listed(places),
        len(node.edges) - len(direct) - len(instants), len(instants),
        laid.listed(states), len(direct), laid.listed_records(ahead), len(ahead), _star(laid, number, node),
    ]  # fmt: skip


def _star(laid: Laying, number: int, node: Node) -> int:
    """Add how a node takes whole stars; return where that is, 0 if it does not."""
    star = laid.stars.get(number)
    if star is None:
        return 0
    words = [star.streams, laid.listed([word for pair in star.out for word in pair])]
    words.append(rows_noted(node, laid.aside[number]))
    for predicate, (edge, keys) in zip(star.predicates, star.edges, strict=True):
        words += [predicate, laid.place_of(layout.N_EDGES, edge, layout.EDGE_WIDTH), laid.listed(keys)]
    return laid.listed(words)


def _listener(laid: Laying, node: Node) -> Instance | None:
    """Return the query that is all that listens to a node, if every tuple of the node matches it as it is."""
    if len(node.edges) != 1 or node.edges[0].kind != layout.TO_TERMINAL or node.edges[0].program:
        return None
    terminal = laid.network.terminals[node.edges[0].target]
    if terminal.parameters or len(terminal.instances) != 1:
        return None
    one = terminal.instances[0]
    plain = not one.program and one.builds == layout.BUILDS_NOTHING and one.cells is None
    return one if plain and one.window >= node.window else None


def _foreseen(node: Node) -> bool:
    """Tell whether tuples that go on to another node are near when all slots but one have rows: not with two slots."""
    return len(node.slots) > 2 and len(node.edges) > 0 and node.edges[0].kind == layout.TO_SLOT
