"""What "entails" looks like once it is flattened: a derivation, and the goal that asks for it.

Data's way: network + goal -> walk -> **derivations** -> dispatch tables.  A derivation is a pair of triple
forms; what it says holds for every input triple that has the given constants, whatever path led there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple, TypeAlias

__all__ = ["INPUT", "OBJECT", "SUBJECT", "Derivation", "From", "Goal", "Part", "most_general"]


class From(Enum):
    """Where a part of an entailed triple comes from, when it is no constant."""

    SUBJECT = "subject"  # the input triple's subject
    INPUT = "predicate"  # the input triple's predicate
    OBJECT = "object"  # the input triple's object

    __hash__ = object.__hash__  # Enum's own is slow, and derivations are hashed by the hundred thousand


SUBJECT, INPUT, OBJECT = From.SUBJECT, From.INPUT, From.OBJECT
Part: TypeAlias = From | bytes


class Goal(NamedTuple):
    """A triple pattern whose instances somebody asks for; None is "any term"."""

    subject: bytes | None
    predicate: bytes | None
    object: bytes | None


class Derivation(NamedTuple):
    """An input triple (s p o) with the given constants entails (subject predicate object)."""

    given_subject: bytes | None  # None: any
    given_predicate: bytes | None  # None: any
    given_object: bytes | None  # None: any
    subject: Part
    predicate: Part  # INPUT or a constant
    object: Part

    @property
    def literal_guard(self) -> bool:
        """Tell whether it does not fire when the input's object is a literal: no literal is a subject."""
        return self.subject is OBJECT

    @property
    def is_identity(self) -> bool:
        """Tell whether the entailed triple is the input triple itself."""
        return (
            self.subject in (SUBJECT, self.given_subject)
            and self.predicate in (INPUT, self.given_predicate)
            and self.object in (OBJECT, self.given_object)
        )


def most_general(found: Iterable[Derivation]) -> tuple[Derivation, ...]:
    """Keep each derivation once, and only if no more general derivation says the same."""
    once = dict.fromkeys(found)
    forms = {_form(one) for one in once}
    return tuple(one for one in once if not any(wider in once for wider in _generalisations(one, forms)))


_Form: TypeAlias = tuple[bytes | None, bool, bool]  # the predicate, and which constants are given


def _form(derivation: Derivation) -> _Form:
    subject, predicate, object_, *_ = derivation
    return predicate, subject is not None, object_ is not None


def _generalisations(derivation: Derivation, forms: set[_Form]) -> Iterator[Derivation]:
    """Yield the derivations of some forms of which this one is an instance: they forget given constants."""
    predicate, subject, object_ = _form(derivation)
    if object_ and (predicate, subject, False) in forms:
        yield from _forget_object(derivation)
    if subject and (predicate, False, object_) in forms:
        yield from _forget_subject(derivation)
    if subject and object_ and (predicate, False, False) in forms:
        for without_object in _forget_object(derivation):
            yield from _forget_subject(without_object)


def _forget_object(derivation: Derivation) -> Iterator[Derivation]:
    given = derivation.given_object
    for subject in _constant_or(derivation.subject, given, OBJECT):
        for object_ in _constant_or(derivation.object, given, OBJECT):
            yield derivation._replace(given_object=None, subject=subject, object=object_)


def _forget_subject(derivation: Derivation) -> Iterator[Derivation]:
    given = derivation.given_subject
    for subject in _constant_or(derivation.subject, given, SUBJECT):
        for object_ in _constant_or(derivation.object, given, SUBJECT):
            yield derivation._replace(given_subject=None, subject=subject, object=object_)


def _constant_or(part: Part, constant: bytes | None, source: From) -> tuple[Part, ...]:
    return (part, source) if part == constant else (part,)
