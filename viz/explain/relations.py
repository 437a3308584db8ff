"""Temporal relations in words: bounds between times, told by Allen's names where they have one.

Data's way: gaps of a plan, or their records in a network -> **names, words** -> explanations, drawings, why-not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from retewave.rete.words.layout import OF_END, OF_START
from retewave.viz.explain.names import spell_window
from retewave.windows import durations
from retewave.windows.relations import EQUALS, NAMES, NONE, bounds, inverse

__all__ = ["Bounding", "Named", "Time", "grouped", "in_words", "named", "spoken"]

Named = tuple[int, int, int]  # the left slot, a code of retewave.windows.relations, the right slot
Time = tuple[str, bool]  # whose time it is, in words; whether its end, else its start
Whose = TypeVar("Whose", int, str)
_Bound = tuple[tuple[Whose, bool], int, tuple[Whose, bool]]

_TIMES = {OF_START: False, OF_END: True}
_CODES = {frozenset(bounds(code)): code for code in reversed(range(1, len(NAMES)))}


class Bounding(Protocol):
    """A bound between two times of inputs, as a plan or a network has it."""

    @property
    def earlier(self) -> tuple[int, int]:
        """Whose time is earlier: the input; OF_START, OF_END, or the column that holds it."""

    @property
    def gap(self) -> int:
        """By how much, microseconds."""

    @property
    def later(self) -> tuple[int, int]:
        """Whose is later."""


def named(relations: Sequence[Bounding]) -> Iterator[Named]:
    """Yield the relations between the times of two inputs that have a name.

    >>> from retewave.compiler.plan.producers import Gap
    >>> list(named([Gap((0, OF_END), 1, (2, OF_START))])), NAMES[2]
    ([(0, 2, 2)], 'before')
    """
    inside = {_pair(each) for each in relations if {each.earlier[1], each.later[1]} - _TIMES.keys()}
    whole = (each for each in relations if _pair(each) not in inside)
    given = (
        ((each.earlier[0], _TIMES[each.earlier[1]]), each.gap, (each.later[0], _TIMES[each.later[1]])) for each in whole
    )
    yield from ((left, code, right) for left, code, right in grouped(given) if isinstance(code, int))


def _pair(bound: Bounding) -> frozenset[int]:
    return frozenset((bound.earlier[0], bound.later[0]))


def grouped(given: Iterable[_Bound[Whose]]) -> Iterator[tuple[Whose, int | list[_Bound[Whose]], Whose]]:
    """Yield, for each two that are bounded, the code of their relation; or their bounds, if these have no name."""
    pairs: dict[frozenset[Whose], list[_Bound[Whose]]] = {}
    for each in given:
        pairs.setdefault(frozenset((each[0][0], each[2][0])), []).append(each)
    for pair, found in pairs.items():
        left, right = min(pair), max(pair)
        said = frozenset(((int(a != left), one), gap, (int(b != left), other)) for (a, one), gap, (b, other) in found)
        code = _CODES.get(said, NONE)
        yield left, code if code != NONE else found, right


def spoken(relations: Iterable[Bounding], time: Callable[[tuple[int, int]], Time]) -> Iterator[str]:
    """Yield bounds in words; `time` says whose start or end each time is.

    >>> from retewave.compiler.plan.producers import Gap
    >>> def time(which): return f"input {which[0] + 1}", which[1] == OF_END
    >>> list(spoken([Gap((1, OF_END), 1, (0, OF_START))], time))
    ['input 2 before input 1']
    >>> list(spoken([Gap((1, OF_END), 0, (0, OF_END)), Gap((0, OF_END), -5_000_000, (1, OF_START))], time))
    ['input 2 ends no later than input 1', 'input 1 ends at most 5s after the start of input 2']
    """
    given = ((time(each.earlier), each.gap, time(each.later)) for each in relations)
    for left, code, right in grouped(given):
        if isinstance(code, int):
            active = code if code == EQUALS or code % 2 == 0 else inverse(code)  # no "met by": the other one meets
            yield f"{left} {NAMES[code]} {right}" if active == code else f"{right} {NAMES[active]} {left}"
        else:
            yield from in_words(code)


def in_words(found: Sequence[_Bound[str]]) -> Iterator[str]:
    """Yield bounds in words; two that make times equal together."""
    for place, (one, gap, other) in enumerate(found):
        back = (other, gap, one)
        if gap != 0 or back not in found:
            yield _bound((one, gap, other))
        elif place < found.index(back):
            verb, noun = ("ends" if one[1] else "starts"), ("ends" if other[1] else "starts")
            yield f"{one[0]} {verb} when {other[0]} {noun}"


def _bound(bound: _Bound[str]) -> str:
    """Return one bound in words."""
    (one, at_end), gap, (other, other_at_end) = bound
    verb, noun = ("ends" if at_end else "starts"), ("end" if other_at_end else "start")
    whose = other if at_end == other_at_end else f"the {noun} of {other}"
    if gap < 0:
        most = spell_window(-gap)
        return f"{one} {verb} {most if most.startswith('less') else f'at most {most}'} after the {noun} of {other}"
    if gap == 0:
        return f"{one} {verb} no later than {whose}"
    if gap == 1:
        return f"{one} before {other}" if at_end and not other_at_end else f"{one} {verb} before {whose}"
    return f"{one} {verb} at least {durations.spell(gap)} before the {noun} of {other}"
