"""Read IF: what the justifications of an event's parts must say.

Data's way: parse tree -> **guard** -> definitions.
Laws: a guard names a part by its alias; it stands on no part below NOT; it speaks of what that part's definition names.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from lark import Token

from retewave.compiler.algebra import TriplePattern, Triples, Variable
from retewave.compiler.algebra.detections import (
    CompositeEvent,
    EventDefinition,
    EventExpression,
    EventGuard,
    EventRest,
    GuardPart,
    LogicalEvent,
    NamedEvent,
    named_events,
    operands_of,
)
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.obep.composites import alias_of, repeated
from retewave.compiler.languages.reading import rule, token, trees_of
from retewave.compiler.languages.sparql.expressions import expression, tell_unbound
from retewave.compiler.languages.sparql.triples import triples
from retewave.epsilon.classes.expression import (
    AtLeast,
    AtMost,
    ClassExpression,
    Exactly,
    HasSelf,
    HasValue,
    NamedClass,
    Only,
    Some,
    within,
)
from retewave.epsilon.vocabulary import TOP_CLASSES, TYPE, compact

__all__ = ["guard_of", "names_in"]

Known = Mapping[bytes, EventDefinition]


def guard_of(tree: ParseTree, pattern: EventExpression, known: Known, context: Context) -> EventGuard:
    """Build the guard of a composite event."""
    bodies = [each for each in trees_of(tree) if rule(each) == "guarded"]
    parts = tuple(_part(each, pattern, known, context) for each in bodies)
    bound = tuple(dict.fromkeys(
        term for part in parts for one in part.patterns for term in one.terms if isinstance(term, Variable)
    ))  # fmt: skip
    filters = []
    for each in trees_of(tree):
        if rule(each) == "filter":
            tell_unbound(each.children[0], bound, context)
            filters.append(expression(each.children[0], context))
    return EventGuard(parts, tuple(filters))


def _part(tree: ParseTree, pattern: EventExpression, known: Known, context: Context) -> GuardPart:
    name, *blocks = trees_of(tree)
    alias = alias_of(name)
    named = _named(alias, name, pattern, context)
    found: list[TriplePattern] = []
    context.basic_pattern += 1
    for block in blocks:
        built = triples(block, context)
        if not isinstance(built, Triples):
            raise context.error("a guard has plain triples, and no property paths", block)
        found += built.patterns
    allowed = names_in(named.event, known)
    for each in found:
        _check_names(each, allowed, tree, named.alias, context)
    return GuardPart(alias, tuple(found), context.source.place(tree))


def _named(alias: str, at: ParseTree, pattern: EventExpression, context: Context) -> NamedEvent:
    """Return the part that a guard is on."""
    parts = {each.alias: each for each in named_events(pattern)}
    if alias in repeated(pattern):
        hint = f"give each an alias: {alias} AS {alias}1 SEQ {alias} AS {alias}2"
        raise context.error(f"{alias} stands more than once in MATCH", at, hint)
    if alias not in parts:
        near = difflib.get_close_matches(alias, parts, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else f"its parts are {', '.join(parts)}"
        raise context.error(f"MATCH has no part called {alias}", at, hint)
    if parts[alias] in set(_below_not(pattern)):
        hint = "guard the events that it stands beside"
        raise context.error(f"{alias} stands below NOT, which leaves nothing to guard", at, hint)
    return parts[alias]


def _below_not(pattern: EventExpression, inside: bool = False) -> list[NamedEvent]:
    if isinstance(pattern, NamedEvent):
        return [pattern] * inside
    inside = inside or isinstance(pattern, EventRest)
    return [one for each in operands_of(pattern) for one in _below_not(each, inside)]


def names_in(event: bytes, known: Known) -> frozenset[bytes]:
    """Return the classes and properties that the definition of an event names, and those that it uses."""
    definition = known.get(event)
    if isinstance(definition, LogicalEvent):
        found = frozenset().union(*map(_names, within(definition.expression)))
        below = (names_in(name, known) for name in found if name in known and name != event)
        return found.union(*below)
    if isinstance(definition, CompositeEvent):
        return frozenset().union(*(names_in(each.event, known) for each in named_events(definition.pattern)))
    return frozenset()


def _names(expression: ClassExpression) -> frozenset[bytes]:
    match expression:
        case NamedClass(name) if name not in TOP_CLASSES:
            return frozenset((name,))
        case Some(role) | Only(role) | HasValue(role) | HasSelf(role) | AtLeast(role) | AtMost(role) | Exactly(role):
            return frozenset((role.name,))
    return frozenset()


def _check_names(
    pattern: TriplePattern, allowed: frozenset[bytes], tree: ParseTree, alias: str, context: Context
) -> None:
    """Refuse a class or a property of which the definition of the part does not speak."""
    predicate = pattern.predicate
    asked = pattern.object if predicate == TYPE else predicate
    if isinstance(asked, Variable) or asked in allowed or (predicate == TYPE and asked in TOP_CLASSES):
        return
    listed = ", ".join(sorted(map(compact, allowed)))
    shown = compact(asked)
    near = difflib.get_close_matches(shown, list(map(compact, allowed)), 1, 0.8)
    hint = f"did you mean {near[0]}?" if near else f"it may use {listed}"
    raise context.error(f"the definition of {alias} does not use {shown}", _at(tree, asked), hint)


def _at(tree: ParseTree, asked: bytes) -> ParseTree | Token:
    """Return where a guard writes a name, as far as its last letters tell."""
    wanted = asked.decode().rstrip(">")
    for each in tree.scan_values(lambda value: isinstance(value, Token)):
        written = str(each).rpartition(":")[2].rstrip(">")
        if written and wanted.endswith(written) and len(written) > 1:
            return Token("NAME", str(each), line=each.line, column=each.column)
    return token(tree)
