"""What rules build: the occurrences of one instant, each once, and which of them have yet to come in.

Data's way: complete tuples of rules -> **the feed** -> dispatch, like rows that came from outside.
An occurrence is a triple with its interval and its stream.  One that was given is not built again, and one that was
built twice is there once: so rules run in rounds until nothing new is built.  What is given waits for nobody; it is
noted here, if a rule could build it.  What is built is poured when the instant is closed.

Invariant: all occurrences are of the instant F_TIME; F_DUE is no later than any that waits.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import mix
from retewave.rete.terms.kinds import BLANK, IRI
from retewave.rete.terms.marks import mark_occurrence
from retewave.rete.words.bare import bytes_at, words
from retewave.rete.words.jit import inlined, kernel
from retewave.rete.words.layout import (
    F_CAPACITY,
    F_COUNT,
    F_DERIVATIONS,
    F_DERIVED,
    F_DUE,
    F_ENTRIES,
    F_HEADER,
    F_MASK,
    F_MOST,
    F_POURED,
    F_ROUND_END,
    F_ROUNDS,
    F_SOLUTIONS,
    F_STAMP,
    F_TIME,
    INSTANCE_STREAM,
    INSTANCE_TEMPLATE,
    INSTANCE_TEMPLATE_COUNT,
    N_BUILT,
    N_BUILT_LIST,
    OCCURRENCE_WAITS,
    OCCURRENCE_WIDTH,
    T_COLUMNS,
    T_END,
    T_START,
)
from retewave.rete.words.progress import P_MARKED, P_MARKS
from retewave.rete.words.rows import BUILT_EVENTS, END, EVENT, OBJECT, PREDICATE, ROW_WIDTH, START, STREAM, SUBJECT
from retewave.windows.intervals import AFTER_ALL, BEFORE_ALL

__all__ = [
    "build",
    "expect",
    "feed_counts",
    "has_room",
    "instant_rows",
    "is_over",
    "larger_feed",
    "new_feed",
    "next_built",
    "note_given",
    "put_built",
    "put_feed_counts",
    "put_instant",
]

_COUNTS = [F_DERIVED, F_ROUNDS, F_DERIVATIONS, F_SOLUTIONS]
_LEAST = 64  # occurrences that there is room for at first


def new_feed(most: int, capacity: int = _LEAST) -> np.ndarray:
    """Return an empty feed for rules that may build `most` occurrences at one instant."""
    slots = 2 * capacity
    feed = np.zeros(F_HEADER + capacity * OCCURRENCE_WIDTH + 2 * slots, dtype=np.int64)
    feed[F_TIME], feed[F_DUE], feed[F_STAMP], feed[F_MOST] = BEFORE_ALL, AFTER_ALL, 1, most
    feed[F_CAPACITY], feed[F_ENTRIES], feed[F_MASK] = capacity, F_HEADER, slots - 1
    return feed


@inlined
def has_room(feed, many):  # type: ignore[no-untyped-def]
    """Tell whether there is room for `many` more occurrences."""
    return feed[F_COUNT] + many <= feed[F_CAPACITY]


@inlined
def is_over(feed):  # type: ignore[no-untyped-def]
    """Tell whether rules have built more at this instant than they may."""
    return feed[F_DERIVED] > feed[F_MOST]


@inlined
def _begin(feed, end):  # type: ignore[no-untyped-def]
    """Begin with an instant, if it is another than the last and nothing of that is left to be poured."""
    if feed[F_TIME] != end and feed[F_DUE] == AFTER_ALL:
        feed[F_TIME], feed[F_COUNT], feed[F_POURED], feed[F_DERIVED], feed[F_ROUND_END] = end, 0, 0, 0, 0
        feed[F_STAMP] += 1


@kernel
def _entry(feed):  # type: ignore[no-untyped-def]
    """Enter the occurrence behind the last one, which is written there; return where an equal one was, or 0."""
    one = feed[F_ENTRIES] + feed[F_COUNT] * OCCURRENCE_WIDTH
    h = mix(mix(feed[one + SUBJECT], feed[one + PREDICATE]), feed[one + OBJECT])
    h = mix(mix(h, feed[one + START]), feed[one + STREAM])
    mask, table = feed[F_MASK], feed[F_ENTRIES] + feed[F_CAPACITY] * OCCURRENCE_WIDTH
    slot = h & mask
    while True:
        place = table + 2 * slot
        if feed[place] != feed[F_STAMP]:
            feed[place], feed[place + 1] = feed[F_STAMP], one
            feed[F_COUNT] += 1
            return 0
        other = feed[place + 1]
        same = True
        for word in range(EVENT):
            same = same and feed[one + word] == feed[other + word]
        if same:
            return other
        slot = (slot + 1) & mask


@inlined
def _is_built(net, predicate):  # type: ignore[no-untyped-def]
    """Tell whether some rule may build a triple with a predicate."""
    count, known = net[N_BUILT], net[N_BUILT_LIST]
    if count < 0:
        return True
    found = False
    for i in range(count):
        found = found or net[known + i] == predicate
    return found


@kernel
def note_given(net, feed, rows, row, progress):  # type: ignore[no-untyped-def]
    """Note a row that comes in if a rule may build the same triple: the built one then stays out.  There is room."""
    if not _is_built(net, rows[row + PREDICATE]):
        return
    _begin(feed, rows[row + END])
    one = feed[F_ENTRIES] + feed[F_COUNT] * OCCURRENCE_WIDTH
    for word in range(ROW_WIDTH):
        feed[one + word] = rows[row + word]
    feed[one + OCCURRENCE_WAITS] = 0
    if progress[P_MARKED] != 0:
        mark_occurrence(feed, one, bytes_at(progress[P_MARKS]), progress[P_MARKED])
    other = _entry(feed)
    if other != 0:
        feed[other + OCCURRENCE_WAITS] = 0


@kernel
def _add(feed, s, p, o, start, end, stream, event):  # type: ignore[no-untyped-def]
    """Add what a rule has built, if it is not there; there is room for it."""
    _begin(feed, end)
    one = feed[F_ENTRIES] + feed[F_COUNT] * OCCURRENCE_WIDTH
    feed[one + SUBJECT], feed[one + PREDICATE], feed[one + OBJECT] = s, p, o
    feed[one + START], feed[one + END], feed[one + STREAM], feed[one + EVENT] = start, end, stream, event
    feed[one + OCCURRENCE_WAITS] = 1
    if _entry(feed) == 0:
        feed[F_DUE] = min(feed[F_DUE], end)
        feed[F_DERIVED] += 1
        feed[F_DERIVATIONS] += 1


@inlined
def _part(part, item):  # type: ignore[no-untyped-def]
    return part if part > 0 else item[T_COLUMNS - 1 - part]


@kernel
def build(net, feed, instance, item, kinds):  # type: ignore[no-untyped-def]
    """Build the triples of a rule's template of a complete tuple, those that are RDF; there is room for them."""
    feed[F_SOLUTIONS] += 1
    template, event = net[instance + INSTANCE_TEMPLATE], -BUILT_EVENTS - feed[F_SOLUTIONS]
    for triple in range(template, template + 3 * net[instance + INSTANCE_TEMPLATE_COUNT], 3):
        s, p, o = _part(net[triple], item), _part(net[triple + 1], item), _part(net[triple + 2], item)
        if o != 0 and kinds[p] == IRI and (kinds[s] == IRI or kinds[s] == BLANK):
            _add(feed, s, p, o, item[T_START], item[T_END], net[instance + INSTANCE_STREAM], event)


@kernel
def expect(feed, end):  # type: ignore[no-untyped-def]
    """Let the close of an instant wait for what Python builds of a solution."""
    _begin(feed, end)
    feed[F_DUE] = min(feed[F_DUE], end)


@kernel
def next_built(feed):  # type: ignore[no-untyped-def]
    """Return the place of the next occurrence that is to be poured, and count it as poured; 0: there is none."""
    while feed[F_POURED] < feed[F_COUNT]:
        if feed[F_POURED] >= feed[F_ROUND_END]:
            feed[F_ROUNDS] += 1
            feed[F_ROUND_END] = feed[F_COUNT]
        one = feed[F_ENTRIES] + feed[F_POURED] * OCCURRENCE_WIDTH
        feed[F_POURED] += 1
        if feed[one + OCCURRENCE_WAITS] != 0:
            feed[one + OCCURRENCE_WAITS] = 0
            return one
    feed[F_DUE] = AFTER_ALL
    return 0


@kernel
def _put_all(feed_array, rows):  # type: ignore[no-untyped-def]
    feed = words(feed_array)
    for row in range(rows.shape[0]):
        s, p, o = rows[row, SUBJECT], rows[row, PREDICATE], rows[row, OBJECT]
        _add(feed, s, p, o, rows[row, START], rows[row, END], rows[row, STREAM], rows[row, EVENT])


def put_built(feed: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Add what Python has built of rules' solutions, as input rows; return the feed, which may be a larger one."""
    while not has_room(feed, len(rows)):
        feed = larger_feed(feed)
    if len(rows):
        begins = np.empty(len(rows), dtype=np.bool_)  # rows of one solution stand beside each other
        begins[0], begins[1:] = True, rows[1:, EVENT] != rows[:-1, EVENT]
        numbers = begins.cumsum()
        rows[:, EVENT] = -BUILT_EVENTS - feed[F_SOLUTIONS] - numbers
        feed[F_SOLUTIONS] += numbers[-1]
    _put_all(feed, rows)
    return feed


def instant_rows(feed: np.ndarray) -> np.ndarray:
    """Return the occurrences of the instant, in their order: an input row each, and whether it is to be poured."""
    begin, end = int(feed[F_ENTRIES]), int(feed[F_ENTRIES] + feed[F_COUNT] * OCCURRENCE_WIDTH)
    return feed[begin:end].reshape(-1, OCCURRENCE_WIDTH).copy()


@kernel
def _put_instant(feed_array, rows):  # type: ignore[no-untyped-def]
    feed = words(feed_array)
    for row in range(rows.shape[0]):
        one = feed[F_ENTRIES] + feed[F_COUNT] * OCCURRENCE_WIDTH
        for word in range(OCCURRENCE_WIDTH):
            feed[one + word] = rows[row, word]
        waits = rows[row, OCCURRENCE_WAITS] != 0
        if _entry(feed) == 0 and waits:
            feed[F_DUE] = min(feed[F_DUE], rows[row, END])


def feed_counts(feed: np.ndarray) -> np.ndarray:
    """Return how much rules have built at the instant, and since the start: rounds, occurrences, solutions."""
    return feed[_COUNTS].copy()


def put_feed_counts(feed: np.ndarray, counts: np.ndarray) -> None:
    """Go on counting from the counts of another feed."""
    feed[_COUNTS] = counts


def put_instant(feed: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Let an empty feed hold the occurrences of an instant; return the feed, which may be a larger one."""
    while not has_room(feed, len(rows)):
        feed = larger_feed(feed)
    if len(rows):
        feed[F_TIME] = rows[0, END]
    _put_instant(feed, np.ascontiguousarray(rows))
    return feed


def larger_feed(feed: np.ndarray) -> np.ndarray:
    """Return a feed that holds the same, and has twice the room."""
    larger = new_feed(int(feed[F_MOST]), 2 * int(feed[F_CAPACITY]))
    larger[F_STAMP : F_SOLUTIONS + 1] = feed[F_STAMP : F_SOLUTIONS + 1]
    _put_instant(larger, instant_rows(feed))
    for word in (F_TIME, F_POURED, F_DUE):
        larger[word] = feed[word]
    return larger
