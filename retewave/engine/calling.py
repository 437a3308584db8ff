"""Compute calls that look at all repetitions of a step: COUNT, SUM, AVG, MIN, MAX, SAMPLE, GROUP_CONCAT, FIRST, LAST.

Data's way: the values of a variable, repetition by repetition -> **one term** -> conditions, SELECT.
Decisions: unbound is no value; COUNT counts values; SUM and AVG of no value are 0, the others are an error; a value
that cannot be added or compared is an error; SAMPLE is the first value; FIRST and LAST are those of the first and last
repetition, bound or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation, Variable
from retewave.compiler.terms import XSD, literal

if TYPE_CHECKING:
    from rdflib.term import Node

    from retewave.compiler.expressions.evaluate import Evaluator

__all__ = ["called"]

_A, _B = Variable("a"), Variable("b")
Values = Sequence["Node"]


def called(name: str, separator: Expression | None, values: Sequence[Node | None]) -> Node | None:
    """Return the value of a call; None where it is an error."""
    if name in ("FIRST", "LAST"):
        return values[0 if name == "FIRST" else -1] if values else None
    bound = [each for each in values if each is not None]
    return _CALLS[name](bound) if separator is None else _concatenated(bound, separator)


@cache
def _evaluator(operator: str) -> Evaluator:
    from retewave.compiler.expressions.evaluate import Evaluator

    return Evaluator(Operation(operator, (_A, _B)))


def _folded(operator: str, first: Node | None, values: Values) -> Node | None:
    found, evaluator = first, _evaluator(operator)
    for each in values:
        if found is None:
            return None
        found = evaluator.value({"a": found, "b": each})
    return found


@cache
def _integer(number: int) -> Any:
    from retewave.compiler.expressions.evaluate import term_of

    return term_of(literal(str(number), XSD + "integer"))


def _sum(values: Values) -> Node | None:
    return _folded("+", _integer(0), values)


def _average(values: Values) -> Node | None:
    total = _sum(values)
    if not values or total is None:
        return total
    return _evaluator("/").value({"a": total, "b": _integer(len(values))})


def _extreme(operator: str) -> Callable[[Values], Node | None]:
    def extreme(values: Values) -> Node | None:
        if not values:
            return None
        found, evaluator = values[0], _evaluator(operator)
        for each in values[1:]:
            better = evaluator.truth({"a": each, "b": found})
            if better is None:
                return None
            found = each if better else found
        return found

    return extreme


def _concatenated(values: Values, separator: Expression | None = None) -> Node | None:
    from retewave.compiler.expressions.evaluate import Evaluator, term_of

    joint = Evaluator(separator or Constant(b'" "')).value({})
    texts = [_text_of().value({"a": each}) for each in values]
    if joint is None or any(each is None for each in texts):
        return None
    inner = str(joint).join(map(str, texts))
    return term_of(literal(inner))


@cache
def _text_of() -> Evaluator:
    from retewave.compiler.expressions.evaluate import Evaluator

    return Evaluator(Call("STR", (_A,)))


_CALLS: dict[str, Callable[[Values], Any]] = {
    "COUNT": lambda values: _integer(len(values)),
    "SUM": _sum,
    "AVG": _average,
    "MIN": _extreme("<"),
    "MAX": _extreme(">"),
    "SAMPLE": lambda values: values[0] if values else None,
    "GROUP_CONCAT": _concatenated,
}
