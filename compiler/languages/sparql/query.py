"""Build a query from the parse tree of SPARQL or of C-SPARQL.

Data's way: parse tree -> **query** -> normal form -> plan.
Invariant: a query that this returns can run; a clause that cannot run yet is refused here, by name and place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lark import Token

from retewave.compiler.algebra import Algebra, Policy, Query, Stream
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.distinct import distinct_on
from retewave.compiler.languages.sparql.mistakes import MISTAKES
from retewave.compiler.languages.sparql.modifiers import refuse_modifiers
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import group, values
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.results import selection, templated
from retewave.compiler.languages.sparql.subselect import subselect
from retewave.compiler.languages.sparql.temporal import bounded, chain

__all__ = ["SPARQL", "build", "declare", "file_or_iri", "registered"]

_BLANK = ("blank_node", "blank_node_property_list", "collection")
_WINDOW_HINT = "write [RANGE 5m]"
_FORMS = {"describe_query": "DESCRIBE", "ask_query": "ASK"}
_SOURCES = ("stream", "default_graph", "named_graph")
_WINDOWS = ("NAMED", "STEP", "TRIPLES", "TUMBLING")
_PATTERNS = ("GRAPH", "SERVICE")


def build(tree: ParseTree, source: Source, language: Language, prefixes: Mapping[str, str] | None = None) -> Query:
    """Build the query of a whole tree; `prefixes` are declared before it begins."""
    context = Context(source, Prologue(source, prefixes=dict(prefixes or {})), language)
    (query,) = tree.children
    clauses = {rule(part): part for part in query.children}
    for part in query.children:
        if rule(part) == "prologue":
            declare(part, context)
    form = next(part for part in query.children if rule(part) not in _AROUND)
    parts = _query_parts(form, clauses.get("values_clause"), context)
    return context.query(**parts, **registered(clauses.get("registration"), form, context))


_AROUND = ("prologue", "registration", "values_clause")


def declare(prologue: ParseTree, context: Context) -> None:
    """Take the BASE and PREFIX lines of a prologue."""
    for line in prologue.children:
        match rule(line):
            case "base_decl":
                context.prologue.declare_base(token(line))
            case "prefix_decl":
                label, iri = token(line), token(line, 1)
                context.prologue.declare_prefix(label[:-1], iri[1:-1], iri)


def _query_parts(form: ParseTree, trailing: ParseTree | None, context: Context) -> dict[str, Any]:
    if rule(form) in _FORMS:
        raise context.unsupported(_FORMS[rule(form)], form, "SELECT and CONSTRUCT are")
    clauses = {rule(part): part for part in trees_of(form)}
    if "solution_modifier" in clauses:
        refuse_modifiers(clauses["solution_modifier"], context)
    dataset = _dataset(form, context)
    context.streams = dataset["streams"]
    short = rule(form) == "construct_where"
    where = _short_where(clauses["construct_template"], context) if short else _where(clauses, context)
    if trailing is not None:
        where = join(where, values(trailing.children[0], context))
    if "select_clause" in clauses:
        return dataset | selection(clauses["select_clause"], where, context)
    parts = dataset | templated(clauses["construct_template"], where, context)
    return parts | distinct_on(clauses["distinct_on"], where, context) if "distinct_on" in clauses else parts


def _where(clauses: dict[str, ParseTree], context: Context) -> Algebra:
    return bounded(clauses["where_clause"].children[-1], context)


def _short_where(tree: ParseTree, context: Context) -> Algebra:
    # CONSTRUCT WHERE { ... }: the template is the pattern; a blank node would mean two things at once.
    for blank in tree.find_pred(lambda part: rule(part) in _BLANK):
        raise context.unsupported("a blank node in CONSTRUCT WHERE", blank, "write the template out")
    return group(tree, context)


def registered(registration: ParseTree | None, form: ParseTree, context: Context) -> dict[str, Any]:
    """Return the field that REGISTER sets: the query's name, or the stream that it feeds."""
    if registration is None:
        return {}
    for part in trees_of(registration):
        if rule(part) == "computed_every":
            hint = "retewave reports a match as soon as it is complete"
            raise context.unsupported("COMPUTED EVERY", part, hint)
    head, name = registration.children
    if isinstance(name, Token):
        if str(head).upper() == "STREAM" and rule(form).startswith("construct"):
            context.notice(f"{name} is the query's name, and feeds nothing; a stream to feed has an IRI: <…>", name)
        return {"name": str(name)}
    if not rule(form).startswith("construct"):
        hint = "write REGISTER QUERY name AS SELECT …, or CONSTRUCT { … } for what comes in again"
        raise context.error("only CONSTRUCT feeds a stream", head, hint)
    return {"feeds": context.prologue.term(name), "is_rule": True}


def _dataset(form: ParseTree, context: Context) -> dict[str, Any]:
    streams: list[Stream] = []
    dataset: list[str] = []
    policy: ParseTree | None = None
    for clause in trees_of(form):
        if policy is not None and rule(clause) in (*_SOURCES, "policy"):
            raise context.error("POLICY stands once, behind the FROM clauses", policy)
        match rule(clause):
            case "policy":
                policy = clause
            case "stream":
                streams.append(_stream(clause, streams, context))
            case "default_graph":
                dataset.append(file_or_iri(clause.children[0], context))
            case "named_graph":
                raise context.unsupported("FROM NAMED", clause)
    chosen = Policy() if policy is None else _policy(policy, context)
    return {"streams": tuple(streams), "dataset": tuple(dict.fromkeys(dataset)), "policy": chosen}


def _policy(clause: ParseTree, context: Context) -> Policy:
    _, name, *keep = tokens_of(clause)
    policies = (Policy("unrestricted"), Policy("naive"), Policy("chronological"), Policy("recent"))
    chosen = next(each for each in policies if each.name == name.lower())
    if keep and not chosen.consumes:
        context.notice(f"KEEP has no effect: {chosen.name} uses nothing up", keep[0])
    return replace(chosen, keep=bool(keep), place=context.source.place(clause))


def file_or_iri(tree: ParseTree, context: Context) -> str:
    """Return the name of a dataset: an IRI, or a file as written."""
    # Without a BASE a relative reference is a file beside the query; it need not become an IRI.
    written = token(tree)
    if written.startswith("<") and not context.prologue.base:
        return str(written[1:-1])
    return context.prologue.iri(tree)


def _stream(clause: ParseTree, before: list[Stream], context: Context) -> Stream:
    name, *window = clause.children
    iri = context.prologue.term(name)
    if any(iri == stream.iri for stream in before):
        raise context.error(f"the stream {iri.decode()} is named twice", name)
    width = _width(window[0], context) if window else None
    return Stream(iri, width, context.source.place(name))


def _width(window: ParseTree, context: Context) -> int:
    match rule(window):
        case "range_with_step":
            raise context.unsupported("a window with STEP or TUMBLING", token(window, 1), _WINDOW_HINT)
        case "range_in_triples":
            raise context.unsupported("a window that counts triples", window, _WINDOW_HINT)
    return context.duration(token(window))


# C-SPARQL's grammar contains SPARQL's, so both are read by it.
SPARQL = Language(
    name="sparql",
    suffixes=(".rq", ".sparql"),
    grammar=Path(__file__).parent / "csparql.lark",
    build=build,
    words={
        "BARE_IRI": "an IRI",
        "DURATION": "a duration such as 5m (ms, s, m, h, d)",
        "QUERY_NAME": "a name",
        "REGISTERED_QUERY": "QUERY",
        "BUILTIN_TIME": "a function",
        "POLICY_NAME": "a policy (unrestricted, naive, chronological, recent)",
        "RELATION": "an operator of time (SEQ …)",
    },
    mistakes=MISTAKES,
    patterns={"group_or_union_graph_pattern": chain, "sub_select": subselect},
    refused=frozenset([*_FORMS.values(), "GROUP", "HAVING", "LIMIT", "OFFSET", "ORDER", *_PATTERNS, *_WINDOWS]),
)
