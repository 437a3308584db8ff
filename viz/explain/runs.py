"""Runs in words: states, and the steps by which runs go on.

Data's way: plan -> **words** -> explanations, drawings.
"""

from __future__ import annotations

from collections.abc import Mapping

from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql
from retewave.compiler.plan.producers import Probe, RunWay
from retewave.rete.words.layout import ANY, NEXT, STRICT
from retewave.viz.explain.names import Prefixes

__all__ = ["STRATEGIES", "between", "conditions_of"]

STRATEGIES = {ANY: "any later event", NEXT: "the next one", STRICT: "the next event of all"}


def between(probe: Probe, decided: Mapping[int, str], there: Mapping[int, str]) -> list[Expression]:
    """Return when something must not be between a run and the event that it takes, in the words of both."""
    names = {Variable(f"c{column}"): Variable(name.removeprefix("?")) for column, name in decided.items()}
    names |= {Variable(f"d{column}"): Variable(name.removeprefix("?")) for column, name in there.items()}
    return [rename(each, names) for each in probe.conditions]


def conditions_of(way: RunWay, run: Mapping[int, str], event: Mapping[int, str], prefixes: Prefixes) -> tuple[str, ...]:
    """Return the conditions on a run and the event that it takes, in the words of both."""
    names = {Variable(f"c{column}"): Variable(name.removeprefix("?")) for column, name in event.items()}
    names |= {Variable(f"d{column}"): Variable(name.removeprefix("?")) for column, name in run.items()}

    def said(expression: Expression) -> str:
        return prefixes.short(to_sparql(rename(expression, names)))

    return tuple(said(each) for each in way.conditions)
