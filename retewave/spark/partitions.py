"""Keys of shards: numbers that Spark's hash partitioning spreads as we want, each into a partition of its own.

Where it stands: between stage 1, which writes the keys, and the shuffle.
Invariant: with as many partitions as shards, each partition has one shard; with fewer, they are even.
"""

from __future__ import annotations

__all__ = ["keys_of"]

_SEED = 42  # of Spark's HashPartitioning
_BITS = 0xFFFFFFFF


def keys_of(shards: int, partitions: int) -> tuple[int, ...]:
    """Return a key for each shard, so that shard i lands in partition i modulo the number of partitions.

    >>> keys_of(4, 4)
    (12, 6, 2, 0)
    """
    found: dict[int, list[int]] = {place: [] for place in range(partitions)}
    wanted = -(-shards // partitions)  # keys a partition, at most
    key = 0
    for place in range(min(shards, partitions)):
        while len(found[place]) < wanted:
            found[_partition(key, partitions)].append(key)
            key += 1
    return tuple(found[shard % partitions][shard // partitions] for shard in range(shards))


def _partition(key: int, partitions: int) -> int:
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
