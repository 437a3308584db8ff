"""Build a query from the parse tree of SPARQL or of C-SPARQL.

Data's way: parse tree -> **query** -> normal form -> plan.
Invariant: a query that this returns can run; a clause that cannot run yet is refused here, by name and place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lark import Token

from retewave.compiler.algebra import Algebra, Policy, Query, Told
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.distinct import distinct_on
from retewave.compiler.languages.sparql.mistakes import MISTAKES
from retewave.compiler.languages.sparql.modifiers import has_aggregate, modified, note_modifiers, related
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import group, values
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.results import selection, templated
from retewave.compiler.languages.sparql.subselect import subselect
from retewave.compiler.languages.sparql.temporal import bounded, chain
from retewave.compiler.languages.sparql.views import Windows, frame

__all__ = ["SPARQL", "build", "declare", "file_or_iri", "registered"]

_BLANK = ("blank_node", "blank_node_property_list", "collection")
_SOURCES = ("stream", "default_graph", "named_graph", "named_stream", "named_window")
_FRAME = ("policy", "report")  # stand behind the sources


def build(tree: ParseTree, source: Source, language: Language, prefixes: Mapping[str, str] | None = None) -> Query:
    """Build the query of a whole tree; `prefixes` are declared before it begins."""
    context = Context(source, Prologue(source, prefixes=dict(prefixes or {})), language)
    (query,) = tree.children
    clauses = {rule(part): part for part in query.children}
    for part in query.children:
        if rule(part) == "prologue":
            declare(part, context)
    form = next(part for part in query.children if rule(part) not in _AROUND)
    windows = Windows()
    named = registered(clauses.get("registration"), form, context, windows)
    parts = _query_parts(form, clauses.get("values_clause"), windows, context)
    view = frame(windows, parts["where"], context)
    if view is not None:
        parts |= {"streams": (), "view": view, "distinct": False, "reduced": False}
    return context.query(**parts, **named)


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


def _query_parts(form: ParseTree, tail: ParseTree | None, windows: Windows, context: Context) -> dict[str, Any]:
    if rule(form) == "describe_query":
        raise context.unsupported("DESCRIBE", form, "SELECT, CONSTRUCT and ASK are")
    clauses = {rule(part): part for part in trees_of(form)}
    if rule(form) == "ask_query":
        context.view_by("ASK", token(form))
    dataset = _dataset(form, windows, context)
    context.streams = dataset["streams"]
    context.windows = frozenset(each.name for each in windows.found if each.name is not None)
    short = rule(form) == "construct_where"
    where = _short_where(clauses["construct_template"], context) if short else _where(clauses, context)
    behind = clauses["solution_modifier"]
    note_modifiers(behind, context)
    trailing = None if tail is None else values(tail.children[0], context)
    if "select_clause" in clauses:
        head = clauses["select_clause"]
        if not context.reasons and not has_aggregate(head):
            return dataset | selection(head, _joined(where, trailing), context)
        return dataset | _relation(head, where, trailing, behind, context)
    where = modified(where, trailing, behind, context)
    if rule(form) == "ask_query":
        return dataset | {"form": "ASK", "where": where, "projection": ()}
    parts = dataset | templated(clauses["construct_template"], where, context)
    return parts | distinct_on(clauses["distinct_on"], where, context) if "distinct_on" in clauses else parts


def _relation(
    head: ParseTree, where: Algebra, trailing: Algebra | None, behind: ParseTree, context: Context
) -> dict[str, Any]:
    """Return the fields of a SELECT that is a view."""
    for clause in head.find_pred(lambda part: rule(part) == "distinct_on"):
        hint = "write it in a query that detects, or use GROUP BY and SAMPLE"
        raise context.error("DISTINCT ON has no meaning in a view", clause, hint)
    found, names = related(head, where, trailing, behind, context)
    return {"form": "SELECT", "where": found, "projection": names}


def _joined(where: Algebra, trailing: Algebra | None) -> Algebra:
    return where if trailing is None else join(where, trailing)


def _where(clauses: dict[str, ParseTree], context: Context) -> Algebra:
    return bounded(clauses["where_clause"].children[-1], context)


def _short_where(tree: ParseTree, context: Context) -> Algebra:
    # CONSTRUCT WHERE { ... }: the template is the pattern; a blank node would mean two things at once.
    for blank in tree.find_pred(lambda part: rule(part) in _BLANK):
        raise context.unsupported("a blank node in CONSTRUCT WHERE", blank, "write the template out")
    return group(tree, context)


def registered(
    registration: ParseTree | None, form: ParseTree, context: Context, windows: Windows | None = None
) -> dict[str, Any]:
    """Return the field that REGISTER sets: the query's name, or the stream that it feeds; `windows` take the rest."""
    if registration is None:
        return {}
    head, *names = (part for part in registration.children if not _is_every(part))
    for part in trees_of(registration):
        if windows is not None and rule(part) == "computed_every":
            windows.every(token(part, 1), context)
    if windows is not None and kind_of(token(registration)) == "TOLD":
        told = token(registration).upper()
        context.view_by(f"REGISTER {told}", head)
        windows.told = cast(Told, told)
        return _output(names, context)
    (name,) = names
    if isinstance(name, Token):
        if str(head).upper() == "STREAM" and rule(form).startswith("construct"):
            context.notice(f"{name} is the query's name, and feeds nothing; a stream to feed has an IRI: <…>", name)
        return {"name": str(name)}
    if not rule(form).startswith("construct"):
        hint = "write REGISTER QUERY name AS SELECT …, or CONSTRUCT { … } for what comes in again"
        raise context.error("only CONSTRUCT feeds a stream", head, hint)
    return {"feeds": context.prologue.term(name), "is_rule": True}


def _is_every(part: ParseTree | Token) -> bool:
    return not isinstance(part, Token) and rule(part) == "computed_every"


def _output(names: list[ParseTree | Token], context: Context) -> dict[str, Any]:
    """Return the fields that the name behind REGISTER RSTREAM sets: that of the output is the query's name."""
    if not names:
        return {}
    (name,) = names
    return {"name": str(name) if isinstance(name, Token) else context.prologue.iri(name)}


def _dataset(form: ParseTree, windows: Windows, context: Context) -> dict[str, Any]:
    dataset: list[str] = []
    policy: ParseTree | None = None
    for clause in trees_of(form):
        if policy is not None and rule(clause) in (*_SOURCES, "policy"):
            raise context.error("POLICY stands once, behind the FROM clauses", policy)
        match rule(clause):
            case "policy":
                policy = clause
            case "report":
                windows.report(clause, context)
            case "stream":
                name, *parts = clause.children
                windows.add(None, name, parts, context)
            case "named_stream":
                _, name, *parts = clause.children
                windows.add(context.prologue.term(name), name, parts, context)
            case "named_window":
                _, _, name, stream, *parts = clause.children
                windows.add(context.prologue.term(name), stream, parts, context)
            case "default_graph":
                dataset.append(file_or_iri(clause.children[0], context))
            case "named_graph":
                raise context.unsupported("FROM NAMED", clause)
    chosen = Policy() if policy is None else _policy(policy, context)
    return {"streams": windows.streams, "dataset": tuple(dict.fromkeys(dataset)), "policy": chosen}


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


# C-SPARQL's grammar contains SPARQL's, so both are read by it.
SPARQL = Language(
    name="sparql",
    suffixes=(".rq", ".sparql"),
    grammar=Path(__file__).parent / "csparql.lark",
    build=build,
    words={
        "BARE_IRI": "an IRI",
        "DURATION": "a duration such as 5m (ms, s, m, h, d)",
        "ISO_DURATION": "a duration such as PT5M",
        "STEP": "STEP",
        "TOLD": "RSTREAM, ISTREAM or DSTREAM",
        "COUNTED": "TRIPLES or ELEMENTS",
        "NON_EMPTY": "NON EMPTY",
        "QUERY_NAME": "a name",
        "REGISTERED_QUERY": "QUERY",
        "BUILTIN_TIME": "a function",
        "POLICY_NAME": "a policy (unrestricted, naive, chronological, recent)",
        "RELATION": "an operator of time (SEQ …)",
    },
    mistakes=MISTAKES,
    patterns={"group_or_union_graph_pattern": chain, "sub_select": subselect},
    views=True,
    refused=frozenset(["DESCRIBE", "SERVICE"]),
)
