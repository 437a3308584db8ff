"""Build triple patterns and template triples from SPARQL's triple syntax.

Data's way: parse tree of triples -> **algebra**.
`;` `,` `a`, nested blank nodes and collections are spelled out as triples, in the order in which they are
written.  One walker serves patterns and templates.  They differ in two things: a blank node is a hidden variable in a
pattern and a new node for each match in a template; a template has no paths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lark import Token

from retewave.compiler.algebra import Algebra, BlankNode, TemplateTriple, Term, TriplePattern, Triples
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.expressions import variable
from retewave.compiler.languages.sparql.paths import join, path, predicate
from retewave.compiler.terms import RDF

__all__ = ["template", "triples"]

_FIRST = f"<{RDF}first>".encode()
_REST = f"<{RDF}rest>".encode()
_NIL = f"<{RDF}nil>".encode()

Node = Term | BlankNode
Verb = ParseTree | bytes  # a path or variable as written, or a predicate that the syntax implies


@dataclass
class _Walker:
    """Walk triples and hand each triple to `take`."""

    context: Context
    blank: Callable[[ParseTree | None], Node]  # the node of a blank node tree, or a new one
    take: Callable[[Node, Verb, Node], None]  # called once a triple

    def block(self, tree: ParseTree) -> None:
        for same_subject in tree.children:
            head, *rest = same_subject.children
            subject = self.node(head)
            for properties in rest:
                self.properties(subject, properties)

    def properties(self, subject: Node, tree: ParseTree) -> None:
        for each in tree.children:
            verb, objects = each.children
            for item in objects.children:
                self.take(subject, verb, self.node(item))

    def node(self, tree: ParseTree) -> Node:
        match rule(tree):
            case "var":
                return variable(tree)
            case "blank_node":
                return self.blank(tree)
            case "blank_node_property_list":
                subject = self.blank(None)
                self.properties(subject, tree.children[0])
                return subject
            case "collection":
                return self.collection(tree.children)
        return self.context.prologue.term(tree)

    def collection(self, items: list[ParseTree]) -> Node:
        cells = [self.blank(None) for _ in items]
        for index, (cell, item) in enumerate(zip(cells, items, strict=True)):
            self.take(cell, _FIRST, self.node(item))
            self.take(cell, _REST, cells[index + 1] if index + 1 < len(cells) else _NIL)
        return cells[0]


def triples(tree: ParseTree, context: Context) -> Algebra:
    """Build the pattern of a block of triples."""
    parts: list[Algebra] = []

    def blank(node: ParseTree | None) -> Term:
        label = _label(node)
        return context.labelled(label, node) if node is not None and label else context.fresh()

    def take(subject: Node, verb: Verb, object_: Node) -> None:
        assert not isinstance(subject, BlankNode) and not isinstance(object_, BlankNode)
        parts.append(_pattern(subject, verb, object_, context))

    _Walker(context, blank, take).block(tree)
    whole: Algebra = Triples(())
    plain: list[TriplePattern] = []
    for part in parts:
        if isinstance(part, Triples):
            plain.extend(part.patterns)
        else:
            whole = join(join(whole, Triples(tuple(plain))), part)
            plain = []
    return join(whole, Triples(tuple(plain)))


def _pattern(subject: Term, verb: Verb, object_: Term, context: Context) -> Algebra:
    if isinstance(verb, bytes):
        return Triples((TriplePattern(subject, verb, object_, context.stream),))
    if rule(verb) == "var":
        place = context.source.place(verb)
        return Triples((TriplePattern(subject, variable(verb), object_, context.stream, place=place),))
    return path(subject, verb, object_, context)


def template(tree: ParseTree, context: Context) -> tuple[TemplateTriple, ...]:
    """Build the triples of a CONSTRUCT template."""
    found: list[TemplateTriple] = []
    fresh = 0

    def blank(node: ParseTree | None) -> Node:
        nonlocal fresh
        label = _label(node)
        if not label:
            fresh += 1
            label = f".{fresh}"
        return BlankNode(label.removeprefix("_:"))

    def take(subject: Node, verb: Verb, object_: Node) -> None:
        found.append(TemplateTriple(subject, _template_verb(verb, context), object_))

    for block in tree.children:
        _Walker(context, blank, take).block(block)
    return tuple(found)


def _template_verb(verb: Verb, context: Context) -> Term:
    if isinstance(verb, bytes):
        return verb
    if rule(verb) == "var":
        return variable(verb)
    simple = predicate(verb, context)
    if simple is None:
        raise context.error("a CONSTRUCT template cannot hold a property path", verb)
    return simple


def _label(tree: ParseTree | None) -> str:
    """Return a blank node's label, or nothing for `[]`."""
    if tree is None:
        return ""
    (token,) = tree.children
    assert isinstance(token, Token)
    return str(token) if token.startswith("_:") else ""
