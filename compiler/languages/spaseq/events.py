"""Build the pattern of a GPM at one place in SEQ: what an event must have.

Data's way: parse tree of a GPM -> **pattern over one event, and filters** -> event pattern.
Laws: all triple patterns outside GRAPH name one event, and the stream that brings it.  At least one of them must be
there, whatever is optional.  A GPM that SEQ names twice looks at two events; only what it calls ?x is the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lark import Tree

from retewave.compiler.algebra import (
    Algebra,
    Exists,
    Extend,
    LeftJoin,
    TriplePattern,
    Triples,
    Union,
    Values,
    Variable,
    renamed,
    retold,
    shown_parts,
    visible,
    walk,
)
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.expressions import variable
from retewave.compiler.languages.sparql.filters import conjuncts
from retewave.compiler.languages.sparql.patterns import group, opened
from retewave.compiler.languages.spaseq.context import SequenceContext, earlier_hint
from retewave.compiler.languages.spaseq.definitions import Definition
from retewave.errors import Place, QueryError

__all__ = ["Read", "background", "read_event"]


@dataclass(frozen=True)
class Read:
    """A GPM at its place in SEQ, whose filters at the top are not told apart yet."""

    definition: Definition  # its definition
    pattern: Algebra  # over one event
    filters: tuple[tuple[ParseTree, ...], ...]  # the conjuncts of each FILTER at the top

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.definition.name)


def read_event(definition: Definition, before: dict[Variable, str], context: SequenceContext) -> Read:
    """Build a GPM's pattern; `before` tells the variables that earlier GPMs can bind, and by which."""
    own = _bound_by_text(definition.group)
    context.before = {each: name for each, name in before.items() if each not in own}
    context.labels.clear()
    inner = opened(definition.group, context)
    context.before = {}
    pattern = inner.pattern
    _check_earlier(pattern, before, definition, context)
    if not _asks(pattern):
        hint = "GRAPH looks at background data only; ?s ?p ?o is any triple of the event"
        what = f"{definition.name} asks for no triple that its event must have"
        raise context.error(what, definition.name, hint)
    filters = tuple(tuple(part for each in parts for part in conjuncts(each)) for parts in inner.filters)
    return Read(definition, _anchored(_unlabelled(pattern, context), definition, context), filters)


def background(tree: ParseTree, context: Context) -> Algebra:
    """Build GRAPH <…> { … }: a pattern over background data."""
    assert isinstance(context, SequenceContext)
    name = tree.children[1]
    assert isinstance(name, Tree)
    if rule(name) == "var":
        hint = "name the graph that is meant: GRAPH <…> { … }"
        raise context.unsupported(f"GRAPH {variable(name)}", name, hint)
    written = context.prologue.reference(name)
    context.graphs[written] = None
    graph = f"<{written}>".encode()
    return retold(group(tree.children[2], context), lambda triple: replace(triple, graph=triple.graph or graph))


def _anchored(pattern: Algebra, definition: Definition, context: SequenceContext) -> Algebra:
    """Return a pattern whose triples one event of one of the GPM's streams brings."""
    event = context.fresh()

    def brought(triple: TriplePattern) -> TriplePattern:
        return triple if triple.graph is not None else replace(triple, event=event, streams=definition.streams)

    return retold(pattern, brought)


def _unlabelled(pattern: Algebra, context: SequenceContext) -> Algebra:
    """Return a pattern whose blank nodes with labels have names of their own: a label holds inside one GPM."""
    return renamed(pattern, {Variable(label): context.fresh() for label in context.labels})


def _asks(pattern: Algebra) -> bool:
    """Tell whether each solution of a pattern takes a triple of the event."""
    match pattern:
        case Triples(patterns):
            return any(triple.graph is None for triple in patterns)
        case Values():
            return False
        case Union(left, right):
            return _asks(left) and _asks(right)
        case LeftJoin(left, _):
            return _asks(left)
    return any(_asks(part) for part in shown_parts(pattern))


def _bound_by_text(tree: ParseTree) -> set[Variable]:
    """Return the variables that a group's triples, BIND or VALUES name."""
    return {
        variable(var)
        for block in tree.find_pred(lambda part: rule(part) in ("triples_block", "inline_data"))
        for var in block.find_pred(lambda part: rule(part) == "var")
    } | {variable(bind.children[1]) for bind in tree.find_pred(lambda part: rule(part) == "bind")}


def _check_earlier(
    pattern: Algebra, before: dict[Variable, str], definition: Definition, context: SequenceContext
) -> None:
    """Refuse a variable of an earlier GPM that only OPTIONAL or EXISTS names: they would not see its value."""
    own = set(_certainly(pattern))
    for word, looked_into, place in _looked_into(pattern):
        for each in visible(looked_into):
            if each in before and each not in own:
                what = f"{each} of {before[each]} is not seen inside {word}: a pattern looks at its own event alone"
                at = place or context.source.place(definition.name)
                raise QueryError(what, place=at, hint=earlier_hint(each))


def _looked_into(pattern: Algebra) -> Iterator[tuple[str, Algebra, Place | None]]:
    """Yield the groups that may be missing, or that are only looked for."""
    for each in walk(pattern):
        match each:
            case LeftJoin(right=right, place=place):
                yield "OPTIONAL", right, place
            case Exists(group=looked_for, negated=negated, place=place):
                yield "NOT EXISTS" if negated else "EXISTS", looked_for, place


def _certainly(pattern: Algebra) -> Iterator[Variable]:
    """Yield the variables that a pattern binds outside of OPTIONAL."""
    match pattern:
        case LeftJoin(left=left):
            yield from _certainly(left)
        case Triples() | Values():
            yield from visible(pattern)
        case _:
            if isinstance(pattern, Extend):
                yield pattern.variable
            for part in shown_parts(pattern):
                yield from _certainly(part)
