"""Give out and take back the words of the arena: pages, groups, the bucket table.

Invariant: only the arena itself ever grows; a page, a group or an outgrown bucket table that is given back is used
again.  The outermost kernel sees to it before each step (`roomy`, `make_room`), so that nothing else grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from retewave.rete.words.jit import JIT, inlined, kernel
from retewave.rete.words.layout import (
    A_BUCKET_MASK,
    A_BUCKETS,
    A_FREE_GROUPS,
    A_FREE_PAGE,
    A_GROUPS,
    A_TOP,
    A_USED_WORDS,
    LOW,
    MOST_GROUP_WORDS,
    NODE_KEY_COUNT,
    NODE_SEED,
    PAGE,
)

__all__ = [
    "HASH",
    "STORING",
    "forget_group",
    "free_block",
    "free_group",
    "free_page",
    "key_hash",
    "make_room",
    "mix",
    "new_block",
    "new_group",
    "new_page",
    "roomy",
]

MULTIPLIER = 0x2545F4914F6CDD1D
WORD = (1 << 64) - 1
STORING = 3 * PAGE + MOST_GROUP_WORDS  # storing a row takes fewer words than this: a page, and a group
HASH = (1 << 31) - 1  # mask of the hash that stands beside a group in the bucket table


def _mix_plain(state: int, value: int) -> int:
    h = ((int(state) ^ int(value)) * MULTIPLIER) & WORD
    h ^= h >> 32
    return h - (1 << 64) if h >> 63 else h


@inlined
def _mix_jitted(state, value):  # type: ignore[no-untyped-def]
    h = (np.uint64(state) ^ np.uint64(value)) * np.uint64(MULTIPLIER)
    h ^= h >> np.uint64(32)
    return np.int64(h)


mix: Any = _mix_jitted if JIT else _mix_plain  # one step of the key hash: (state, value) -> state, 64 bits


@kernel
def key_hash(arena, net, node, at):  # type: ignore[no-untyped-def]
    """Hash the key of a node whose columns stand in the arena from `at`, to 31 bits (what a bucket notes)."""
    h = net[node + NODE_SEED]
    for i in range(net[node + NODE_KEY_COUNT]):
        h = mix(h, arena[at + i])
    return h & HASH


@inlined
def roomy(arena, most):  # type: ignore[no-untyped-def]
    """Tell whether the arena is used up to its word `most` at most, and its bucket table at most half full."""
    return arena[A_TOP] <= most and 2 * arena[A_GROUPS] <= arena[A_BUCKET_MASK]


@kernel
def note_group(arena, h, group):  # type: ignore[no-untyped-def]
    """Enter a group in the bucket table, under the hash of its key."""
    buckets, mask = arena[A_BUCKETS], arena[A_BUCKET_MASK]
    at = h & mask
    while arena[buckets + at] != 0:
        at = (at + 1) & mask
    arena[buckets + at] = (h << 32) | group


@kernel
def forget_group(arena, h, group):  # type: ignore[no-untyped-def]
    """Take a group out of the bucket table, and move those behind it up that would no longer be found."""
    buckets, mask = arena[A_BUCKETS], arena[A_BUCKET_MASK]
    hole = h & mask
    while arena[buckets + hole] & LOW != group:
        hole = (hole + 1) & mask
    at = hole
    while True:
        at = (at + 1) & mask
        word = arena[buckets + at]
        if word == 0:
            break
        if (at - (word >> 32)) & mask >= (at - hole) & mask:
            arena[buckets + hole] = word
            hole = at
    arena[buckets + hole] = 0


@kernel
def double_buckets(arena):  # type: ignore[no-untyped-def]
    """Give the groups a bucket table of twice the size, and the old one to the free pages."""
    old, count = arena[A_BUCKETS], arena[A_BUCKET_MASK] + 1
    new = arena[A_TOP]
    arena[A_TOP] = new + 2 * count
    for i in range(new, new + 2 * count):
        arena[i] = 0
    arena[A_BUCKETS] = new
    arena[A_BUCKET_MASK] = 2 * count - 1
    for bucket in range(old, old + count):
        if arena[bucket] != 0:
            note_group(arena, arena[bucket] >> 32, arena[bucket] & LOW)
    for page in range(old, old + count - PAGE + 1, PAGE):
        free_page(arena, page)


@kernel
def make_room(arena, most):  # type: ignore[no-untyped-def]
    """Double the bucket table if it is due; tell whether the arena is then used up to its word `most` at most.

    If not it has to grow, and nothing has been done.
    """
    due = 2 * arena[A_GROUPS] > arena[A_BUCKET_MASK]
    more = 2 * (arena[A_BUCKET_MASK] + 1) if due else 0
    if arena[A_TOP] + more > most:
        return False
    if due:
        double_buckets(arena)
    return True


@inlined
def new_page(arena):  # type: ignore[no-untyped-def]
    """Take a page off the free list, or cut one from the top."""
    page = arena[A_FREE_PAGE]
    if page != 0:
        arena[A_FREE_PAGE] = arena[page]
    else:
        page = arena[A_TOP]
        arena[A_TOP] = page + PAGE
    arena[page] = 0
    arena[A_USED_WORDS] += PAGE
    return page


@inlined
def free_page(arena, page):  # type: ignore[no-untyped-def]
    """Put a page on the free list."""
    arena[page] = arena[A_FREE_PAGE]
    arena[A_FREE_PAGE] = page
    arena[A_USED_WORDS] -= PAGE


@inlined
def new_block(arena, size):  # type: ignore[no-untyped-def]
    """Take a block of `size` words off the free list of that size, or cut it from the top."""
    block = arena[A_FREE_GROUPS + size]
    if block != 0:
        arena[A_FREE_GROUPS + size] = arena[block]
    else:
        block = arena[A_TOP]
        arena[A_TOP] = block + size
    arena[A_USED_WORDS] += size
    return block


@inlined
def new_group(arena, words):  # type: ignore[no-untyped-def]
    """Take a block for a group; it is all zero."""
    group = new_block(arena, words)
    for i in range(group, group + words):
        arena[i] = 0
    arena[A_GROUPS] += 1
    return group


@inlined
def free_block(arena, block, size):  # type: ignore[no-untyped-def]
    """Put a block on the free list of its size."""
    arena[block] = arena[A_FREE_GROUPS + size]
    arena[A_FREE_GROUPS + size] = block
    arena[A_USED_WORDS] -= size


@inlined
def free_group(arena, group, words):  # type: ignore[no-untyped-def]
    """Put a group's block on the free list of its size."""
    free_block(arena, group, words)
    arena[A_GROUPS] -= 1
