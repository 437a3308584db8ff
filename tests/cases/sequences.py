"""Random sequences of events, as algebra, and events to ask them of.

They are drawn from a seed by Python's own generator: a case costs less than the strategies of a property test would,
so that there may be thousands.  Variables, predicates and values are few, so that solutions often join; times are small
numbers, so that instants coincide and bounds are hit exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from helpers.sequences import event, query, sequence
from naive.streams import Item

from retewave.compiler import algebra
from retewave.compiler.algebra import Query

SEPARATORS = (";", ";", ":", ",", ",")
REPEATED = ("+", ",+", ";+", ":+")
PREDICATES = ("a", "b", "c")
STREAMS = ("s1", "s2")
SUBJECTS = ("h", "k")


@dataclass(frozen=True)
class Room:
    """What a sequence may have."""

    steps: int = 4  # at most
    joined: bool = True  # & and |
    conditions: bool = True  # on what came before
    repeated: bool = False  # +
    maximal: bool = False  # +!
    absent: bool = False  # !
    strict: bool = False  # mostly strict contiguity
    maybe: bool = False  # ?
    aggregates: bool = False  # COUNT(…) … and PREV in conditions
    tumbling: bool = False
    past_last: bool = False
    doubled: bool = False  # triples that are given, or entailed by a schema, more than once in an event
    events: int = 9  # at most


@dataclass(frozen=True)
class Case:
    """A query, and the events that it is asked of."""

    query: Query
    events: list[list[Item]]  # in the order of time
    text: str  # the sequence in short, for those who read of a failure
    patterns: dict[str, str]  # its event patterns in short

    @property
    def where(self) -> algebra.Sequence:
        """The sequence."""
        assert isinstance(self.query.where, algebra.Sequence)
        return self.query.where

    @property
    def items(self) -> list[Item]:
        """All triples, in the order of time."""
        return [item for each in self.events for item in each]

    def __str__(self) -> str:
        events = "\n".join(
            f"  {each[0].end} {each[0].stream or ''}: "
            + " . ".join(" ".join(_short(t) for t in i.triple) for i in each)
            for each in self.events
        )
        where = self.where
        more = (where.partition, where.width, where.tumbling, where.past_last, where.streams)
        return f"SEQ ({self.text})\n  {self.patterns}\n  {more}\n{events}"


def _short(text: bytes) -> str:
    return text.decode().removeprefix("<urn:").strip('<>"').partition('"')[0]


def cases(room: Room, seeds: Sequence[int]) -> Iterator[Case]:
    """Yield a case for each of some seeds."""
    yield from (drawn(Random(seed), room) for seed in seeds)


def drawn(random: Random, room: Room) -> Case:
    """Draw a case."""
    patterns = _patterns(random, room)
    text = _sequence(random, room, list(patterns))
    more: dict[str, Any] = {}
    if all("?s " in each for each in patterns.values()) and random.random() < 0.5:
        more["partition"] = "s"
    if random.random() < 0.3:
        more["streams"] = [f"<urn:{each}>".encode() for each in STREAMS]
    if room.absent or room.maybe or room.maximal or random.random() < 0.5:
        more["width"] = random.choice((2, 3, 5))
    if room.tumbling and random.random() < 0.5:
        more |= {"width": random.choice((2, 3, 4)), "tumbling": random.choice((0, 0, 1, 3))}
    if room.past_last and random.random() < 0.7:
        more["past_last"] = True
    return Case(query(sequence(text, patterns, **more)), _events(random, room), text, patterns)


def _patterns(random: Random, room: Room) -> dict[str, str]:
    found: dict[str, str] = {}
    seen: list[str] = []
    for place, name in enumerate("ABCD"):
        own = f"?{name.lower()}"
        subject = random.choice(("?s", "?s", "?s", "?s", "?t"))
        text = f"{subject} {random.choice(PREDICATES)} {random.choice((own, own, own, '?x', '1'))}"
        if random.random() < 0.25:
            text += f" . {subject} {random.choice(PREDICATES)} {random.choice((f'?{name.lower()}2', '?x', '2'))}"
        if random.random() < 0.2:
            text = f"{random.choice(STREAMS)}: {text}"
        bound = own in text.split()
        conditions = list(_conditions(random, room, own, seen, place)) if room.conditions and bound else []
        found[name] = text + (" | " + " & ".join(conditions) if conditions else "")
        seen += [own] if bound else []
    return found


def _conditions(random: Random, room: Room, own: str, seen: list[str], place: int) -> Iterator[str]:
    if seen and random.random() < 0.5:
        yield f"{own} {random.choice(('<', '>', '>=', '!='))} {random.choice(seen)}"
    elif random.random() < 0.1:
        yield f"{own} > 1"
    if room.aggregates and random.random() < 0.4:
        yield random.choice((f"{own} > PREV({own})", f"COUNT({own}) <= 2", f"SUM({own}) < 6", f"PREV({own}) < {own}"))
    if room.aggregates and seen and random.random() < 0.4:
        call = random.choice(("COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST", "SAMPLE"))
        yield f"{own} {random.choice(('<', '>', '!='))} {call}({random.choice(seen)})"


def _sequence(random: Random, room: Room, names: list[str]) -> str:
    count = random.randint(1, room.steps)
    parts = [_step(random, room, names[min(place, 3)], names, place in (0, count - 1)) for place in range(count)]
    if not any(each[-1] not in "?!" or each.endswith("+!") for each in parts):
        parts[random.randrange(count)] = names[0]
    separators = (",", ",", ",", ";") if room.strict else SEPARATORS
    return "".join(part + (random.choice(separators) if place < count - 1 else "") for place, part in enumerate(parts))


def _step(random: Random, room: Room, name: str, names: list[str], outer: bool) -> str:
    operand = name
    if room.joined and random.random() < 0.2:
        operand = f"({name} {random.choice('&|')} {random.choice(names)})"
    marks = [""] * 3
    marks += [random.choice(REPEATED)] * 3 * room.repeated
    marks += [random.choice(REPEATED) + "!"] * 2 * room.maximal
    marks += ["!"] * 2 * room.absent + ["?"] * 2 * room.maybe
    return operand + random.choice(marks)


def _events(random: Random, room: Room) -> list[list[Item]]:
    time, found = 0, list[list[Item]]()
    for _ in range(random.randint(3, room.events)):
        time += random.choice((1, 1, 1, 1, 0, 2))
        triples = {
            f"{random.choice(SUBJECTS)} {random.choice(PREDICATES)} {random.randint(1, 3)}"
            for _ in range(random.choice((1, 1, 1, 2, 3)))
        }
        given = sorted(triples) + random.choices(sorted(triples), k=2) * (room.doubled and random.random() < 0.5)
        start = time - random.choice((0, 0, 0, 0, 1))
        found.append(event(time, *given, stream=random.choice((None, *STREAMS)), start=start))
    return found
