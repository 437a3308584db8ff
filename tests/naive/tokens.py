"""Solutions in time (MEANING §1), and where a decision about them stands.

A **token** is a solution with its interval, the facts that it was made of, and when and how it is certain.
Joining tokens joins their bindings, takes the earliest start and the latest end, and is certain when the last of them
is.  Static facts have the interval (+∞, −∞), so that they change no minimum and no maximum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from naive.streams import Fact, young_enough
from retewave.compiler.algebra import Algebra, First, Policy, Variable
from retewave.windows.intervals import STATIC_END, STATIC_START

Bindings = Mapping[Variable, bytes]  # variable -> canonical text; what is unbound is not there
Event = tuple[str, int]

FOREVER = STATIC_START  # a time that nothing comes after


class How(IntEnum):
    """How a token becomes certain, in the order in which an instant has them."""

    ARRIVAL = 0  # its last part comes
    CLOSE = 1  # its instant is closed
    DEADLINE = 2  # the clock is beyond its end
    FLUSH = 3  # the stream is said to have ended before that


@dataclass(frozen=True)
class Repetition:
    """What a step of a sequence took once."""

    place: int  # of the step in its sequence
    time: int  # when
    parts: tuple[tuple[str, Bindings], ...]  # the event patterns that took part, and what each bound
    own: frozenset[Variable]  # the group variables of the step

    @property
    def bindings(self) -> Bindings:
        """All that it bound."""
        return {variable: text for _, bindings in self.parts for variable, text in bindings.items()}


@dataclass(frozen=True)
class Token:
    """A solution in time."""

    bindings: Bindings  # what it binds
    start: int = STATIC_START  # of its earliest fact
    end: int = STATIC_END  # of its latest fact, or its deadline
    decided_at: int = STATIC_END  # when it is certain
    facts: tuple[Fact, ...] = ()  # what it was made of
    how: How = How.ARRIVAL  # how it is certain
    groups: tuple[Repetition, ...] = ()  # what the steps that repeat have taken, in the order of time

    @property
    def is_static(self) -> bool:
        return self.end < self.start


@dataclass(frozen=True)
class Scope:
    """Where a decision stands: what `in the window` means there."""

    within: int | None  # the width of the innermost WITHIN, or duration conjunct, around it
    ranged: bool  # whether the ranges of the query hold
    at: int  # the instant of the decision
    upto: int  # what ends later is not looked at


@dataclass
class World:
    """What there is for a query at some moment."""

    facts: Sequence[Fact]  # of static data and of the stream
    policy: Policy  # which partners a SEQ takes
    widest: int | None = None  # of the query's ranges; None: unbounded
    registered: int | None = None  # the clock at the registration; None: before the stream
    used: dict[Event, int] = field(default_factory=dict)  # an event that is used up, and the instant of that
    found: dict[tuple[int, Scope], list[Token]] = field(default_factory=dict)  # what was asked before
    kept: list[Algebra] = field(default_factory=list)  # the patterns whose `id` is in `found`

    def is_there(self, token: Token, at: int) -> bool:
        """Tell whether no event of a token is used up before a time."""
        return all(fact.event is None or self.used.get(fact.event, FOREVER) >= at for fact in token.facts)

    def sees(self, token: Token, at: int, scope: Scope) -> bool:
        """Tell whether a token is in the window of a decision at a time, and not used up.  Static ones always are."""
        return (
            (scope.within is None or at - token.start <= scope.within)
            and (not scope.ranged or young_enough(token.facts, at))
            and self.is_there(token, at)
        )

    def knows(self, at: int, scope: Scope) -> bool:
        """Tell whether the window of a decision lies behind the registration, so that what is not seen is not there."""
        widths = [width for width in (scope.within, self.widest if scope.ranged else None) if width is not None]
        return self.registered is None or (bool(widths) and at - min(widths) > self.registered)


def compatible(one: Bindings, other: Bindings) -> bool:
    """Tell whether two solutions agree on what both bind."""
    return all(other.get(variable, text) == text for variable, text in one.items())


def joined(one: Token, other: Token) -> Token:
    """Join two compatible tokens."""
    decided_at, how = max((one.decided_at, one.how), (other.decided_at, other.how))
    return Token(
        {**one.bindings, **other.bindings},
        min(one.start, other.start),
        max(one.end, other.end),
        decided_at,
        one.facts + other.facts,
        how,
        one.groups + other.groups,
    )


def pairs(left: Iterable[Token], right: Sequence[Token]) -> list[Token]:
    """Join all that is compatible."""
    return [joined(one, other) for one in left for other in right if compatible(one.bindings, other.bindings)]


def decided(token: Token, at: int, how: How) -> Token:
    """Return a token that is not certain before some time."""
    decided_at, how = max((token.decided_at, token.how), (at, how))
    return replace(token, decided_at=decided_at, how=how)


def earlier(one: Token, other: Token) -> bool:
    """Tell whether one token is before another: by their ends, then by their starts."""
    return (one.end, one.start) < (other.end, other.start)


def extreme(found: list[Token], which: type) -> list[Token]:
    """Return those that no other token is earlier than (First), or later than (Last)."""
    found = [each for each in found if not each.is_static]
    if which is First:
        return [one for one in found if not any(earlier(other, one) for other in found)]
    return [one for one in found if not any(earlier(one, other) for other in found)]
