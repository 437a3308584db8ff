"""Build a query from a text in EP-SPARQL, as its paper writes it.

Data's way: parse tree of an .epsparql file -> **query** -> normal form -> plan.
Invariant: solutions are a set, and CONSTRUCT is a rule: the triples that it builds come in again, on the stream that
the query reads.  The operators are those of the SPARQL-like dialect.  A name without a prefix takes PREFIX :.  The
paper's texts never declare that prefix; then it is a default IRI, which a notice tells.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from retewave.compiler.algebra import Query
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source
from retewave.compiler.languages.sparql.defaults import DEFAULT, told_default
from retewave.compiler.languages.sparql.query import SPARQL, build
from retewave.compiler.terms import XSD

__all__ = ["EPSPARQL", "build_epsparql"]

_PREFIXES = {"": DEFAULT, "xsd": XSD}  # the paper writes xsd:duration without a declaration


def build_epsparql(tree: ParseTree, source: Source, language: Language) -> Query:
    """Build the query of a whole tree."""
    query = build(tree, source, language, _PREFIXES)
    notices = (*told_default(tree, source), *query.notices)
    return replace(query, solutions="set", is_rule=query.form == "CONSTRUCT", notices=notices)


EPSPARQL = replace(
    SPARQL,
    name="epsparql",
    suffixes=(".epsparql",),
    grammar=Path(__file__).parent / "epsparql.lark",
    build=build_epsparql,
    views=False,
    refused=frozenset(
        [*SPARQL.refused, "ASK", "GROUP", "HAVING", "LIMIT", "NAMED", "OFFSET", "ORDER", "GRAPH", "STEP"]
    ),
    words={**SPARQL.words, "BARE_NAME": "an IRI"},
)
