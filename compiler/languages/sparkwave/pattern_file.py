"""Build a query from one of the original Sparkwave's pattern files.

Data's way: parse tree of a .tpg file -> **query** -> normal form -> plan.
Invariant: TIMEWINDOW is in milliseconds and holds over the whole pattern; "null" names no file; the settings of the
original's Java handlers are read and have no effect, and a notice says so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lark import Token

from retewave.compiler.algebra import Algebra, Query, Term, TriplePattern, Triples, visible
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source, rule, token
from retewave.compiler.languages.sparql.expressions import variable
from retewave.compiler.languages.sparql.patterns import group
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.query import declare
from retewave.compiler.languages.sparql.results import selection, templated
from retewave.compiler.terms import unquote

__all__ = ["SPARKWAVE", "build_tpg"]

_MAGIC = ("NOW()", "ID()")  # the handlers replaced these lexical forms before they sent an event


def build_tpg(tree: ParseTree, source: Source, language: Language) -> Query:
    """Build the query of a pattern file."""
    context = Context(source, Prologue(source), language)
    (pattern,) = tree.children
    files = _prologue(pattern.children[0], context)
    bare = rule(pattern) == "bare_pattern_file"
    parts = _bare(pattern, context) if bare else _braced(pattern, context)
    return context.query(**parts, **files, window=context.window)


def _prologue(prologue: ParseTree, context: Context) -> dict[str, Any]:
    declare(prologue, context)
    schema: list[str] = []
    static: list[str] = []
    for line in prologue.children:
        match rule(line):
            case "prefix_assignment":
                iri = token(line, -1)
                label = str(token(line)) if len(line.children) == 2 else ""
                context.prologue.declare_prefix(label, unquote(iri), iri)
            case "epsilon_ontology":
                schema.append(unquote(token(line)))
            case "static_instances":
                static.append(unquote(token(line)))
            case "handlers":
                context.notice("HANDLERS has no effect: give a callback or a sink instead", line)
    return {"schema": _files(schema), "static": _files(static)}


def _files(names: list[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in ("", "null"))


def _braced(pattern: ParseTree, context: Context) -> dict[str, Any]:
    _, head, where = pattern.children
    body = where.children[0]
    if rule(body) != "group_graph_pattern":
        operator = next(token for token in body.children if isinstance(token, Token))
        raise context.unsupported(f"{operator.upper()} between groups", operator)
    algebra = group(body, context)
    if rule(head) == "select_clause":
        return selection(head, algebra, context)
    _notice_magic(head, context)
    return templated(head.children[0], algebra, context)


def _bare(pattern: ParseTree, context: Context) -> dict[str, Any]:
    _, *lines, window = pattern.children
    _take_window(window, context)
    algebra = Triples(tuple(_triple(line, context) for line in lines))
    return {"form": "SELECT", "where": algebra, "projection": tuple(each.name for each in visible(algebra))}


def _triple(line: ParseTree, context: Context) -> TriplePattern:
    terms: list[Term] = [
        variable(part) if rule(part) == "var" else context.prologue.term(part) for part in line.children
    ]
    subject, predicate, object_ = terms
    return TriplePattern(subject, predicate, object_, place=context.source.place(line))


def _take_window(tree: ParseTree, context: Context) -> Algebra:
    if context.window is not None:
        raise context.error("a pattern has one TIMEWINDOW", tree)
    context.window = int(token(tree, 1)) * 1_000
    return Triples(())


def _notice_magic(tree: ParseTree, context: Context) -> None:
    for literal in tree.find_pred(lambda part: rule(part) == "rdf_literal"):
        if unquote(token(literal)) in _MAGIC:
            context.notice(f"{token(literal)} stays as it is: only the original's handlers replaced it", literal)


SPARKWAVE = Language(
    name="sparkwave",
    suffixes=(".tpg",),
    grammar=Path(__file__).parent / "sparkwave.lark",
    build=build_tpg,
    recognises=re.compile(r"\b(?:EPSILON_ONTOLOGY|STATIC_INSTANCES|HANDLERS|TIMEWINDOW)\b", re.IGNORECASE),
    words={"BARE_IRI": "an IRI", "PREFIX_LABEL": "a prefix"},
    refused=frozenset(["AND", "BEFORE", "GRAPH", "SERVICE"]),
    patterns={"time_window": _take_window},
    mistakes=(
        (
            re.compile(r"\}\s*TIMEWINDOW\Z", re.IGNORECASE),
            "TIMEWINDOW stands in the braces of WHERE, in milliseconds: { … TIMEWINDOW (5000) }",
        ),
    ),
)
