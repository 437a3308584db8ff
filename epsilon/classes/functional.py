"""An ontology in OWL 2's functional syntax, with a name for each expression that is asked about: what reasoners read.

Data's way: ontology + expressions -> **a document** -> a reasoner (`reasoner.py`).
Invariant: the document says no more than the ontology.  OWL 2 DL tells properties of individuals from those of values;
an axiom that mixes them, or that has an inverse of the latter, is left out, and is named in `left_out`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

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
    is_data,
    within,
)
from retewave.epsilon.classes.ontology import Ontology
from retewave.epsilon.vocabulary import is_blank, is_literal, rdfs

__all__ = ["Document", "document"]

_XSD = "http://www.w3.org/2001/XMLSchema#"
_FACETS = {">": "minExclusive", ">=": "minInclusive", "<": "maxExclusive", "<=": "maxInclusive"}
_KINDS = {Some: "SomeValuesFrom", Only: "AllValuesFrom"}
_NUMBERED = {AtLeast: "MinCardinality", AtMost: "MaxCardinality", Exactly: "ExactCardinality"}


class _NotInProfile(Exception):
    """An expression that OWL 2 DL does not have."""


@dataclass
class Document:
    """A document, and what it leaves out."""

    text: str = ""  # in functional syntax
    names: dict[str, ClassExpression] = field(default_factory=dict)  # the name of each expression that is asked about
    left_out: list[str] = field(default_factory=list)  # axioms that OWL 2 DL does not have


def document(ontology: Ontology, asked: Iterable[ClassExpression]) -> Document:
    """Write an ontology, and names for expressions.

    >>> from retewave.epsilon.classes.ontology import Inclusion
    >>> one, other = NamedClass(b"<urn:A>"), Complement(NamedClass(b"<urn:B>"))
    >>> print(document(Ontology((Inclusion(one, other),)), [other]).text)
    Ontology(
    SubClassOf(<urn:A> ObjectComplementOf(<urn:B>))
    EquivalentClasses(<urn:retewave:asked:0> ObjectComplementOf(<urn:B>))
    )
    """
    asked = tuple(dict.fromkeys(asked))
    writing = _Writing(ontology, asked)
    found = Document()
    lines = ["Ontology(", *(f"Declaration(Class({_iri(each)}))" for each in sorted(ontology.classes))]
    lines += writing.roles(found.left_out)
    for each in ontology.inclusions:
        try:
            lines.append(f"SubClassOf({writing.of(each.below)} {writing.of(each.above)})")
        except _NotInProfile:
            found.left_out.append(str(each))
    for number, expression in enumerate(asked):
        name = f"<urn:retewave:asked:{number}>"
        try:
            lines.append(f"EquivalentClasses({name} {writing.of(expression)})")
        except _NotInProfile:
            continue
        found.names[name] = expression
    found.text = "\n".join([*lines, ")"])
    return found


class _Writing:
    """Writes expressions."""

    def __init__(self, ontology: Ontology, asked: Iterable[ClassExpression]) -> None:
        self.ontology, self.asked = ontology, tuple(asked)

    @cached_property
    def of_values(self) -> frozenset[bytes]:
        """The properties whose objects are values: declared so, or used so, or below or above one that is."""
        sides = (side for each in self.ontology.inclusions for side in (each.below, each.above))
        used = (one for side in (*sides, *self.asked) for one in within(side))
        found = {one.role.name for one in used if _is_of_values(one)} | self.ontology.of_values  # type: ignore[union-attr]
        waiting = True
        while waiting:
            more = {one.name for pair in self.ontology.roles if {each.name for each in pair} & found for one in pair}
            waiting = not more <= found
            found |= more
        return frozenset(found)

    def roles(self, left_out: list[str]) -> Iterator[str]:
        """Yield what is said of properties."""
        kinds = ("Data" if each in self.of_values else "Object" for each in sorted(self.ontology.properties))
        for each, kind in zip(sorted(self.ontology.properties), kinds, strict=True):
            yield f"Declaration({kind}Property({_iri(each)}))"
        for one, other in self.ontology.roles:
            yield from self._axiom("SubPropertyOf", (one, other), left_out)
        for axiom in self.ontology.role_axioms:
            if axiom.kind == "SubObjectPropertyChain":
                *chain, above = map(self._object, axiom.roles)
                yield f"SubObjectPropertyOf(ObjectPropertyChain({' '.join(chain)}) {above})"
            else:
                yield from self._axiom(axiom.kind, axiom.roles, left_out)

    def _axiom(self, kind: str, roles: tuple[Property, ...], left_out: list[str]) -> Iterator[str]:
        is_data_ = roles[0].name in self.of_values
        if is_data_ and any(each.inverse for each in roles):
            left_out.append(f"{kind}: {', '.join(map(str, roles))}")
            return
        name = {"SubPropertyOf": "Sub%sPropertyOf", "DisjointProperties": "Disjoint%sProperties"}.get(kind)
        name = f"{kind.removesuffix('Property')}%sProperty" if name is None else name
        kind_of = "Data" if is_data_ else "Object"
        written = " ".join(_iri(each.name) if is_data_ else self._object(each) for each in roles)
        yield f"{name % kind_of}({written})"

    def _object(self, role: Property) -> str:
        return f"ObjectInverseOf({_iri(role.name)})" if role.inverse else _iri(role.name)

    def of(self, expression: ClassExpression) -> str:
        """Write a class expression."""
        match expression:
            case NamedClass():
                return _iri(expression.name)
            case AllOf(parts) | AnyOf(parts):
                name = "ObjectIntersectionOf" if isinstance(expression, AllOf) else "ObjectUnionOf"
                return _together(name, [self.of(each) for each in parts])
            case Complement(part):
                return f"ObjectComplementOf({self.of(part)})"
            case OneOf(members) if not any(map(is_literal, members)):
                return f"ObjectOneOf({' '.join(map(_iri, members))})"
            case HasSelf(role) if role.name not in self.of_values:
                return f"ObjectHasSelf({self._object(role)})"
        return self._restriction(expression)

    def _restriction(self, expression: ClassExpression) -> str:
        if not isinstance(expression, Some | Only | HasValue | AtLeast | AtMost | Exactly):
            raise _NotInProfile
        role = expression.role
        if role.name in self.of_values:
            return self._of_values(expression)
        if isinstance(expression, HasValue):
            return f"ObjectHasValue({self._object(role)} {_iri(expression.value)})"
        filler = self.of(expression.filler)
        if isinstance(expression, Some | Only):
            return f"Object{_KINDS[type(expression)]}({self._object(role)} {filler})"
        return f"Object{_NUMBERED[type(expression)]}({expression.number} {self._object(role)} {filler})"

    def _of_values(self, expression: Some | Only | HasValue | AtLeast | AtMost | Exactly) -> str:
        role = _iri(expression.role.name)
        if expression.role.inverse:
            raise _NotInProfile
        if isinstance(expression, HasValue):
            if not is_literal(expression.value):
                raise _NotInProfile
            return f"DataHasValue({role} {_literal(expression.value)})"
        filler = _range(expression.filler)
        if isinstance(expression, Some | Only):
            return f"Data{_KINDS[type(expression)]}({role} {filler})"
        return f"Data{_NUMBERED[type(expression)]}({expression.number} {role} {filler})"


def _is_of_values(expression: ClassExpression) -> bool:
    match expression:
        case HasValue(_, value):
            return is_literal(value)
        case Some(_, filler) | Only(_, filler) | AtLeast(_, _, filler) | AtMost(_, _, filler) | Exactly(_, _, filler):
            return is_data(filler)
    return False


def _range(expression: ClassExpression) -> str:
    match expression:
        case DataType(name):
            return _iri(name)
        case Restricted(datatype, facets):
            written = (f"<{_XSD}{_FACETS.get(name, name)}> {_literal(value)}" for name, value in facets)
            return f"DatatypeRestriction({_iri(datatype)} {' '.join(written)})" if facets else _iri(datatype)
        case AllOf(parts) | AnyOf(parts):
            operator = "DataIntersectionOf" if isinstance(expression, AllOf) else "DataUnionOf"
            return _together(operator, [_range(each) for each in parts])
        case Complement(part):
            return f"DataComplementOf({_range(part)})"
        case OneOf(members) if all(map(is_literal, members)):
            return f"DataOneOf({' '.join(map(_literal, members))})"
    if expression == THING:
        return _iri(rdfs("Literal"))
    if expression == NOTHING:
        return f"DataComplementOf({_iri(rdfs('Literal'))})"
    raise _NotInProfile


def _together(name: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{name}({' '.join(parts)})"


def _iri(name: bytes) -> str:
    """Write a name; a blank node has one of its own."""
    if is_literal(name):
        raise _NotInProfile
    return f"<urn:retewave:blank:{name[2:].decode()}>" if is_blank(name) else name.decode()


def _literal(text: bytes) -> str:
    if not is_literal(text):
        raise _NotInProfile
    return text.decode()
