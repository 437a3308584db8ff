"""The cells of a scan: its whole state, and what the words in it mean.

Data's way: a reader's choices -> **a job** -> the scan of a block (`scan.py`).
"""

from __future__ import annotations

from retewave.io.lines.terms import LINE_CELLS
from retewave.rete.words import rows as columns

__all__ = [
    "AT",
    "BASE",
    "BATCH",
    "BEHIND",
    "BY_COUNT",
    "BY_GRAPH",
    "BY_SUBJECT",
    "DONE",
    "EVENTS",
    "EVENTS_BY",
    "EVENT_SIZE",
    "EVERYTHING",
    "FAULTS",
    "FAULT_ROOM",
    "FAULT_WIDTH",
    "FORESEEN",
    "FULL",
    "GATHERED",
    "GATHERED_BYTES",
    "GATHERED_COUNT",
    "GATHERED_ID",
    "GRAPHS",
    "GRAPH_NOW",
    "G_CELLS",
    "G_GRAPH",
    "G_OBJECT",
    "G_ROW",
    "G_SUBJECT",
    "IGNORE_GRAPHS",
    "JOB_CELLS",
    "KEEP_GRAPHS",
    "KNOWN",
    "KNOWN_COUNT",
    "KNOWN_NOW",
    "K_AT",
    "K_CELLS",
    "K_ID",
    "K_NEXT",
    "K_OTHER",
    "K_SIZE",
    "LAST",
    "LAST_GRAPH",
    "LIMIT",
    "LINE",
    "MALFORMED",
    "MORE",
    "NEAR",
    "NEED",
    "NEW_GRAPH",
    "NOTED",
    "NO_EVENTS",
    "NO_GRAPHS",
    "NO_ROOM",
    "OBJECTS",
    "OBJECT_COUNT",
    "OF_SUBJECT",
    "ONLY_FOR_TIME",
    "PLACES",
    "PREDICATES",
    "PREDICATE_COUNT",
    "RAISED",
    "RAISING",
    "ROWS",
    "ROW_COUNT",
    "ROW_ROOM",
    "RUN_START",
    "SCRATCH",
    "SIEVE",
    "SIEVE_MASK",
    "SKIP_LF",
    "STATEMENTS",
    "STREAM",
    "TERMS",
    "TIME_PREDICATE",
    "TOLD",
    "TOLD_LAST",
]

# How a scan ends.
DONE = 0  # the block is used up
FULL = 1  # there is no room for another row
NO_ROOM = 2  # the dictionary must grow by NEED bytes before the line at AT
RAISED = 3  # the line at AT is malformed, and RAISING was asked for
MORE = 4  # not yet: a batch of statements is gathered

# The cells of a job begin with those of its line (retewave/io/lines/terms.py); a job is a scan's whole state.
AT = LINE_CELLS  # the address of the next byte to scan
LIMIT = LINE_CELLS + 1  # the address behind the last line
BASE = LINE_CELLS + 2  # the address of the block, for places of faults
LINE = LINE_CELLS + 3  # the number of the line at AT, from 1
SKIP_LF = LINE_CELLS + 4  # 1: the last block ended with a CR, so a LF now belongs to that line's end
STATEMENTS = LINE_CELLS + 5  # how many well-formed statements there were
MALFORMED = LINE_CELLS + 6  # how many malformed lines
RAISING = LINE_CELLS + 7  # 1: stop at the first of them
FAULTS = LINE_CELLS + 8  # the address of the faults: line, reason, the line's start, the fault's place
NOTED = LINE_CELLS + 9  # how many faults are written there
FAULT_ROOM = LINE_CELLS + 10  # how many fit
ROWS = LINE_CELLS + 11  # the address of the rows
ROW_COUNT = LINE_CELLS + 12  # how many are written there
ROW_ROOM = LINE_CELLS + 13  # how many fit
STREAM = LINE_CELLS + 14  # the number that goes into their STREAM
SCRATCH = LINE_CELLS + 15  # the address of the scratch bytes: a batch's terms as rewritten, at most 256 longer a line
TERMS = LINE_CELLS + 16  # the address of the dictionary
NEED = LINE_CELLS + 17  # bytes of text that it must take
EVERYTHING = LINE_CELLS + 18  # the acceptance: its three fields, arrays as address and length
PREDICATES = LINE_CELLS + 19
PREDICATE_COUNT = LINE_CELLS + 20
OBJECTS = LINE_CELLS + 21
OBJECT_COUNT = LINE_CELLS + 22
GRAPHS = LINE_CELLS + 23  # what is done with a fourth term: see below
# the last statement's graph: its id, 0 for the default graph, -1 if it has no id, GATHERED_ID
GRAPH_NOW = LINE_CELLS + 24
EVENTS = LINE_CELLS + 25  # the number of the last event
RUN_START = LINE_CELLS + 26  # the ordinal of the statement that began it
TIME_PREDICATE = LINE_CELLS + 27  # the id of the predicate that tells an event's time, never refused; 0: none
LAST = LINE_CELLS + 28  # the last subject: its address, its size (0: there is none), its id
PLACES = LINE_CELLS + 31  # 1: a row's START is the place of its line in the document, not an ordinal
BEHIND = LINE_CELLS + 32  # how many bytes of the document are before the block
GATHERED = LINE_CELLS + 33  # the address of the statements whose terms are yet to be interned: their G_* cells
GATHERED_COUNT = LINE_CELLS + 34  # gathered statements: the last rows, as many, are yet to be written
GATHERED_BYTES = LINE_CELLS + 35  # the texts of these terms together
KNOWN = LINE_CELLS + 36  # the address of the predicates met in the block: their K_* cells; the first place stays empty
KNOWN_NOW = LINE_CELLS + 37  # the address of the last statement's
FORESEEN = LINE_CELLS + 38  # of the known predicate that the line's predicate is, 0: of none
SIEVE = LINE_CELLS + 39  # the address of the bits that the hashes of accepted objects lead to
SIEVE_MASK = LINE_CELLS + 40  # the part of a hash that names a bit
LAST_GRAPH = LINE_CELLS + 41  # the last statement's named graph: its address, its size (0: not known), its id
NEW_GRAPH = LINE_CELLS + 44  # 1: the statement's graph is the first of its name in a row, and is gathered with it
EVENTS_BY = LINE_CELLS + 45  # which statements are an event: see below
EVENT_SIZE = LINE_CELLS + 46  # how many statements an event has, with BY_COUNT
TOLD_LAST = LINE_CELLS + 47  # the last time told in µs: the address of its literal, its size (0: none), its minute's µs
NEAR = LINE_CELLS + 50  # 1: the rows are read on this core next, so they may stay in its caches
JOB_CELLS = LINE_CELLS + 51

# A gathered statement: its subject's address, size (0: the statement's before), hash and likely id, its object's (size
# 0: what is in the row), its graph's (size 0: the graph before, if the row has GATHERED_ID), and its raw row.
G_SUBJECT, G_OBJECT, G_GRAPH, G_ROW, G_CELLS = 0, 4, 8, 11, 11 + columns.ROW_WIDTH
OF_SUBJECT = -1  # in place of a graph's hash: its name is the subject
GATHERED_ID = -2  # in place of a graph's id: it is gathered, and not interned yet

# A predicate met in the block.  A subject's statements are mostly written in the same order, so each predicate is
# compared with the two predicates that followed the last one before.  If it is one, no scan, hash or look-up is needed.
K_AT, K_SIZE = 0, 1  # where its text is in the block, and its size; 0: nothing is here
K_ID = 2  # 0 if the dictionary does not have it
K_NEXT = 3  # the address of the predicate that followed it the last time
K_OTHER = 4  # of another one that followed it before
K_CELLS = 5
KNOWN_COUNT = 64  # places, a power of two; a predicate whose hash leads to a place takes it

BATCH = 32  # statements gathered before the first is interned, so that the memory that the look-ups need is on its way

FAULT_WIDTH = 4

# What is done with a fourth term.
NO_GRAPHS = 0  # it is an error (N-Triples)
IGNORE_GRAPHS = 1  # it is read and forgotten (static data)
KEEP_GRAPHS = 2  # it is read, and may name an event

# Which statements that follow each other are one event.
NO_EVENTS = 0  # each is one by itself
BY_GRAPH = 1  # those in one named graph
BY_SUBJECT = 2  # those of one subject
BY_COUNT = 3  # a number of them that follow each other, whatever they say

ONLY_FOR_TIME = -1  # in a row's STREAM: the row tells an event's time, and is refused otherwise
TOLD = 1 << 62  # such a row's OBJECT is its time less this, not the id of a literal that nobody else needs; so is the
# START of a row that such a row about its graph, in the default graph, came before
