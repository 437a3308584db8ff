"""Who decides a filter: the kernel, Python once a term, or Python for each candidate match.

Data's way: a query's steps -> **who takes them** -> explanation.  It follows `kernel`: a part of a filter that
depends on one variable is remembered by term; parts that the kernel cannot compute are left to Python.
"""

from __future__ import annotations

from enum import IntEnum

from retewave.compiler.expressions.kernel import compile_filter
from retewave.compiler.expressions.tree import IMPURE, Expression, Operation, mentions, variables
from retewave.compiler.rewrite.normal import Branch, FilterStep
from retewave.rete.filters import codes as op

__all__ = ["DecidedBy", "decided_by"]


class DecidedBy(IntEnum):
    """The ways in which a filter is decided, the cheapest first."""

    KERNEL = 0
    PYTHON_ONCE_A_TERM = 1
    PYTHON_EACH_CANDIDATE = 2

    def __str__(self) -> str:
        return _SAID[self]


_SAID = {
    DecidedBy.KERNEL: "the kernel decides",
    DecidedBy.PYTHON_ONCE_A_TERM: "Python decides, once a term",
    DecidedBy.PYTHON_EACH_CANDIDATE: "Python decides, for each candidate match",
}


def decided_by(step: FilterStep, branch: Branch) -> DecidedBy:
    """Say who decides a filter of a branch.

    >>> from retewave.compiler.rewrite.normal import branches
    >>> from retewave.compiler.parse import parse
    >>> def said(text):
    ...     (branch,) = branches(parse("SELECT * { ?x <urn:p> ?y FILTER(%s) }" % text))
    ...     return decided_by(branch.steps[0], branch).name
    >>> said("?y < 3 && CONTAINS(?x, ?y)"), said("REGEX(?y, '[ab]')"), said("CONCAT(?x, ?y) = 'ab'")
    ('KERNEL', 'PYTHON_ONCE_A_TERM', 'PYTHON_EACH_CANDIDATE')
    """
    if not step.scope <= branch.bound:
        return DecidedBy.PYTHON_EACH_CANDIDATE
    return _of_condition(step.expression, step)


def _of_condition(expression: Expression, step: FilterStep) -> DecidedBy:
    if len(variables(expression) & step.scope) == 1 and not mentions(expression, IMPURE):
        return DecidedBy.KERNEL if _computable(expression, step) else DecidedBy.PYTHON_ONCE_A_TERM
    if isinstance(expression, Operation) and expression.operator in ("||", "&&", "!"):
        return max(_of_condition(operand, step) for operand in expression.operands)
    return DecidedBy.KERNEL if _computable(expression, step) else DecidedBy.PYTHON_EACH_CANDIDATE


def _computable(expression: Expression, step: FilterStep) -> bool:
    code = compile_filter(expression, step.scope, dict.fromkeys(step.scope, 0), lambda text: 1).code
    return op.PUSH_UNDECIDED not in code[:: op.INSTRUCTION_WIDTH]
