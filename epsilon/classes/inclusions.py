"""Single inclusions: the names of their left sides, the names that they mention, and whether they are Horn.

Data's way: inclusions of an ontology -> **bridges, signatures** -> `subsumption.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from retewave.epsilon.classes.expression import (
    NOTHING,
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    AtMost,
    ClassExpression,
    Complement,
    DataType,
    Exactly,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Only,
    Property,
    Restricted,
    Some,
    parts_of,
    within,
)
from retewave.epsilon.classes.ontology import Inclusion, Ontology

__all__ = [
    "Below",
    "Bridge",
    "alternatives",
    "bridges_of",
    "conjuncts",
    "is_horn",
    "is_simple",
    "is_single",
    "roles_above",
    "signature",
]


@dataclass(frozen=True)
class Bridge:
    """The left side of an inclusion, by a name of our own."""

    expression: ClassExpression  # without unions at its top
    inclusion: Inclusion  # the axiom


Below: TypeAlias = NamedClass | Bridge


def alternatives(expression: ClassExpression) -> Iterator[ClassExpression]:
    """Yield the members of unions, however they stand inside each other."""
    if isinstance(expression, AnyOf):
        for part in expression.parts:
            yield from alternatives(part)
    else:
        yield expression


def is_single(expression: ClassExpression) -> bool:
    """Tell whether one triple can put something into an expression, so that ε sees it."""
    match expression:
        case NamedClass() | OneOf():
            return True
        case Some(Property(inverse=False), filler):
            return filler == THING
        case HasValue(Property(inverse=False)):
            return True
    return False


def bridges_of(ontology: Ontology) -> Iterator[Bridge]:
    """Yield the bridges of an ontology: left sides of axioms that are no single names."""
    for each in ontology.inclusions:
        if each.above != NOTHING:
            for part in alternatives(each.below):
                if part != THING and not is_single(part):
                    yield Bridge(part, each)
            yield from _backwards(each)


def _backwards(inclusion: Inclusion) -> Iterator[Bridge]:
    """Yield what `D below r only C` says of what stands behind r: `inverse r some D` is below C."""
    for part in conjuncts(inclusion.above):
        if isinstance(part, Only) and inclusion.below != THING:
            for each in alternatives(inclusion.below):
                back = Property(part.role.name, not part.role.inverse)
                yield Bridge(Some(back, each), Inclusion(Some(back, each), part.filler, str(inclusion)))


def conjuncts(expression: ClassExpression) -> Iterator[ClassExpression]:
    """Yield the parts of intersections, however they stand inside each other."""
    if isinstance(expression, AllOf):
        for part in expression.parts:
            yield from conjuncts(part)
    else:
        yield expression


def signature(expression: ClassExpression) -> frozenset[bytes]:
    """Return the names of the classes and properties in an expression."""
    found = set()
    for each in within(expression):
        match each:
            case NamedClass(name) if each not in (THING, NOTHING):
                found.add(name)
            case (
                Some(role) | Only(role) | HasValue(role) | HasSelf(role) | AtLeast(role) | AtMost(role) | Exactly(role)
            ):
                found.add(role.name)
    return frozenset(found)


def is_simple(inclusion: Inclusion) -> bool:
    """Tell whether single triples show all that an inclusion says, so that ε sees it."""
    return all(map(is_single, alternatives(inclusion.below))) and all(
        isinstance(part, NamedClass | HasValue) for part in conjuncts(inclusion.above)
    )


def is_horn(inclusion: Inclusion) -> bool:
    """Tell whether the fixpoint sees all that an inclusion says."""
    return _is_left(inclusion.below) and _is_right(inclusion.above)


def _is_left(expression: ClassExpression) -> bool:
    match expression:
        case NamedClass() | OneOf() | HasValue() | DataType() | Restricted() | HasSelf():
            return True
        case AllOf() | AnyOf() | Some() | AtLeast(number=1):
            return all(map(_is_left, parts_of(expression)))
    return False


def _is_right(expression: ClassExpression) -> bool:
    match expression:
        case NamedClass() | HasValue() | DataType() | Restricted() | HasSelf():
            return True
        case OneOf(members):
            return len(members) == 1
        case AnyOf(parts):
            return len(parts) == 1 and _is_right(parts[0])
        case AllOf() | Some() | Only() | AtLeast():
            return all(map(_is_right, parts_of(expression)))
        case Complement(part):
            return isinstance(part, NamedClass)
    return False


def roles_above(ontology: Ontology) -> dict[Property, frozenset[Property]]:
    """Return, by property, all that axioms put above it, itself included."""
    direct: dict[Property, set[Property]] = {}
    for one, other in ontology.roles:
        direct.setdefault(one, set()).add(other)
        direct.setdefault(Property(one.name, not one.inverse), set()).add(Property(other.name, not other.inverse))
    found: dict[Property, frozenset[Property]] = {}
    for role in direct:
        reached, waiting = {role}, [role]
        while waiting:
            for above in direct.get(waiting.pop(), ()):
                if above not in reached:
                    reached.add(above)
                    waiting.append(above)
        found[role] = frozenset(reached)
    return found
