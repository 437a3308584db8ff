"""The words of runs: states, and the steps between them.

Data's way: states and steps of a network -> **words** -> the network's array; `rete/operators/runs.py` reads them.
"""

from __future__ import annotations

from retewave.rete.network.copies import copies_of, keys_of, number_of_run, number_of_tuple, only_edge
from retewave.rete.network.gathering import columns_aside, leads_to
from retewave.rete.network.join_words import slot_words
from retewave.rete.network.laying import Laying
from retewave.rete.network.pairs import ComparedPair, pairs_of
from retewave.rete.network.records import TUPLE_TIMES, State, Step
from retewave.rete.words import layout

__all__ = ["state_words", "step_words"]


def state_words(laid: Laying, number: int, state: State, edges: list[int]) -> list[int]:
    """Return the words of a state."""
    laid.widen(state.columns + state.own + len(state.tells))
    slot = 0 if state.slot < 0 else laid.place_of(layout.N_SLOTS, state.slot, layout.SLOT_WIDTH)
    first, count = laid.edges(state.edges, edges)
    link = 0 if state.link < 0 else laid.row_word(state.link)
    behind = state.columns + state.marks
    numbers = [laid.row_word(word) for i, column in enumerate(state.numbers) for word in (column, behind + i)]
    to_it = (place for node, place in laid.aside.items() if leads_to(laid.network.nodes[node], number))
    return [
        slot, state.columns, state.marks, state.strict, state.undying, first, count, link, state.once,
        next(to_it, 0), laid.listed(numbers), len(state.numbers), 1 + number if state.own else 0,
        laid.listed([layout.T_COLUMNS + column for column in state.tells]), len(state.tells),
        state.strict and not state.undying and not state.marks,
        laid.kept.get(number, 0), columns_aside(laid.network, number) if number in laid.kept else 0,
    ]  # fmt: skip


def step_words(laid: Laying, step: Step, edges: list[int]) -> list[int]:
    """Return the words of a step."""
    laid.widen(max(len(step.out), step.columns + len(step.seen)))
    state = 0 if step.state < 0 else laid.place_of(layout.N_STATES, step.state, layout.STATE_WIDTH)
    mark = layout.NO_WORD if step.mark < 0 else laid.row_word(laid.network.states[step.state].columns + step.mark)
    instants = 0 if step.instants < 0 else laid.place_of(layout.N_SLOTS, step.instants, layout.SLOT_WIDTH)
    equal = [word for run, column in step.equal for word in (laid.row_word(run), column)]
    seen = [column if column == layout.OF_ROW else laid.row_word(column) for column in step.seen]
    out = [word for place, column in step.out for word in (place, _of_step(laid, place, column))]
    compared = [[each.allowed, *_sides(laid, step, each)] for each in pairs_of(step.program)]
    first, count = laid.edges(step.edges, edges)
    return [
        state, step.follows, mark, step.window, laid.listed(keys_of(laid.network, step)),
        instants, laid.listed(step.instant_keys), laid.listed(equal), len(step.equal),
        *laid.program(step.program), step.columns, laid.listed(seen), len(seen),
        laid.listed(out), len(step.out), first, count, *(step.tumbling or (0, 0)), max(0, step.state),
        laid.listed_records(compared), len(compared),
        first if only_edge(laid.network, step) else 0, _copies(laid, step),
    ]  # fmt: skip


def _sides(laid: Laying, step: Step, pair: ComparedPair) -> list[int]:
    """Return the words of both sides of a comparison."""
    words: list[int] = []
    for place in pair.places:
        if place >= step.columns:
            number = number_of_run(laid.network.states[step.state], step.seen[place - step.columns])
            words += layout.PAIR_RUN, laid.row_word(number)
        elif step.event >= 0:
            number = number_of_tuple(laid.network.states[step.event], place)
            words += layout.PAIR_TUPLE, layout.T_COLUMNS + number
        else:
            words += layout.PAIR_TERM, layout.T_COLUMNS + place
    return words


def _copies(laid: Laying, step: Step) -> int:
    """Add how the rows of runs are made of others; return where that is, 0 if it is not so."""
    found, word = copies_of(laid.network, step), laid.row_word
    if found is None or laid.counting:
        return 0
    run = {word(into): word(of) for into, of in found.of_run}
    event = {word(into): layout.T_COLUMNS + TUPLE_TIMES.get(of, of) for into, of in found.of_tuple}
    constants = {word(into): value for into, value in found.constants}
    numbers = {word(into): word(of) for into, of in found.numbers}
    pairs = [pair for each in (run, event, constants, numbers) for pair in each.items()]
    number = laid.network.states[step.edges[0].target].slot
    slot = slot_words(laid, number, laid.network.slots[number])
    return laid.listed([
        laid.place_of(layout.N_SLOTS, number, layout.SLOT_WIDTH), slot[layout.SLOT_STATE],
        slot[layout.SLOT_ROW_WORDS], slot[layout.SLOT_LIST], 1 << slot[layout.SLOT_INDEX],
        layout.NO_WORD if found.link < 0 else word(found.link),
        len(run), len(event), len(constants), len(numbers), *(each for pair in pairs for each in pair),
    ])  # fmt: skip


def _of_step(laid: Laying, place: int, column: int) -> int:
    """Return the word beside the place in what a step writes."""
    if place == 1:
        return TUPLE_TIMES.get(column, column)
    return column if place < 0 else laid.row_word(column)
