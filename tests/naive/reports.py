"""Which of the matches found are reported: DISTINCT and DISTINCT ON, by looking at all that were before (MEANING §3).

`tests/naive/detectors.py` finds them; here they are put in the order in which the arrivals complete them.

* A match is found when its last fact arrives; one of static facts alone is found before the stream (-1).
  Of several that come at once, the one with the latest start is found first.
* Matches are *alike* when they have the same terms, or none, in the variables of ON; without ON, in all that is shown.
* Without FOR a match is reported unless one that is like it, reported or not, was found before and is still alive: its
  facts are young enough now.
* With FOR it is reported unless `most` that are like it were *reported* in the time before, the bound included: now -
  the end of the report <= the time.  A match of static facts alone is before all times.
* Of matches of one instant the first that is found is reported; how many of them are does not depend on the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from naive.detectors import detected
from naive.streams import BEFORE_THE_STREAM, Entail, Fact, Item, Triple, young_enough
from naive.tokens import Token
from retewave.compiler import algebra
from retewave.windows.intervals import STATIC_END

Bindings = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class On:
    """DISTINCT ON (variables) LIMIT most FOR within."""

    variables: tuple[str, ...]  # as they are written, "?x"
    within: int | None = None  # microseconds; None: while one that is like it is alive
    most: int = 1


Distinct = bool | On


class Match(NamedTuple):
    """What is found."""

    start: int
    end: int
    bindings: Bindings  # sorted by name, "?x"; what is unbound is left out
    arrival: int  # the place in the stream of the item that completed it


Found = tuple[Match, tuple[Fact, ...]]


def matches(
    query: algebra.Query,
    stream: Sequence[Item],
    static: Set[Triple] = frozenset(),
    entail: Entail = lambda t: {t},
    *,
    distinct: Distinct = False,
) -> list[Match]:
    """Return the matches that are reported, in the order in which they are found."""
    if any(later.end < earlier.end for earlier, later in pairwise(stream)):
        raise ValueError("the items of a stream are in the order of their ends")
    hidden = () if isinstance(distinct, bool) else tuple(name[1:] for name in distinct.variables)
    compared = replace(query, projection=(*query.projection, *hidden))
    found = [_found(token) for token in detected(compared, stream, static, entail)]
    found.sort(key=lambda pair: (pair[0].arrival, -pair[0].start))
    return [
        match._replace(bindings=tuple(pair for pair in match.bindings if pair[0][1:] in query.projection))
        for match, _ in reported(found, stream, distinct)
    ]


def _found(token: Token) -> Found:
    bindings = tuple(sorted((f"?{variable.name}", text) for variable, text in token.bindings.items()))
    arrival = max((fact.arrival for fact in token.facts), default=BEFORE_THE_STREAM)
    return Match(token.start, token.end, bindings, arrival), token.facts


def reported(found: list[Found], stream: Sequence[Item], distinct: Distinct) -> Iterator[Found]:
    """Return the matches to report, of all in the order in which they are found."""
    if distinct is False:
        yield from found
    elif isinstance(distinct, On) and distinct.within is not None:
        yield from cooled_down(found, distinct, distinct.within)
    else:
        yield from first_of_each(found, stream, distinct)


def first_of_each(found: list[Found], stream: Sequence[Item], distinct: Distinct) -> Iterator[Found]:
    for place, (match, facts) in enumerate(found):
        now = stream[match.arrival].end if match.arrival >= 0 else STATIC_END
        earlier = [of for other, of in found[:place] if key(other.bindings, distinct) == key(match.bindings, distinct)]
        if not any(young_enough(of, now) for of in earlier):
            yield match, facts


def cooled_down(found: list[Found], on: On, within: int) -> Iterator[Found]:
    before: list[Found] = []
    for match, facts in found:
        alike = [other for other, _ in before if key(other.bindings, on) == key(match.bindings, on)]
        if sum(match.end - other.end <= within for other in alike) < on.most:
            before.append((match, facts))
            yield match, facts


def key(bindings: Bindings, distinct: Distinct) -> Bindings:
    """Return what of a match's bindings is compared."""
    if isinstance(distinct, On):
        return tuple(pair for pair in bindings if pair[0] in distinct.variables)
    return bindings
