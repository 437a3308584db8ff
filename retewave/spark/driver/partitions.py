"""Keys of shards: numbers that Spark's hash partitioning puts each into a partition of its own.

Where it stands: between stage 1, which writes the keys, and the shuffle.
Invariant: keys depend on the number of shards alone, since a shard's state is kept under its key; one of them is 0, so
that a checkpoint of another number of shards is noticed.  With as many partitions as shards, shard i has partition i.
"""

from __future__ import annotations

__all__ = ["keys_of", "partition_of"]

_SEED = 42  # of Spark's HashPartitioning
_BITS = 0xFFFFFFFF


def keys_of(shards: int) -> tuple[int, ...]:
    """Return a key for each shard.

    >>> keys_of(4)
    (12, 6, 2, 0)
    """
    found: dict[int, int] = {}
    key = 0
    while len(found) < shards:
        found.setdefault(partition_of(key, shards), key)
        key += 1
    return tuple(found[shard] for shard in range(shards))


def partition_of(key: int, partitions: int) -> int:
    """Return where Spark puts a 32-bit integer: its Murmur3 hash, signed, modulo the number of partitions."""
    hashed = _finish(_mix(_SEED, key))
    signed = hashed - (1 << 32) if hashed >> 31 else hashed
    return signed % partitions


def _rotate(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & _BITS


def _mix(state: int, word: int) -> int:
    word = _rotate(word * 0xCC9E2D51 & _BITS, 15) * 0x1B873593 & _BITS
    return (_rotate(state ^ word, 13) * 5 + 0xE6546B64) & _BITS


def _finish(state: int) -> int:
    state ^= 4  # the integer's size in bytes
    state = (state ^ state >> 16) * 0x85EBCA6B & _BITS
    state = (state ^ state >> 13) * 0xC2B2AE35 & _BITS
    return state ^ state >> 16
