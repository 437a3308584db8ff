"""ColumnExpressions on the columns of a relation: filters, values, aggregates, and the order of terms.

Data's way: relation -> **verdicts, values, aggregates** -> operators (`retewave.views.evaluate`).
Meaning is that of the evaluator of all filters (`retewave.compiler.expressions.evaluate`): an expression is evaluated
once for each different combination of the terms that it sees.  Sums of whole numbers are taken on arrays.
Invariant: an error is no value: a filter drops the solution, a value stays unbound, an aggregate of it has none (COUNT
and SAMPLE leave the solution out).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cmp_to_key, partial, reduce
from typing import Any

import numpy as np
from rdflib import BNode, Literal, URIRef
from rdflib.term import Node

from retewave.compiler.algebra import AggregateCall
from retewave.compiler.expressions.evaluate import Evaluator, term_of, text_of
from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.numbers import DOUBLE as DOUBLES
from retewave.compiler.expressions.numbers import decimal_text, is_numeric, numeric_literal
from retewave.compiler.expressions.operators import TRUE, arithmetic, compare
from retewave.compiler.expressions.tree import Expression, Variable, mentions
from retewave.rete.terms.dictionary import Terms
from retewave.rete.terms.kinds import DATETIME, DECIMAL, DOUBLE, INTEGER
from retewave.views.relation import Bag, codes
from retewave.views.sums import partial_sum, without_fractions

__all__ = ["ColumnExpressions"]

SOLUTION = Variable("_:.solution")  # equal labels of BNODE(label) are one blank node in one solution
_ZERO = Literal("0", datatype=URIRef("http://www.w3.org/2001/XMLSchema#integer"))
_INTEGER, _DECIMAL = (f"http://www.w3.org/2001/XMLSchema#{kind}".encode() for kind in ("integer", "decimal"))
_DIVISION = Context(prec=28)  # as an expression divides
_NUMBERS = (INTEGER, DECIMAL, DOUBLE)
_EXACT_SUM = 1 << 53  # whole numbers below this are exact as doubles
_CLASSES = (BNode, URIRef, Literal)  # the order of kinds of terms, unbound before all


class ColumnExpressions:
    """Evaluates expressions over the terms of a dictionary."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._evaluators: dict[tuple[Expression, tuple[Variable, ...]], Evaluator] = {}

    def _evaluator(self, expression: Expression, variables: tuple[Variable, ...]) -> Evaluator:
        key = expression, variables
        if key not in self._evaluators:
            self._evaluators[key] = Evaluator(expression, scope=frozenset(variables))
        return self._evaluators[key]

    def _each(
        self, expression: Expression, relation: Bag, result: Callable[[Evaluator, dict[str, Any]], Any]
    ) -> list[Any]:
        """Return the result of an expression for each solution."""
        evaluator = self._evaluator(expression, relation.variables)
        seen = [Variable(name) for name in evaluator.variables]
        if evaluator.labels:
            seen.append(SOLUTION)
        columns = relation.projected(seen).ids
        places: np.ndarray = np.arange(len(columns))
        rows = columns
        if evaluator.pure and len(columns):
            known = codes(columns)
            first, places = np.unique(known, return_index=True, return_inverse=True)[1:]
            rows = columns[first]
        found = [result(evaluator, self._bindings(seen, row)) for row in rows.tolist()]
        return [found[place] for place in places.tolist()]

    def numbered(self, expression: Expression, relation: Bag) -> Bag:
        """Return the solutions, each with a blank node that stands for it, if an expression makes nodes by labels."""
        if SOLUTION in relation.variables or not mentions(expression, frozenset(("BNODE",))):
            return relation
        ids = self._terms.intern_many([text_of(BNode()) for _ in range(len(relation))])
        return relation.extended(SOLUTION, np.asarray(ids, dtype=np.int64))

    def _bindings(self, seen: Sequence[Variable], row: list[int]) -> dict[str, Any]:
        return {each.name: term_of(self._terms.text(term)) for each, term in zip(seen, row, strict=True) if term}

    def verdicts(self, expression: Expression, relation: Bag) -> np.ndarray:
        """Return for which solutions an expression is true."""
        said = self._each(
            expression, relation, lambda evaluator, row: evaluator.truth(row, row.get(SOLUTION.name)) is True
        )
        return np.array(said, dtype=np.bool_)

    def values(self, expression: Expression, relation: Bag) -> np.ndarray:
        """Return the values of an expression as a column of ids; 0 where it has none."""
        if isinstance(expression, Variable):
            return relation.column(expression)
        found = self._each(
            expression, relation, lambda evaluator, row: self._id(evaluator.value(row, row.get(SOLUTION.name)))
        )
        return np.array(found, dtype=np.int64)

    def _id(self, value: Node | None) -> int:
        return 0 if value is None else int(self._terms.intern(text_of(value)))

    def term(self, term: int) -> Node:
        """Return the term of an id."""
        return term_of(self._terms.text(term))

    # ---- aggregates ----
    def aggregated(self, call: AggregateCall, relation: Bag, groups: np.ndarray, count: int) -> np.ndarray:
        """Return an aggregate's value for each of `count` groups, as ids; `groups`: that of each solution."""
        if call.argument is None:
            if call.distinct:
                both = np.column_stack([groups, codes(relation.ids)])
                groups = both[np.unique(codes(both), return_index=True)[1], 0]
            return self._counts(np.bincount(groups, minlength=count))
        column = self.values(call.argument, relation)
        if call.distinct:
            both = np.column_stack([groups, column])
            kept = np.sort(np.unique(codes(both), return_index=True)[1])
            groups, column = groups[kept], column[kept]
        if call.function == "COUNT":
            return self._counts(np.bincount(groups[column > 0], minlength=count))
        if call.function in ("SUM", "AVG", "PARTIAL_SUM", "WHOLE_SUM"):
            quick = self._quick_sums(call.function, column, groups, count)
            if quick is not None:
                return quick
        order = np.argsort(groups, kind="stable")
        stops = np.cumsum(np.bincount(groups, minlength=count))
        parts = np.split(column[order], stops[:-1]) if count else []
        one = partial(_AGGREGATES[call.function], separator=call.separator)
        return np.array([self._of_group(one, part) for part in parts], dtype=np.int64)

    def _counts(self, counts: np.ndarray) -> np.ndarray:
        used, places = np.unique(counts, return_inverse=True)
        ids = [self._id(Literal(str(each), datatype=_ZERO.datatype)) for each in used.tolist()]
        return np.array(ids, dtype=np.int64)[places]

    def _of_group(self, aggregate: Callable[[list[Node | None]], Node | None], column: np.ndarray) -> int:
        terms = [self.term(each) if each else None for each in column.tolist()]
        try:
            return self._id(aggregate(terms))
        except ExpressionError:
            return 0

    def _quick_sums(self, function: str, column: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray | None:
        """Return sums or averages by arrays, where all terms are whole numbers, or all are doubles; else nothing."""
        values = self._terms.values
        kinds, numbers = values.kind[column], values.number[column]
        if (column == 0).any() or not len(column):
            return None
        counts = np.bincount(groups, minlength=count)
        known = bool(values.exact[column].all())  # else numbers are only near to the terms'
        whole = known and bool((kinds == INTEGER).all())
        if whole and float(np.abs(numbers).sum()) < _EXACT_SUM:
            sums = np.rint(np.bincount(groups, numbers, minlength=count)).astype(np.int64)
            return self._whole(function, sums.tolist(), counts.tolist())
        if (
            function in ("SUM", "AVG")
            and known
            and (kinds == DOUBLE).all()
            and math.isfinite(float(np.abs(numbers).sum()))
        ):
            parts = np.split(numbers[np.argsort(groups, kind="stable")], np.cumsum(counts)[:-1])
            exact = [math.fsum(part.tolist()) + 0.0 for part in parts]  # rounded once; no zero is negative
            divisors = counts.tolist() if function == "AVG" else [1] * count
            pairs_of = zip(exact, divisors, strict=True)
            return np.array([self._id(numeric_literal(each / of, DOUBLES)) for each, of in pairs_of], dtype=np.int64)
        return None

    def _whole(self, function: str, sums: list[int], counts: list[int]) -> np.ndarray:
        if function != "AVG":
            texts = [b'"%d"^^<%s>' % (each, _INTEGER) for each in sums]
        else:
            means = (_DIVISION.divide(Decimal(each), Decimal(of)) for each, of in zip(sums, counts, strict=True))
            texts = [b'"%s"^^<%s>' % (decimal_text(each).encode(), _DECIMAL) for each in means]
        return np.asarray(self._terms.intern_many(texts), dtype=np.int64)

    # ---- order ----
    def ordered(self, relation: Bag, keys: Sequence[tuple[Expression, bool]]) -> Bag:
        """Return the solutions sorted by keys, each perhaps descending; the first key decides."""
        order = np.arange(len(relation))
        for expression, descending in reversed(keys):
            ranks = self.ranks(self.values(expression, relation))[order]
            order = order[np.argsort(-ranks if descending else ranks, kind="stable")]
        return relation.taken(order)

    def ranks(self, column: np.ndarray) -> np.ndarray:
        """Return the place of each term in SPARQL's order of terms; equal terms have one place."""
        quick = self._quick_ranks(column)
        if quick is not None:
            return quick
        used, places = np.unique(column, return_inverse=True)
        terms = [self.term(each) if each else None for each in used.tolist()]
        key = cmp_to_key(before)
        order = sorted(range(len(terms)), key=lambda place: key(terms[place]))
        ranks = np.zeros(len(terms), dtype=np.int64)
        rank = 0
        for place, each in enumerate(order):
            if place and before(terms[order[place - 1]], terms[each]) != 0:
                rank += 1
            ranks[each] = rank
        return ranks[places].reshape(len(column))

    def _quick_ranks(self, column: np.ndarray) -> np.ndarray | None:
        """Return the places of terms that are all numbers, or all moments with a zone; else nothing."""
        values = self._terms.values
        kinds, numbers = values.kind[column], values.number[column]
        of_one_order = np.isin(kinds, _NUMBERS).all() or (kinds == DATETIME).all()
        if not len(column) or not of_one_order or not values.exact[column].all() or np.isnan(numbers).any():
            return None
        ranks: np.ndarray = np.unique(numbers, return_inverse=True)[1].reshape(len(column))
        return ranks


def before(one: Node | None, other: Node | None) -> int:
    """Compare terms as ORDER BY, MIN and MAX do: -1, 0 or 1.

    Unbound is first, then blank nodes, IRIs, literals.  Literals that `<` compares are in its order; others are by
    their datatype and their text.
    """
    if one is None or other is None:
        return (one is not None) - (other is not None)
    kinds = [next(n for n, kind in enumerate(_CLASSES) if isinstance(each, kind)) for each in (one, other)]
    if kinds[0] != kinds[1]:
        return -1 if kinds[0] < kinds[1] else 1
    if isinstance(one, Literal) and isinstance(other, Literal):
        return _before(one, other)
    return (str(one) > str(other)) - (str(one) < str(other))


def _before(one: Literal, other: Literal) -> int:
    try:
        if compare("<", one, other) == TRUE:
            return -1
        if compare("<", other, one) == TRUE:
            return 1
        if compare("=", one, other) == TRUE:
            return 0
    except ExpressionError:
        pass
    mine, its = _written(one), _written(other)
    return (mine > its) - (mine < its)


def _written(literal: Literal) -> tuple[int, str, str, str]:
    """Return the sort key of a literal that `<` does not compare: numbers first; by datatype, text and language."""
    number = 0 if is_numeric(literal) else 1
    return number, "" if number == 0 else str(literal.datatype or ""), str(literal), literal.language or ""


def _given(terms: list[Node | None]) -> list[Node]:
    """Return terms; a missing term is an error of the whole aggregate."""
    if any(each is None for each in terms):
        raise ExpressionError
    return [each for each in terms if each is not None]


def _sum(terms: list[Node | None], separator: str) -> Node:
    del separator
    given = _given(terms)
    doubles = _doubles(given)
    if doubles is not None:
        return arithmetic("+", _ZERO, Literal(math.fsum(doubles)))
    start: Node = _ZERO
    return reduce(partial(arithmetic, "+"), given, start)


def _partial_sum(terms: list[Node | None], separator: str) -> Node:
    doubles = _doubles(_given(terms))
    return _sum(terms, separator) if doubles is None else term_of(partial_sum(sum(map(Fraction, doubles), Fraction())))


def _whole_sum(terms: list[Node | None], separator: str) -> Node:
    return _sum([_rounded(total) for total in without_fractions(_given(terms))], separator)


def _rounded(total: Node | Fraction) -> Node:
    if not isinstance(total, Fraction):
        return total
    return numeric_literal(total.numerator / total.denominator, DOUBLES)


def _doubles(terms: list[Node]) -> list[float] | None:
    """Return the numbers of terms that are all finite doubles: their sum is taken without rounding in between."""
    if not terms or any(str(getattr(each, "datatype", "")) != _DOUBLE for each in terms):
        return None
    try:
        found = [float(str(each)) for each in terms]
    except ValueError:
        return None
    return found if all(map(math.isfinite, found)) else None


_DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


def _average(terms: list[Node | None], separator: str) -> Node | None:
    return _ZERO if not terms else _divided(_sum(terms, separator), len(terms))


def _divided(total: Node | None, count: int) -> Node | None:
    if count == 0 or total is None:
        return _ZERO
    return arithmetic("/", total, Literal(str(count), datatype=_ZERO.datatype))


def _least(terms: list[Node | None], separator: str) -> Node | None:
    del separator
    given = _given(terms)
    return min(given, key=cmp_to_key(before), default=None)


def _greatest(terms: list[Node | None], separator: str) -> Node | None:
    del separator
    given = _given(terms)
    return max(given, key=cmp_to_key(before), default=None)


def _sample(terms: list[Node | None], separator: str) -> Node | None:
    del separator
    return next((each for each in terms if each is not None), None)


def _concatenated(terms: list[Node | None], separator: str) -> Node:
    given = _given(terms)
    if any(isinstance(each, BNode) for each in given):
        raise ExpressionError
    return Literal(separator.join(map(str, given)))


_AGGREGATES: dict[str, Callable[..., Node | None]] = {
    "SUM": _sum,
    "PARTIAL_SUM": _partial_sum,
    "WHOLE_SUM": _whole_sum,
    "AVG": _average,
    "MIN": _least,
    "MAX": _greatest,
    "SAMPLE": _sample,
    "GROUP_CONCAT": _concatenated,
}
