"""Walk the algebra: the one place that knows what stands inside each operator, and which variables it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from retewave.compiler.algebra.graph import (
    Algebra,
    Exists,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Term,
    TriplePattern,
    Triples,
    Union,
    Values,
)
from retewave.compiler.algebra.relational import (
    AggregateCall,
    Distinct,
    ExistsValue,
    Grouped,
    InGraph,
    InWindow,
    Matched,
    Ordered,
    PathClosure,
    Projected,
    SingleEvent,
    Sliced,
    SortKey,
)
from retewave.compiler.algebra.sequence import EventPattern, Occurs, Operand, Sequence, event_patterns
from retewave.compiler.algebra.temporal import (
    After,
    Before,
    Between,
    First,
    Last,
    OptionalBefore,
    OptionalEquals,
    Relate,
    Within,
)
from retewave.compiler.expressions.tree import Variable, rename

__all__ = ["changed", "hidden_parts", "operands", "renamed", "retold", "shown_parts", "visible", "walk"]

_FIELDS: dict[type, tuple[str, ...]] = {  # the operands whose variables a solution has, in the order written
    Triples: (),
    Values: (),
    Join: ("left", "right"),
    LeftJoin: ("left", "right"),
    Minus: ("left",),
    Exists: ("pattern",),
    Union: ("left", "right"),
    Filter: ("pattern",),
    Extend: ("pattern",),
    Relate: ("left", "right"),
    Within: ("pattern",),
    OptionalBefore: ("optional", "pattern"),
    OptionalEquals: ("pattern", "optional"),
    Between: ("before", "after"),
    Before: ("pattern",),
    After: ("pattern",),
    First: ("pattern",),
    Last: ("pattern",),
    Grouped: (),
    Ordered: ("pattern",),
    Projected: (),
    Distinct: ("pattern",),
    Sliced: ("pattern",),
    PathClosure: (),
    ExistsValue: ("pattern",),
    InWindow: ("pattern",),
    InGraph: ("pattern",),
    SingleEvent: ("pattern",),
    Matched: ("pattern",),
}
_HIDDEN: dict[type, tuple[str, ...]] = {  # the operands that are only looked at
    Minus: ("right",),
    Exists: ("group",),
    Between: ("absent",),
    Before: ("absent",),
    After: ("absent",),
    ExistsValue: ("group",),
    PathClosure: ("step",),
    Grouped: ("pattern",),
    Projected: ("pattern",),
}

_NAMING = (  # the fields, beside operands and expressions, in which variables may stand
    "variable",
    "variables",
    "keys",
    "aggregates",
    "start",
    "end",
    "source",
    "target",
    "window",
    "graph",
)


def shown_parts(pattern: Algebra) -> tuple[Algebra, ...]:
    """Return the operands whose variables the solutions have, in the order written."""
    if isinstance(pattern, Sequence):
        return _patterns_of(pattern, negated=False)
    return tuple(getattr(pattern, name) for name in _FIELDS[type(pattern)])


def hidden_parts(pattern: Algebra) -> tuple[Algebra, ...]:
    """Return the operands that are only looked at: patterns that must, or must not, have a solution."""
    if isinstance(pattern, Sequence):
        return _patterns_of(pattern, negated=True)
    return tuple(getattr(pattern, name) for name in _HIDDEN.get(type(pattern), ()))


def _patterns_of(sequence: Sequence, negated: bool) -> tuple[Algebra, ...]:
    """Return the event patterns of the steps that must be there, or of those that must not."""
    steps = (step for step in sequence.steps if (step.occurs is Occurs.NEVER) == negated)
    return tuple(each.pattern for step in steps for each in event_patterns(step.operand))


def operands(pattern: Algebra) -> tuple[Algebra, ...]:
    """Return all operands."""
    return shown_parts(pattern) + hidden_parts(pattern)


def walk(pattern: Algebra) -> Iterator[Algebra]:
    """Yield a pattern and all that stands inside it, each before its operands."""
    waiting = [pattern]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(operands(each))


def visible(pattern: Algebra) -> tuple[Variable, ...]:
    """Return the in-scope variables in the order of their first appearance, hidden ones included.

    >>> from retewave.compiler.algebra import TriplePattern
    >>> triples = Triples((TriplePattern(Variable("x"), b"<urn:p>", Variable("y")),))
    >>> [str(variable) for variable in visible(Join(triples, Values((Variable("x"),), ())))]
    ['?x', '?y']
    """
    return tuple(dict.fromkeys(_appearances(pattern)))


def _appearances(pattern: Algebra) -> Iterator[Variable]:
    waiting: list[Algebra | Variable] = [pattern]  # a stack of its own: patterns may be nested as deeply as one likes
    while waiting:
        each = waiting.pop()
        match each:
            case Variable():
                yield each
            case Triples(patterns):
                yield from (term for triple in patterns for term in triple.terms if isinstance(term, Variable))
            case Extend(inner, variable, _) | ExistsValue(inner, _, variable):
                waiting += (variable, inner)
            case PathClosure(start, end):
                yield from (term for term in (start, end) if isinstance(term, Variable))
            case Grouped(_, keys, aggregates):
                yield from (*keys, *(name for name, _ in aggregates))
            case Projected(_, shown):
                yield from shown
            case InWindow(name, inner) | InGraph(name, inner):
                waiting += (inner, name) if isinstance(name, Variable) else (inner,)
            case Values(columns, _):
                yield from columns
            case _:
                waiting += reversed(shown_parts(each))


def renamed(pattern: Algebra, names: Mapping[Variable, Variable]) -> Algebra:
    """Return a pattern with some variables renamed, wherever they stand, expressions included.

    >>> from retewave.compiler.algebra import TriplePattern
    >>> x, y = Variable("x"), Variable("y")
    >>> str(renamed(Triples((TriplePattern(x, b"<urn:p>", x),)), {x: y}).patterns[0])
    '?y <urn:p> ?y'
    """

    def term(old: Term) -> Term:
        return names.get(old, old) if isinstance(old, Variable) else old

    match pattern:
        case Triples(patterns):
            return Triples(
                tuple(
                    replace(
                        one,
                        subject=term(one.subject),
                        predicate=term(one.predicate),
                        object=term(one.object),
                        event=None if one.event is None else names.get(one.event, one.event),
                    )
                    for one in patterns
                )
            )
        case Values(columns, rows):
            return Values(tuple(names.get(each, each) for each in columns), rows)
        case Sequence():
            return _renamed_sequence(pattern, names)
    changed: dict[str, Any] = {
        name: renamed(getattr(pattern, name), names) for name in _FIELDS[type(pattern)] + _HIDDEN.get(type(pattern), ())
    }
    for name in ("expression", "condition"):
        if getattr(pattern, name, None) is not None:
            changed[name] = rename(getattr(pattern, name), names)
    changed |= {
        name: _renamed_value(getattr(pattern, name), names)
        for name in _NAMING
        if getattr(pattern, name, None) is not None
    }
    return replace(pattern, **changed)


def _renamed_value(value: Any, names: Mapping[Variable, Variable]) -> Any:
    """Return an operator's value beside its operands, with some variables renamed."""
    match value:
        case Variable():
            return names.get(value, value)
        case tuple():
            return tuple(_renamed_value(each, names) for each in value)
        case SortKey():
            return replace(value, expression=rename(value.expression, names))
        case AggregateCall() if value.argument is not None:
            return replace(value, argument=rename(value.argument, names))
    return value


def retold(pattern: Algebra, change: Callable[[TriplePattern], TriplePattern]) -> Algebra:
    """Return a pattern without sequences, with `change` applied to each triple pattern.

    >>> swapped = lambda one: TriplePattern(one.object, one.predicate, one.subject)
    >>> triples = Triples((TriplePattern(Variable("x"), b"<urn:p>", Variable("y")),))
    >>> str(retold(triples, swapped).patterns[0])
    '?y <urn:p> ?x'
    """
    if isinstance(pattern, Triples):
        return Triples(tuple(change(each) for each in pattern.patterns))
    names = _FIELDS[type(pattern)] + _HIDDEN.get(type(pattern), ())
    parts: dict[str, Any] = {name: retold(getattr(pattern, name), change) for name in names}
    return replace(pattern, **parts)


def changed(pattern: Algebra, change: Callable[[Algebra], Any]) -> Algebra:
    """Return a pattern without sequences, with `change` applied to each operand."""
    names = _FIELDS[type(pattern)] + _HIDDEN.get(type(pattern), ())
    return replace(pattern, **{name: change(getattr(pattern, name)) for name in names})


def _renamed_sequence(sequence: Sequence, names: Mapping[Variable, Variable]) -> Sequence:
    steps = tuple(replace(step, operand=_renamed_operand(step.operand, names)) for step in sequence.steps)
    return replace(sequence, steps=steps, partition=tuple(names.get(each, each) for each in sequence.partition))


def _renamed_operand(operand: Operand, names: Mapping[Variable, Variable]) -> Operand:
    if isinstance(operand, EventPattern):
        conditions = tuple(rename(each, names) for each in operand.conditions)
        return replace(operand, pattern=renamed(operand.pattern, names), conditions=conditions)
    return replace(operand, left=_renamed_operand(operand.left, names), right=_renamed_operand(operand.right, names))
