"""Tell the filters at the top of a GPM apart: those on its own event, and those on what came before.

Data's way: conjuncts of FILTER -> **filters of the pattern, conditions of the step** -> event pattern.
Laws: a conjunct is local if the GPM can bind all of its variables, and it has neither aggregates nor PREV.  A condition
sees what earlier steps bind, and what stands to the left of its GPM beside &; that of an absent step sees the step
behind it, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from retewave.compiler.algebra import EventPattern, Filter, Variable, visible
from retewave.compiler.expressions.tree import Expression
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.expressions import conjunction, expression, tell_unbound, variable
from retewave.compiler.languages.spaseq.calls import is_of_run
from retewave.compiler.languages.spaseq.context import SequenceContext
from retewave.compiler.languages.spaseq.events import Read

__all__ = ["Sight", "conditioned"]


@dataclass(frozen=True)
class Sight:
    """What the conditions of a GPM see."""

    seen: dict[Variable, str]  # variables that other GPMs bind by then -> such a GPM
    later: dict[Variable, str]  # variables that only later GPMs bind -> such a GPM

    def beside(self, more: dict[Variable, str]) -> Sight:
        """Return the sight to the right of a part that binds more."""
        return replace(self, seen={**more, **self.seen})


def conditioned(read: Read, sight: Sight, context: SequenceContext) -> EventPattern:
    """Return the event pattern of a GPM, with its filters where they belong."""
    pattern, own = read.pattern, visible(read.pattern)
    conditions: list[Expression] = []
    for parts in read.filters:
        local: list[Expression] = []
        for part in parts:
            (conditions if _looks_back(part, own, sight) else local).append(_built(part, own, sight, context))
        if local:
            pattern = Filter(conjunction(local), pattern)
    place = context.source.place(read.definition.name)
    return EventPattern(read.name, pattern, tuple(conditions), read.definition.streams, place)


def _looks_back(part: ParseTree, own: tuple[Variable, ...], sight: Sight) -> bool:
    return is_of_run(part) or any(each in sight.seen and each not in own for each in _variables(part))


def _built(part: ParseTree, own: tuple[Variable, ...], sight: Sight, context: SequenceContext) -> Expression:
    for var in part.find_pred(lambda each: rule(each) == "var"):
        asked = variable(var)
        if asked in sight.later and asked not in own and asked not in sight.seen:
            binder = sight.later[asked]
            what = f"{asked} is compared before it is bound: {binder}, which binds it, comes later"
            raise context.error(what, var, f"write this condition in the FILTER of {binder}")
    tell_unbound(part, (*own, *sight.seen), context)
    return expression(part, context)


def _variables(part: ParseTree) -> list[Variable]:
    return [variable(var) for var in part.find_pred(lambda each: rule(each) == "var")]
