"""Read a class expression in Manchester syntax.

Data's way: parse tree -> **class expression** -> proofs.
Invariant: a name is a class, a property or an individual by where it stands.  `Thing` and `Nothing` are OWL's;
`integer`, `decimal`, `float` and `string` are XML Schema's, as Manchester syntax has them.  A filler that is a dot, or
is left out, is anything: literals, too.
"""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.terms import XSD
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
    Facet,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Only,
    Property,
    Restricted,
    Some,
)
from retewave.epsilon.vocabulary import rdf, rdfs

__all__ = ["class_expression"]

_OWN = {"Thing": THING, "Nothing": NOTHING}
_SHORT_TYPES = ("integer", "decimal", "float", "string")
_LITERALS = (rdfs("Literal"), rdf("PlainLiteral"), rdf("langString"), rdf("XMLLiteral"))
_NUMBERED: dict[str, type[AtLeast] | type[AtMost] | type[Exactly]] = {"MIN": AtLeast, "MAX": AtMost, "EXACTLY": Exactly}


def class_expression(tree: ParseTree, context: Context) -> ClassExpression:
    """Build the class expression, or the data range, of a tree."""
    match rule(tree):
        case "union":
            return AnyOf(tuple(class_expression(each, context) for each in trees_of(tree)))
        case "conjunction":
            return AllOf(tuple(class_expression(each, context) for each in trees_of(tree)))
        case "complement":
            return Complement(class_expression(trees_of(tree)[0], context))
        case "class_name":
            return _named(tree.children[0], context)
        case "restricted":
            return _restricted(tree, context)
        case "one_of":
            return OneOf(tuple(context.prologue.term(each) for each in trees_of(tree)))
        case "anything":
            return THING
    return _restriction(tree, context)


def _named(tree: ParseTree, context: Context) -> ClassExpression:
    written = str(token(tree))
    if rule(tree) == "bare_name" and written in _OWN:
        return _OWN[written]
    name = _type_name(tree, context)
    return DataType(name) if name.startswith(b"<" + XSD.encode()) or name in _LITERALS else NamedClass(name)


def _type_name(tree: ParseTree, context: Context) -> bytes:
    written = str(token(tree))
    if rule(tree) == "bare_name" and written in _SHORT_TYPES:
        return f"<{XSD}{written}>".encode()
    return context.prologue.term(tree)


def _restricted(tree: ParseTree, context: Context) -> Restricted:
    name, *facets = trees_of(tree)
    return Restricted(_type_name(name, context), tuple(_facet(each, context) for each in facets))


def _facet(tree: ParseTree, context: Context) -> tuple[Facet, bytes]:
    written, value = tree.children
    if str(written) in ("=", "!="):
        raise context.error(f"{written} is no facet", written, "facets are <, <=, >, >=, length, pattern …; or {5}")
    return cast(Facet, str(written)), context.prologue.term(value)


def _restriction(tree: ParseTree, context: Context) -> ClassExpression:
    trees = trees_of(tree)
    role = _role(trees[0], context)
    match rule(tree):
        case "value":
            return HasValue(role, context.prologue.term(trees[1]))
        case "self_":
            return HasSelf(role)
    filler = class_expression(trees[1], context) if len(trees) > 1 else THING
    match rule(tree):
        case "some":
            if len(trees) == 1:
                context.notice("nothing stands behind some: it is read as `some Thing`", token(tree, 1))
            return Some(role, filler)
        case "only":
            return Only(role, filler)
    kind, number = (each for each in tokens_of(tree) if kind_of(each) in (*_NUMBERED, "INTEGER"))
    return _NUMBERED[kind_of(kind)](role, int(number), filler)


def _role(tree: ParseTree, context: Context) -> Property:
    inverse = any(isinstance(each, Token) and kind_of(each) == "INVERSE" for each in tree.children)
    (name,) = (each for each in tree.children if isinstance(each, Tree))
    return Property(context.prologue.term(name), inverse)
