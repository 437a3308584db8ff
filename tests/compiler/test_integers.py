"""Sums of integers without terms are those of the evaluator."""

from __future__ import annotations

import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.compiler.expressions.evaluate import Evaluator, term_of, text_of
from retewave.compiler.expressions.integers import computed, integer_of, text_of_integer
from retewave.compiler.expressions.tree import Constant, Expression, Operation, Variable

INTEGER = b"^^<http://www.w3.org/2001/XMLSchema#integer>"
DIGITS = st.from_regex(r"[+-]?0{0,2}[0-9]{1,18}", fullmatch=True)
WRITTEN = DIGITS.map(lambda digits: b'"%b"%b' % (digits.encode(), INTEGER))
LEAVES = st.sampled_from("abc").map(Variable) | WRITTEN.map(Constant)


def _joined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    two = st.tuples(st.sampled_from("+-*"), st.tuples(parts, parts)) | st.tuples(st.just("-"), st.tuples(parts))
    return two.map(lambda made: Operation(*made))


@settings(max_examples=many(500), deadline=None)
@given(st.recursive(LEAVES, _joined, max_leaves=6), st.lists(WRITTEN, min_size=3, max_size=3))
def test_a_sum_is_the_evaluators(expression: Expression, texts: list[bytes]) -> None:
    compute = computed(expression)
    numbers = dict(zip("abc", map(integer_of, texts), strict=True))
    known = {name: number for name, number in numbers.items() if number is not None}
    wanted = Evaluator(expression).value({name: term_of(text) for name, text in zip("abc", texts, strict=True)})
    if compute is None or len(known) < len(numbers):  # a number of more digits
        return
    if not isinstance(expression, Operation):  # a term as it is written is no sum
        return
    assert wanted is not None
    assert text_of_integer(compute(known)) == text_of(wanted)


SHORT = b'"5"^^<http://www.w3.org/2001/XMLSchema#int>'


@pytest.mark.parametrize(
    "text", [b'"5"', b'"5.0"' + INTEGER, b'" 5"' + INTEGER, SHORT, b"<http://e/5>", b'""' + INTEGER]
)
def test_other_terms_are_left_to_the_evaluator(text: bytes) -> None:
    assert integer_of(text) is None


def test_other_expressions_are_left_to_the_evaluator() -> None:
    a, b = Variable("a"), Variable("b")
    assert computed(Operation("/", (a, b))) is None
    assert computed(Operation("+", (a, Operation("/", (a, b))))) is None
    assert computed(Operation("+", (a, Constant(b'"5"')))) is None
