"""One filter on one solution: as the kernel decides it, as the evaluator does, and as Oxigraph does."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyoxigraph

from retewave.compiler.algebra import Extend
from retewave.compiler.expressions.evaluate import Evaluator, term_of
from retewave.compiler.expressions.kernel import Program, compile_filter
from retewave.compiler.expressions.tree import Expression, Variable
from retewave.compiler.parse import parse
from retewave.rete.filters import codes as op
from retewave.rete.filters.interpreter import Filters, decide
from retewave.rete.filters.strings import VIEW_WIDTH
from retewave.rete.terms.dictionary import Terms

ABC = tuple(map(Variable, "abc"))
VERDICTS = {op.TRUE: True, op.FALSE: False, op.ERROR: None}


@cache
def expression_of(text: str) -> Expression:
    where = parse(f"SELECT ({text} AS ?result) {{ VALUES (?a ?b ?c) {{}} }}").where
    assert isinstance(where, Extend)
    return where.expression


def evaluated(text: str, given_: dict[str, str]) -> bool | None:
    return Evaluator(expression_of(text)).truth({name: term_of(each.encode()) for name, each in given_.items()})


class Kernel:
    """A dictionary of terms and one filter."""

    def __init__(self, text: str, remember: bool) -> None:
        self.terms = Terms(seed=1)
        self.memos: list[tuple[Expression, Variable]] = []
        columns = {variable: place for place, variable in enumerate(ABC)}
        expression = expression_of(text)
        self.program: Program = compile_filter(
            expression, frozenset(ABC), columns, self.terms.intern, self.new_memo if remember else None
        )

    def new_memo(self, expression: Expression, variable: Variable) -> int:
        self.memos.append((expression, variable))
        return len(self.memos) - 1

    def verdict(self, given_: dict[str, str]) -> int:
        row = np.array([self.terms.intern(given_[name].encode()) if name in given_ else 0 for name in "abc"])
        memo = np.zeros((max(1, len(self.memos)), len(self.terms) + 1), np.uint8)
        for number, (expression, variable) in enumerate(self.memos):
            if variable.name in given_:
                term = term_of(given_[variable.name].encode())
                memo[number, row[ABC.index(variable)]] = code_of(Evaluator(expression).truth({variable.name: term}))
        size = self.program.depth
        stack = (np.zeros(size, np.int64), np.zeros(size), np.zeros(size), np.zeros(size, np.int64))
        views = np.zeros(size * VIEW_WIDTH, np.int64)
        code = np.array(self.program.code, np.int64)
        filters = Filters(code, memo.ravel(), memo.shape[1], *stack, views)
        return int(decide(filters, 0, len(code), row, 0, self.terms.values))


def code_of(truth: bool | None) -> int:
    return {True: op.TRUE, False: op.FALSE, None: op.ERROR}[truth]


def said_by_oxigraph(text: str, given_: dict[str, str]) -> Any:
    cells = " ".join(given_.get(name, "UNDEF") for name in "abc")
    query = f"SELECT (({text}) AS ?r) (IF({text}, 1, 0) AS ?t) {{ VALUES (?a ?b ?c) {{ ({cells}) }} }}"
    found = pyoxigraph.Store().query(query)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    truth = next(iter(found))["t"]
    return None if truth is None else truth.value == "1"
