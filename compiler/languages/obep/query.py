"""Build a query from a text in OBEP: definitions of events, and which of them are told.

Data's way: parse tree of an .obep file -> **definitions** -> patterns of events -> branches -> plan.
Invariant: definitions stand in an order in which each comes after those that it uses, whatever the order in the file.
A name without a prefix takes PREFIX :.  The paper's texts do not declare that prefix; then it is a default IRI, which a
notice tells.  Which classes and properties are known is seen when the query is registered.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from lark import Token

from retewave.compiler.algebra import Query, Stream, TriplePattern, Triples, Variable
from retewave.compiler.algebra.detections import (
    CompositeEvent,
    Definitions,
    EventDefinition,
    LogicalEvent,
    local_name,
    named_events,
)
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.obep.classes import class_expression
from retewave.compiler.languages.obep.composites import Composites, alias_of, duration
from retewave.compiler.languages.obep.guards import guard_of
from retewave.compiler.languages.reading import Source, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.defaults import DEFAULT, told_default
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.query import declare
from retewave.compiler.terms import XSD
from retewave.epsilon.classes.expression import NamedClass, within
from retewave.errors import QueryError

__all__ = ["OBEP", "build_obep"]

SHOWN = ("event", "individual", "detection")  # the variables of a match


def build_obep(tree: ParseTree, source: Source, language: Language) -> Query:
    """Build the query of a whole tree."""
    context = Context(source, Prologue(source, prefixes={"": DEFAULT, "xsd": XSD}), language)
    (query,) = tree.children
    streams: list[Stream] = []
    dataset: list[str] = []
    for part in query.children:
        match rule(part):
            case "prologue":
                declare(part, context)
            case "stream":
                streams.append(_stream(part, streams, context))
            case "default_graph" | "vocabulary":
                dataset.append(context.prologue.reference(trees_of(part)[0]))
    written = [each for each in query.children if rule(each) in ("logical", "composite")]
    events = _defined(written, context)
    returned = next((each for each in query.children if rule(each) == "returned"), None)
    definitions = _returned(returned, events, written, context)
    built = context.query(
        form="SELECT",
        where=Triples((TriplePattern(Variable("individual"), Variable("event"), Variable("detection")),)),
        projection=SHOWN,
        streams=tuple(streams),
        dataset=tuple(dict.fromkeys(dataset)),
        events=definitions,
        solutions="set",
    )
    notices = dict.fromkeys((*told_default(tree, source), *built.notices))
    return replace(built, notices=tuple(notices))


def _stream(clause: ParseTree, before: list[Stream], context: Context) -> Stream:
    name = trees_of(clause)[0]
    iri = context.prologue.term(name)
    if any(iri == stream.iri for stream in before):
        raise context.error(f"the stream {iri.decode()} is named twice", name)
    widths = [duration(each, context) for each in tokens_of(clause) if kind_of(each) == "DURATION"]
    return Stream(iri, widths[0] if widths else None, context.source.place(name))


def _name_of(tree: ParseTree) -> ParseTree:
    return next(each for each in trees_of(tree) if rule(each) in ("iri", "bare_name"))


def _defined(trees: list[ParseTree], context: Context) -> tuple[EventDefinition, ...]:
    """Return the definitions, each behind those that it uses."""
    by_name: dict[bytes, ParseTree] = {}
    for tree in trees:
        name = context.prologue.term(_name_of(tree))
        if name in by_name:
            line = context.source.place(_name_of(by_name[name])).line
            hint = f"the first stands in line {line}; give this one another name"
            raise context.error(f"the event {alias_of(_name_of(tree))} is defined twice", _name_of(tree), hint)
        by_name[name] = tree
    bare = {name: _bare(name, tree, context) for name, tree in by_name.items()}
    for each in bare.values():
        _check_parts(each, bare)
    order = _ordered(bare, by_name, context)
    return tuple(_with_guard(bare[name], by_name[name], bare, context) for name in order)


def _bare(name: bytes, tree: ParseTree, context: Context) -> EventDefinition:
    """Return a definition without its guard, which looks at the others."""
    place = context.source.place(_name_of(tree))
    rest = [each for each in trees_of(tree) if each is not _name_of(tree)]
    if rule(tree) == "logical":
        return LogicalEvent(name, class_expression(rest[0], context), place)
    return CompositeEvent(name, Composites(context).built(rest), place=place)


def _with_guard(
    definition: EventDefinition, tree: ParseTree, known: dict[bytes, EventDefinition], context: Context
) -> EventDefinition:
    guard = next((each for each in trees_of(tree) if rule(each) == "guard"), None)
    if guard is None or isinstance(definition, LogicalEvent):
        return definition
    return replace(definition, guard=guard_of(guard, definition.pattern, known, context))


def _check_parts(definition: EventDefinition, known: dict[bytes, EventDefinition]) -> None:
    """Refuse a name in MATCH that nothing defines."""
    if isinstance(definition, LogicalEvent):
        return
    for each in named_events(definition.pattern):
        if each.event not in known:
            names = {local_name(name): name for name in known}
            near = difflib.get_close_matches(local_name(each.event), names, 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"add EVENT {local_name(each.event)} AS …"
            raise QueryError(f"the event {local_name(each.event)} is not defined", place=each.place, hint=hint)


def _uses(definition: EventDefinition) -> Iterator[bytes]:
    if isinstance(definition, LogicalEvent):
        yield from (each.name for each in within(definition.expression) if isinstance(each, NamedClass))
    else:
        yield from (each.event for each in named_events(definition.pattern))


def _ordered(known: dict[bytes, EventDefinition], trees: dict[bytes, ParseTree], context: Context) -> tuple[bytes, ...]:
    graph = {name: [each for each in _uses(definition) if each in known] for name, definition in known.items()}
    try:
        return tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        ring = [local_name(name) for name in reversed(error.args[1])]
        first = _name_of(trees[error.args[1][-1]])
        hint = "an event cannot be part of what it is defined by"
        raise context.error(f"{' -> '.join(ring)}: these definitions need each other", first, hint) from None


def _returned(
    tree: ParseTree | None, events: tuple[EventDefinition, ...], written: list[ParseTree], context: Context
) -> Definitions:
    """Return the definitions with what RETURN tells; without it, the last event of the file."""
    last = context.prologue.term(_name_of(written[-1]))
    if tree is None:
        return Definitions(events, (last,))
    kinds = [kind_of(each) for each in tokens_of(tree)]
    names = {each.name: each for each in events}
    found: list[bytes] = []
    for each in trees_of(tree):
        name = context.prologue.term(each)
        if name not in names:
            near = difflib.get_close_matches(local_name(name), [local_name(one) for one in names], 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else "RETURN tells events that this file defines"
            raise context.error(f"the event {local_name(name)} is not defined", each, hint)
        found.append(name)
    if "ALL" in kinds:
        found = [context.prologue.term(_name_of(each)) for each in written]
    elif not found:
        found = [context.prologue.term(_name_of(each)) for each in written if _is_named(each)]
        if not found:
            raise context.error("RETURN NAMED, and no event is NAMED", token(tree), "write NAMED EVENT …")
    return Definitions(events, tuple(dict.fromkeys(found)), "RDF" if "RDF" in kinds else "EVENT")


def _is_named(tree: ParseTree) -> bool:
    return any(kind_of(each) == "NAMED" for each in tree.children if isinstance(each, Token))


_RESERVED = (  # as BARE_NAME of the grammar has them
    "A ALL AND AS BASE EVENT EVERY EXACTLY FALSE FILTER FIRST FROM GRAPH IF INVERSE LAST MATCH MAX MIN NAMED NOT ONLY "
    "OR PREFIX RDF RETURN SELF SOME STREAM TBOX THAT TRUE VALUE VOCAB WITHIN SEQ FOLLOWED_BY BEFORE AFTER EQUALS MEETS "
    "MET_BY OVERLAPS OVERLAPPED_BY STARTS STARTED_BY DURING CONTAINS FINISHES FINISHED_BY"
)

OBEP = Language(
    name="obep",
    suffixes=(".obep",),
    grammar=Path(__file__).parent / "obep.lark",
    build=build_obep,
    recognises=re.compile(r"\bEVENT\s+(?:[\w.-]*:?[\w.-]*)\s*(?:AS\b|\{?\s*MATCH\b)", re.IGNORECASE),
    reserved=frozenset(_RESERVED.split()),
    words={
        "BARE_NAME": "a name",
        "DOT": "'.'",
        "DURATION": "a duration such as 5 min or 1H",
        "FACET": "a facet",
        "RELATION": "a relation in time (SEQ …)",
    },
)
