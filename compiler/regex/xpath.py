r"""Read a regular expression of XPath: SPARQL's REGEX and REPLACE take this grammar only.

Data's way: pattern and flags -> **tree** -> expressions of Python and RE2 (`patterns.py`).
The grammar is XML Schema's (Part 2, appendix F) with XPath's additions (Functions and Operators, 7.6.1): `^`, `$`,
groups, back-references, reluctant quantifiers, and the flags s, m, i, x (and q of version 3).
Invariant: a text outside this grammar is a `PatternError` with the place of the first character that cannot stand
where it stands; nothing is taken as a letter because nobody knows it. Case has been resolved: a set holds its
variants.
Left out: blocks of Unicode (`\p{IsGreek}`), which are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from retewave.compiler.regex.character_sets import (
    CATEGORIES,
    ESCAPES,
    Ranges,
    category,
    complement,
    difference,
    escaped,
    ranges,
    with_case,
)

__all__ = [
    "Anchor",
    "BackReference",
    "Characters",
    "Choice",
    "Concatenation",
    "Group",
    "Pattern",
    "PatternError",
    "Repeat",
    "check_flags",
    "read_pattern",
]

_SINGLE = {"n": "\n", "r": "\r", "t": "\t"} | {each: each for each in r"\|.?*+(){}-[]^$"}
_NOT_XPATH = {
    "b": "there is nothing for a boundary of words",
    "B": "there is nothing for a boundary of words",
    "A": "write ^ instead",
    "Z": "write $ instead",
    "z": "write $ instead",
    "x": "write the character itself",
    "u": "write the character itself",
}
_FLAGS = "smixq"
_DEEPEST = 100  # groups inside each other
_LONGEST = 100_000  # characters of a pattern
_MOST_RANGES = 50_000  # of characters in all sets of a pattern; \w has 800
_WHITE = " \t\r\n"
_DIGITS = tuple("0123456789")
_ANY: Ranges = complement(())
_LINE: Ranges = complement(((10, 10),))


class PatternError(ValueError):
    """A pattern, flags or a replacement that XPath does not know."""

    def __init__(self, what: str, at: int, hint: str = "") -> None:
        super().__init__(what)
        self.what = what  # the mistake, in words
        self.at = at  # the index of the character where it shows
        self.hint = hint  # how to mend it, when we can tell


@dataclass(frozen=True)
class Characters:
    """One character of a set."""

    members: Ranges  # which


@dataclass(frozen=True)
class Anchor:
    """A place: `^` or `$`."""

    start: bool  # ^
    lines: bool  # of each line, not of the whole text


@dataclass(frozen=True)
class BackReference:
    """The text that a group has matched, once more."""

    group: int  # 1 for the first
    any_case: bool  # the flag i


@dataclass(frozen=True)
class Concatenation:
    """Trees, one behind the other."""

    parts: tuple[Tree, ...]  # no part: the empty text


@dataclass(frozen=True)
class Choice:
    """One of several trees; the first that leads to a match is taken."""

    branches: tuple[Tree, ...]  # two or more


@dataclass(frozen=True)
class Group:
    """A group that is remembered."""

    number: int  # 1 for the group that opens first
    body: Tree  # the tree that it matches


@dataclass(frozen=True)
class Repeat:
    """A tree, some times over."""

    body: Tree  # the tree that is repeated
    least: int  # times
    most: int | None  # nothing: no bound
    greedy: bool  # as often as possible, or as seldom


Tree: TypeAlias = Characters | Anchor | BackReference | Concatenation | Choice | Group | Repeat


@dataclass(frozen=True)
class Pattern:
    """A regular expression."""

    tree: Tree  # the tree that it matches
    groups: int  # the number of groups that are remembered


def check_flags(flags: str) -> None:
    """Raise an error for a flag that does not exist."""
    for at, flag in enumerate(flags):
        if flag not in _FLAGS:
            raise PatternError(f"there is no flag {flag!r}", at, "the flags are s, m, i, x and q")


def read_pattern(pattern: str, flags: str = "") -> Pattern:
    """Read a pattern.

    >>> read_pattern("[a-c-[b]]").tree
    Characters(members=((97, 97), (99, 99)))
    """
    check_flags(flags)
    if len(pattern) > _LONGEST:
        raise PatternError(f"a pattern of more than {_LONGEST} characters", _LONGEST)
    reader = _Reader(pattern, flags)
    if "q" in flags:
        return Pattern(_joined([reader.letters(each, each) for each in pattern]), 0)
    tree = reader.choice()
    if not reader.done:
        raise PatternError("a ) that closes nothing", reader.at, "write \\) for the character")
    return Pattern(tree, reader.opened)


def _joined(parts: list[Tree]) -> Tree:
    return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))


@dataclass
class _Reader:
    text: str  # the pattern
    flags: str  # its flags
    at: int = 0  # the next character's index
    opened: int = 0  # the remembered groups so far
    closed: set[int] = field(default_factory=set)  # the groups that have ended
    depth: int = 0  # the groups around the next character
    size: int = 0  # the ranges of all sets so far

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    def peek(self, width: int = 1) -> str:
        if "x" in self.flags:  # white space is not there, but in a class
            while not self.done and self.text[self.at] in _WHITE:
                self.at += 1
        return self.text[self.at : self.at + width]

    def characters(self, members: Ranges, start: int) -> Characters:
        self.size += len(members)
        if self.size > _MOST_RANGES:
            raise PatternError("a pattern with too many sets of characters", start)
        return Characters(members)

    def letters(self, first: str, last: str) -> Characters:
        members: Ranges = ((ord(first), ord(last)),)
        return Characters(with_case(members) if "i" in self.flags else members)

    # Branches and pieces

    def choice(self) -> Tree:
        branches = [self.branch()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.branch())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def branch(self) -> Tree:
        parts: list[Tree] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.quantified(self.atom()))
        return _joined(parts)

    def quantified(self, body: Tree) -> Tree:
        sign = self.peek()
        if sign not in ("?", "*", "+", "{") or not sign:
            return body
        if sign == "{":
            least, most = self.counts()
        else:
            self.at += 1
            least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}[sign]
        greedy = self.peek() != "?"
        self.at += not greedy
        if self.peek() in ("?", "*", "+", "{") and self.peek():
            raise PatternError(f"a {self.peek()} behind a quantifier", self.at, "put what is repeated in brackets")
        return Repeat(body, least, most, greedy)

    def counts(self) -> tuple[int, int | None]:
        start, end = self.at, self.text.find("}", self.at)
        written = self.text[start + 1 : end] if end > 0 else ""
        written = "".join(each for each in written if "x" not in self.flags or each not in _WHITE)
        least, comma, most = written.partition(",")
        digits = all(part.isascii() and part.isdigit() and len(part) <= 9 for part in (least, most or "0"))
        if not digits or (most and int(most) < int(least)):
            raise PatternError("a { that begins no number of times", start, "write {2}, {2,} or {2,5}, or \\{")
        self.at = end + 1
        return int(least), (int(most) if most else None) if comma else int(least)

    def atom(self) -> Tree:
        letter, start = self.peek(), self.at
        if letter == "(":
            return self.group()
        if letter == "[":
            self.at += 1
            return self.characters(self.character_class(), start)
        if letter == "\\":
            return self.escape()
        if letter in ("?", "*", "+"):
            raise PatternError(f"a {letter} with nothing before it", start, f"write \\{letter} for the character")
        if letter in ("{", "}", "]"):
            raise PatternError(f"a {letter} that stands alone", start, f"write \\{letter} for the character")
        self.at += 1
        if letter == ".":
            return Characters(_ANY if "s" in self.flags else _LINE)
        if letter in ("^", "$"):
            return Anchor(letter == "^", "m" in self.flags)
        return self.letters(letter, letter)

    def group(self) -> Tree:
        start = self.at
        self.at += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            raise PatternError(f"more than {_DEEPEST} groups inside each other", start)
        number = 0
        if self.peek() == "?":
            if self.peek(2) != "?:":
                raise PatternError(f"({self.peek(2)} is not of XPath", start, "there are ( ) and (?: ), and no more")
            self.at += 2
        else:
            self.opened += 1
            number = self.opened
        body = self.choice()
        if self.peek() != ")":
            raise PatternError("a ( that is not closed", start, "write \\( for the character")
        self.at += 1
        self.depth -= 1
        self.closed.add(number)
        return Group(number, body) if number else body

    # Escapes and classes

    def escape(self) -> Tree:
        start = self.at
        self.at += 1
        letter = self.peek()
        if letter and letter in "123456789":
            return self.back_reference(start)
        found = self.escaped_set(start)
        return self.letters(found, found) if isinstance(found, str) else self.characters(found, start)

    def back_reference(self, start: int) -> Tree:
        end = self.at + 1
        while self.text[end : end + 1] in _DIGITS and int(self.text[self.at : end + 1]) <= self.opened:
            end += 1
        group, self.at = int(self.text[self.at : end]), end
        if group not in self.closed:
            raise PatternError(f"\\{group} refers to a group that has not ended", start)
        return BackReference(group, "i" in self.flags)

    def escaped_set(self, start: int) -> str | Ranges:
        """Read the escape behind a backslash: a character, or a set."""
        letter = self.text[self.at : self.at + 1]
        self.at += 1
        if not letter:
            raise PatternError("a \\ at the end", start, "write \\\\ for the character")
        if letter in _SINGLE:
            return _SINGLE[letter]
        if letter in ESCAPES:
            return escaped(letter)
        if letter in "pP":
            return self.property(letter, start)
        hint = _NOT_XPATH.get(letter, f"write {letter} without \\" if not letter.isalnum() else "")
        raise PatternError(f"\\{letter} is not of XPath", start, hint)

    def property(self, letter: str, start: int) -> Ranges:
        end = self.text.find("}", self.at)
        name = self.text[self.at + 1 : end]
        if self.text[self.at : self.at + 1] != "{" or end < 0:
            raise PatternError(f"\\{letter} without a category", start, f"write \\{letter}{{Lu}} or such")
        if name.startswith("Is"):
            hint = "write its characters as a range in [ ]"
            raise PatternError(f"\\{letter}{{{name}}}: blocks of Unicode are not supported", start, hint)
        if name not in CATEGORIES:
            known = ", ".join(sorted(CATEGORIES))
            raise PatternError(f"{name!r} is no category of characters", start, f"the categories are {known}")
        self.at = end + 1
        return category(name) if letter == "p" else complement(category(name))

    def character_class(self) -> Ranges:
        """Read the class behind a [."""
        start = self.at - 1
        negative = self.text[self.at : self.at + 1] == "^"
        self.at += negative
        members, first = [], self.at
        while not (ended := self.text[self.at : self.at + 1] == "]" and self.at > first):
            if self.done or (self.text[self.at] == "]"):
                raise PatternError(
                    "a [ without characters or without its ]", start, "write \\[ or \\] for the character"
                )
            if self.text[self.at : self.at + 2] == "-[" and self.at > first:
                break
            members.append(self.class_part())
        found = ranges(pair for part in members for pair in part)
        found = complement(found) if negative else found
        if not ended:
            found = difference(found, self.subtracted())
        self.at += 1
        return found

    def subtracted(self) -> Ranges:
        start = self.at
        self.depth += 1
        if self.depth > _DEEPEST:
            raise PatternError(f"more than {_DEEPEST} groups inside each other", start)
        self.at += 2
        found = self.character_class()
        self.depth -= 1
        if self.text[self.at : self.at + 1] != "]":
            raise PatternError("a class goes on behind what is subtracted from it", self.at, "write [a-z-[aeiou]]")
        return found

    def class_part(self) -> Ranges:
        """Read a character, a range or an escape of a class."""
        start = self.at
        low = self.class_character()
        if not isinstance(low, str):
            return low
        if self.text[self.at : self.at + 1] != "-" or self.text[self.at + 1 : self.at + 2] in ("]", "[", ""):
            return self.letters(low, low).members
        if self.text[start] == "-":
            raise PatternError("a range that begins with -", start, "write \\- for the character")
        self.at += 1
        high = self.class_character()
        if not isinstance(high, str) or high < low:
            raise PatternError("a range that ends before it begins", start, "write \\- for the character -")
        return self.letters(low, high).members

    def class_character(self) -> str | Ranges:
        start = self.at
        letter = self.text[start]
        self.at += 1
        if letter == "\\":
            return self.escaped_set(start)
        if letter == "[":
            raise PatternError("a [ inside a class", start, "write \\[ for the character")
        return letter
