"""Regular expressions that look for nothing but strings, as most in FILTER(REGEX(...)) do.

Data's way: pattern and flags of a REGEX -> **strings to look for** -> program (compiler/expressions/kernel.py).
Invariant: a pattern matches exactly where one of its alternatives is found; other patterns have no alternatives.
Left out: whether a pattern is well formed, which the evaluator says.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Needle", "alternatives"]

_SPECIAL = frozenset("\\.^$*+?{}[]|()")
_ANYTHING = ".*"  # at an end that is free it asks for nothing


@dataclass(frozen=True)
class Needle:
    """A string that a pattern looks for."""

    string: str  # in lower case if `any_case`
    at_start: bool  # the text must start with it
    at_end: bool  # the text must end with it
    any_case: bool  # ASCII letters of the text count as lower case


def alternatives(pattern: str, flags: str = "") -> tuple[Needle, ...]:
    r"""Return what a pattern looks for; nothing when it is more than strings.

    >>> [(each.string, each.at_start) for each in alternatives(r"^http://a\.org/|Warn", "i")]
    [('http://a.org/', True), ('warn', False)]
    >>> alternatives("err.r")
    ()
    """
    any_case = "i" in flags
    if not set(flags) <= {"i", "s", "q"} or (any_case and not pattern.isascii()):
        return ()
    if "q" in flags:
        return (Needle(pattern.lower() if any_case else pattern, False, False, any_case),)
    parts = _split(pattern.lower() if any_case else pattern)
    found = tuple(each for part in parts if (each := _alternative(part, any_case)))
    return found if len(found) == len(parts) else ()


def _split(pattern: str) -> list[str]:
    r"""Split at each `|` that no backslash stands before.

    >>> _split(r"a|b\|c|")
    ['a', 'b\\|c', '']
    """
    parts, escaped = [""], False
    for letter in pattern:
        if letter == "|" and not escaped:
            parts.append("")
        else:
            parts[-1] += letter
        escaped = letter == "\\" and not escaped
    return parts


def _alternative(part: str, any_case: bool) -> Needle | None:
    at_start, rest = part.startswith("^"), part.removeprefix("^")
    at_end = rest.endswith("$") and not _is_escaped(rest)
    rest = rest[:-1] if at_end else rest
    if not at_start:
        rest = rest.removeprefix(_ANYTHING)
    if not at_end and rest.endswith(_ANYTHING) and not _is_escaped(rest[:-1]):
        rest = rest[: -len(_ANYTHING)]
    string = _string(rest)
    return None if string is None else Needle(string, at_start, at_end, any_case)


def _is_escaped(text: str) -> bool:
    """Tell whether a backslash before the last letter escapes it."""
    before = text[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _string(pattern: str) -> str | None:
    r"""Return the string that alone matches a pattern.

    >>> _string(r"a\.b"), _string("a.b"), _string(r"\d")
    ('a.b', None, None)
    """
    found, escaped = "", False
    for letter in pattern:
        if escaped:
            if letter not in _SPECIAL and letter != "-":
                return None
            found, escaped = found + letter, False
        elif letter == "\\":
            escaped = True
        elif letter in _SPECIAL:
            return None
        else:
            found += letter
    return None if escaped else found
