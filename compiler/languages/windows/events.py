"""Build what RSEP-QL adds to windows: event patterns with names, and MATCH, which puts them in order.

Data's way: parse trees of EVENT ON … AS and of MATCH -> **algebra** -> plan of a view.
Laws: an event pattern looks at each event of its window alone.  SEQ associates to the left, FIRST and LAST bind
tighter.  Names of events have no meaning beside MATCH.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field

from lark import Token

from retewave.compiler.algebra import Algebra, First, Last, Matched, Relate, SingleEvent, Triples, walk
from retewave.compiler.algebra.relational import InGraph, InWindow
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.windows.clauses import Windows
from retewave.errors import QueryError
from retewave.windows.relations import code_of

__all__ = ["Events"]


@dataclass
class Events:
    """The event patterns of a query, by name."""

    found: dict[str, SingleEvent] = field(default_factory=dict)  # name -> pattern
    nodes: dict[str, Token] = field(default_factory=dict)  # name -> where it is defined
    used: set[str] = field(default_factory=set)  # the names that stand in some MATCH

    def define(
        self, clause: ParseTree, windows: Windows, group: Callable[[ParseTree, Context], Algebra], context: Context
    ) -> None:
        """Take EVENT ON window { … } AS name."""
        head, *_, name = tokens_of(clause)
        window, pattern = trees_of(clause)
        context.view_by("EVENT", head)
        iri = context.prologue.name(window)
        windows.read(iri, window, context)
        if name in self.found:
            hint = "give each event pattern a name of its own"
            raise context.error(f"the event {name} is defined twice", name, hint)
        built = group(pattern, context)
        self._check(built, head, context)
        self.found[str(name)] = SingleEvent(iri, built, str(name), context.source.place(head))
        self.nodes[str(name)] = name

    def _check(self, built: Algebra, node: Token, context: Context) -> None:
        for each in walk(built):
            if isinstance(each, InWindow | InGraph | Matched):
                name = {InWindow: "WINDOW", InGraph: "GRAPH", Matched: "MATCH"}[type(each)]
                hint = "join it in WHERE, beside MATCH"
                raise context.error(f"{name} has no meaning inside EVENT, which looks at one event", node, hint)
        if built == Triples(()):
            raise context.error("an event pattern looks for something", node, "write EVENT ON :w { ?s ?p ?o } AS E1")

    def match(self, tree: ParseTree, context: Context) -> Algebra:
        """Build MATCH { … }."""
        head = token(tree)
        context.view_by("MATCH", head)
        (inner,) = trees_of(tree)
        return Matched(self._sequence(inner, context), context.source.place(head))

    def _sequence(self, tree: ParseTree, context: Context) -> Algebra:
        first, *rest = tree.children
        built = self._operand(first, context)
        for operator, operand in zip(rest[::2], rest[1::2], strict=True):
            assert isinstance(operator, Token)
            if operator.upper() != "SEQ":
                hint = "other relations in time are those of detectors: { … } DURING { … }"
                raise context.error(f"{operator.upper()} cannot stand in MATCH, which knows SEQ", operator, hint)
            right = self._operand(operand, context)
            built = Relate(built, code_of("SEQ"), right, context.source.place(operator))
        return built

    def _operand(self, tree: ParseTree, context: Context) -> Algebra:
        match rule(tree):
            case "event_name":
                return self._named(token(tree), context)
            case "event_chosen":
                chosen = First if kind_of(token(tree)) == "FIRST" else Last
                return chosen(self._operand(trees_of(tree)[0], context), context.source.place(token(tree)))
        return self._sequence(tree, context)

    def _named(self, name: Token, context: Context) -> Algebra:
        if name not in self.found:
            raise self._unknown(name, context)
        if name in self.used:
            what = f"{name} stands in MATCH again: both events agree in all of its variables"
            context.notice(f"{what}; for other values define an event with variables of its own", name)
        self.used.add(str(name))
        return self.found[name]

    def _unknown(self, name: Token, context: Context) -> QueryError:
        near = difflib.get_close_matches(name, self.found, 1, 0.5)
        known = f"the query defines {', '.join(self.found)}" if self.found else "the query defines none"
        hint = f"did you mean {near[0]}?" if near else f"write EVENT ON :w {{ … }} AS {name} before WHERE"
        return context.error(f"there is no event {name}; {known}", name, hint)

    def tell_unused(self, context: Context) -> None:
        """Tell of events that no MATCH names."""
        for name, node in self.nodes.items():
            if name not in self.used:
                context.notice(f"no MATCH names the event {name}: it asks nothing", node)
