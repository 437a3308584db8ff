"""Build chains of groups: SEQ, Allen's relations, OPTIONALSEQ, EQUALSOPTIONAL, NOT and WITHIN, read from the left.

Data's way: parse tree of groups side by side -> **algebra** -> normal form.
Laws: all operators of time have one precedence and associate to the left.  WITHIN bounds everything to its left in its
chain.  A NOT at an end of a chain takes its width from the next WITHIN.  The filters of an optional or absent group are
the condition of its node.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lark import Token, Tree

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    First,
    InWindow,
    Last,
    OptionalBefore,
    OptionalEquals,
    Relate,
    Within,
)
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql import absence
from retewave.compiler.languages.sparql.braces import check_chain
from retewave.compiler.languages.sparql.filters import Open, closed, condition
from retewave.compiler.languages.sparql.paths import union
from retewave.compiler.languages.sparql.patterns import group, opened
from retewave.compiler.languages.sparql.unrelated import tell_unrelated
from retewave.windows.relations import code_of

__all__ = ["bounded", "chain"]


def bounded(tree: ParseTree, context: Context) -> Algebra:
    """Build the pattern behind WHERE: a group, or parts without braces around them, perhaps with a WITHIN for all."""
    whole = group(Tree(tree.data, trees_of(tree)), context)
    match tokens_of(tree):
        case [operator, duration]:
            return Within(whole, context.duration(duration), context.source.place(operator))
    return whole


def chain(tree: ParseTree, context: Context) -> Algebra:
    """Build groups side by side: a single group, groups that UNION unites, or a chain in time."""
    check_chain(tree, context)
    kinds = {kind_of(each) for each in tokens_of(tree)}
    if "UNION" not in kinds:
        return _Chain(context, tree.children).built()
    return union([closed(_operand(part, context), context) for part in trees_of(tree)])


def _streamed(tree: ParseTree, context: Context) -> Open:
    """Build a group, or a part of the pattern on one of the streams: STREAM <s> { … }."""
    if rule(tree) != "stream_graph_pattern":
        return opened(tree, context)
    _, name, *window, inner = tree.children
    iri = context.prologue.term(name)
    if window:
        return _in_place(iri, tree, window[0], context)
    if context.streams and all(iri != stream.iri for stream in context.streams):
        written, known = iri.decode(), [stream.iri.decode() for stream in context.streams]
        near = difflib.get_close_matches(written, known, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else f"add FROM STREAM {written}"
        raise context.error(f"the query does not listen to the stream {written}", name, hint)
    with _reading(iri, context):
        return opened(inner, context)


def _in_place(stream: bytes, tree: ParseTree, window: ParseTree, context: Context) -> Open:
    """Build a group that is read from a window of its own: STREAM <s> [RANGE 10s] { … }."""
    if context.windows is None:
        raise context.unsupported("a window inside WHERE", window)
    head, inner = token(tree), tree.children[-1]
    name = context.windows.inside(stream, head, window, context)
    return Open(InWindow(name, group(inner, context), context.source.place(tree)))


@contextmanager
def _reading(stream: bytes, context: Context) -> Iterator[None]:
    around, context.stream = context.stream, stream
    yield
    context.stream = around


def _operand(tree: ParseTree, context: Context) -> Open:
    if rule(tree) == "absent":
        raise absence.misplaced(tree, context)
    if rule(tree) != "chosen":
        return _streamed(tree, context)
    chosen = First if kind_of(token(tree)) == "FIRST" else Last
    inner = closed(_streamed(tree.children[1], context), context)
    return Open(chosen(inner, context.source.place(token(tree))))


@dataclass
class _Chain:
    """The state of reading a chain from the left."""

    context: Context  # of the query
    parts: list[ParseTree | Token]  # groups and operators by turns, WITHIN and its duration among them
    left: Open | None = None  # the groups read so far; None: only an absent group
    absent: ParseTree | None = None  # a NOT { … } whose right neighbour is not read yet
    at: int = 0  # place of the next part

    def built(self) -> Algebra:
        self._begin()
        while self.at < len(self.parts):
            operator, operand = self.parts[self.at], self.parts[self.at + 1]
            self.at += 2
            assert isinstance(operator, Token)
            if isinstance(operand, Token):
                self._within(operator, self.context.duration(operand))
            elif rule(operand) == "absent":
                self._without(operator, operand)
            else:
                self._related(operator, operand)
        if self.left is None:
            assert self.absent is not None
            raise absence.alone(self.absent, self.context)
        if self.absent is not None:
            raise absence.endless(self.absent, False, self.context)
        return closed(self.left, self.context)

    def _begin(self) -> None:
        first = self.parts[0]
        assert isinstance(first, Tree)
        self.at = 1
        if rule(first) == "absent":
            self.absent = first
        else:
            self.left = _operand(first, self.context)

    def _without(self, operator: Token, operand: ParseTree) -> None:
        if self.absent is not None:
            raise absence.twice(operand, self.context)
        absence.check_sequence(operator, self.context)
        self.absent = operand

    def _related(self, operator: Token, operand: ParseTree) -> None:
        right = _operand(operand, self.context)
        if self.absent is not None:
            absence.check_sequence(operator, self.context)
            self.left = Open(self._compared(self.absent, right))
            self.absent = None
            return
        assert self.left is not None
        self.left = Open(_joined(self.left, operator, right, self.context))

    def _compared(self, tree: ParseTree, right: Open) -> Algebra:
        """Return an absent group before `right`, or between the groups read so far and `right`."""
        absent, after = _streamed(tree.children[1], self.context), closed(right, self.context)
        place = self.context.source.place(token(tree))
        if self.left is None:
            width = self._next_width(tree)
            seen = condition(absent, (after,), self.context)
            tell_unrelated("NOT", token(tree), absent.pattern, (after,), seen, self.context)
            return Before(absent.pattern, after, width, seen, place)
        before = closed(self.left, self.context)
        seen = condition(absent, (before, after), self.context)
        tell_unrelated("NOT", token(tree), absent.pattern, (before, after), seen, self.context)
        return Between(before, absent.pattern, after, seen, place)

    def _next_width(self, tree: ParseTree) -> int:
        """Return the duration of the next WITHIN."""
        for place in range(self.at, len(self.parts)):
            part = self.parts[place]
            if isinstance(part, Token) and kind_of(part) == "WITHIN":
                duration = self.parts[place + 1]
                assert isinstance(duration, Token)
                return self.context.duration(duration)
        raise absence.endless(tree, True, self.context)

    def _within(self, operator: Token, width: int) -> None:
        place = self.context.source.place(operator)
        if self.left is None:
            assert self.absent is not None
            raise absence.alone(self.absent, self.context)
        pattern = closed(self.left, self.context)
        absence.check_inside(pattern, operator, width, self.context)
        if self.absent is not None:
            pattern = self._behind(pattern, self.absent, operator, width)
            self.absent = None
        self.left = Open(Within(pattern, width, place))

    def _behind(self, pattern: Algebra, tree: ParseTree, operator: Token, width: int) -> Algebra:
        """Return an absent group behind the groups read so far."""
        absence.check_range(pattern, operator, width, self.context)
        absent = _streamed(tree.children[1], self.context)
        seen = condition(absent, (pattern,), self.context)
        tell_unrelated("NOT", token(tree), absent.pattern, (pattern,), seen, self.context)
        return After(pattern, absent.pattern, width, seen, self.context.source.place(token(tree)))


def _joined(left: Open, operator: Token, right: Open, context: Context) -> Algebra:
    """Return two groups that an operator of time joins."""
    name, place = operator.upper(), context.source.place(operator)
    if name == "OPTIONALSEQ":
        pattern = closed(right, context)
        return OptionalBefore(left.pattern, pattern, condition(left, (pattern,), context), place)
    pattern = closed(left, context)
    if name == "EQUALSOPTIONAL":
        return OptionalEquals(pattern, right.pattern, condition(right, (pattern,), context), place)
    return Relate(pattern, code_of(name), closed(right, context), place)
