"""What bars a run: probes for events that must not come before it, between two of its events, or behind it.

Data's way: a planned state or step, events that bar -> **probes** -> plan.
A barring event that is earlier than the event that a run takes is looked for when that arrives.  A further repetition
may be of the same instant, so it is looked for when the instant is closed.  An event that must not come behind a
complete run is looked for when the run's window is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass

from retewave.compiler.expressions.tree import Call, Expression, Operation, Variable, rename, with_children
from retewave.compiler.plan.operators.join import number_of, numbers_in
from retewave.compiler.plan.producers import (
    END,
    LINK,
    SELF,
    SINCE,
    START,
    WINDOW,
    Gap,
    Open,
    Plan,
    Probe,
    RunCall,
)
from retewave.compiler.rewrite.branch import Decided
from retewave.compiler.rewrite.runs import OVER_GROUPS, Barred, Runs

__all__ = ["UNBOUND", "Barring", "with_calls"]

UNBOUND = Variable("unbound")  # stands for a variable that neither side has

Calls = dict[RunCall, None]  # in the order of their numbers


@dataclass(frozen=True)
class Barring:
    """Adds probes for barring events."""

    plan: Plan
    runs: Runs
    there: list[Open]  # by number: the event solutions
    states: Mapping[int, Open]  # by number, as far as they are planned

    def unbarred(self, entered: Open, barred: Barred, loose: Set[int]) -> Open:
        """Return the runs, of which some bind loose variables, without a barring event before their last event."""
        there = self.there[barred.event]
        gaps = [Gap((1, END), 1, (0, END))]
        if barred.begins and self.runs.tumbling is not None:
            gaps.append(Gap((0, WINDOW), 0, (1, START)))
        elif barred.begins:
            gaps.append(Gap((0, END), -(self.runs.width or 0), (1, START)))
        elif barred.passed is None:
            gaps.append(Gap((0, entered.columns[SINCE]), 1, (1, START)))
        pairs = self._shared(entered, there, loose)
        if barred.passed is not None:
            own, its = (number_of(each) for each in barred.passed)
            pairs.append((entered.columns[own], there.columns[its]))
        return self._probed(entered, there, pairs, gaps, self._fitting(barred, entered, there, LINK, loose))

    def unlengthened(self, entered: Open, step: int) -> Open:
        """Return the runs that had no further repetition of a step up to the event that they have taken."""
        since = entered.columns[SINCE]
        gaps = [Gap((0, since), 1, (1, END)), Gap((1, END), 0, (0, END))]
        for there in self._repeated(step):
            pairs = [(entered.columns[LINK], there.columns[LINK])]
            entered = self._probed(entered, there, pairs, gaps, ((), ()), Decided.AT_CLOSE)
        return entered

    def ended(self, final: Open) -> Open:
        """Return the complete runs behind which no barring event comes until their window is over."""
        entered = Open(final.producer, {**final.columns, SELF: len(final.columns)}, {}, False, final.leaves)
        width, opens = self.runs.width or 0, START if self.runs.tumbling is None else WINDOW
        loose = set(map(number_of, self.runs.states[self.runs.final].loose))
        decided, until = Decided.AT_DEADLINE, Gap((1, END), -width, (0, opens))
        for barred in self.runs.after:
            there = self.there[barred.event]
            gaps = [Gap((0, entered.columns.get(SINCE, END)), 1, (1, START)), until]
            fitting = self._fitting(barred, entered, there, SELF, loose)
            entered = self._probed(entered, there, self._shared(entered, there, loose), gaps, fitting, decided)
            decided = Decided.AT_CLOSE
        for there in self._repeated(self.runs.longest) if self.runs.longest else ():
            gaps = [Gap((0, entered.columns.get(SINCE, END)), 1, (1, END)), until]
            pairs = [(entered.columns[SELF], there.columns[LINK])]
            entered = self._probed(entered, there, pairs, gaps, ((), ()), decided)
            decided = Decided.AT_CLOSE
        return entered if self.runs.late else self._settled(entered, final)

    def _settled(self, entered: Open, final: Open) -> Open:
        """Return complete runs when their instant is closed: by a probe for something that is never there."""
        never = [Gap((0, END), 1, (1, END)), Gap((1, END), 0, (0, END))]
        pairs = [(entered.columns[SELF], final.columns[LINK])]
        return self._probed(entered, final, pairs, never, ((), ()), Decided.AT_CLOSE)

    def _repeated(self, step: int) -> list[Open]:
        """Return the states in which runs have repeated a step."""
        states = enumerate(self.runs.states)
        return [self.states[number] for number, each in states if each.step == step and not each.passing]

    def _shared(self, entered: Open, there: Open, loose: Set[int]) -> list[tuple[int, int]]:
        """Return the columns in which two must agree, without loose variables; two events may be of one name."""
        return [(entered.columns[each], there.columns[each]) for each in sorted(self._in_both(entered, there) - loose)]

    def _in_both(self, entered: Open, there: Open) -> Set[int]:
        patterns = (pattern for branch in self.runs.branches for pattern in branch.all_patterns)
        events = {number_of(each.event) for each in patterns if each.event is not None}
        both = entered.columns.keys() & there.columns.keys()
        return {each for each in both - events if each >= 0}

    def _fitting(
        self, barred: Barred, entered: Open, there: Open, link: int, loose: Set[int]
    ) -> tuple[tuple[Expression, ...], tuple[RunCall, ...]]:
        """Return the conditions on a barring event, and the calls in them."""
        calls: Calls = {}
        conditions = tuple(with_calls(each, self._call, calls) for each in barred.conditions)
        assert not calls or link in entered.columns
        agreeing = (
            _agree(entered.columns[each], there.columns[each]) for each in sorted(self._in_both(entered, there) & loose)
        )
        return (*(_of_both(each, entered.columns, there.columns) for each in conditions), *agreeing), tuple(calls)

    def _call(self, name: str, variable: Variable, separator: Expression | None) -> RunCall:
        """Return a call that looks at the repetitions of a run, and at nothing else."""
        repeats = [number for number, each in enumerate(self.runs.states) if variable in each.own]
        planned = [self.states[each] for each in repeats if each in self.states]
        states = tuple((each.producer, each.columns[number_of(variable)]) for each in planned)
        return RunCall(name, separator, None, False, states)

    def _probed(
        self,
        entered: Open,
        there: Open,
        pairs: list[tuple[int, int]],
        gaps: Iterable[Gap],
        fitting: tuple[tuple[Expression, ...], tuple[RunCall, ...]],
        decided: Decided = Decided.AT_ARRIVAL,
    ) -> Open:
        late, width = decided is Decided.AT_DEADLINE or SELF in entered.columns, self.runs.width
        conditions, calls = fitting
        origins = tuple(sorted(set(entered.columns.values())))
        columns = {name: origins.index(column) for name, column in entered.columns.items()}
        if late and SINCE not in columns:  # its end becomes another
            columns[SINCE], origins = len(origins), (*origins, END)
        probe = Probe(
            (entered.read(tuple(own for own, _ in pairs)), there.read(tuple(its for _, its in pairs))),
            origins, tuple(sorted(gaps)), conditions, decided, False, False, False,
            (width or 0) if decided is Decided.AT_DEADLINE else 0,
            -1 if width is None or late else width, width if late else None,
            calls=calls, link=columns[SELF if late else LINK] if calls else None,
            windowed=self.runs.tumbling is not None and decided is Decided.AT_DEADLINE,
        )  # fmt: skip
        looked = entered.looked | frozenset(each for each in there.leaves if each >= 0)
        leaves = entered.leaves + there.leaves
        return Open(self.plan.number(probe), columns, {}, False, leaves, looked=looked)


def with_calls(
    condition: Expression, call: Callable[[str, Variable, Expression | None], RunCall], calls: Calls
) -> Expression:
    """Return a condition with `r0`, `r1`, … in place of the calls that look at all repetitions of a step."""

    def part(one: Expression) -> Expression:
        return with_calls(one, call, calls)

    match condition:
        case Call(name, (Variable() as variable, *more)) if name in OVER_GROUPS:
            found = call(name, variable, more[0] if more else None)
            calls.setdefault(found)
            return Variable(f"r{list(calls).index(found)}")
    return with_children(condition, part)


def _agree(own: int, its: int) -> Expression:
    """Return the condition that a run does not bind what is in its column, or that the barring event has the same."""
    mine = Variable(f"c{own}")
    return Operation("||", (Operation("!", (Call("BOUND", (mine,)),)), Call("SAMETERM", (mine, Variable(f"d{its}")))))


def _of_both(expression: Expression, entered: Mapping[int, int], there: Mapping[int, int]) -> Expression:
    """Return a condition over the columns of the run that is decided on, `c…`, and of the barring event, `d…`."""
    names = {}
    for number in numbers_in(expression):
        if number in entered:
            names[Variable(f"c{number}")] = Variable(f"c{entered[number]}")
        else:
            column = there.get(number)
            names[Variable(f"c{number}")] = UNBOUND if column is None else Variable(f"d{column}")
    return rename(expression, names)
