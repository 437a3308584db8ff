"""Sets of characters, as ranges of code points: Unicode's categories, XML's names, and case variants.

Data's way: a regular expression's classes -> **sets** -> the classes of Python's and RE2's expressions.
Invariant: ranges are sorted, and do not touch each other, so equal sets are equal tuples.
Left out: blocks (`\\p{IsGreek}`), which Python knows nothing of.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import TypeAlias

__all__ = ["CATEGORIES", "ESCAPES", "Ranges", "category", "complement", "difference", "escaped", "ranges", "with_case"]

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # (first, last), both inside

_LAST = 0x10FFFF
_GROUPS = {
    "L": "ultmo",
    "M": "nce",
    "N": "dlo",
    "P": "cdseifo",
    "Z": "slp",
    "S": "mcko",
    "C": "cfon",
}
CATEGORIES = frozenset(_GROUPS) | {group + kind for group, kinds in _GROUPS.items() for kind in kinds}
ESCAPES = "sSiIcCdDwW"
_SPACE: Ranges = ((0x9, 0xA), (0xD, 0xD), (0x20, 0x20))
# The fifth edition of XML 1.0, as XML Schema 1.1 says.
_NAME_START: Ranges = (
    *((0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF)),
    *((0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF)),
    *((0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF)),
)
_NAME_REST: Ranges = ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))


def ranges(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """Return the union of some ranges.

    >>> ranges([(5, 9), (1, 2), (3, 4)])
    ((1, 9),)
    """
    found: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def complement(one: Ranges) -> Ranges:
    """Return the characters that are not in a set.

    >>> complement(((1, 0x10FFFF),))
    ((0, 0),)
    """
    edges = [-1, *(edge for pair in one for edge in pair), _LAST + 1]
    gaps = list(pairwise(edges))[::2]
    return tuple((low + 1, high - 1) for low, high in gaps if high - low > 1)


def difference(one: Ranges, other: Ranges) -> Ranges:
    """Return the characters of the one set that are not in the other set."""
    return complement(ranges((*complement(one), *other)))


@cache
def _categories() -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of each category; it takes a quarter of a second, once."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    kind = unicodedata.category
    before, since = kind("\0"), 0
    for code, now in enumerate(map(kind, map(chr, range(_LAST + 1)))):
        if now != before:
            found[before].append((since, code - 1))
            before, since = now, code
    found[before].append((since, _LAST))
    return dict(found)


@cache
def category(name: str) -> Ranges:
    """Return the characters of a category such as Lu, or of a group of them such as L."""
    return ranges(pair for each, pairs in _categories().items() if each.startswith(name) for pair in pairs)


@cache
def escaped(letter: str) -> Ranges:
    r"""Return the characters of an escape such as \d; a capital letter is its complement."""
    match letter:
        case "s":
            return _SPACE
        case "i":
            return _NAME_START
        case "c":
            return ranges((*_NAME_START, *_NAME_REST))
        case "d":
            return category("Nd")
        case "w":
            return complement(ranges((*category("P"), *category("Z"), *category("C"))))
    return complement(escaped(letter.lower()))


@lru_cache(maxsize=256)
def with_case(one: Ranges) -> Ranges:
    """Return a set and the case variants of its characters: the characters with the same lower or upper case.

    >>> with_case(((97, 98),))
    ((65, 66), (97, 98))
    """
    return ranges((*one, *((code, code) for each in _characters(one) for code in _variants(each))))


def _characters(one: Ranges) -> Iterator[str]:
    """Return the characters of a set that may have variants."""
    if one and one[-1][1] < 0x80:
        yield from (chr(code) for first, last in one for code in range(first, last + 1))
        return
    for each in _cased()[0]:
        if any(first <= ord(each) <= last for first, last in one):
            yield each


def _variants(each: str) -> Iterable[int]:
    if each.isascii():
        return map(ord, each.upper() + each.lower() + {"k": "\u212a", "s": "\u017f"}.get(each.lower(), ""))
    _, lower, upper = _cased()
    return {*lower[each.lower()], *upper[each.upper()]}


@cache
def _cased() -> tuple[list[str], dict[str, list[int]], dict[str, list[int]]]:
    """Return the characters that have a case, and their code points by their lower and by their upper case."""
    lower, upper = defaultdict(list), defaultdict(list)
    found = [each for each in map(chr, range(_LAST + 1)) if each.lower() != each or each.upper() != each]
    for each in found:
        lower[each.lower()].append(ord(each))
        upper[each.upper()].append(ord(each))
    return found, lower, upper
