r"""Match regular expressions against data, in time that does not explode.

Data's way: expression -> evaluator -> REGEX and REPLACE -> **pattern** on a text.
A pattern is read once (`regex/xpath.py`) and becomes an expression of Python's `re`, which is quick and tries all
ways of matching: `(a+)+b` takes it longer than the world has lasted. How many ways there may be follows from the
pattern and the length of the text; where they are too many, RE2 (in pyarrow) takes over, which needs a time linear in
the text and 40 µs to begin. RE2 has no back-references: with these, and where it gives up, too many ways are an
error.
Invariant: both find the same; sets of characters are written out in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from rdflib import Literal
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.functions_strings import LONGEST, plain_string, string
from retewave.compiler.expressions.numbers import raw_literal
from retewave.compiler.expressions.operators import FALSE, TRUE
from retewave.compiler.regex.character_sets import Ranges
from retewave.compiler.regex.replacement import read_replacement
from retewave.compiler.regex.ways import longest_text, parts_of
from retewave.compiler.regex.xpath import (
    Anchor,
    BackReference,
    Characters,
    Choice,
    Concatenation,
    Group,
    Pattern,
    PatternError,
    Repeat,
    Tree,
    read_pattern,
)

__all__ = ["check_pattern", "check_replacement", "regex", "replace"]

_QUICK = 1e6  # steps that Python's `re` takes in hundredths of a second
_BEARABLE = 1e8  # in seconds: where RE2 cannot help
_NO_FLAGS = Literal("")
_NOTHING = "[^\\x00-\\U0010ffff]"


@dataclass(frozen=True)
class _Compiled:
    """A pattern that is ready to be matched."""

    pattern: Pattern  # the pattern as it was read

    @cached_property
    def python(self) -> re.Pattern[str]:
        """The expression of Python's `re`."""
        return re.compile(_python(self.pattern.tree))

    @cached_property
    def matches_nothing(self) -> bool:
        """Whether the empty text matches, which REPLACE does not allow."""
        return self.python.search("") is not None

    @cached_property
    def quick(self) -> int:
        """The length of the longest texts that `re` surely searches in little time."""
        return longest_text(self.pattern.tree, _QUICK)

    @cached_property
    def bearable(self) -> int:
        """The same, in a time that can be borne where RE2 cannot help."""
        return longest_text(self.pattern.tree, _BEARABLE)

    def uses_python(self, text: str) -> bool:
        """Tell whether `re` matches a text; otherwise RE2 has to."""
        if len(text) <= self.quick:
            return True
        if _has_re2(self.pattern.tree, text):
            return False
        if len(text) > self.bearable:
            raise ExpressionError("a pattern with too many ways to match so long a text")
        return True

    def search(self, text: str) -> bool:
        """Tell whether the pattern matches somewhere in a text."""
        if self.uses_python(text):
            return self.python.search(text) is not None
        return bool(_re2("match_substring_regex", text, pattern=_re2_of(self.pattern.tree)))

    def replaced(self, text: str, parts: tuple[str | int, ...]) -> str:
        """Return a text with all matches replaced."""
        fast = self.uses_python(text)
        copies = 1 + sum(isinstance(each, int) for each in parts)
        added = sum(len(each) for each in parts if isinstance(each, str))
        if len(text) * (copies + added) > LONGEST:
            self._check_length(text, copies, added, fast)
        template = _template(parts, self.pattern.groups, fast)
        if fast:
            return self.python.sub(template, text)
        return str(_re2("replace_substring_regex", text, pattern=_re2_of(self.pattern.tree), replacement=template))

    def _check_length(self, text: str, copies: int, added: int, fast: bool) -> None:
        """Raise an error if a text with its matches replaced could be too long."""
        if fast:
            count = sum(1 for _ in self.python.finditer(text))
        else:
            count = _re2("count_substring_regex", text, pattern=_re2_of(self.pattern.tree))
        if count and len(text) * copies + count * added > LONGEST:
            raise ExpressionError("a string that is too long")


@lru_cache(maxsize=256)
def _template(parts: tuple[str | int, ...], groups: int, python: bool) -> str:
    """Return a replacement as `re` or as RE2 reads it; a group that there is not is empty."""
    if not python and any(isinstance(each, int) and each > 9 for each in parts):
        raise ExpressionError("a replacement with more groups than RE2 knows")
    known = [each for each in parts if isinstance(each, str) or each <= groups]
    return "".join(
        each.replace("\\", "\\\\") if isinstance(each, str) else rf"\g<{each}>" if python else rf"\{each}"
        for each in known
    )


@lru_cache(maxsize=256)
def _replacement(written: str, groups: int, literally: bool) -> tuple[str | int, ...]:
    try:
        return read_replacement(written, groups, literally)
    except PatternError as error:
        raise ExpressionError(error.what) from error


@lru_cache(maxsize=256)  # patterns of queries are few; patterns that come in data are not kept for ever
def _compiled(pattern: str, flags: str) -> _Compiled:
    try:
        return _Compiled(read_pattern(pattern, flags))
    except PatternError as error:
        raise ExpressionError(error.what) from error


def regex(text: Node, pattern: Node, flags: Node = _NO_FLAGS) -> Node:
    """Tell whether a pattern matches somewhere in a string."""
    searched = str(string(text))
    return TRUE if _compiled(plain_string(pattern), plain_string(flags)).search(searched) else FALSE


def replace(source: Node, pattern: Node, replacement: Node, flags: Node = _NO_FLAGS) -> Node:
    """Replace every match of a pattern, `$1` being its first group."""
    text, switches = string(source), plain_string(flags)
    compiled = _compiled(plain_string(pattern), switches)
    if compiled.matches_nothing:
        raise ExpressionError("a pattern that matches the empty string")
    parts = _replacement(plain_string(replacement), compiled.pattern.groups, "q" in switches)
    return raw_literal(compiled.replaced(str(text), parts), language=text.language)


def check_pattern(pattern: str, flags: str, replacing: bool) -> None:
    """Raise a `PatternError` for a pattern that never matches because it is none."""
    compiled = _Compiled(read_pattern(pattern, flags))
    if replacing and compiled.matches_nothing:
        raise PatternError("it matches the empty string, too", 0, "write + instead of *, say")


def check_replacement(written: str, pattern: str, flags: str) -> None:
    """Raise a `PatternError` for a replacement that is none."""
    read_replacement(written, read_pattern(pattern, flags).groups, "q" in flags)


# What RE2 cannot do


def _has_re2(tree: Tree, text: str) -> bool:
    """Tell whether RE2 can match as XPath does: it has no back-references, and another end of the last line."""
    match tree:
        case BackReference():
            return False
        case Anchor(_, lines):
            return not (lines and text.endswith("\n"))
    return all(_has_re2(part, text) for part in parts_of(tree))


# Python's expression


def _python(tree: Tree) -> str:
    match tree:
        case Characters(members):
            return _python_set(members)
        case Anchor(start, lines):
            if not lines:
                return r"\A" if start else r"\Z"
            return r"(?:\A|(?<=\n)(?!\Z))" if start else r"(?:(?=\n)|(?<!\n)\Z)"
        case BackReference(group, any_case):  # a group that has matched nothing is an empty text
            return rf"(?(g{group})(?i:(?P=g{group})))" if any_case else rf"(?(g{group})(?P=g{group}))"
        case Group(number, body):
            return f"(?P<g{number}>{_python(body)})"
    return _combined(tree, _python)


def _combined(tree: Tree, inner: Any) -> str:
    """Return the syntax that both kinds of expressions share."""
    match tree:
        case Concatenation(parts):
            return "".join(map(inner, parts))
        case Choice(branches):
            return f"(?:{'|'.join(map(inner, branches))})"
        case Repeat(body, least, most, greedy):
            bounds = f"{{{least},{'' if most is None else most}}}"
            return f"(?:{inner(body)}){bounds}{'' if greedy else '?'}"
    raise TypeError(f"not a part of a pattern: {tree!r}")


def _python_set(members: Ranges) -> str:
    if len(members) == 1 and members[0][0] == members[0][1]:
        return f"\\U{members[0][0]:08x}"
    inner = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in members)
    return f"[{inner}]" if members else _NOTHING


# RE2's expression


def _re2_of(tree: Tree) -> str:
    match tree:
        case Characters(members):
            inner = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in members)
            return f"[{inner}]" if members else r"[^\x{0}-\x{10ffff}]"
        case Anchor(start, lines):
            if lines:
                return "(?m:^)" if start else "(?m:$)"
            return r"\A" if start else r"\z"
        case Group(_, body):
            return f"({_re2_of(body)})"
    return _combined(tree, _re2_of)


def _re2(function: str, text: str, **options: str) -> Any:
    import pyarrow
    import pyarrow.compute

    try:
        return getattr(pyarrow.compute, function)(pyarrow.scalar(text), **options).as_py()
    except pyarrow.ArrowInvalid as error:
        raise ExpressionError("a pattern with too many ways to match so long a text") from error
