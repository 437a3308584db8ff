"""Regular expressions by sets of places: what a pattern matches, said as simply as can be, and how it is written.

A tree is a tuple: ("char", c), ("set", characters, negated), ("any",), ("start",), ("end",), ("group", tree),
("all", trees), ("either", trees), ("times", tree, least, most or None, greedy).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SPECIAL = frozenset(".\\?*+{}()[]|^$")


def written(tree: Any) -> str:
    """Write a tree as XPath does."""
    match tree:
        case ("char", char):
            return f"\\{char}" if char in SPECIAL else char
        case ("set", chars, negated):
            inner = "".join(f"\\{char}" if char in "\\[]^-" else char for char in chars)
            return f"[{'^' if negated else ''}{inner}]"
        case ("any",):
            return "."
        case ("start",):
            return "^"
        case ("end",):
            return "$"
        case ("group", body):
            return f"({written(body)})"
        case ("all", parts):
            return "".join(f"(?:{written(part)})" if part[0] == "either" else written(part) for part in parts)
        case ("either", parts):
            return "|".join(map(written, parts))
        case ("times", body, least, most, greedy):
            inner = written(body) if body[0] in ("char", "set", "any", "group") else f"(?:{written(body)})"
            return f"{inner}{{{least},{'' if most is None else most}}}{'' if greedy else '?'}"
    raise TypeError(tree)


def same(one: str, other: str, flags: str) -> bool:
    return one == other or ("i" in flags and (one.lower() == other.lower() or one.upper() == other.upper()))


def matches_one(tree: Any, char: str, flags: str) -> bool:
    match tree:
        case ("char", wanted):
            return same(char, wanted, flags)
        case ("set", chars, negated):
            return any(same(char, wanted, flags) for wanted in chars) is not negated
    return "s" in flags or char != "\n"


def is_line_start(text: str, at: int, flags: str) -> bool:
    return at == 0 or ("m" in flags and text[at - 1] == "\n" and at < len(text))


def is_line_end(text: str, at: int, flags: str) -> bool:
    if "m" not in flags:
        return at == len(text)
    return text[at] == "\n" if at < len(text) else not text.endswith("\n")


def ways(tree: Any, text: str, at: int, flags: str) -> Iterator[int]:
    """Return where a match that begins at a place may end, once for each way; a repetition that gets nowhere ends."""
    match tree:
        case ("char", _) | ("set", _, _) | ("any",):
            if at < len(text) and matches_one(tree, text[at], flags):
                yield at + 1
        case ("start",):
            yield from [at] * is_line_start(text, at, flags)
        case ("end",):
            yield from [at] * is_line_end(text, at, flags)
        case ("group", body):
            yield from ways(body, text, at, flags)
        case ("either", parts):
            for part in parts:
                yield from ways(part, text, at, flags)
        case ("all", parts):
            yield from ways_of_all(parts, text, at, flags)
        case ("times", body, least, most, _):
            yield from ways_of_times(body, least, most, text, at, flags)


def ways_of_all(parts: tuple[Any, ...], text: str, at: int, flags: str) -> Iterator[int]:
    if not parts:
        yield at
        return
    for end in ways(parts[0], text, at, flags):
        yield from ways_of_all(parts[1:], text, end, flags)


def ways_of_times(body: Any, least: int, most: int | None, text: str, at: int, flags: str) -> Iterator[int]:
    if least == 0:
        yield at
    if most == 0:
        return
    for end in ways(body, text, at, flags):
        if end > at:
            yield from ways_of_times(body, max(least - 1, 0), None if most is None else most - 1, text, end, flags)
        elif least > 0:
            yield at


def ends(tree: Any, text: str, at: int, flags: str) -> set[int]:
    """Return where a match that begins at a place may end."""
    match tree:
        case ("group", body):
            return ends(body, text, at, flags)
        case ("either", parts):
            return set().union(*(ends(part, text, at, flags) for part in parts))
        case ("all", parts):
            found = {at}
            for part in parts:
                found = set().union(*(ends(part, text, place, flags) for place in found))
            return found
        case ("times", body, least, most, _):
            found = {at}
            for _ in range(least):
                found = set().union(*(ends(body, text, place, flags) for place in found))
            for _ in range(len(text) + 1 if most is None else most - least):
                found |= set().union(*(ends(body, text, place, flags) for place in found))
            return found
    return set(ways(tree, text, at, flags))


def searched(tree: Any, text: str, flags: str) -> bool:
    return any(ends(tree, text, at, flags) for at in range(len(text) + 1))
