"""Functions that the user has registered with rdflib, which computes them for us.

Data's way: expression -> evaluator -> **rdflib**, with literals that rdflib has read itself.
Invariant: SPARQL's errors come back as `ExpressionError`; any other exception of a user's function is for `contained`
to tell.
Left out: rdflib's SPARQL is slow to import, so it is imported for the first such expression.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from rdflib import Literal, URIRef
from rdflib.term import Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.operators import plain
from retewave.compiler.terms import is_iri

__all__ = ["is_registered", "of_rdflib"]

_Function = Callable[[tuple[Node, ...]], Node]


def is_registered(iri: str) -> bool:
    """Tell whether a function, "<...>", has been registered with rdflib, which offers no other way to ask."""
    from rdflib.plugins.sparql.operators import _CUSTOM_FUNCTIONS

    return URIRef(iri[1:-1]) in _CUSTOM_FUNCTIONS


@cache
def of_rdflib(text: str, arity: int) -> _Function:
    """Return an expression of ?a0, ?a1 … as a function of their values."""
    from rdflib import Variable
    from rdflib.plugins.sparql import prepareQuery
    from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext, SPARQLError

    expression = prepareQuery(f"SELECT ({text} AS ?result) {{}}").algebra.p.p.expr
    names = tuple(Variable(f"a{index}") for index in range(arity))
    context = QueryContext()

    def apply(arguments: tuple[Node, ...]) -> Node:
        bound: Any = dict(zip(names, map(_read, arguments), strict=True))
        try:
            result = expression.eval(FrozenBindings(context, bound))
        except SPARQLError as error:
            raise ExpressionError(str(error)) from error
        if isinstance(result, SPARQLError) or not isinstance(result, Node):
            raise ExpressionError(str(result))
        return _checked(plain(result))

    return apply


def _checked(term: Node) -> Node:
    """Return the result of a user's function, if RDF has such a term."""
    name = term.datatype if isinstance(term, Literal) else term
    if isinstance(name, URIRef) and not is_iri(str(name)):
        raise ExpressionError(f"{name} is not an IRI")
    return term


def _read(term: Node) -> Node:
    """Return a term with the value that rdflib gives it."""
    if not isinstance(term, Literal):
        return term
    return Literal(str(term), lang=term.language, datatype=term.datatype, normalize=False)
