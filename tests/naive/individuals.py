"""What triples say of single terms (MEANING §8): individuals, values, and what a class says of one."""

from __future__ import annotations

from collections.abc import Iterable

from retewave.epsilon.classes.expression import (
    AllOf,
    ClassExpression,
    DataType,
    HasValue,
    NamedClass,
    Property,
    Restricted,
)
from retewave.epsilon.vocabulary import TYPE, Triple, is_literal


def individuals(triples: Iterable[Triple]) -> frozenset[bytes]:
    """Return the terms that triples say something of, literals and classes left out."""
    found = set()
    for s, p, o in triples:
        found |= {s} if p == TYPE or is_literal(o) else {s, o}
    return frozenset(found)


def said_of(one: bytes, expression: ClassExpression) -> Iterable[Triple]:
    """Yield the triples that an individual's being in a class says."""
    match expression:
        case NamedClass(name):
            yield one, TYPE, name
        case AllOf(parts):
            for part in parts:
                yield from said_of(one, part)
        case HasValue(Property(name, False), value):
            yield one, name, value


def others(role: Property, one: bytes, facts: Iterable[Triple]) -> set[bytes]:
    if role.inverse:
        return {s for s, p, o in facts if p == role.name and o == one}
    return {o for s, p, o in facts if p == role.name and s == one}


def is_value(expression: DataType | Restricted, text: bytes) -> bool:
    """Tell whether a literal is of a datatype and keeps the facets; numbers are enough here."""
    name = expression.name if isinstance(expression, DataType) else expression.datatype
    if not is_literal(text) or not text.endswith(b"^^" + name):
        return False
    if isinstance(expression, DataType):
        return True
    value = _number(text)
    compare = {">": value.__gt__, ">=": value.__ge__, "<": value.__lt__, "<=": value.__le__}
    return all(compare[facet](_number(bound)) for facet, bound in expression.facets)


def _number(text: bytes) -> float:
    return float(text.split(b'"')[1])
