"""Readings and their extremes: when a row is known to go with none of a list, and when the list has to be looked at."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.inside import network_of

import retewave as rw
from retewave.rete.filters.compare import is_beyond
from retewave.rete.runtime import Runtime
from retewave.rete.words.bare import words
from retewave.rete.words.jit import kernel
from retewave.rete.words.layout import (
    N_NODES,
    N_SLOTS,
    NODE_COMPARED_COUNT,
    NODE_LAST_GROUP,
    SLOT_INDEX,
    SLOT_NODE,
    SLOT_PASSING,
    SLOT_WIDTH,
)
from retewave.rete.words.reals import in_order

QUERY = """PREFIX : <http://e/> SELECT * FROM STREAM <http://e/s> [RANGE 100s] WHERE {
    { ?x :price ?before } SEQ { ?x :price ?low } FILTER (?low < 0.7 * ?before) }"""


@kernel
def beyond(net_array, arena_array, node, group, slot, row):  # type: ignore[no-untyped-def]
    return is_beyond(words(arena_array), words(net_array), node, group, slot, row)


@kernel
def ordered(numbers, found):  # type: ignore[no-untyped-def]
    for place in range(len(numbers)):
        found[place] = in_order(numbers[place])


def push(engine: rw.Engine, price: float, at: float) -> int:
    """Push a price; return how many matches it completes."""
    return len(engine.push(("http://e/a", "http://e/price", price), time=at))


def last_was_beyond(engine: rw.Engine) -> bool:
    """Tell whether the last row that passed is beyond all rows of its group."""
    runtime: Runtime = network_of(engine).runtime
    net, arena = runtime.net, runtime.arena
    passing = next(number for number in range(len(runtime.network.slots)) if runtime.network.passes(number))
    slot = int(net[N_SLOTS]) + passing * SLOT_WIDTH
    node = int(net[slot + SLOT_NODE])
    group = int(arena[net[node + NODE_LAST_GROUP]])
    return bool(beyond(net, arena, node, group, int(net[slot + SLOT_INDEX]), int(net[slot + SLOT_PASSING])))


def test_a_row_that_goes_with_none_is_known_without_a_look_at_the_list() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    for at, price in enumerate([100, 101, 99, 71]):
        assert push(engine, price, at) == 0
        assert at == 0 or last_was_beyond(engine)
    assert push(engine, 69.5, 10) == 2
    assert not last_was_beyond(engine)


def test_rows_that_have_gone_are_found_to_be_gone_by_the_first_fruitless_look() -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    for at, price in [(0, 100), (50, 60), (140, 50), (141, 50)]:
        push(engine, price, at)
    assert push(engine, 55, 150) == 0  # the 100 is out of the window, but may be in the list
    assert push(engine, 55, 151) == 0
    assert last_was_beyond(engine)


@pytest.mark.parametrize("price", ["<http://e/none>", '"x"', '"70"^^<http://www.w3.org/2001/XMLSchema#float>'])
def test_a_term_without_an_exact_number_is_beyond_nothing(price: str) -> None:
    engine = rw.Engine()
    engine.register(QUERY)
    push(engine, 100, 0)
    engine.push(("<http://e/a>", "<http://e/price>", price), time=1)
    assert not last_was_beyond(engine)


def test_an_engine_that_counts_compares_nothing_before_it_combines() -> None:
    engine = rw.Engine(stats=True)
    engine.register(QUERY)
    engine.flush()
    net = network_of(engine).runtime.net
    assert net[int(net[N_NODES]) + NODE_COMPARED_COUNT] == 0


def test_words_of_numbers_are_in_the_order_of_the_numbers() -> None:
    numbers = np.array([-np.inf, -1e100, -2.5, -1e-300, 1e-300, 1.0, 1.0 + 2**-52, 3e9, 1e100, np.inf])
    found = np.zeros(len(numbers), np.int64)
    ordered(numbers, found)
    assert (np.diff(found) > 0).all()
    ordered(np.zeros(len(numbers)), found)
    assert (found != 0).all()
