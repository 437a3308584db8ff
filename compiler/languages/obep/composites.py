"""Read what an event is composed of: names, operators, WITHIN.

Data's way: parse tree -> **event expression** -> definitions.
Invariant: FIRST, LAST and NOT bind tightest, then SEQ and Allen's relations, to the left, then AND, then OR.  Each name
has an alias of its own; a name that stands twice without one is numbered, and guards cannot name it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from lark import Token, Tree

from retewave.compiler.algebra.detections import (
    AnyEvent,
    BothEvents,
    ChosenEvent,
    EventExpression,
    EventRest,
    EventsInTime,
    EventWithin,
    NamedEvent,
    named_events,
)
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of, trees_of
from retewave.windows import relations

__all__ = ["Composites", "alias_of", "duration", "repeated"]

_WEEK = 7 * 24
_MIXED = "SEQ binds tighter than AND and OR here, and -> does as SEQ; parentheses say what is meant"


def alias_of(tree: ParseTree) -> str:
    """Return the name by which guards call a part: as it is written, without prefix and brackets."""
    written = str(token(tree))
    if written.startswith("<"):
        written = written[1:-1]
        return written[max(map(written.rfind, "#/:")) + 1 :]
    return written.rpartition(":")[2]


def _width_of(tree: ParseTree, context: Context) -> int:
    """Return the width of a WITHIN, in microseconds."""
    (written,) = (each for each in tokens_of(tree) if kind_of(each) == "DURATION")
    return duration(written, context)


def duration(written: Token, context: Context) -> int:
    """Return a duration in microseconds; weeks and long names of units are known, too."""
    text, parts = str(written), []
    if text.upper().startswith("P"):
        return context.duration(written.update(value=text.upper()))
    for number, unit in _units(text):
        parts.append(f"{number * _WEEK}h" if unit == "w" else f"{number}{unit}")
    return context.duration(written.update(value="".join(parts)))


def _units(text: str) -> list[tuple[float | int, str]]:
    found = []
    for number, unit in re.findall(r"([0-9.]+)\s*([a-zA-Z]+)", text):
        value = float(number) if "." in number else int(number)
        short = unit.lower()
        found.append((value, short if short in ("us", "ms") else "ms" if short.startswith("milli") else short[0]))
    return found


@dataclass
class Composites:
    """Builds the expression of one composite event."""

    context: Context
    names: Counter[str] = field(default_factory=Counter)  # how often a name stands without an alias

    def built(self, trees: list[ParseTree]) -> EventExpression:
        """Return the expression of a tree, and of the WITHIN behind it."""
        expression, *rest = trees
        found = self._of(expression)
        for each in rest:
            if rule(each) == "within":
                found = EventWithin(found, _width_of(each, self.context), self.context.source.place(each))
        return found

    def _of(self, tree: ParseTree) -> EventExpression:
        match rule(tree):
            case "named":
                return self._named(tree)
            case "group":
                return self.built(trees_of(tree))
            case "marked":
                return self._marked(tree)
            case "chain":
                return self._chain(tree)
            case "both_of" | "any_of":
                return self._folded(tree)
        raise TypeError(f"not an event expression: {tree.data}")

    def _folded(self, tree: ParseTree) -> EventExpression:
        make = BothEvents if rule(tree) == "both_of" else AnyEvent
        if any(rule(each) == "chain" and _has_arrow(each) for each in trees_of(tree)):
            self.context.notice(_MIXED, tree)
        first, *rest = (self._operand(each) for each in tree.children)
        for each in rest:
            first = make(first, each, self.context.source.place(tree))
        return first

    def _operand(self, node: ParseTree | Token) -> EventExpression:
        if isinstance(node, Token):
            hint = "name an event that this file defines"
            raise self.context.error(f"{node} is a variable, and no event", node, hint)
        return self._of(node)

    def _named(self, tree: ParseTree) -> NamedEvent:
        name, *behind = trees_of(tree)
        alias = alias_of(behind[0]) if behind else alias_of(name)
        self.names[alias] += 1
        if self.names[alias] > 1:
            if behind:
                raise self.context.error(f"two parts are called {alias}", behind[0], "give each a name of its own")
            alias = f"{alias}#{self.names[alias]}"
        return NamedEvent(self.context.prologue.term(name), alias, self.context.source.place(name))

    def _marked(self, tree: ParseTree) -> EventExpression:
        mark, operand = token(tree), tree.children[1]
        pattern, place = self._operand(operand), self.context.source.place(mark)
        match kind_of(mark):
            case "EVERY":
                self.context.notice(f"{mark} has no effect: all solutions are told, not only the first", mark)
                return pattern
            case "NOT":
                return EventRest(pattern, place)
        return ChosenEvent(pattern, kind_of(mark) == "LAST", place)

    def _chain(self, tree: ParseTree) -> EventExpression:
        first, *rest = tree.children
        found = self._operand(first)
        for operator, operand in zip(rest[::2], rest[1::2], strict=True):
            assert isinstance(operator, Tree)
            right, place = self._operand(operand), self.context.source.place(operator)
            if kind_of(token(operator)) == "NOT":
                self.context.notice("NOT before a relation is read as NOT behind it: A SEQ NOT B", operator)
                right = EventRest(right, place)
            found = EventsInTime(found, _relation(tokens_of(operator)[-1]), right, place)
        return found


def _relation(written: Token) -> int:
    text = str(written).upper()
    return relations.SEQ if text == "->" or text.startswith("FOLLOWED") else relations.code_of(text)


def _has_arrow(tree: ParseTree) -> bool:
    return any(str(each) == "->" for each in tree.scan_values(lambda value: isinstance(value, Token)))


def repeated(expression: EventExpression) -> frozenset[str]:
    """Return the names that stand more than once without an alias."""
    return frozenset(each.alias.partition("#")[0] for each in named_events(expression) if "#" in each.alias)
