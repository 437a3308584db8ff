"""The layout of an input row, which a reader hands to the network.

Data's way: bytes -> reader -> **rows** -> dispatch -> memories and joins -> match rows -> sink.
A row is one triple of one arrival, as seven int64: [subject, predicate, object, start, end, stream, event].
An event is what was pushed in one call, or the graph of a file that the triple came in.  A triple that a reader brings
alone is an event of one triple: it has no number until a network asks for such, and gets one before it is poured.
"""

from __future__ import annotations

from typing import NewType

__all__ = [
    "BUILT_EVENTS", "END", "EVENT", "EVENT_BLOCK", "GIVEN_EVENTS", "OBJECT", "PREDICATE", "ROW_WIDTH", "START",
    "STREAM", "SUBJECT", "TermId", "Time",
]  # fmt: skip

TermId = NewType("TermId", int)  # > 0; 0 says "unbound"
Time = NewType("Time", int)  # event time in microseconds since 1970-01-01T00:00:00Z

SUBJECT = 0  # TermId
PREDICATE = 1  # TermId
OBJECT = 2  # TermId
START = 3  # Time: when the item's interval starts; equal to END for an instant
END = 4  # Time: when it ends; never decreases inside the engine
STREAM = 5  # the engine's small number of the stream's IRI; 0 is a stream without a name
EVENT = 6  # <= 0: minus the number of the event that the triple came in; 0 when it came alone, and nobody has asked
ROW_WIDTH = 7

# Events are numbered one by one up to the first block; a reader numbers its graphs in a block of its own.
EVENT_BLOCK = 1 << 40
GIVEN_EVENTS = 1 << 61  # the events that a user numbers are behind this one
BUILT_EVENTS = 1 << 62  # and those that rules make behind this one
