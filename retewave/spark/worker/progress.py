"""How far a shard has come, and the packets that its store keeps, as numbered chunks.

Data's way: packets of a step -> **a chunk, a note of progress** -> the store, which Spark keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from struct import Struct
from typing import Protocol

from retewave.errors import UsageError
from retewave.spark.worker.remembered import Remembered
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Arrival", "KeptChunk", "KeptImage", "Progress", "Store", "check_job", "joined", "packets_of"]

_HEAD = Struct("<qq")  # of a packet in a chunk: its earliest time, and the bytes of its rows

Arrival = tuple[int, bytes]  # microseconds: the earliest time in a packet; its packed rows


class Store(Protocol):
    """Where a shard keeps the state that must not be lost."""

    def meta(self) -> bytes | None:
        """Return the data that was put last; None at first."""

    def put_meta(self, data: bytes) -> None:
        """Keep how far the shard has come."""

    def chunk(self, number: int) -> bytes:
        """Return a chunk."""

    def put_chunk(self, number: int, data: bytes) -> None:
        """Keep a chunk."""

    def drop(self, number: int) -> None:
        """Forget a chunk."""


@dataclass
class KeptChunk:
    """The packets that arrived in a step and were not over with it, as the store knows them."""

    number: int  # its name in the store
    newest: int  # microseconds: the latest time in it
    late: int  # microseconds: rows not later than this were late when they arrived
    size: int  # bytes


@dataclass
class KeptImage:
    """An image of the network, as the store knows it."""

    number: int  # its name among the chunks; the chunks behind it have higher ones
    poured: int  # microseconds: the rows up to this time are in it
    size: int  # bytes


@dataclass
class Progress:
    """How far a shard has come."""

    digest: str  # of the job
    poured: int = BEFORE_ALL  # microseconds: the rows up to this time are in the network
    number: int = 0  # of the next chunk
    chunks: list[KeptChunk] = field(default_factory=list)  # that may still matter, oldest first
    steps: list[str] = field(default_factory=list)  # the names of the last steps, oldest first
    late: int = 0  # rows that came too late
    remembered: Remembered = field(default_factory=dict)  # the state that does not follow from rows
    newest: int = BEFORE_ALL  # microseconds: the latest time that came in
    image: KeptImage | None = None  # from which a network goes on

    @classmethod
    def of(cls, data: bytes | None, digest: str) -> Progress:
        """Read the contents of a store."""
        if data is None:
            return cls(digest)
        known = json.loads(data)
        check_job(known["digest"], digest)
        known["chunks"] = [KeptChunk(*each) for each in known["chunks"]]
        known["image"] = None if known["image"] is None else KeptImage(*known["image"])
        return cls(**known)

    def data(self) -> bytes:
        """Return it as bytes."""
        known = asdict(self)
        known["chunks"] = [list(asdict(each).values()) for each in self.chunks]
        known["image"] = None if self.image is None else list(asdict(self.image).values())
        return json.dumps(known, separators=(",", ":")).encode()


def check_job(kept: str, digest: str) -> None:
    """Refuse the store of another job than the one that runs."""
    if kept != digest:
        raise UsageError(
            "the checkpoint belongs to other queries, another schema or other shards",
            hint="start with a new checkpoint folder, or run what it was made for",
        )


def joined(packets: Sequence[Arrival]) -> bytes:
    """Return packets as a chunk."""
    return b"".join(_HEAD.pack(oldest, len(payload)) + payload for oldest, payload in packets)


def packets_of(chunk: bytes) -> Iterator[Arrival]:
    """Iterate over the packets of a chunk.

    >>> list(packets_of(joined([(-7, b"a"), (0, b"bc")])))
    [(-7, b'a'), (0, b'bc')]
    """
    at = 0
    while at < len(chunk):
        oldest, size = _HEAD.unpack_from(chunk, at)
        at += _HEAD.size + size
        yield oldest, chunk[at - size : at]
