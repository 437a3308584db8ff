"""The words of the two arrays: each block of them is numbered without a gap, and its width is how many they are."""

from __future__ import annotations

import pytest

from retewave.rete.words import layout

BLOCKS = {  # prefix: the name that counts the block's words
    "N_": "N_HEADER",
    "PREDICATE_": "PREDICATE_WIDTH",
    "KEY_": "KEY_WIDTH",
    "ROUTE_": "ROUTE_WIDTH",
    "ALPHA_": "ALPHA_WIDTH",
    "EDGE_": "EDGE_WIDTH",
    "SLOT_": "SLOT_WIDTH",
    "NODE_": "NODE_WIDTH",
    "RELATION_": "RELATION_WIDTH",
    "TERMINAL_": "TERMINAL_WIDTH",
    "INSTANCE_KEY_": "INSTANCE_KEY_WIDTH",
    "INSTANCE_": "INSTANCE_WIDTH",
    "S_": "S_WIDTH",
    "T_": "T_COLUMNS",
    "O_": "O_COLUMNS",
    "A_": "A_FREE_GROUPS",
}
BEHIND = {"ALPHA_COLUMNS", "A_HEADER"}  # what counts something else than the block's words
SHARED = {"S_SINCE"}  # a second name of a word, in slots that have no use for the first


@pytest.mark.parametrize("prefix", BLOCKS)
def test_the_words_of_a_block_are_numbered_without_a_gap(prefix: str) -> None:
    others = tuple(other for other in BLOCKS if len(other) > len(prefix) and other.startswith(prefix))
    words = {
        name: number
        for name, number in vars(layout).items()
        if name.startswith(prefix) and not name.startswith(others) and name not in BEHIND | SHARED
    }
    width = words.pop(BLOCKS[prefix])
    assert sorted(words.values()) == list(range(width))


def test_the_codes_with_which_the_kernel_returns_are_all_different() -> None:
    codes = [layout.DONE, layout.OUTPUT_FULL, layout.AT_LIMIT, layout.INTERVAL]
    codes += [layout.NEEDS_ARENA, layout.NEEDS_STACK, layout.NEEDS_OUT]
    assert sorted(codes) == list(range(len(codes)))
