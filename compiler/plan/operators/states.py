"""States that have each event's solution once, and the instants at which events of a partition came.

Data's way: event solutions -> **a state, the instants** -> the ways of runs.
`retewave.rete.operators.states` keeps their rows.
"""

from __future__ import annotations

from retewave.compiler.plan.operators.join import number_of
from retewave.compiler.plan.producers import (
    NOTHING,
    TAKEN,
    Instants,
    Open,
    Plan,
    RunStep,
    RunWay,
    State,
    Told,
    name_of,
)
from retewave.compiler.rewrite.runs import Runs

__all__ = ["instants", "once"]


def once(plan: Plan, found: list[Open], kept: set[int] | None = None) -> Open:
    """Return solutions as a set: an event's triples may be given or entailed more than once."""
    own = found[0].columns  # in their order: solutions are alike, however variables are named
    names = sorted((name for name in own if kept is None or name in kept), key=lambda name: own[name])
    told = sorted({what for each in found for what in each.told}) if kept is None else []
    entered = [_with_all(plan, each, names, told) if len(found) > 1 and told else each for each in found]
    rows = tuple(tuple(each.columns[n] for n in names) + tuple(each.told[what] for what in told) for each in entered)
    number = plan.number(State(tuple(each.read() for each in entered), rows, tuple(range(len(names))), once=True))
    leaves = tuple(leaf for each in found for leaf in each.leaves)
    columns = {name: column for column, name in enumerate((*names, *map(name_of, told)))}
    return Open(number, columns, {}, False, leaves)


def _with_all(plan: Plan, solutions: Open, names: list[int], told: list[Told]) -> Open:
    """Return solutions with a column for all that any alternative tells; where they do not tell it, it is empty."""
    columns = [(TAKEN, solutions.columns[name]) for name in names]
    columns += [(TAKEN, solutions.told[what]) if what in solutions.told else NOTHING for what in told]
    number = plan.number(RunStep(None, RunWay(solutions.read(), tuple(columns))))
    own = {what: len(names) + place for place, what in enumerate(told)}
    return Open(number, {n: place for place, n in enumerate(names)}, {}, False, solutions.leaves, told=own)


def instants(plan: Plan, found: Runs, opened: list[Open]) -> int | None:
    """Add the instants at which some solutions come, by partition; return their producer; None: nobody asks."""
    if not opened:
        return None
    partition = sorted(number_of(each) for each in found.partition)
    read = (each.read(tuple(each.columns[v] for v in partition)) for each in opened)
    return plan.number(Instants(tuple(dict.fromkeys(read))))
