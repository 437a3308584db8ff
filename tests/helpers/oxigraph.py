"""Where Oxigraph takes liberties with SPARQL: what tests that compare with it have to take as well."""

from __future__ import annotations

from rdflib.term import Literal, Node

from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.operators import FALSE, TRUE, compare


def compare_as_oxigraph(symbol: str, left: Node, right: Node) -> Node:
    """Compare as we do, but for Oxigraph's two liberties in `<` and its kin.

    It gives a term that has no order an order with itself, and NaN none at all, where XPath says false.
    """
    if symbol in ("=", "!="):
        return compare(symbol, left, right)
    if left == right:
        return TRUE if "=" in symbol else FALSE
    if any(isinstance(term, Literal) and str(term) == "NaN" for term in (left, right)):
        raise ExpressionError("NaN")
    return compare(symbol, left, right)
