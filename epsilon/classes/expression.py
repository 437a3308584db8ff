"""Class expressions of OWL 2, as data: the classes and the data ranges that a logical event or an axiom speaks of.

Data's way: Manchester syntax, or the triples of an ontology -> **class expressions** -> proofs (`unfolding`).
Terms are canonical texts.  An expression is immutable and can be compared; `str` writes it in Manchester syntax.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from retewave.epsilon.vocabulary import compact, is_literal, owl, rdfs

__all__ = [
    "NOTHING",
    "THING",
    "AllOf",
    "AnyOf",
    "AtLeast",
    "AtMost",
    "ClassExpression",
    "Complement",
    "DataType",
    "Exactly",
    "Facet",
    "HasSelf",
    "HasValue",
    "NamedClass",
    "OneOf",
    "Only",
    "Property",
    "Restricted",
    "Some",
    "is_data",
    "parts_of",
    "within",
]

Facet: TypeAlias = Literal[
    ">", ">=", "<", "<=", "length", "minLength", "maxLength", "pattern", "langRange", "totalDigits", "fractionDigits"
]


@dataclass(frozen=True)
class Property:
    """A property, or the inverse of one."""

    name: bytes  # the property
    inverse: bool = False  # read from object to subject

    def __str__(self) -> str:
        return f"inverse {_short(self.name)}" if self.inverse else _short(self.name)


@dataclass(frozen=True)
class NamedClass:
    """A class by its name."""

    name: bytes  # its IRI

    def __str__(self) -> str:
        return _short(self.name)


@dataclass(frozen=True)
class DataType:
    """The values of a datatype."""

    name: bytes  # its IRI

    def __str__(self) -> str:
        return _short(self.name)


@dataclass(frozen=True)
class Restricted:
    """The values of a datatype that facets keep: `xsd:double[> 30]`."""

    datatype: bytes  # its IRI
    facets: tuple[tuple[Facet, bytes], ...]  # facet and the literal beside it

    def __str__(self) -> str:
        return f"{_short(self.datatype)}[{', '.join(f'{name} {_short(value)}' for name, value in self.facets)}]"


@dataclass(frozen=True)
class AllOf:
    """C and D …"""

    parts: tuple[ClassExpression, ...]  # at least one

    def __str__(self) -> str:
        return " and ".join(map(_bracketed, self.parts))


@dataclass(frozen=True)
class AnyOf:
    """C or D …"""

    parts: tuple[ClassExpression, ...]  # at least one

    def __str__(self) -> str:
        return " or ".join(map(_bracketed, self.parts))


@dataclass(frozen=True)
class Complement:
    """`not` C."""

    part: ClassExpression  # the expression that is negated

    def __str__(self) -> str:
        return f"not {_bracketed(self.part)}"


@dataclass(frozen=True)
class OneOf:
    """{a, b …}: individuals, or literals."""

    members: tuple[bytes, ...]  # at least one

    def __str__(self) -> str:
        return "{" + ", ".join(map(_short, self.members)) + "}"


@dataclass(frozen=True)
class _Filled:
    """A role, and of what class stands behind it."""

    role: Property  # r
    filler: ClassExpression  # C
    word: ClassVar[str]  # between them

    def __str__(self) -> str:
        return f"{self.role} {self.word} {_bracketed(self.filler)}"


class Some(_Filled):
    """`r some` C."""

    word = "some"


class Only(_Filled):
    """`r only` C."""

    word = "only"


@dataclass(frozen=True)
class HasValue:
    """`r value` v."""

    role: Property  # r
    value: bytes  # v

    def __str__(self) -> str:
        return f"{self.role} value {_short(self.value)}"


@dataclass(frozen=True)
class HasSelf:
    """`r Self`."""

    role: Property  # r

    def __str__(self) -> str:
        return f"{self.role} Self"


@dataclass(frozen=True)
class _Numbered:
    """A role, and how many of a class stand behind it."""

    role: Property  # r
    number: int  # n
    filler: ClassExpression  # C
    word: ClassVar[str]  # before the number

    def __str__(self) -> str:
        return f"{self.role} {self.word} {self.number} {_bracketed(self.filler)}"


class AtLeast(_Numbered):
    """`r min` n C."""

    word = "min"


class AtMost(_Numbered):
    """`r max` n C."""

    word = "max"


class Exactly(_Numbered):
    """`r exactly` n C."""

    word = "exactly"


ClassExpression: TypeAlias = (
    NamedClass | DataType | Restricted | AllOf | AnyOf | Complement | OneOf | Some | Only | HasValue | HasSelf
    | AtLeast | AtMost | Exactly
)  # fmt: skip

THING = NamedClass(owl("Thing"))
NOTHING = NamedClass(owl("Nothing"))
_TOPS = (owl("Thing"), rdfs("Resource"), rdfs("Literal"))
_SIMPLE = (NamedClass, DataType, Restricted, OneOf)


def parts_of(expression: ClassExpression) -> tuple[ClassExpression, ...]:
    """Return the expressions directly inside an expression."""
    match expression:
        case AllOf(parts) | AnyOf(parts):
            return parts
        case Complement(part):
            return (part,)
        case Some(_, filler) | Only(_, filler):
            return (filler,)
        case AtLeast(_, _, filler) | AtMost(_, _, filler) | Exactly(_, _, filler):
            return (filler,)
    return ()


def within(expression: ClassExpression) -> Iterator[ClassExpression]:
    """Yield an expression and all expressions inside it."""
    yield expression
    for part in parts_of(expression):
        yield from within(part)


def is_data(expression: ClassExpression) -> bool:
    """Tell whether an expression is a data range."""
    match expression:
        case DataType() | Restricted():
            return True
        case AllOf(parts) | AnyOf(parts):
            return any(map(is_data, parts))
        case Complement(part):
            return is_data(part)
        case OneOf(members):
            return any(map(is_literal, members))
    return False


def _bracketed(part: ClassExpression) -> str:
    return str(part) if isinstance(part, _SIMPLE) else f"({part})"


def _short(text: bytes) -> str:
    """Return the local name of an IRI, as short forms have it, or a literal as it is.

    >>> _short(b"<http://e/s#Room>"), _short(b'"5"')
    ('Room', '"5"')
    """
    shown = compact(text)
    if not shown.startswith("<"):
        return shown
    inner = shown[1:-1]
    return inner[max(inner.rfind("#"), inner.rfind("/"), inner.rfind(":")) + 1 :] or shown
