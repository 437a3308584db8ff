"""Rewrite property paths that need no recursion into joins and unions of triple patterns.

Data's way: parse tree of a path -> **algebra** (SPARQL 1.1, section 18.2.2.4).
A sequence joins on a hidden variable, an alternative is a union (duplicates stay), an inverse swaps the
ends.  A negated set is a variable predicate with a filter, so each triple that is not excluded is a match of its
own.  The operators `*`, `+` and `?` make a view of the query.
"""

from __future__ import annotations

from lark import Tree

from retewave.compiler.algebra import Algebra, Filter, Join, PathClosure, Term, TriplePattern, Triples, Union
from retewave.compiler.expressions.tree import Constant, Membership, Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.terms import RDF

__all__ = ["join", "path", "predicate", "union"]

RDF_TYPE = f"<{RDF}type>".encode()


def join(left: Algebra, right: Algebra) -> Algebra:
    """Join two patterns; two basic graph patterns become one.

    >>> join(Triples(()), Triples(()))
    Triples(patterns=())
    """
    if isinstance(left, Triples) and isinstance(right, Triples):
        return Triples(left.patterns + right.patterns)
    if left == Triples(()):
        return right
    return left if right == Triples(()) else Join(left, right)


def union(parts: list[Algebra]) -> Algebra:
    """Unite patterns in a tree of little depth."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    return Union(union(parts[:half]), union(parts[half:]))


def predicate(tree: ParseTree, context: Context) -> bytes | None:
    """Return the predicate of a path that is only an IRI or `a`, or nothing."""
    kind = rule(tree)
    if kind == "rdf_type":
        return RDF_TYPE
    return context.prologue.term(tree) if kind in ("iri", "bare_iri", "bare_name") else None


def path(start: Term, tree: ParseTree, end: Term, context: Context) -> Algebra:
    """Return the pattern that a path between two terms stands for."""
    simple = predicate(tree, context)
    if simple is not None:
        return Triples((TriplePattern(start, simple, end, context.stream, place=context.source.place(tree)),))
    match rule(tree):
        case "path_inverse":
            return path(end, tree.children[0], start, context)
        case "path_alternative":
            return union([path(start, part, end, context) for part in tree.children])
        case "path_sequence":
            return _sequence(start, tree.children, end, context)
        case "path_negated_property_set":
            return _negated(start, tree, end, context)
    return _closed(start, tree, end, context)


def _closed(start: Term, tree: ParseTree, end: Term, context: Context) -> Algebra:
    """Return the pattern of a path that may have any number of steps."""
    inner, mark = tree.children
    context.view_by(f"the property path operator {str(mark)!r}", mark)
    source, target = context.fresh(), context.fresh()
    step = path(source, inner, target, context)
    place = context.source.place(mark)
    return PathClosure(start, end, step, source, target, 1 if mark == "+" else 0, 1 if mark == "?" else None, place)


def _sequence(start: Term, parts: list[ParseTree], end: Term, context: Context) -> Algebra:
    whole: Algebra = Triples(())
    for index, part in enumerate(parts):
        stop = end if index == len(parts) - 1 else context.fresh()
        whole = join(whole, path(start, part, stop, context))
        start = stop
    return whole


def _negated(start: Term, tree: ParseTree, end: Term, context: Context) -> Algebra:
    members = [member for member in tree.children if isinstance(member, Tree)]
    inverse = [member.children[0] for member in members if rule(member) == "negated_inverse"]
    forward = [member for member in members if rule(member) != "negated_inverse"]
    parts: list[Algebra] = []
    if forward or not inverse:
        parts.append(_any_but(start, forward, end, context))
    if inverse:
        parts.append(_any_but(end, inverse, start, context))
    return union(parts)


def _any_but(start: Term, excluded: list[ParseTree], end: Term, context: Context) -> Algebra:
    link: Variable = context.fresh()
    triples = Triples((TriplePattern(start, link, end, context.stream),))
    iris = [predicate(each, context) for each in excluded]
    members = tuple(Constant(iri) for iri in iris if iri is not None)
    return Filter(Membership(link, members, negated=True), triples) if members else triples
