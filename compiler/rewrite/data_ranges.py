"""Data ranges as conditions on a value: datatypes, facets, and their combinations by `and`, `or`, `not` and {…}.

Data's way: class expression -> proof -> **filter** -> branch.
A datatype has the values of the datatypes derived from it: `xsd:decimal` those of `xsd:integer`, too; `xsd:double` has
none of these, as OWL 2 has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from retewave.compiler.expressions.tree import Call, Constant, Expression, Membership, Operation, Variable
from retewave.compiler.terms import RDF, XSD, literal
from retewave.epsilon.classes.expression import (
    AllOf,
    AnyOf,
    ClassExpression,
    Complement,
    DataType,
    Facet,
    OneOf,
    Restricted,
)
from retewave.epsilon.vocabulary import is_literal, rdfs
from retewave.errors import QueryError

__all__ = ["is_in_range"]

_DERIVED = {
    "decimal": "integer",
    "integer": "long nonNegativeInteger nonPositiveInteger",
    "long": "int",
    "int": "short",
    "short": "byte",
    "nonNegativeInteger": "positiveInteger unsignedLong",
    "unsignedLong": "unsignedInt",
    "unsignedInt": "unsignedShort",
    "unsignedShort": "unsignedByte",
    "nonPositiveInteger": "negativeInteger",
    "string": "normalizedString",
    "normalizedString": "token",
    "token": "language Name NMTOKEN",
    "Name": "NCName",
    "dateTime": "dateTimeStamp",
}


def is_in_range(value: Variable, range_: ClassExpression) -> Expression:
    """Return the condition that a value is in a data range.

    >>> from retewave.compiler.expressions.tree import to_sparql
    >>> to_sparql(is_in_range(Variable("v"), DataType(rdfs("Literal"))))
    'ISLITERAL(?v)'
    """
    match range_:
        case DataType(name):
            return _is_of(value, name)
        case Restricted(name, facets):
            return _all([_is_of(value, name), *(_facet(value, each, bound) for each, bound in facets)])
        case AllOf(parts):
            return _all([is_in_range(value, part) for part in parts])
        case AnyOf(parts):
            return _joined("||", [is_in_range(value, part) for part in parts])
        case Complement(part):
            outside = Operation("!", (is_in_range(value, part),))
            return _all([Call("ISLITERAL", (value,)), outside])
        case OneOf(members):
            return Membership(value, tuple(map(Constant, members)), False)
    raise QueryError(f"({range_}) is no data range", hint="a value is in a datatype, in one with facets, or in {…}")


def _is_of(value: Variable, name: bytes) -> Expression:
    is_one = Call("ISLITERAL", (value,))
    if name == rdfs("Literal"):
        return is_one
    if name in (f"<{RDF}PlainLiteral>".encode(), f"<{RDF}langString>".encode()):
        return _all(
            [is_one, Membership(Call("DATATYPE", (value,)), (_iri(f"{RDF}langString"), _iri(f"{XSD}string")), False)]
        )
    local = name.decode().removeprefix(f"<{XSD}").rstrip(">")
    names = [_iri(f"{XSD}{each}") for each in _with_derived(local)] if name.startswith(f"<{XSD}".encode()) else []
    return _all([is_one, Membership(Call("DATATYPE", (value,)), tuple(names) or (Constant(name),), False)])


def _with_derived(local: str) -> list[str]:
    found = [local]
    for each in found:
        found += _DERIVED.get(each, "").split()
    return found


def _facet(value: Variable, facet: Facet, bound: bytes) -> Expression:
    constant, text = Constant(bound), Call("STR", (value,))
    match facet:
        case ">" | ">=" | "<" | "<=":
            return Operation(facet, (value, constant))
        case "length":
            return Operation("=", (Call("STRLEN", (text,)), constant))
        case "minLength":
            return Operation(">=", (Call("STRLEN", (text,)), constant))
        case "maxLength":
            return Operation("<=", (Call("STRLEN", (text,)), constant))
        case "langRange":
            return Call("LANGMATCHES", (Call("LANG", (value,)), constant))
        case "pattern":
            return Call("REGEX", (text, Constant(literal(f"^(?:{_lexical(bound)})$"))))
        case "totalDigits":
            return Call("REGEX", (text, Constant(literal(rf"^[+-]?0*([0-9]\.?){{0,{_lexical(bound)}}}$"))))
    return Call("REGEX", (text, Constant(literal(rf"^[^.]*(\.[0-9]{{0,{_lexical(bound)}}}0*)?$"))))


def _lexical(text: bytes) -> str:
    assert is_literal(text)
    return text.decode().rpartition('"')[0][1:]


def _iri(name: str) -> Constant:
    return Constant(f"<{name}>".encode())


def _all(parts: Sequence[Expression]) -> Expression:
    return _joined("&&", parts)


def _joined(operator: str, parts: Sequence[Expression]) -> Expression:
    first, *rest = parts
    for each in rest:
        first = Operation(operator, (first, each))
    return first
