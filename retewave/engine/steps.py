"""A step that Python takes on output rows, with all that can be known of it before the first row.

Where it stands: beside data's way; `retewave.engine.deciding` takes the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from retewave.compiler.expressions.integers import Computed, computed
from retewave.compiler.expressions.programs import Programs
from retewave.compiler.expressions.times import NAMED_TIMES, with_named_times
from retewave.compiler.expressions.tree import Operation, variables
from retewave.compiler.rewrite.branch import Step, is_timed

if TYPE_CHECKING:
    from retewave.compiler.expressions.evaluate import Evaluator

__all__ = ["ReadyStep", "python", "ready"]


@dataclass(frozen=True)
class ReadyStep:
    """A step, ready to be taken many times."""

    evaluator: Evaluator  # of its expression, with variables in place of the solution's times
    scope: tuple[str, ...]  # the names of the variables that it may look at
    timed: bool  # it looks at the solution's times
    memo: int | None  # the row of the kernel's memo that remembers its verdicts; None: none does
    computed: Computed | None  # the same, where all that it looks at are integers; None: it is no sum of such


def ready(step: Step, programs: Programs) -> ReadyStep:
    """Make a step ready."""
    seen = variables(step.expression)
    evaluator = python().Evaluator(with_named_times(step.expression), scope=step.scope | NAMED_TIMES)
    memo = programs.memo_of(step.expression) if seen == step.scope else None
    sums = seen <= step.scope and isinstance(step.expression, Operation)  # else a term is as it is written
    return ReadyStep(
        evaluator,
        tuple(variable.name for variable in step.scope),
        is_timed(step),
        memo,
        computed(step.expression) if sums else None,
    )


@cache
def python() -> Any:
    """Return the module that evaluates expressions; it loads rdflib, which most runs never need."""
    from retewave.compiler.expressions import evaluate

    return evaluate
