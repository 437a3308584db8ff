r"""Read the replacement of REPLACE: texts, and groups of the pattern (XPath's fn:replace).

Data's way: replacement -> **its parts** -> `patterns.py`.
Invariant: a `\\` or `$` that means nothing is a `PatternError`.
"""

from __future__ import annotations

from retewave.compiler.regex.xpath import PatternError

__all__ = ["read_replacement"]


def read_replacement(written: str, groups: int, literally: bool = False) -> tuple[str | int, ...]:
    r"""Read a replacement: texts, and the numbers of groups ($0 is all of it).

    >>> read_replacement(r"[$1]\$", 1)
    ('[', 1, ']$')
    """
    if literally:
        return (written,)
    parts: list[str | int] = []
    text, at = "", 0
    while at < len(written):
        letter, following = written[at], written[at + 1 : at + 2]
        if letter == "\\":
            if following not in ("\\", "$"):
                raise PatternError("a \\ in the replacement", at, "write \\\\ for the character")
            text, at = text + following, at + 2
        elif letter == "$":
            number, at = _reference(written, at + 1, groups)
            parts += [text, number]
            text = ""
        else:
            text, at = text + letter, at + 1
    return tuple(part for part in (*parts, text) if part != "")


def _reference(written: str, at: int, groups: int) -> tuple[int, int]:
    """Read the number of a group: as many digits as there are groups (fn:replace); return the place behind it."""
    end = at
    while end < len(written) and written[end] in "0123456789" and end - at < 9:
        end += 1
    if end == at:
        raise PatternError("a $ in the replacement without a group's number", at - 1, "write \\$ for the character")
    while end - at > 1 and int(written[at:end]) > groups:
        end -= 1
    return int(written[at:end]), end
