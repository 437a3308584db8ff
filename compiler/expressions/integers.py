"""Arithmetic on integers alone, for steps that Python takes: no term is made of what is a number anyway.

Data's way: the texts of terms -> **integers** -> the text of their sum, difference or product.
Invariant: it gives what the evaluator gives (`evaluate.py`), or nothing: then that is to be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from retewave.compiler.expressions.tree import Constant, Expression, Operation, Variable

__all__ = ["Computed", "computed", "integer_of", "text_of_integer"]

Computed = Callable[[Mapping[str, int]], int]

_OF = b"^^<http://www.w3.org/2001/XMLSchema#integer>"
_WRITTEN = re.compile(rb'"([+-]?[0-9]{1,18})"' + re.escape(_OF))


def integer_of(text: bytes) -> int | None:
    """Return the number that a term's text is, if it is an xsd:integer of no more than 18 digits.

    >>> integer_of(b'"-05"^^<http://www.w3.org/2001/XMLSchema#integer>'), integer_of(b'"5"')
    (-5, None)
    """
    found = _WRITTEN.fullmatch(text)
    return None if found is None else int(found[1])


def text_of_integer(number: int) -> bytes:
    """Return the canonical text of a number.

    >>> text_of_integer(-5)
    b'"-5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    return b'"%d"%b' % (number, _OF)


def computed(expression: Expression) -> Computed | None:
    """Return what computes an expression of variables that are integers; nothing if it is not +, - and * alone.

    >>> both = computed(Operation("+", (Variable("a"), Operation("-", (Variable("b"),)))))
    >>> both({"a": 5, "b": 7})
    -2
    """
    match expression:
        case Variable(name):
            return lambda numbers: numbers[name]
        case Constant(text):
            number = integer_of(text)
            return None if number is None else lambda numbers: number
        case Operation("-", (operand,)):
            inner = computed(operand)
            return None if inner is None else lambda numbers: -inner(numbers)
        case Operation("+" | "-" | "*" as sign, (first, second)):
            return _joined(sign, computed(first), computed(second))
    return None


def _joined(sign: str, first: Computed | None, second: Computed | None) -> Computed | None:
    if first is None or second is None:
        return None
    if sign == "+":
        return lambda numbers: first(numbers) + second(numbers)
    if sign == "-":
        return lambda numbers: first(numbers) - second(numbers)
    return lambda numbers: first(numbers) * second(numbers)
