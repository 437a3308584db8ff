"""Build a query from the parse tree of SPARQL or of C-SPARQL.

Data's way: parse tree -> **query** -> normal form -> plan.
Invariant: what this returns can run; every clause that cannot run yet is refused here, by name and place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lark import Token, Tree

from retewave.compiler.algebra import Algebra, Query, Stream, visible
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source, rule, token
from retewave.compiler.languages.sparql.distinct import distinct_on
from retewave.compiler.languages.sparql.expressions import unknown, variable
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import bind, group, values
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.triples import template

__all__ = ["SPARQL", "build", "declare", "selection", "templated"]

_MODIFIERS = {
    "group_clause": "GROUP BY",
    "having_clause": "HAVING",
    "order_clause": "ORDER BY",
    "limit_clause": "LIMIT",
    "offset_clause": "OFFSET",
}
_BLANK = ("blank_node", "blank_node_property_list", "collection")
_WINDOW_HINT = "write [RANGE 5m]"
_FORMS = {"describe_query": "DESCRIBE", "ask_query": "ASK"}
_WINDOWS = ("NAMED", "STEP", "TRIPLES", "TUMBLING")
_PATTERNS = ("GRAPH", "MINUS", "OPTIONAL", "SERVICE")


def build(tree: ParseTree, source: Source, language: Language) -> Query:
    """Build the query of a whole tree."""
    context = Context(source, Prologue(source), language)
    (query,) = tree.children
    clauses = {rule(part): part for part in query.children}
    for part in query.children:
        if rule(part) == "prologue":
            declare(part, context)
    form = next(part for part in query.children if rule(part) not in _AROUND)
    parts = _query_parts(form, clauses.get("values_clause"), context)
    return context.query(**parts, name=_name(clauses.get("registration"), context))


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
    clauses = {rule(part): part for part in _trees(form)}
    if "solution_modifier" in clauses:
        _refuse_modifiers(clauses["solution_modifier"], context)
    dataset = _dataset(form, context)
    short = rule(form) == "construct_where"
    where = _short_where(clauses["construct_template"], context) if short else _where(clauses, context)
    if trailing is not None:
        where = join(where, values(trailing.children[0], context))
    if "select_clause" in clauses:
        return dataset | selection(clauses["select_clause"], where, context)
    parts = dataset | templated(clauses["construct_template"], where, context)
    return parts | distinct_on(clauses["distinct_on"], where, context) if "distinct_on" in clauses else parts


def _trees(tree: ParseTree) -> list[ParseTree]:
    """Return the children of a tree that are no tokens."""
    return [part for part in tree.children if isinstance(part, Tree)]


def _where(clauses: dict[str, ParseTree], context: Context) -> Algebra:
    return group(clauses["where_clause"].children[-1], context)


def _short_where(tree: ParseTree, context: Context) -> Algebra:
    # CONSTRUCT WHERE { ... }: the template is the pattern; a blank node would mean two things at once.
    for blank in tree.find_pred(lambda part: rule(part) in _BLANK):
        raise context.unsupported("a blank node in CONSTRUCT WHERE", blank, "write the template out")
    return group(tree, context)


def _refuse_modifiers(tree: ParseTree, context: Context) -> None:
    for clause in tree.children:
        raise context.unsupported(_MODIFIERS[rule(clause)], clause)


def _name(registration: ParseTree | None, context: Context) -> str | None:
    if registration is None:
        return None
    for part in registration.children:
        if isinstance(part, Tree):
            hint = "retewave reports a match as soon as it is complete"
            raise context.unsupported("COMPUTED EVERY", part, hint)
    return str(registration.children[1])


def _dataset(form: ParseTree, context: Context) -> dict[str, Any]:
    streams: list[Stream] = []
    dataset: list[str] = []
    for clause in _trees(form):
        match rule(clause):
            case "stream":
                streams.append(_stream(clause, streams, context))
            case "default_graph":
                dataset.append(_file_or_iri(clause.children[0], context))
            case "named_graph":
                raise context.unsupported("FROM NAMED", clause)
    return {"streams": tuple(streams), "dataset": tuple(dict.fromkeys(dataset))}


def _file_or_iri(tree: ParseTree, context: Context) -> str:
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


def selection(clause: ParseTree, where: Algebra, context: Context) -> dict[str, Any]:
    """Return the fields of a SELECT query: what it projects and the pattern with the SELECT's expressions."""
    names: list[str] = []
    tokens = [part for part in clause.children if isinstance(part, Token)]
    kinds = {each.type.rpartition("__")[2] for each in tokens}
    if "STAR" in kinds:
        names = [each.name for each in visible(where) if not each.hidden]
    for projection in (part for part in _trees(clause) if rule(part) == "projection"):
        where = _project(projection, names, where, context)
    on = next((part for part in _trees(clause) if rule(part) == "distinct_on"), None)
    return {
        "form": "SELECT",
        "where": where,
        "projection": tuple(names),
        "distinct": "DISTINCT" in kinds,
        "reduced": "REDUCED" in kinds,
        **({} if on is None else distinct_on(on, where, context)),
    }


def _project(projection: ParseTree, names: list[str], where: Algebra, context: Context) -> Algebra:
    *value, target = projection.children
    new = variable(target)
    if new.name in names:
        raise context.error(f"{new} is projected twice", target)
    if value:
        where = bind(where, target, value[0], context)
    elif new not in visible(where):
        raise unknown(new, target, visible(where), context)
    names.append(new.name)
    return where


def templated(tree: ParseTree, where: Algebra, context: Context) -> dict[str, Any]:
    """Return the fields of a CONSTRUCT query."""
    triples = template(tree, context)
    known = visible(where)
    for var in tree.find_pred(lambda part: rule(part) == "var"):
        if variable(var) not in known:
            raise unknown(variable(var), var, known, context)
    return {"form": "CONSTRUCT", "where": where, "projection": (), "template": triples}


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
        "REGISTERED_STREAM": "STREAM",
    },
    refused=frozenset([*_FORMS.values(), "GROUP", "HAVING", "LIMIT", "OFFSET", "ORDER", *_PATTERNS, *_WINDOWS]),
)
