"""Answers to the kernel in the middle of a pour: is a filter true that the kernel must know, and cannot decide?

Data's way: a tuple at hand -> **verdict** -> the kernel goes on.
An answer that depends on terms alone is found once.  The answer to a part with one variable is entered in the kernel's
memo, and the kernel does not ask for it again.  An answer on several variables is remembered here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.expressions.programs import Programs
from retewave.compiler.expressions.times import times_of, with_named_times
from retewave.compiler.expressions.tree import IMPURE, TIMES, Expression, Variable, mentions, variables
from retewave.compiler.lower import AskedFilter
from retewave.engine.calling import called
from retewave.rete.filters.codes import VERDICTS
from retewave.rete.runtime import Runtime
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout

if TYPE_CHECKING:
    from retewave.compiler.expressions.evaluate import Evaluator
    from retewave.compiler.lower import AskedCall

__all__ = ["Asking"]

_MOST = 1 << 14  # the most answers that are remembered here


@dataclass
class Asking:
    """Answers the kernel of one network."""

    terms: Terms  # the dictionary
    runtime: Runtime  # the network that asks; its memo is filled here
    programs: Programs  # the kernel's filters; they know what the memo's rows stand for
    _evaluators: dict[Expression, Evaluator] = field(default_factory=dict)
    _answers: dict[tuple[Expression, tuple[bytes | None, ...]], bool] = field(default_factory=dict)

    def is_true(self, asked: AskedFilter, words: np.ndarray) -> bool:
        """Tell whether a filter is true of a tuple."""
        return all(self._is_true(each, asked, words) for each in asked.expressions)

    def _is_true(self, expression: Expression, asked: AskedFilter, words: np.ndarray) -> bool:
        known = {variable: int(words[layout.T_COLUMNS + column]) for variable, column in asked.columns.items()}
        for part in self.programs.remembered(expression):
            (variable,) = variables(part)
            if known.get(variable, 0) > 0:
                self._enter(part, variable, known[variable])
        texts = {each: self._text(known.get(each, 0)) for each in sorted(variables(expression), key=str)}
        texts |= {each: self._called(call, words) for each, call in asked.calls if each in texts}
        interval = int(words[layout.T_START]), int(words[layout.T_END])
        if mentions(expression, TIMES | IMPURE):
            return self._evaluated(expression, texts, *interval)
        key = expression, tuple(texts.values())
        if key not in self._answers:
            if len(self._answers) >= _MOST:
                self._answers.clear()
            self._answers[key] = self._evaluated(expression, texts, *interval)
        return self._answers[key]

    def _called(self, call: AskedCall, words: np.ndarray) -> bytes | None:
        """Return the value of a call that looks at all repetitions of a run, and perhaps at the event at hand."""
        place, state = call.link
        row = int(words[layout.T_COLUMNS + place])
        if state is None:
            row, state = row & (1 << layout.LINK_STATE) - 1, row >> layout.LINK_STATE
        rows = self.runtime.run_of(row, state)
        ids = [columns[call.states[number]] for number, columns in rows if number in call.states][::-1]
        if call.counts:
            ids.append(0 if call.event is None else int(words[layout.T_COLUMNS + call.event]))
        values = [_python().term_of(self.terms.text(each)) if each else None for each in ids]
        value = called(call.name, call.separator, values)
        return None if value is None else _python().text_of(value)

    def _enter(self, part: Expression, variable: Variable, term: int) -> None:
        memo = self.programs.memo_of(part)
        if memo is not None and not self.runtime.recalled(memo, term):
            verdict = self._evaluator(part).truth({variable.name: _python().term_of(self.terms.text(term))})
            self.runtime.remember(memo, term, VERDICTS[verdict])

    def _text(self, term: int) -> bytes | None:
        return self.terms.text(term) if term > 0 else None

    def _evaluated(self, expression: Expression, texts: dict[Variable, bytes | None], start: int, end: int) -> bool:
        bound = {each.name: text for each, text in texts.items() if text is not None} | times_of(start, end)
        terms = {name: _python().term_of(text) for name, text in bound.items()}
        return self._evaluator(expression).truth(terms) is True

    def _evaluator(self, expression: Expression) -> Evaluator:
        if expression not in self._evaluators:
            self._evaluators[expression] = _python().Evaluator(with_named_times(expression))
        return self._evaluators[expression]


@cache
def _python() -> Any:
    """Return the module that evaluates expressions; it loads rdflib, which most runs never need."""
    from retewave.compiler.expressions import evaluate

    return evaluate
