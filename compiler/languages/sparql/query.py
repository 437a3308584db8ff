"""Build a query from the parse tree of SPARQL or of C-SPARQL.

Data's way: parse tree -> **query** -> normal form -> plan.
Invariant: a query that this returns can run; a clause that cannot run yet is refused here, by name and place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lark import Token

from retewave.compiler.algebra import Algebra, Policy, Query
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.defaults import DEFAULT, told_default
from retewave.compiler.languages.sparql.distinct import distinct_on
from retewave.compiler.languages.sparql.looking import looked_for
from retewave.compiler.languages.sparql.mistakes import MISTAKES
from retewave.compiler.languages.sparql.modifiers import has_aggregate, modified, note_modifiers, related
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import group, values
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.results import selection, templated
from retewave.compiler.languages.sparql.subselect import subselect
from retewave.compiler.languages.sparql.temporal import bounded, chain
from retewave.compiler.languages.sparql.views import frame
from retewave.compiler.languages.windows.clauses import CLAUSES, Windows
from retewave.compiler.languages.windows.events import Events

__all__ = ["SPARQL", "build", "declare", "registered"]

_BLANK = ("blank_node", "blank_node_property_list", "collection")
_SOURCES = (*CLAUSES, "default_graph", "named_graph")  # the clauses before POLICY


def build(tree: ParseTree, source: Source, language: Language, prefixes: Mapping[str, str] | None = None) -> Query:
    """Build the query of a whole tree; `prefixes` are declared before it begins."""
    (query,) = tree.children
    clauses = {rule(part): part for part in query.children}
    named = _names_windows(tree)
    declared = {"": DEFAULT} | dict(prefixes or {}) if named else dict(prefixes or {})
    context = Context(source, Prologue(source, prefixes=declared), language, windows=Windows(), events=Events())
    if named and not prefixes:
        context.notices.extend(told_default(tree, source))
    for part in query.children:
        if rule(part) == "prologue":
            declare(part, context)
    form = next(part for part in query.children if rule(part) not in _AROUND)
    parts = _query_parts(form, clauses, context)
    return context.query(**parts, **registered(clauses.get("registration"), form, context))


_AROUND = ("prologue", "registration", "values_clause")


def _names_windows(tree: ParseTree) -> bool:
    """Tell whether a query has windows with names, which published texts write :win without a PREFIX line for it."""
    return any(tree.find_pred(lambda part: rule(part) in ("window_on", "window_as")))


def declare(prologue: ParseTree, context: Context) -> None:
    """Take the BASE and PREFIX lines of a prologue."""
    for line in prologue.children:
        match rule(line):
            case "base_decl":
                context.prologue.declare_base(token(line))
            case "prefix_decl":
                label, iri = token(line), token(line, 1)
                context.prologue.declare_prefix(label[:-1], iri[1:-1], iri)


def _query_parts(form: ParseTree, around: Mapping[str, ParseTree], context: Context) -> dict[str, Any]:
    if rule(form) == "describe_query":
        raise context.unsupported("DESCRIBE", form, "SELECT, CONSTRUCT and ASK are")
    windows, events = context.windows, context.events
    assert windows is not None and events is not None
    windows.asked = frozenset(_asked(form, context))
    _told(form, around.get("registration"), windows, context)
    if rule(form) == "ask_query":
        context.view_by("ASK", token(form))
    dataset = _dataset(form, windows, context)
    parts = dataset | _solutions(form, around.get("values_clause"), context)
    view = frame(windows, parts, context)
    events.tell_unused(context)
    if view is None:
        return parts
    found: dict[str, Any] = {"view": view, "graphs": tuple(context.graph_names)}
    return parts | found | {"streams": (), "distinct": False, "reduced": False}


def _solutions(form: ParseTree, tail: ParseTree | None, context: Context) -> dict[str, Any]:
    """Return what the pattern and the form of a query say."""
    clauses = {rule(part): part for part in trees_of(form)}
    short = rule(form) == "construct_where"
    where = _short_where(clauses["construct_template"], context) if short else _where(clauses, context)
    behind = clauses["solution_modifier"]
    note_modifiers(behind, context)
    trailing = None if tail is None else values(tail.children[0], context)
    if "select_clause" in clauses:
        head = clauses["select_clause"]
        if not context.reasons and not has_aggregate(head):
            return selection(head, _joined(where, trailing), context)
        return _relation(head, where, trailing, behind, context)
    where = modified(where, trailing, behind, context)
    if rule(form) == "ask_query":
        return {"form": "ASK", "where": where, "projection": ()}
    parts = templated(clauses["construct_template"], where, context)
    return parts | distinct_on(clauses["distinct_on"], where, context) if "distinct_on" in clauses else parts


def _asked(form: ParseTree, context: Context) -> Iterator[bytes]:
    """Yield the names that GRAPH asks for."""
    for part in form.find_pred(lambda part: rule(part) == "graph_graph_pattern"):
        if rule(part.children[1]) != "var":
            yield context.prologue.name(part.children[1])


def _told(form: ParseTree, registration: ParseTree | None, windows: Windows, context: Context) -> None:
    """Take what REGISTER, SELECT or CONSTRUCT say of reports."""
    head = next((part for part in trees_of(form) if rule(part) == "select_clause"), form)
    parts = {"REGISTER": registration, "CONSTRUCT" if head is form else "SELECT": head}
    for clause, part in parts.items():
        for word in tokens_of(part) if part is not None else ():
            if kind_of(word) == "TOLD":
                windows.tell(word, clause, context)
    for part in () if registration is None else trees_of(registration):
        if rule(part) == "computed_every":
            windows.every(part, context)
        elif rule(part) == "regime":
            context.notice("UNDER ENTAILMENT REGIME has no effect: what the engine's schema entails is seen", part)


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


def registered(registration: ParseTree | None, form: ParseTree, context: Context) -> dict[str, Any]:
    """Return the fields that the name behind REGISTER sets: the query's name, or the stream that it feeds."""
    if registration is None:
        return {}
    words = [each for each in registration.children if isinstance(each, Token) or rule(each) in _NAMES]
    name, head = words[-1], words[0] if isinstance(words[0], Token) else None
    if isinstance(name, Token) and kind_of(name) == "TOLD":
        return {}
    feeding, builds = head is None or kind_of(head) == "STREAM", rule(form).startswith("construct")
    if isinstance(name, Token):
        if feeding and builds:
            context.notice(f"{name} is the query's name, and feeds nothing; a stream to feed has an IRI: <…>", name)
        return {"name": str(name)}
    if feeding and builds:
        return {"feeds": context.prologue.term(name), "is_rule": True}
    if feeding and head is not None and not context.reasons:
        hint = "write REGISTER QUERY name AS SELECT …, or CONSTRUCT { … } for what comes in again"
        raise context.error("only CONSTRUCT feeds a stream", head, hint)
    return {"name": context.prologue.iri(name)}


_NAMES = ("iri", "bare_iri", "bare_name")


def _dataset(form: ParseTree, windows: Windows, context: Context) -> dict[str, Any]:
    dataset: list[str] = []
    policy: ParseTree | None = None
    for clause in trees_of(form):
        kind = rule(clause)
        if policy is not None and kind in (*_SOURCES, "policy"):
            raise context.error("POLICY stands once, behind the FROM clauses", policy)
        if kind in CLAUSES:
            windows.declare(clause, context)
        match kind:
            case "policy":
                policy = clause
            case "report_clause":
                windows.report(clause, context)
            case "event":
                assert context.events is not None
                context.events.define(clause, windows, group, context)
            case "default_graph":
                dataset.append(context.prologue.reference(clause.children[0]))
            case "named_graph":
                context.graph_groups.append(token(clause))
                context.graph_names[context.prologue.reference(clause.children[-1])] = None
    chosen = Policy() if policy is None else _policy(policy, context)
    context.streams = windows.streams
    windows.graphs = tuple(context.graph_names)
    return {"streams": windows.streams, "dataset": tuple(dict.fromkeys(dataset)), "policy": chosen}


def _policy(clause: ParseTree, context: Context) -> Policy:
    _, name, *keep = tokens_of(clause)
    policies = (Policy("unrestricted"), Policy("naive"), Policy("chronological"), Policy("recent"))
    chosen = next(each for each in policies if each.name == name.lower())
    if keep and not chosen.consumes:
        context.notice(f"KEEP has no effect: {chosen.name} uses nothing up", keep[0])
    return replace(chosen, keep=bool(keep), place=context.source.place(clause))


def _match(tree: ParseTree, context: Context) -> Algebra:
    if context.events is None:
        raise context.unsupported("MATCH", token(tree))
    return context.events.match(tree, context)


# One grammar reads all dialects, so a suffix only says where a file comes from.
SPARQL = Language(
    name="sparql",
    suffixes=(".rq", ".sparql", ".rspql", ".rsepql", ".csparql", ".cqels"),
    grammar=Path(__file__).parent / "csparql.lark",
    build=build,
    words={
        "BARE_IRI": "an IRI",
        "DURATION": "a duration such as 5m (ms, s, m, h, d)",
        "ISO_DURATION": "a duration such as 5m (ms, s, m, h, d)",
        "NUMBER": "a number",
        "DATE_TIME": "a time",
        "RANGE": "RANGE",
        "STEP": "STEP",
        "ON_CLOSE": "WINDOW CLOSE",
        "ON_CHANGE": "CONTENT CHANGE",
        "TICKED": "TIME_DRIVEN",
        "EVENT_RELATION": "SEQ",
        "EVENT_NAME": "the name of an event",
        "STREAM_NAME": "a name",
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
    patterns={"group_or_union_graph_pattern": chain, "sub_select": subselect, "match_pattern": _match},
    expressions={"exists": looked_for, "not_exists": looked_for},
    views=True,
    refused=frozenset(["DESCRIBE", "SERVICE"]),
)
