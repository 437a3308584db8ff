"""Build a query from a text in EP-SPARQL, as its paper writes it.

Data's way: parse tree of an .epsparql file -> **query** -> normal form -> plan.
Invariant: solutions are a set, and CONSTRUCT is a rule: the triples that it builds come in again, on the stream that
the query reads.  The operators are those of the SPARQL-like dialect.  A name without a prefix takes PREFIX :.  The
paper's texts never declare that prefix; then it is a default IRI, which a notice tells.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lark import Token

from retewave.compiler.algebra import Query
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Node, Source, kind_of, rule, token
from retewave.compiler.languages.sparql.query import SPARQL, build
from retewave.compiler.terms import XSD

__all__ = ["EPSPARQL", "build_epsparql"]

_DEFAULT = "http://example.org/"  # the prefix of bare names, where PREFIX : is not declared
_PREFIXES = {"": _DEFAULT, "xsd": XSD}  # the paper writes xsd:duration without a declaration


def build_epsparql(tree: ParseTree, source: Source, language: Language) -> Query:
    """Build the query of a whole tree."""
    query = build(tree, source, language, _PREFIXES)
    notices = query.notices
    bare = next(tree.scan_values(_is_bare), None)
    if bare is not None and not any(tree.find_pred(_declares_empty)):
        name = str(bare).removeprefix(":")
        told = f"{bare} is read as <{_DEFAULT}{name}>; declare PREFIX : <...> for names without a prefix"
        notices = (f"{source.place(bare)}: {told}", *notices)
    return replace(query, solutions="set", is_rule=query.form == "CONSTRUCT", notices=notices)


def _declares_empty(part: ParseTree) -> bool:
    return rule(part) == "prefix_decl" and token(part) == ":"


def _is_bare(written: Node) -> bool:
    kind = kind_of(written) if isinstance(written, Token) else ""
    return kind == "BARE_NAME" or (kind == "PNAME_LN" and str(written)[0] == ":")


EPSPARQL = replace(
    SPARQL,
    name="epsparql",
    suffixes=(".epsparql",),
    grammar=Path(__file__).parent / "epsparql.lark",
    build=build_epsparql,
    words={**SPARQL.words, "BARE_NAME": "an IRI"},
)
