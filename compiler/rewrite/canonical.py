"""Branches without the names that a query chose: variables are named by number, so that equal branches compare equal.

Data's way: branches -> **canonical branches** -> shapes -> plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from retewave.compiler.algebra import Term, TriplePattern, Values
from retewave.compiler.expressions.tree import Call, Expression, Variable, rename, variables
from retewave.compiler.rewrite.branch import Branch, FilterStep, Part, Probe, Step, is_timed
from retewave.compiler.rewrite.runs import Barred, Repeated, Runs, RunState, WantedEvents, Way

__all__ = ["canonical"]

_UNBOUND = Variable("unbound")  # stands for each variable that an expression may not see


def canonical(branch: Branch, numbers: Mapping[Variable, int]) -> Branch:
    """Return a branch whose variables are named `c0`, `c1`, … by their numbers.

    Only the steps that look at its times stay: the others belong to the query, and are taken at its end.
    """
    names = {variable: Variable(f"c{number}") for variable, number in numbers.items()}
    timed = tuple(step for step in branch.steps if isinstance(step, FilterStep) and is_timed(step))
    return _renamed(replace(branch, steps=timed), names)


def _renamed(branch: Branch, names: Mapping[Variable, Variable]) -> Branch:
    return replace(
        branch,
        patterns=tuple(_pattern(pattern, names) for pattern in branch.patterns),
        values=tuple(Values(tuple(names[each] for each in table.variables), table.rows) for table in branch.values),
        steps=tuple(_step(step, names) for step in branch.steps),
        parts=tuple(Part(_renamed(part.branch, names)) for part in branch.parts),
        probes=tuple(_probe(probe, names) for probe in branch.probes),
        runs=None if branch.runs is None else _runs(branch.runs, names),
    )


def _runs(runs: Runs, names: Mapping[Variable, Variable]) -> Runs:
    """Return runs with other names; event solutions keep their own filters, which no query takes at its end."""

    def named(found: frozenset[Variable]) -> frozenset[Variable]:
        return frozenset(names[each] for each in found)

    def solutions(found: WantedEvents) -> WantedEvents:
        return WantedEvents(tuple(map(event, found.alternatives)), None if found.kept is None else named(found.kept))

    def event(branch: Branch) -> Branch:
        return replace(_renamed(branch, names), steps=tuple(_step(step, names) for step in branch.steps))

    def renamed(call: Call) -> tuple[Expression, ...]:
        return tuple(rename(each, names) for each in call.arguments)

    def repeated(one: Repeated) -> Repeated:
        return Repeated(tuple((name, named(variables)) for name, variables in one.parts))

    def state(one: RunState) -> RunState:
        own, alternatives = named(one.own), tuple(map(repeated, one.repeated))
        return RunState(one.step, named(one.variables), named(one.loose), own, alternatives, one.passing, one.name)

    states = tuple(map(state, runs.states))
    return replace(
        runs,
        events=tuple(map(solutions, runs.events)),
        states=states,
        ways=tuple(_way(way, names) for way in runs.ways),
        instants=tuple(map(event, runs.instants)),
        partition=tuple(names[each] for each in runs.partition),
        calls=tuple((hidden, replace(call, arguments=renamed(call))) for hidden, call in runs.calls),
        after=tuple(_barred(each, names) for each in runs.after),
    )


def _way(way: Way, names: Mapping[Variable, Variable]) -> Way:
    barred = tuple(_barred(each, names) for each in way.barred)
    rebound = frozenset(names[each] for each in way.rebound)
    return replace(way, conditions=_of_runs(way.conditions, names), barred=barred, rebound=rebound)


def _barred(barred: Barred, names: Mapping[Variable, Variable]) -> Barred:
    passed = None if barred.passed is None else (names[barred.passed[0]], names[barred.passed[1]])
    return replace(barred, conditions=_of_runs(barred.conditions, names), passed=passed)


def _of_runs(conditions: tuple[Expression, ...], names: Mapping[Variable, Variable]) -> tuple[Expression, ...]:
    known = frozenset(names)
    return tuple(_seen(each, variables(each) & known, names)[0] for each in conditions)


def _probe(probe: Probe, names: Mapping[Variable, Variable]) -> Probe:
    conditions = tuple(FilterStep(*_seen(step.expression, step.scope, names)) for step in probe.conditions)
    return replace(probe, there=_renamed(probe.there, names), conditions=conditions)


def _pattern(pattern: TriplePattern, names: Mapping[Variable, Variable]) -> TriplePattern:
    def named(term: Term) -> Term:
        return names[term] if isinstance(term, Variable) else term

    subject, predicate, object_ = map(named, pattern.terms)
    event = None if pattern.event is None else names[pattern.event]
    return replace(pattern, subject=subject, predicate=predicate, object=object_, event=event)


def _step(step: Step, names: Mapping[Variable, Variable]) -> Step:
    expression, scope = _seen(step.expression, step.scope, names)
    return replace(step, expression=expression, scope=scope)


def _seen(
    expression: Expression, scope: frozenset[Variable], names: Mapping[Variable, Variable]
) -> tuple[Expression, frozenset[Variable]]:
    """Return an expression and its scope with other names; variables outside the scope get one unbound name."""
    seen = {each: names[each] if each in scope else _UNBOUND for each in variables(expression)}
    return rename(expression, seen), frozenset(names[each] for each in scope)
