"""Comparisons of two variables' numbers, as differences that are at most 0 wherever a filter is true.

Data's way: filter -> **differences** -> what a join's rows are compared by (`retewave.rete.filters.compare`).
`?low < 0.7 * ?before` is true only if 1 * ?low - 0.7 * ?before is at most 0.
Invariant: a filter of which a difference is above its own error is not true, whatever else it asks.  Only sums,
differences and products with constants are followed, of numbers that no step takes out of a double's range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from retewave.compiler.expressions.tree import Constant, Expression, Operation, Variable

__all__ = ["Difference", "Share", "differences"]

_LEAST, _MOST = 1e-30, 1e30  # the bounds of products of constants and factors
_ERROR = 1e-9  # far more than rounding adds, for each part of a calculation
_TINY = 1e-200  # likewise, where numbers are too small for that


@dataclass(frozen=True)
class Share:
    """The part of a variable in a sum."""

    factor: float
    size: float  # the sum of the factors' magnitudes, if it is mentioned more than once


@dataclass(frozen=True)
class Difference:
    """The sum of two variables' shares and a constant: at most 0, but for its error, where a filter is true."""

    shares: tuple[tuple[Variable, Share], tuple[Variable, Share]]
    constant: float
    error: float  # of the constant

    def slack(self, place: int) -> float:
        """Return the error of a share, as a factor of its variable's magnitude."""
        return _ERROR * self.shares[place][1].size


@dataclass(frozen=True)
class _Sum:
    """A value that is a sum of variables, each with a factor, and a constant."""

    constant: float = 0.0
    size: float = 0.0  # of the constants that it was made of
    shares: Mapping[Variable, Share] = field(default_factory=dict)

    def times(self, factor: float, size: float) -> _Sum:
        shares = {each: Share(one.factor * factor, one.size * size) for each, one in self.shares.items()}
        return _Sum(self.constant * factor, self.size * size, shares)

    def plus(self, other: _Sum) -> _Sum:
        shares = dict(self.shares)
        for each, one in other.shares.items():
            own = shares.get(each, Share(0.0, 0.0))
            shares[each] = Share(own.factor + one.factor, own.size + one.size)
        return _Sum(self.constant + other.constant, self.size + other.size, shares)

    @property
    def fits(self) -> bool:
        """Whether nothing in it is so large or small that the range of doubles might end."""
        sizes = [one.size for one in self.shares.values()] + ([self.size] if self.size else [])
        return all(_LEAST <= size <= _MOST for size in sizes)


def differences(expression: Expression) -> Iterator[Difference]:
    """Yield the differences of two variables' numbers that a filter bounds.

    >>> x, y = Variable("x"), Variable("y")
    >>> [(name.name, share.factor) for name, share in next(differences(Operation("<", (x, y)))).shares]
    [('x', 1.0), ('y', -1.0)]
    """
    match expression:
        case Operation("&&", (left, right)):
            yield from differences(left)
            yield from differences(right)
        case Operation("<" | "<=" | ">" | ">=" | "=" as operator, (first, second)):
            one, other = _sum(first), _sum(second)
            if one is not None and other is not None:
                if operator != ">" and operator != ">=":
                    yield from _difference(one, other)
                if operator != "<" and operator != "<=":
                    yield from _difference(other, one)


def _difference(lower: _Sum, upper: _Sum) -> Iterator[Difference]:
    whole = lower.plus(upper.times(-1.0, 1.0))
    shares = [(name, share) for name, share in whole.shares.items() if abs(share.factor) > share.size / 2]
    if len(shares) == 2 == len(whole.shares) and whole.fits:
        first, second = sorted(shares, key=lambda each: each[0].name)
        yield Difference((first, second), whole.constant, _ERROR * whole.size + _TINY)


def _sum(expression: Expression) -> _Sum | None:
    """Return an expression as a sum, if it is one."""
    found: _Sum | None = None
    match expression:
        case Variable():
            found = _Sum(shares={expression: Share(1.0, 1.0)})
        case Constant(text):
            found = _constant(text)
        case Operation(operator, (only,)) if (one := _sum(only)) is not None:
            found = {"-": one.times(-1.0, 1.0), "+": one}.get(operator)
        case Operation(operator, (left, right)):
            one, other = _sum(left), _sum(right)
            if one is not None and other is not None:
                found = _calculated(operator, one, other)
    return found if found is not None and found.fits else None


def _calculated(operator: str, left: _Sum, right: _Sum) -> _Sum | None:
    if operator == "+" or operator == "-":
        return left.plus(right if operator == "+" else right.times(-1.0, 1.0))
    return _multiplied(operator, left, right) if operator == "*" or operator == "/" else None


def _multiplied(operator: str, left: _Sum, right: _Sum) -> _Sum | None:
    if left.shares and operator == "*":
        left, right = right, left
    whole, factor = (right, left) if operator == "*" else (left, right)
    if factor.shares or factor.size != abs(factor.constant) or factor.size == 0.0:
        return None
    value = factor.constant if operator == "*" else 1.0 / factor.constant
    return whole.times(value, abs(value))


def _constant(text: bytes) -> _Sum | None:
    from retewave.compiler.expressions.evaluate import term_of  # these load rdflib, which most runs never need
    from retewave.compiler.expressions.numbers import FLOAT, number

    found = number(term_of(text))
    if found is None or found[0] == FLOAT or len(text) > 64 + len("http://www.w3.org/2001/XMLSchema#"):
        return None
    value = float(found[1])
    return _Sum(value, abs(value))
