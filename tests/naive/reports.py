"""Which of the matches found are reported: DISTINCT and DISTINCT ON, by looking at all that were before.

* Matches are *alike* when they have the same terms, or none, in the variables of ON; without ON, in all that is shown.
* Without FOR a match is reported unless one that is like it, reported or not, was found before and is still alive: its
  facts are young enough now.
* With FOR it is reported unless `most` that are like it were *reported* in the time before, the bound included: now -
  the end of the report <= the time.  A match of static facts alone is before all times.
* Of matches of one instant the first that is found is reported; how many of them are does not depend on the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retewave.windows.intervals import STATIC_END

if TYPE_CHECKING:
    from naive import Fact, Found, Item

    Alive = Callable[[list[Fact], int], bool]  # whether facts are young enough at a time


@dataclass(frozen=True)
class On:
    """DISTINCT ON (variables) LIMIT most FOR within."""

    variables: tuple[str, ...]
    within: int | None = None  # microseconds; None: while one that is like it is alive
    most: int = 1


Distinct = bool | On


def reported(found: list[Found], stream: Sequence[Item], distinct: Distinct, alive: Alive) -> Iterator[Found]:
    """Return the matches to report, of all in the order in which they are found."""
    if distinct is False:
        yield from found
    elif isinstance(distinct, On) and distinct.within is not None:
        yield from cooled_down(found, distinct, distinct.within)
    else:
        yield from first_of_each(found, stream, distinct, alive)


def first_of_each(found: list[Found], stream: Sequence[Item], distinct: Distinct, alive: Alive) -> Iterator[Found]:
    for place, (match, facts) in enumerate(found):
        now = stream[match.arrival].end if match.arrival >= 0 else STATIC_END
        earlier = [of for other, of in found[:place] if key(other.bindings, distinct) == key(match.bindings, distinct)]
        if not any(alive(of, now) for of in earlier):
            yield match, facts


def cooled_down(found: list[Found], on: On, within: int) -> Iterator[Found]:
    before: list[Found] = []
    for match, facts in found:
        alike = [other for other, _ in before if key(other.bindings, on) == key(match.bindings, on)]
        if sum(match.end - other.end <= within for other in alike) < on.most:
            before.append((match, facts))
            yield match, facts


def key(bindings: tuple[tuple[str, bytes], ...], distinct: Distinct) -> tuple[tuple[str, bytes], ...]:
    """Return what of a match's bindings is compared."""
    if isinstance(distinct, On):
        return tuple(pair for pair in bindings if pair[0] in distinct.variables)
    return bindings
