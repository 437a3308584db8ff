"""Group variables (MEANING §6, Kleene+): what the repetitions of a step bound, and the calls that see all of them.

Decisions where the page is silent:
* An argument of an aggregate is computed for each repetition of the steps whose group variables it mentions; what is an
  error or unbound there is no value.  COUNT counts values; SUM and AVG of none are 0, the others are an error.
* SAMPLE is the first value.  MIN and MAX compare as `<` does, and are an error where it is; of equal values they take
  the first.  GROUP_CONCAT joins STR of the values, with a space where no separator is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from naive.times import is_true, value_of
from naive.tokens import Bindings, Repetition
from retewave.compiler.expressions.tree import (
    Call,
    Constant,
    Expression,
    Operation,
    Variable,
    mentions,
    variables,
    with_children,
)
from retewave.io.rdf import to_text

INTEGER = b"<http://www.w3.org/2001/XMLSchema#integer>"
ZERO = Constant(b'"0"^^' + INTEGER)
SPACE = Constant(b'" "')
ERROR = Variable("_:error")  # bound nowhere
PREVIOUS = frozenset(("PREV",))


@dataclass(frozen=True)
class Seen:
    """What an expression sees: the plain values, and the repetitions."""

    bindings: Bindings  # of group variables, those of the last repetition
    groups: Sequence[Repetition]  # in the order of time
    start: int  # what the functions of times say
    end: int

    def is_true(self, condition: Expression | None) -> bool:
        """Tell whether a condition is true; none is true of all."""
        return condition is None or is_true(self.plain(condition), self.bindings, self.start, self.end)

    def plain(self, expression: Expression) -> Expression:
        """Put the value of each aggregate and each PREV in its place."""
        match expression:
            case Call("PREV", (argument,)):
                return self._value(argument, self._repetitions(argument)[-2:-1])
            case Call(name, (argument, *more)) if name in AGGREGATES:
                found = self._repetitions(argument)
                if name in ("FIRST", "LAST"):
                    return self._value(argument, found[:1] if name == "FIRST" else found[-1:])
                return AGGREGATES[name]([*self._values(argument, found, expression.distinct)], *more)
        return with_children(expression, self.plain)

    def _repetitions(self, argument: Expression) -> list[Repetition]:
        return [each for each in self.groups if each.own & variables(argument)]

    def _values(self, argument: Expression, found: Sequence[Repetition], distinct: bool) -> Iterator[Expression]:
        values = [self._value(argument, [each]) for each in found]
        yield from (each for each in (dict.fromkeys(values) if distinct else values) if each is not ERROR)

    def _value(self, argument: Expression, found: Sequence[Repetition]) -> Expression:
        """Return the value of an expression in one repetition, or an error."""
        for each in found:
            outer = {variable: text for variable, text in self.bindings.items() if variable not in each.own}
            value = value_of(argument, {**outer, **each.bindings}, self.start, self.end)
            return ERROR if value is None else Constant(to_text(value))
        return ERROR


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield what must all be true."""
    match condition:
        case Operation("&&", (left, right)):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield condition


def asks_what_was_before(conjunct: Expression) -> bool:
    """Tell whether a conjunct has PREV: it is true in the first repetition."""
    return mentions(conjunct, PREVIOUS)


def _count(values: list[Expression]) -> Expression:
    return Constant(b'"%d"^^' % len(values) + INTEGER)


def _sum(values: list[Expression]) -> Expression:
    total: Expression = ZERO
    for each in values:
        total = Operation("+", (total, each))
    return total


def _average(values: list[Expression]) -> Expression:
    return Operation("/", (_sum(values), _count(values))) if values else ZERO


def _extreme(operator: str) -> Callable[[list[Expression]], Expression]:
    def extreme(values: list[Expression]) -> Expression:
        found: Expression = values[0] if values else ERROR
        for each in values[1:]:
            found = Call("IF", (Operation(operator, (each, found)), each, found))
        return found

    return extreme


def _concatenated(values: list[Expression], separator: Expression = SPACE) -> Expression:
    if not values:
        return Constant(b'""')
    texts = [Call("STR", (each,)) for each in values]
    return Call("CONCAT", (texts[0], *(part for text in texts[1:] for part in (separator, text))))


AGGREGATES: Mapping[str, Callable[..., Expression]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MIN": _extreme("<"),
    "MAX": _extreme(">"),
    "SAMPLE": lambda values: values[0] if values else ERROR,
    "GROUP_CONCAT": _concatenated,
    "FIRST": lambda values: values[0],
    "LAST": lambda values: values[-1],
}
