"""In how many ways a regular expression may match: this decides by which program it is matched.

Data's way: a pattern's tree -> **bounds** -> `patterns.py` chooses Python's `re` or RE2.
Invariant: a bound is never too small: `re` goes back at most as often as there are ways, and one way is no longer
than the span. Where a repetition ends is certain when what follows it can begin with none of its characters:
`[a-z]+@` has one way, `[a-z]+e` as many as the text has characters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

from retewave.compiler.regex.character_sets import Ranges, difference, ranges
from retewave.compiler.regex.xpath import Anchor, BackReference, Characters, Choice, Concatenation, Group, Repeat, Tree

__all__ = ["longest_text", "parts_of", "ways_of"]

Bound: TypeAlias = Callable[[int], float]  # of the ways, or of the steps of a way, by the length of the text

_SHORT = 100  # steps that are nothing special, however long the text
_LONGEST_TEXT = 1 << 40


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """Return the trees directly below a tree."""
    match tree:
        case Concatenation(parts) | Choice(parts):
            return parts
        case Group(_, body) | Repeat(body):
            return (body,)
    return ()


def longest_text(tree: Tree, steps: float) -> int:
    """Return the length of the longest texts that are surely searched within a number of steps."""
    ways, span = ways_of(tree), _span(tree)

    def is_quick(length: int) -> bool:
        if span(length) <= _SHORT and ways(length) <= 1:
            return True
        return (length + 1) * (ways(length) + span(length)) <= steps

    low, high = 0, _LONGEST_TEXT
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_quick(middle) else (low, middle - 1)
    return low


def _span(tree: Tree) -> Bound:
    """Return the steps of a way."""
    inner = [_span(part) for part in parts_of(tree)]
    match tree:
        case Repeat(_, _, most):
            return lambda length: length + 1 if most is None else min(length + 1, most) * inner[0](length)
        case BackReference():
            return lambda length: length
    return lambda length: 1 + sum(part(length) for part in inner)


def ways_of(tree: Tree) -> Bound:
    """Return the ways in which a tree matches at one place."""
    match tree:
        case Concatenation(parts):
            last = [ways_of(part) for part in parts[-1:]]
            counted = last + [ways_of(part) for part, behind in pairwise(parts) if not _ends_surely(part, behind)]
            return lambda length: math.prod(part(length) for part in counted)
        case Choice(branches):
            each = [ways_of(branch) for branch in branches]
            return lambda length: sum(branch(length) for branch in each)
        case Group(_, body):
            return ways_of(body)
        case Repeat():
            return _repeated(tree)
    return lambda length: 1


def _repeated(tree: Repeat) -> Bound:
    inner = ways_of(tree.body)
    empty = tree.least if _first(tree.body) is None else 0

    def ways(length: int) -> float:
        last = length + empty  # each time has a character, or is one of the times that must be there
        last = last if tree.most is None else min(tree.most, last)
        each = inner(length)
        if each <= 1:
            return max(1, last - tree.least + 1)
        return 2 * each**last if last * math.log(each) < 100 else math.inf

    return ways


def _ends_surely(tree: Tree, following: Tree) -> bool:
    """Tell whether a repetition of single characters can end at one place only, because of what follows."""
    while isinstance(tree, Group):
        tree = tree.body
    if not isinstance(tree, Repeat) or not isinstance(tree.body, Characters):
        return False
    if isinstance(following, Anchor) and not following.start:
        return not following.lines or _are_apart(tree.body.members, ((10, 10),))
    first = _first(following)
    return first is not None and _are_apart(tree.body.members, first)


def _are_apart(one: Ranges, other: Ranges) -> bool:
    return difference(one, other) == one


def _first(tree: Tree) -> Ranges | None:
    """Return the characters that a match can begin with; nothing when it may be empty, or when that is not known."""
    match tree:
        case Characters(members):
            return members
        case Group(_, body):
            return _first(body)
        case Concatenation((first, *_)):
            return _first(first)
        case Choice(branches):
            found = [_first(branch) for branch in branches]
            return None if None in found else ranges(pair for each in found for pair in each or ())
        case Repeat(body, least):
            return _first(body) if least else None
    return None
