"""The words of the two int64 arrays that a running network is made of.

`net` is the network as data: read-only while the stream runs, made by `network.assemble`.
`arena` is its state: memories' rows, groups, buckets, free lists.  Every index below is a word.

    net    [header | predicates, unknown ones | keys | routes | alphas | edges | slots | nodes | terminals | … | lists]
    arena  [header | free lists of groups | slot states | last groups | … pages, groups, bucket tables in any order …]

A **row** in a memory (slot) is `[next << 32 | group, window start, (end, (start,)) columns …]`.  The end has a word of
its own only if items have been intervals, or a query compares times.  The true start has one only if some query gives
its streams different ranges; then there is an end word, too.  Without those words `N_END` and
`N_START` read the window start.  That is correct for instants, and for the start of a joined row; nothing reads a
joined row's end in such a network (`N_TIMES` is 1).
Behind a row's columns are its readings, where filters compare rows (`rete/filters/compare.py`).
A **group** is `[node, mask of the slots that hold rows, key …, (head << 32 | tail) a slot, the extremes of readings]`;
the bucket table is open addressing over `hash << 32 | group`, at most half full.
A slot's list holds its streamed rows in arrival order, then its static rows; tail is 0 while it has no streamed row.

Left out: which code writes these words, and when: see `memory`, `join`, `collect`, `kernel`.
"""

from __future__ import annotations

# ---- net: header ----
N_SEED = 0  # seed of the hashes of predicates and keys
N_TIMES = 1  # words of a row's times; 1: the window start; 2: and the end; 3: and the true start
N_STRIDE = 2  # words of a tuple on the work stack: T_COLUMNS + widest tuple
N_PREDICATES = 3  # open-addressing table of known predicates: PREDICATE_* words each
N_PREDICATE_MASK = 4
N_KEYS = 5  # open-addressing table of (s, p, o) keys with more than a predicate: KEY_* words each
N_KEY_MASK = 6
N_ROUTES = 7
N_ALPHAS = 8
N_EDGES = 9
N_SLOTS = 10
N_SLOT_COUNT = 11
N_NODES = 12
N_NODE_COUNT = 13
N_TERMINALS = 14
N_INSTANCES = 15
N_INSTANCE_KEYS = 16  # open-addressing table of (terminal, parameters) -> instances: INSTANCE_KEY_* words
N_INSTANCE_KEY_MASK = 17
N_STREAMS = 18  # a row a stream set: shift of the window start by stream number, REFUSED where not in the set
N_STREAM_WIDTH = 19
N_LISTS = 20  # lists of columns, of relations and of readings, and filter programs, one after the other
N_UNKNOWN = 21  # the record for all unknown predicates: PREDICATE_* words, id 0
N_OUT_WIDTH = 22  # words of an output row
N_MOST_ROUTES = 23  # the most tuples that one input row can put on the stack
N_END = 24  # which word of a row is its end
N_START = 25  # which word of a row is its true start
N_PROBES = 26
N_PROBE_COUNT = 27
N_INSTANTS = 28  # 1: the network is made for instants alone
N_LOOKS = 29  # 1: more than joins: probes, passing rows, comparisons or rules
N_BUILT = 30  # number of predicates that rules build (-1: any); their list
N_BUILT_LIST = 31
N_MOST_BUILT = 32  # the most occurrences that one solution of a rule builds
N_STATES = 33
N_STEPS = 34
N_STATE_COUNT = 35
N_GATHERING = 36  # list of the nodes that gather
N_GATHERING_COUNT = 37
N_NUMBERS = 38  # 1: numbers of terms are looked up for nearly each row, so they are prefetched
N_STARS = 39  # 1: some node takes whole stars
N_KEPT = 40  # list of the states that keep solutions aside
N_KEPT_COUNT = 41
N_HEADER = 42

NONE = -1  # no edge
REFUSED = -1  # a stream's shift when the stream is not in the set

# in place of a column: a time of a row or of a tuple
OF_START, OF_END = -2, -3
OF_ROW, OF_NOTHING = -4, -5  # in place of a column that a step writes: the link to the run that goes on; a constant
OF_WINDOW = -6  # in place of a column: the window start of a row or of a tuple

# ---- net: records.  They name each other by place: the word of `net`, or of the arena, where the other one begins ----
# a predicate: its id, the key shapes to look up for it, the routes that need nothing but it
PREDICATE_ID, PREDICATE_SHAPES, PREDICATE_BEGIN, PREDICATE_COUNT, PREDICATE_WIDTH = 0, 1, 2, 3, 4
SHAPE_PO, SHAPE_SP, SHAPE_SPO = 1, 2, 4
SHAPE_KEYED = SHAPE_PO | SHAPE_SP | SHAPE_SPO
SHAPE_STAR = 8  # its triples go to a node that gathers, and nowhere else: whole stars are taken at once
KEY_S, KEY_P, KEY_O, KEY_BEGIN, KEY_COUNT, KEY_WIDTH = 0, 1, 2, 3, 4, 5
ROUTE_ALPHA, ROUTE_SUBJECT, ROUTE_PREDICATE, ROUTE_OBJECT, ROUTE_FLAGS, ROUTE_WIDTH = 0, 1, 2, 3, 4, 5
FROM_SUBJECT, FROM_OBJECT, FROM_PREDICATE = (
    0,
    -1,
    -2,
)  # where a part of a derived triple comes from; > 0: a constant
# checks before a route fires; most routes have none but for their streams
FLAG_GUARD = 1  # the route does not fire if the input's object is a literal
FLAG_TWIN = 2  # another route to the same α may derive the same triple from the same input
FLAG_DERIVES = 4  # the derived triple differs from the input
FLAG_EQUAL = 8  # the α needs a repeated term
FLAG_STREAMS = 16  # the α does not take every stream
FLAG_GIVEN = 32  # the α's tuples have the input triple, too
FLAG_WHOLE = 64  # the α looks at events, which count by their ends
ALPHA_STREAMS, ALPHA_EQUAL, ALPHA_EDGES, ALPHA_EDGE_COUNT, ALPHA_WIDTH = 0, 1, 2, 3, 4
EQUAL_SO, EQUAL_SP, EQUAL_PO = 1, 2, 4  # repeated variables within a triple pattern
EDGE_KIND, EDGE_TARGET, EDGE_CODE, EDGE_CODE_END = 0, 1, 2, 3
EDGE_KEYS, EDGE_PAYLOAD, EDGE_PAYLOAD_COUNT, EDGE_WIDTH = 4, 5, 6, 7
TO_SLOT, TO_TERMINAL = 0, 1
TO_MEMORY, TO_PROBE = 2, 3  # a slot whose rows are only looked at; a probe, which decides on the tuple
TO_PASSING = 4  # a slot whose rows only pass: they find the others, and are not kept
TO_INSTANT = 5  # a slot of the best row of each key in an instant; only looked at; its window start is the end
TO_SPENT = 6  # a slot of events that a query has used up; key: the event; window start: when it was used up
TO_COMPARED = 7  # a slot whose rows have readings; only `net` tells it from TO_SLOT
TO_INSTANTS = 8  # a slot of the times at which something came: a row an instant, with the time before it
TO_STATE, TO_STEP = 9, 10  # a state, which keeps runs; a step, by which its runs go on
TO_GATHERED = 11  # a slot of a node that gathers; only `net` tells it from TO_SLOT
TO_SLOTS = (TO_SLOT, TO_MEMORY, TO_PASSING, TO_INSTANT, TO_SPENT, TO_INSTANTS)  # edges whose target is a slot
SLOT_NODE, SLOT_INDEX, SLOT_ROW_WORDS = 0, 1, 2
SLOT_STATE = 3  # place in the arena
SLOT_LIST = 4  # the word of a group where the slot's list is
SLOT_PASSING = 5  # place in the arena of the only row, if rows of the slot only pass; else 0
SLOT_EVENTS, SLOT_EVENT_COUNT = 6, 7  # words of a row with events that may be used up
SLOT_RANK, SLOT_RANK_COUNT, SLOT_LATEST = 8, 9, 10  # words by which the best row is chosen; 1: the greatest is best
SLOT_READINGS, SLOT_READING_COUNT = 11, 12
SLOT_LENGTH = 13  # time after its true start for which a row is of use
SLOT_ASIDE, SLOT_WIDTH = 14, 15  # place in the arena of the tuple that is aside, if the node gathers
NODE_NUMBER, NODE_SEED = 0, 1  # the node's number; its hash, with which hashes of its keys begin
NODE_SLOTS, NODE_FULL, NODE_STATES = 2, 3, 4  # number of slots; mask of them all; place of the first one's state
NODE_KEY_COUNT, NODE_LISTS, NODE_GROUP_WORDS = 5, 6, 7  # columns of the key, the words of a group before its lists
NODE_LAST_GROUP = 8  # place in the arena of the group that was used last
NODE_WINDOW, NODE_OUT, NODE_OUT_COUNT, NODE_RELATIONS, NODE_RELATION_COUNT = 9, 10, 11, 12, 13
# a node whose tuples need no more test is "last": in place of its edges are the query and branch of its output rows
NODE_EDGES, NODE_EDGE_COUNT, NODE_LAST = 14, 15, 16
NODE_FORESEEN = 17  # the edge to prefetch along when all slots but one have rows, or NONE
NODE_FIRST_SLOT = 18  # the record of the first of its slots
NODE_SPENT = 19  # the node of the events that its query has used up; 0: it uses none up
NODE_COMPARED, NODE_COMPARED_COUNT = 20, 21  # comparisons of readings: COMPARED_* words each
# a node that gathers: the place in the arena of the tuples that are aside (else 0), their number of columns, and by
# column of the node's own tuples the place in the arena
NODE_ASIDE, NODE_ASIDE_COLUMNS, NODE_ASIDE_OUT = 22, 23, 24
# its edges: the number of those that the gathered tuple follows, and of the next ones, which lead to instants; then the
# states of solutions to which the others lead: the state, its number of columns, and these as columns of that tuple
NODE_ASIDE_EDGE_COUNT, NODE_ASIDE_INSTANTS, NODE_DIRECT, NODE_DIRECT_COUNT = 25, 26, 27, 28
# the groups that the gathered tuple will go to: the node, the columns of its key
NODE_AHEAD, NODE_AHEAD_COUNT = 29, 30
NODE_STAR, NODE_WIDTH = 31, 32  # how it takes whole stars; 0: it does not
# a star: its streams (-1: any), by column of what comes of it the slot and the place in the row, the place in the arena
# where it is noted which row each slot has, and which slots the rows were for; then by slot the predicate, the edge,
# the places of the key in the row
STAR_STREAMS, STAR_OUT, STAR_ROWS, STAR_SLOTS = 0, 1, 2, 3
STAR_PREDICATE, STAR_EDGE, STAR_KEYS, STAR_WIDTH = 0, 1, 2, 3
AHEAD_NODE, AHEAD_KEYS, AHEAD_WIDTH = 0, 1, 2
# a relation: the word of the left slot's row and the gap are at most the word of the right one's
RELATION_LEFT, RELATION_LEFT_WORD, RELATION_GAP, RELATION_RIGHT, RELATION_RIGHT_WORD, RELATION_WIDTH = 0, 1, 2, 3, 4, 5
# a reading: factor * number + constant + slack * |number| of the term in one word of a row, into another word; then
# 1 if it is of an upper side, and the word of a group that has its extreme, or NONE
READING_OF, READING_INTO, READING_FACTOR, READING_CONSTANT, READING_SLACK, READING_UPPER = 0, 1, 2, 3, 4, 5
READING_EXTREME, READING_WIDTH = 6, 7
OPEN = (1 << 63) - 1  # an upper reading that refuses nothing; a lower one is -OPEN
# a comparison of two readings: for each its slot, its word, and the word of a group that has its extreme
COMPARED_LOWER, COMPARED_LOWER_WORD, COMPARED_LOWER_EXTREME = 0, 1, 2
COMPARED_UPPER, COMPARED_UPPER_WORD, COMPARED_UPPER_EXTREME, COMPARED_WIDTH = 3, 4, 5, 6
# a probe: the node and slot that it looks at, and the way in which it decides
PROBE_NODE, PROBE_SLOT, PROBE_DECIDED, PROBE_WANTED, PROBE_STREAMED, PROBE_JOINT = 0, 1, 2, 3, 4, 5
PROBE_DEADLINE, PROBE_REACH = 6, 7  # time from the start to the decision; how far the probe looks back
PROBE_GAPS, PROBE_GAP_COUNT = 8, 9  # relations between words of the tuple (side 0) and of the row (side 1)
PROBE_CODE, PROBE_CODE_END = 10, 11  # the condition
PROBE_COLUMNS, PROBE_SEEN, PROBE_SEEN_COUNT = 12, 13, 14  # columns of the tuple; words of the row that conditions see
PROBE_KEYS = 15  # the tuple's columns that make the key
PROBE_EDGES, PROBE_EDGE_COUNT = 16, 17
PROBE_TAKEN, PROBE_TAKEN_COUNT = 20, 21  # words of the row that fits: the tuple gets them behind its columns
AT_ARRIVAL, AT_CLOSE, AT_DEADLINE = 1, 2, 3  # when a probe decides
PROBE_STATE, PROBE_LEVEL = 18, 19  # place in the arena; at one time, lower levels are decided first
PROBE_EVENTS, PROBE_EVENT_COUNT = 22, 23  # words of the tuple with events that may be used up
PROBE_RANK = 24  # words of the tuple that are compared with the slot's rank: only a better row fits
PROBE_WINDOWED, PROBE_WIDTH = 25, 26  # 1: the deadline counts from the tuple's window start
# a state: its slot (0: it keeps nothing), columns and marks of its rows; whether some step takes the next instant only,
# and whether some step takes all; where its tuples go; 1: a tuple that is there already, of the same end, does not
# enter again
STATE_SLOT, STATE_COLUMNS, STATE_MARK_COUNT, STATE_STRICT, STATE_UNDYING = 0, 1, 2, 3, 4
STATE_EDGES, STATE_EDGE_COUNT = 5, 6
STATE_LINK, STATE_ONCE = 7, 8  # the word of a run's row that has the link to the run before (0: none)
STATE_ASIDE = (
    9  # of a state of solutions: the tuples aside in the node that they come from; 0: the node gathers nothing
)
# numbers that steps compare, as bits of doubles: of the term in one word of a run's row, into another; NaN: not exact
STATE_NUMBERS, STATE_NUMBER_COUNT = 10, 11
STATE_OWN = 12  # 1 and the number of the state: its tuples have a link to their own row behind the columns
# columns of its tuples whose terms' numbers these have, too, as bits of doubles behind all else: steps compare them
STATE_TELLS, STATE_TELL_COUNT = 13, 14
STATE_CUT = 15  # 1: all of its runs are over that are older than the instant before
# of a state of solutions that no gathering node enters at once: the place in the arena of the tuple that is kept aside
# (0: none is), and its number of columns
STATE_KEPT, STATE_KEPT_COLUMNS, STATE_WIDTH = 16, 17, 18
LINK_STATE = 40  # a link is the place of a row, and from this bit on the number of its state
# a step: its state (0: its runs begin), how it follows, the word of a run's row that has its mark, the window
STEP_STATE, STEP_FOLLOWS, STEP_MARK, STEP_WINDOW, STEP_KEYS = 0, 1, 2, 3, 4
STEP_INSTANTS, STEP_INSTANT_KEYS = 5, 6  # the slot of the instants (0: none), the tuple's columns that are its key
STEP_EQUAL, STEP_EQUAL_COUNT = 7, 8  # pairs of a word of the run's row and a column of the tuple
STEP_CODE, STEP_CODE_END, STEP_COLUMNS, STEP_SEEN, STEP_SEEN_COUNT = 9, 10, 11, 12, 13  # as in a probe
# the columns that a step writes, two words each: 0 and the word of the run; 1 and the column of the tuple; OF_ROW,
# OF_NOTHING; or EITHER and more, by a column of the tuple: the word of the run, or that column where the run has
# nothing
EITHER = 2
STEP_OUT, STEP_OUT_COUNT, STEP_EDGES, STEP_EDGE_COUNT = 14, 15, 16, 17
STEP_EVERY, STEP_ORIGIN = (
    18,
    19,
)  # windows that follow each other, in which runs begin: their width (0: none), the first
STEP_NUMBER = 20  # of its state
# the condition, where it compares terms with terms alone: which relations are true, and twice what has the number and
# where: PAIR_RUN and the word of the run's row, PAIR_TUPLE and that of the tuple, PAIR_TERM and where it has the term
STEP_COMPARED, STEP_COMPARED_COUNT = 21, 22
STEP_DIRECT = 23  # its edge, if it has one alone, to a state whose tuples nobody else reads; else 0
# how the row of that state is made of the run's row and the tuple, if it is in the same group as the run (else 0): its
# slot, the place of the slot's state, the words of a row, the word of a group with the list, the bit of the slot; the
# word of the link, or NO_WORD; how many words are of the run, of the tuple, constants, and numbers of its own terms;
# then for each of these the word, and where it is from
STEP_COPIES, STEP_WIDTH = 24, 25
COPIES_SLOT, COPIES_STATE, COPIES_ROW_WORDS, COPIES_LIST, COPIES_BIT, COPIES_LINK = 0, 1, 2, 3, 4, 5
COPIES_RUN, COPIES_TUPLE, COPIES_CONSTANTS, COPIES_NUMBERS, COPIES_WORDS = 6, 7, 8, 9, 10
PAIR_TERM, PAIR_RUN, PAIR_TUPLE = 0, 1, 2
PAIR_ALLOWED, PAIR_LEFT_SIDE, PAIR_LEFT, PAIR_RIGHT_SIDE, PAIR_RIGHT, PAIR_WIDTH = 0, 1, 2, 3, 4, 5
PAIR_LESS, PAIR_EQUAL, PAIR_GREATER = 1, 2, 4
ANY, NEXT, STRICT = 0, 1, 2  # how a step follows: any later event, the next compatible one, that of the next instant
NO_WORD = 0  # a step that leaves no mark
TERMINAL_PARAMETERS, TERMINAL_PARAMETER_COUNT = 0, 1
TERMINAL_INSTANCES, TERMINAL_INSTANCE_COUNT, TERMINAL_WIDTH = 2, 3, 4
INSTANCE_QUERY, INSTANCE_BRANCH, INSTANCE_WINDOW, INSTANCE_CODE, INSTANCE_CODE_END = 0, 1, 2, 3, 4
INSTANCE_OUT, INSTANCE_OUT_COUNT, INSTANCE_PARAMETERS = 5, 6, 7
# the triples that a rule builds, three parts each: constants, or columns as -1, -2, …; and their stream
INSTANCE_BUILDS, INSTANCE_TEMPLATE, INSTANCE_TEMPLATE_COUNT, INSTANCE_STREAM = 8, 9, 10, 11
INSTANCE_LINK = 12  # the tuple's column with the link to the run before, if that is told; else -1
# of what only tells that something came: the place in the arena of the last time of the cell of which that was told
# last (0: all is told), the width of the cells of time, and where one of them ends
INSTANCE_TOLD, INSTANCE_CELL, INSTANCE_ORIGIN, INSTANCE_WIDTH = 13, 14, 15, 16
BUILDS_NOTHING, BUILDS, BUILDS_IN_PYTHON = 0, 1, 2
INSTANCE_KEY_HASH, INSTANCE_KEY_BEGIN, INSTANCE_KEY_COUNT, INSTANCE_KEY_WIDTH = 0, 1, 2, 3

# ---- a tuple on the work stack: an α's triple or a join's result on its way to the edges of its producer ----
T_EDGES, T_EDGE_COUNT, T_END, T_WINDOW_START, T_START, T_COLUMNS = 0, 1, 2, 3, 4, 5
ALPHA_COLUMNS = 4  # an α's tuple: subject, predicate, object, event
GIVEN, GIVEN_COLUMNS = (
    4,
    8,
)  # behind them, where it is asked for: the input's subject, predicate, object, and its stream

# ---- an output row: times and columns are in the same words as in a tuple ----
O_QUERY, O_BRANCH, O_END, O_WINDOW_START, O_START, O_COLUMNS = 0, 1, T_END, T_WINDOW_START, T_START, T_COLUMNS
UNDECIDED_ROW = 1 << 32  # added to O_BRANCH: a filter could not be decided by the kernel
TOLD_RUN = 1 << 33  # likewise: the row tells of a part of the match before it; its start is that part's time, and its
TOLD_STATE = O_WINDOW_START  # window start the number of its state, -1 for the last part

# ---- arena: header ----
A_TOP = 0  # first word never used
A_FREE_PAGE = 1  # list of free pages, linked by their first word
A_BUCKETS = 2
A_BUCKET_MASK = 3
A_GROUPS = 4  # number of groups
A_LIVE = 5  # streamed rows stored now
A_STATIC = 6  # static rows stored now
A_NOW = 7  # greatest end seen
A_COLLECTED = 8  # rows collected since the start
A_SHED = 9  # rows shed because of the bound on live rows
A_SINCE = 10  # input rows since the last full collection
A_LIMIT = 11  # bound on A_LIVE; 0 for none
A_SHEDDING = 12  # 1: shed at the limit; 0: stop at it
A_SLOT_STATES = 13  # place of the slot states
A_COUNTING = 14  # 1: keep the counters of slots and edges
A_EDGE_COUNTERS = 15  # place of the edges' counters (rows refused by filter)
A_USED_WORDS = 16  # words of pages and groups in use
A_MOST_WORDS = 17  # the greatest size of the arena: a link is half a word
A_DUE = 18  # the earliest time at which a decision is due
A_AGENDA = 19  # place of the agenda: a heap of [time, level, probe], one entry for each probe with waiting tuples
A_AGENDA_COUNT = 20
A_SPENT = 21  # events used up since rows with such events were last collected
A_NOWHERE = 22  # a group of no node, which rows have that are in no group's list
A_MOST_RUNS = 23  # bound on the runs of sequences; 0 for none
A_FREE_GROUPS = 24  # one list of free groups per size, up to MOST_GROUP_WORDS
MOST_GROUP_WORDS = 320  # two, a key as wide as a row may be, and a word for each of 60 slots
A_HEADER = A_FREE_GROUPS + MOST_GROUP_WORDS

# ---- arena: slot state ----
S_HEAD_PAGE, S_HEAD, S_TAIL_PAGE, S_TAIL, S_ROWS, S_STATIC_PAGE, S_STATIC = 0, 1, 2, 3, 4, 5, 6
S_SINCE = S_STATIC  # of a slot of instants, which are never static: the time from which on it has all of them
S_IN, S_COLLECTED, S_PROBES, S_HITS, S_NO_WINDOW, S_NO_RELATION, S_USED_UP, S_WIDTH = 7, 8, 9, 10, 11, 12, 13, 14

# ---- arena: state of a probe: tuples that wait, in the order of their times, and those that came out of order ----
W_FIRST, W_LAST, W_HEAP, W_COUNT = 0, 1, 2, 3
W_SINCE, W_SINCE_END = 4, 5  # all rows that start, or that end, at this time or later are known
W_DECIDED, W_PASSED, W_UNKNOWN, W_WIDTH = 6, 7, 8, 9  # counts of tuples: decided; of these, passed and unknown

# ---- arena: a tuple that waits for its decision ----
B_NEXT, B_CHILD, B_DUE, B_END, B_WINDOW_START, B_START, B_COLUMNS = 0, 1, 2, 3, 4, 5, 6

# ---- arena: the tuples aside in a node that gathers: their time, the slots that have a tuple, whether the solution has
# just been sent on, whether the rest of the instant is in the slots; whether it is a whole star, whose triples are not
# put aside but noted, and its window start; the key; behind it a tuple a slot, and the row that each slot has ----
ASIDE_END, ASIDE_MASK, ASIDE_FRESH, ASIDE_SPILLED, ASIDE_WHOLE, ASIDE_WINDOW_START, ASIDE_KEY = 0, 1, 2, 3, 4, 5, 6

# ---- arena: page, row, group ----
PAGE = 256  # words of a page; word 0 links to the next page of the memory
# a row's end and true start are in the words N_END and N_START; its columns begin at 1 + N_TIMES
R_LINK, R_WINDOW_START = 0, 1
G_NODE, G_MASK, G_KEY = 0, 1, 2
LOW = (1 << 32) - 1  # mask of the low half of a packed word

# ---- feed: the occurrences that came in at one instant, and those that rules built there: `rete/feed.py` ----
F_TIME = 0  # the instant
F_COUNT = 1  # number of occurrences noted
F_POURED = 2  # number of the first noted occurrence that need not be poured any more
F_DUE = 3  # at the close of this time built occurrences come in; AFTER_ALL: there are none
F_STAMP = 4  # the stamp of this instant's entries in the table
F_DERIVED = 5  # occurrences that rules have built at this instant
F_MOST = 6  # the most that they may build at one instant
F_ROUND_END = 7  # number of the occurrence at which the next round begins
F_ROUNDS = 8  # rounds since the start
F_DERIVATIONS = 9  # occurrences built since the start
F_SOLUTIONS = 10  # solutions of rules since the start
F_CAPACITY = 11  # occurrences for which there is room
F_ENTRIES = 12  # place of the occurrences; behind them the table: F_MASK + 1 times a stamp and a place
F_MASK = 13
F_HEADER = 14
# an occurrence: a row (`rete/words/rows.py`), and whether it is still to be poured
OCCURRENCE_WAITS, OCCURRENCE_WIDTH = 7, 8

# ---- a question to Python: about the filter of an edge, the condition of a probe or of a step ----
ASKED_PROBE, ASKED_EDGE, ASKED_STEP = 0, 1, 2

# ---- codes that the kernel returns ----
DONE, OUTPUT_FULL, AT_LIMIT = 0, 1, 2
INTERVAL = 3  # the next input row is an interval, and the network's rows have no word for an end
NEEDS_ARENA, NEEDS_STACK, NEEDS_OUT = 4, 5, 6  # an array is too small: `Runtime` makes it larger and calls again
NEEDS_VERDICT = 7  # a filter must be decided now, and the kernel cannot: `Runtime` asks Python
NEEDS_FEED = 8  # the feed is too small
NEEDS_BUILT = 9  # a rule builds triples that the kernel cannot build: `Runtime` asks Python
NEEDS_CLEARING = 10  # many events are used up: `Runtime` collects the rows that hold them
ENDLESS = 11  # rules have built more at one instant than the bound allows
