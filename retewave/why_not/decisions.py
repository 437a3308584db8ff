"""The decisions of probes on a complete combination of patterns: it is barred, lacks a needed row, or waits.

Data's way: complete combinations -> **passed intervals, rows that probes find** -> the answer of `why_not`.
It looks at what memories hold now.  What barred a match may have been collected since; then it looks like a match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from retewave.compiler.algebra import Variable
from retewave.compiler.expressions.evaluate import Evaluator, term_of
from retewave.compiler.expressions.times import at_times
from retewave.compiler.expressions.tree import rename
from retewave.compiler.plan.producers import END as AT_END
from retewave.compiler.plan.producers import START as AT_START
from retewave.compiler.plan.producers import SlotFilter
from retewave.compiler.plan.walk import Reached, moment_of, times_of
from retewave.compiler.rewrite.branch import Decided
from retewave.provenance.words import readable
from retewave.rete.counters import totals
from retewave.rete.memory.due import WAITING_TIMES
from retewave.viz.explain.names import Prefixes, spell_window
from retewave.why_not.answer import Candidate, Pending, Refusal
from retewave.why_not.rows import END, START, WINDOW_START, Looked, Parts
from retewave.why_not.search import Search, Steps, Within, filter_text
from retewave.windows.times import Instant, spell_instant, spell_interval

if TYPE_CHECKING:
    from retewave.engine.compiled import CompiledNetwork
    from retewave.rete.terms.dictionary import Terms

__all__ = ["Decisions", "Inquiry"]

MOST_SHOWN = 3
DUE, END_WAITING, START_WAITING = 0, 1, 3  # columns of what waits


class Inquiry(Protocol):
    """A question, and the engine that it is about."""

    compiled: CompiledNetwork  # its network
    terms: Terms  # its dictionary
    prefixes: Prefixes  # the query's
    ids: dict[str, int]  # variable -> id of the term that was asked for

    def moment(self, end: int, start: int) -> tuple[Instant | None, Instant | None]:
        """Return an interval as the user tells times."""


class Decisions:
    """The probes of a branch, and the gates for intervals on the way to them."""

    def __init__(self, asked: Inquiry, branch: Parts, steps: Steps) -> None:
        self.all, self.branch, self.steps = asked, branch, steps
        self.search: Search  # set by its owner: it asks this, too
        self.now = totals(asked.compiled.runtime.arena).now
        self._times = times_of(asked.compiled.plan)

    def interval(self, within: Within) -> tuple[int, int]:
        """Return the start and the end of a complete combination."""
        return self.search.interval(within, self.branch.whole)

    def refusal(self, within: Within) -> Refusal | None:
        """Return the probe or window that keeps a complete combination from being a match, if any."""
        for gate in self.branch.gates:
            start, end = self.search.interval(within, gate.tree)
            if gate.streamed and end < start:
                return Refusal("time", "relation", "what was found is static, and has no place in time", 0)
            if gate.within is not None and end - start > gate.within:
                over = spell_window(end - start - gate.within)
                return Refusal("time", "window", f"it is {over} longer than the {spell_window(gate.within)} allowed", 0)
            unmet = next((each for each in gate.filters if not self._is_met(each, gate.tree, within)), None)
            if unmet is not None:
                names = {Variable(f"c{c}"): Variable(name.removeprefix("?")) for c, name in gate.tree.names.items()}
                text = self.all.prefixes.short(filter_text(rename(unmet.expression, names)))
                return Refusal(text, "filter", "it is not true of what was found", 0)
        refusals = (self._decided(look, within) for look in self.branch.looked)
        return next((each for each in refusals if each is not None), None)

    def _is_met(self, each: SlotFilter, tree: Reached, within: Within) -> bool:
        """Tell whether a filter on the times of the joined rows is true."""
        names = {f"c{column}": tree.names[column].removeprefix("?") for column in each.columns if column in tree.names}
        known = self.steps.decoded(within.bound, set(names.values()))
        bound = {column: known[name] for column, name in names.items() if name in known}
        expression = at_times(each.expression, *self.search.interval(within, tree))
        return Evaluator(expression).truth(bound) is True

    def pending(self) -> Iterator[Pending]:
        """Yield tuples that wait for their decision and agree with the question, a few of each probe."""
        for look in self.branch.looked:
            _, rows = self.all.compiled.runtime.waiting_of(look.number)
            for row in rows[np.lexsort((rows[:, START_WAITING], rows[:, DUE]))][: 100 * MOST_SHOWN].tolist():
                bound = self._binding(look, row[WAITING_TIMES:])
                if any(self.all.ids.get(name, term) != term for name, term in bound.items()):
                    continue
                shown = {name: self._text(term) for name, term in bound.items() if not name.startswith("_:")}
                start, end = self._moment(row[START_WAITING]), self._moment(row[END_WAITING])
                due = self._moment(row[DUE])
                yield Pending(look.look.operator, shown, start, end, due, self._until(look, row[DUE]))

    # ---- one probe ----
    def _decided(self, look: Looked, within: Within) -> Refusal | None:
        """Return why a probe does not let a combination pass, or not yet."""
        pattern = f"{look.look.operator} {{ {self._pattern(look, {})} }}"
        if look.probe.wanted != bool(fitting := self._fitting(look, within)):
            if look.probe.wanted:
                return Refusal(pattern, "absent", "there is nothing that fits, and there must be", len(look.rows))
            row, bound = fitting[0]
            if look.look.written:  # the row is a pair with the match itself: its times say nothing
                said = f"a match was barred by {self._pattern(look, bound)}"
                return Refusal(pattern, "barred", said, len(look.rows))
            said = f"a match was barred by {self._pattern(look, bound)}{self._at(row)}"
            near = tuple(self._candidate(look, row, bound) for row, bound in fitting[:MOST_SHOWN])
            return Refusal(pattern, "barred", said, len(look.rows), near)
        due = self._due(look, within)
        return None if due is None else Refusal(pattern, "undecided", self._until(look, due), len(look.rows))

    def _due(self, look: Looked, within: Within) -> int | None:
        """Return when a combination is decided that waits at a probe."""
        start, end = self.search.interval(within, look.decides)
        _, rows = self.all.compiled.runtime.waiting_of(look.number)
        rows = rows[(rows[:, START_WAITING] == start) & (rows[:, END_WAITING] == end)]
        for row in rows.tolist():
            bound = self._binding(look, row[WAITING_TIMES:])
            if all(within.bound.get(name, term) == term for name, term in bound.items()):
                return int(row[DUE])
        return None

    def _binding(self, look: Looked, columns: list[int]) -> dict[str, int]:
        """Return the bindings of a probe's tuple."""
        times = self._times[look.tree.number]
        names = look.tree.names
        return {
            names[column].removeprefix("?"): term
            for column, term in enumerate(columns)
            if column in names and column not in times and term > 0
        }

    def _until(self, look: Looked, due: int) -> str:
        if look.probe.decided is Decided.AT_DEADLINE:
            return f"the deadline is {self._shown(due)}, the clock is at {self._shown(self.now)}"
        return f"not certain before the instant {self._shown(due)} is closed"

    # ---- what fits ----
    def _fitting(self, look: Looked, within: Within) -> list[tuple[list[int], dict[str, int]]]:
        """Return the rows that fit a combination, the latest first, with their bindings."""
        rows = look.rows
        fits = np.ones(len(rows), dtype=np.bool_)
        decides, looked = look.probe.inputs
        for own, key in zip(decides.keys, looked.keys, strict=True):
            term = within.bound.get(look.decides.names.get(own, "").removeprefix("?"))
            fits &= rows[:, look.columns[key]] == (-1 if term is None else term)
        static = rows[:, END] < rows[:, START]
        fits &= ~static if look.probe.streamed else True
        fits &= static | self._in_time(look, within)
        found = []
        for row in rows[fits][::-1].tolist():
            names = look.tree.inputs[1].names
            terms = look.columns.keys() & names.keys() - self._times[look.tree.inputs[1].number]
            bound = {names[column].removeprefix("?"): row[look.columns[column]] for column in sorted(terms)}
            bound = {name: term for name, term in bound.items() if term > 0}
            if self._passes(look, row) and self._is_true(look, within, row, bound):
                found.append((row, bound))
        return found

    def _in_time(self, look: Looked, within: Within) -> np.ndarray:
        """Tell which rows are in reach, and in the relations that a probe wants."""
        rows, probe = look.rows, look.probe
        start, end = self.search.interval(within, look.decides)
        decision = start + probe.deadline if probe.decided is Decided.AT_DEADLINE else end
        fits = np.ones(len(rows), dtype=np.bool_)
        if probe.reach >= 0:
            fits &= rows[:, WINDOW_START] >= decision - probe.reach

        def time(which: tuple[int, int]) -> np.ndarray | int:
            place, column = which
            if place == 1:
                own = {AT_START: START, AT_END: END}.get(column)
                found: np.ndarray = rows[:, look.columns[column] if own is None else own]
                return found
            whose, at_end = moment_of(look.decides, column)
            return self.search.interval(within, whose)[at_end]

        for gap in probe.gaps:
            fits &= np.asarray(time(gap.earlier) + gap.gap <= time(gap.later))
        return fits

    def _passes(self, look: Looked, row: list[int]) -> bool:
        """Tell whether a row passes the gates before the memory that a probe looks at."""
        read, terms = look.probe.inputs[1], self.all.terms
        if read.within is not None and row[END] - row[START] > read.within:
            return False
        for each in read.filters:
            ids = {f"c{column}": row[look.columns[column]] for column in each.columns if column in look.columns}
            bound = {name: term_of(terms.text(term)) for name, term in ids.items() if term > 0}
            if Evaluator(at_times(each.expression, row[START], row[END])).truth(bound) is not True:
                return False
        return True

    def _is_true(self, look: Looked, within: Within, row: list[int], bound: Mapping[str, int]) -> bool:
        """Tell whether the conditions are true of a combination and a row."""
        start, end = row[START], row[END]
        if look.probe.joint:
            one, other = self.search.interval(within, look.decides)
            start, end = min(start, one), max(end, other)
        names = {**bound, **within.bound}
        known = self.steps.decoded(names, set(names))
        for step in look.look.conditions:
            seen = {variable.name: known[variable.name] for variable in step.scope if variable.name in known}
            if Evaluator(at_times(step.expression, start, end), scope=step.scope).truth(seen) is not True:
                return False
        return True

    # ---- words ----
    def _candidate(self, look: Looked, row: list[int], bound: Mapping[str, int]) -> Candidate:
        start, end = self.all.moment(row[END], row[START])
        wrong = "it is there, and must not be"
        return Candidate(self._pattern(look, bound), start, end, wrong)

    def _pattern(self, look: Looked, bound: Mapping[str, int]) -> str:
        """Return the pattern that a probe looks for, as the query has it, with the bindings filled in."""
        said = " . ".join(" ".join(self._term(term, bound) for term in pattern.terms) for pattern in look.patterns)
        chosen = look.look.written.closing if look.look.written else ()
        return f"{chosen[0].operator} {{ {said} }}" if chosen else said

    def _term(self, term: bytes | Variable, bound: Mapping[str, int]) -> str:
        if isinstance(term, bytes):
            return self.all.prefixes.short(term)
        name = term.name.removeprefix("_:.")
        return self._text(bound[name]) if name in bound else f"?{readable(term.name)}"

    def _text(self, term: int) -> str:
        return self.all.prefixes.short(self.all.terms.text(term))

    def _at(self, row: list[int]) -> str:
        start, end = self.all.moment(row[END], row[START])
        if start is None:
            return ""
        return f" at {spell_instant(start)}" if start == end else f" at {spell_interval(start, end)}"

    def _moment(self, time: int) -> Instant | None:
        return self.all.moment(time, time)[0]

    def _shown(self, time: int) -> str:
        moment = self._moment(time)
        return "always" if moment is None else spell_instant(moment)
