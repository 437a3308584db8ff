"""The probe: tuples for which a row of another input fits, or for which none does.

Data's way: a planned branch, the branch to look at -> **probe** -> plan; `retewave.rete.operators.probe` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from retewave.compiler.expressions.tree import Expression, Variable, rename
from retewave.compiler.plan.operators.join import Scope, filters_on, numbers_in
from retewave.compiler.plan.producers import END, START, Gap, Input, Open, Plan, Told, told_columns
from retewave.compiler.plan.producers import Probe as Producer
from retewave.compiler.rewrite.branch import THERE, WHOLE, Bound, Decided, Moment, Probe

__all__ = ["probe"]


def probe(plan: Plan, decided: Open, there: Open, look: Probe, width: int, scope: Scope) -> Open:
    """Add a probe of a branch's tuples; `width` is how far it looks where it does not say itself."""
    shared = sorted(decided.columns.keys() & there.columns.keys(), key=lambda each: decided.columns[each])
    first = decided.read(tuple(decided.columns[each] for each in shared), filters_on(decided, scope), scope.spender)
    if look.rank and look.within is not None:
        there.within = look.within if there.within is None else min(there.within, look.within)
    spender = "" if look.lasting or look.rank else scope.spender
    second = there.read(tuple(there.columns[each] for each in shared), spender=spender)
    origins = sorted(set(decided.columns.values()))
    columns = {variable: origins.index(column) for variable, column in decided.columns.items()}
    moved = look.decided is Decided.AT_DEADLINE  # its end becomes another

    def carried(source: int) -> int:
        if source == START or (source == END and not moved):
            return source
        if source not in origins:
            origins.append(source)
        return origins.index(source)

    times = {moment: carried(decided.times[moment]) for moment in sorted(scope.moments & decided.times.keys())}
    told = {what: carried(source) for what, source in told_columns(decided.told)}
    taken = _taken(there, second) if look.wanted else {}
    behind = sorted(set(taken.values()))
    told |= {what: len(origins) + behind.index(column) for what, column in taken.items()}
    if look.wanted:
        told |= _shared(there, first, second, origins)
    number = plan.number(
        Producer(
            (first, second),
            tuple(origins),
            tuple(sorted((*(_gap(bound, decided, there) for bound in look.bounds), *_within(look)))),
            tuple(_condition(each.expression, decided, there) for each in look.conditions),
            look.decided,
            look.wanted,
            look.streamed,
            look.joint,
            look.deadline,
            width if look.ranged and look.keep is None else -1,
            look.within if look.keep is None else look.keep,
            tuple(behind),
            tuple((_time(own, decided, there)[1], _time(its, decided, there)[1]) for own, its in look.rank),
            look.latest,
            look.chooses,
            scope.spender,
        )
    )
    leaves, looked = decided.leaves + there.leaves, decided.looked | frozenset(there.leaves)
    return Open(number, columns, {}, decided.static, leaves, times, told, looked)


def _taken(there: Open, read: Input) -> dict[Told, int]:
    """Return what is told of the looked-at row and is not in the key: the columns that tuples take along."""
    return {what: column for what, column in there.told.items() if column not in read.keys}


def _shared(there: Open, decided: Input, read: Input, origins: list[int]) -> dict[Told, int]:
    """Return what is told of the looked-at row and is in the key: the decided tuple has it, too."""
    own = dict(zip(read.keys, decided.keys, strict=True))
    return {what: origins.index(own[column]) for what, column in there.told.items() if column in own}


def _within(look: Probe) -> Iterator[Gap]:
    """Yield the gap that says how far a look goes back; a memory of one instant has no need of it."""
    if look.within is not None and look.keep is None and not look.rank:
        yield Gap((0, END), -look.within, (1, START))


def _gap(bound: Bound, decided: Open, there: Open) -> Gap:
    return Gap(_time(bound.earlier, decided, there), bound.gap, _time(bound.later, decided, there))


def _time(moment: Moment, decided: Open, there: Open) -> tuple[int, int]:
    """Return where a moment is: of which input, and in which of its columns."""
    if moment.there:
        return 1, there.times[replace(moment, there=False)]
    if moment.operand == THERE:
        return 1, END if moment.at_end else START
    if moment.operand == WHOLE:
        return 0, END if moment.at_end else START
    return 0, decided.times[moment]


def _condition(expression: Expression, decided: Open, there: Open) -> Expression:
    """Return a condition over the columns of both inputs; a variable that both bind is read from the first."""
    names: dict[Variable, Variable] = {}
    for number in numbers_in(expression):
        if number in decided.columns:
            names[Variable(f"c{number}")] = Variable(f"c{decided.columns[number]}")
        elif number in there.columns:
            names[Variable(f"c{number}")] = Variable(f"d{there.columns[number]}")
    return rename(expression, names)
