"""A dialect is a few lines: a grammar that extends SPARQL's, and nothing of SPARQL's is written again."""

from __future__ import annotations

from lark import Lark, Tree

from retewave.compiler.languages import reading as grammars
from retewave.compiler.languages.language import SHARED_GRAMMARS

# EP-SPARQL's operators between groups, its duration as a function, and a window by name as in RSEP-QL.
DIALECT = """
%import .sparql (start, group_or_union_graph_pattern, group_graph_pattern, builtin_call, NIL)
%import .sparql (dataset_clause, iri, _graph_pattern_not_triples, IRIREF, PNAME_LN, PNAME_NS, WHITESPACE, COMMENT)
%extend group_or_union_graph_pattern: group_graph_pattern ((SEQ | EQUALS) group_graph_pattern)+ -> sequence
%extend builtin_call: GET_DURATION NIL
%extend dataset_clause: "FROM"i "NAMED"i "WINDOW"i iri "ON"i iri -> named_window
%extend _graph_pattern_not_triples: window_pattern
window_pattern: "WINDOW"i iri group_graph_pattern
SEQ: "SEQ"i
EQUALS: "EQUALS"i
GET_DURATION: /getDURATION\\b/i
%ignore WHITESPACE
%ignore COMMENT
"""


def test_a_dialect_extends_the_grammar_without_conflicts() -> None:
    parser = Lark(
        DIALECT, parser="lalr", import_paths=[str(SHARED_GRAMMARS)], source_path=str(SHARED_GRAMMARS / "dialect.lark")
    )
    tree = parser.parse(
        "SELECT ?x FROM NAMED WINDOW <urn:w> ON <urn:s> {"
        "  { ?x <urn:p> ?y } SEQ { ?x <urn:q> ?z OPTIONAL { ?z ?z ?z } } EQUALS { ?x a ?w }"
        "  WINDOW <urn:w> { ?x ?x ?x } FILTER(getDURATION() < 5) }"
    )
    found = {grammars.rule(part) for part in tree.iter_subtrees() if isinstance(part, Tree)}
    assert {"sequence", "named_window", "window_pattern", "optional_graph_pattern", "comparison"} <= found
