"""The first stage: decide the filters that the kernel left to Python, and put shown and compared variables in columns.

Data's way: output rows -> **steps in Python** -> solutions.
Most rows pass straight through: the kernel has decided every filter that it can.  A filter on one variable is
evaluated once a term; the verdict is entered in the kernel's memo, so that the kernel decides the next row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.algebra import Variable
from retewave.compiler.expressions.integers import Computed, integer_of, text_of_integer
from retewave.compiler.expressions.programs import Programs
from retewave.compiler.expressions.times import times_of
from retewave.compiler.expressions.tree import Call
from retewave.compiler.lower import Output, OutputRuns
from retewave.compiler.rewrite.branch import ExtendStep, FilterStep, Step
from retewave.engine.calling import called
from retewave.engine.chances import Chances, Seeds, fixed
from retewave.engine.stages import Solutions
from retewave.engine.steps import ReadyStep, python, ready
from retewave.provenance.groups import RunPart, RunParts
from retewave.query import Query
from retewave.rete.filters import codes as filter_codes
from retewave.rete.runtime import Runtime
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout

if TYPE_CHECKING:
    from rdflib import BNode

    from retewave.compiler.expressions.evaluate import Evaluator

__all__ = ["Deciding"]


@dataclass
class Deciding:
    """Decides output rows, for all queries of one network."""

    terms: Terms  # the dictionary
    runtime: Runtime  # whose output it is; its memo is filled here
    programs: Programs  # the kernel's filters; they know what the memo's rows stand for
    outputs: dict[tuple[int, int], Output]  # (query, branch) -> its output rows
    _steps: dict[int, ReadyStep] = field(default_factory=dict)
    _latest: tuple[bytes, int, np.ndarray, np.ndarray] | None = None  # of a rule: its row, sweeps, columns, what passes
    _chances: Chances | None = None  # of rules, once one is asked for

    def take(self, found: Solutions) -> Solutions:
        """Return the solutions whose filters are all true, with the columns that the query shows or compares."""
        query, rows = found.query, found.rows
        ready = self._as_they_are(query, rows)
        if ready is not None:
            return found._replace(columns=ready)
        branches = rows[:, layout.O_BRANCH] & (layout.UNDECIDED_ROW - 1)
        if len(rows) == 1 or (branches == branches[0]).all():
            output = self.outputs[query.number, int(branches[0])]
            columns, kept = self._built(query, output, rows) or self._of_branch(query, output, rows, found.parts)
            return found._replace(columns=columns).only(kept)
        columns = np.zeros((len(rows), len(query.columns)), dtype=np.int64)
        kept = np.ones(len(rows), dtype=np.bool_)
        for branch in np.unique(branches).tolist():
            of_branch = np.flatnonzero(branches == branch)
            output = self.outputs[query.number, branch]
            columns[of_branch], kept[of_branch] = self._of_branch(query, output, rows[of_branch], found.parts)
        return found._replace(columns=columns).only(kept)

    def _as_they_are(self, query: Query, rows: np.ndarray) -> np.ndarray | None:
        """Return the shown ids if there is nothing to do: one branch, all rows decided, columns in their order."""
        branch = int(rows[0, layout.O_BRANCH])
        if branch & layout.UNDECIDED_ROW:
            return None
        if len(rows) > 1 and (rows[:, layout.O_BRANCH] != branch).any():
            return None
        output, width = self.outputs[query.number, branch], len(query.columns)
        if output.always or output.names[:width] != query.columns:
            return None
        return rows[:, layout.O_COLUMNS : layout.O_COLUMNS + width]

    def decided(self, found: Solutions) -> Solutions:
        """Take solutions of a rule for what they build, and remember one alone: it is told next."""
        taken = self.take(found)
        query, rows = found.query, found.rows
        if len(rows) == 1 and not self.terms.is_swept:
            output = self.outputs[query.number, int(rows[0, layout.O_BRANCH]) & (layout.UNDECIDED_ROW - 1)]
            kept = np.full(1, len(taken.rows) == 1)
            columns = taken.columns if len(taken.rows) else np.zeros((1, len(query.columns)), dtype=np.int64)
            if output.runs is None:
                self._latest = _key(query, output, rows), self.terms.generation, columns, kept
        return taken

    def _built(self, query: Query, output: Output, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the shown ids of a rule's solution and whether it passes, if that was decided for what it builds.

        Its terms are of now: what no row holds is swept at some time, and its id is another term's.
        """
        if self._latest is None or len(rows) > 1 or self.terms.is_swept:
            return None
        key, generation, columns, kept = self._latest
        if generation != self.terms.generation or key != _key(query, output, rows):
            return None
        return columns, kept

    def _of_branch(
        self, query: Query, output: Output, rows: np.ndarray, parts: RunParts | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the shown ids of a branch's rows, and which rows pass."""
        columns = {name: rows[:, layout.O_COLUMNS + place] for place, name in enumerate(output.names)}
        if parts is not None and output.runs is not None:
            runs = [parts.of(match) for match in rows[:, -1].tolist()]
            columns |= {hidden.name: self._called(call, output.runs, runs) for hidden, call in output.runs.calls}
        passed = np.ones(len(rows), dtype=np.bool_)
        open_rows = (
            np.flatnonzero(rows[:, layout.O_BRANCH] & layout.UNDECIDED_ROW)
            if not output.always
            else np.arange(len(rows))
        )
        if len(open_rows):
            times = rows[:, [layout.O_START, layout.O_END]]
            self._take_steps(output.steps, columns, open_rows, passed, times, self._seeds(query, output, rows))
        shown = np.zeros((len(rows), len(query.columns)), dtype=np.int64)
        for place, name in enumerate(query.columns):
            if name in columns:
                shown[:, place] = columns[name]
        return shown, passed

    def _seeds(self, query: Query, output: Output, rows: np.ndarray) -> Seeds | None:
        if self._chances is None:
            self._chances = Chances(self.runtime.options.seed, self.terms.text)
        return self._chances.seeds(query, output, rows)

    def _called(self, call: Call, output: OutputRuns, runs: list[list[RunPart]]) -> np.ndarray:
        """Return the values of a call that looks at all repetitions, run by run."""
        variable, separator = call.arguments[0], call.arguments[1] if len(call.arguments) > 1 else None
        places = {
            number: columns[variable]
            for number, (state, columns, _) in output.states.items()
            if isinstance(variable, Variable) and variable in state.own
        }
        found = []
        for run in runs:
            ids = [part.columns[places[part.state]] for part in run if part.state in places]
            values = [python().term_of(self.terms.text(each)) if each else None for each in ids]
            value = called(call.function, separator, values)
            found.append(0 if value is None else self.terms.intern(python().text_of(value)))
        return np.array(found, dtype=np.int64)

    def _take_steps(
        self,
        steps: tuple[Step, ...],
        columns: dict[str, np.ndarray],
        rows: np.ndarray,
        passed: np.ndarray,
        times: np.ndarray,
        seeds: Seeds | None,
    ) -> None:
        """Take the steps on some rows, in order: drop rows that a filter drops, add columns that a step assigns.

        `seeds`: random values follow from these, row by row.
        """
        solutions: defaultdict[int, BNode] = defaultdict(_new_blank)
        if seeds is not None:
            solutions.update((row, _new_blank(f"N{name}")) for row, (name, _) in enumerate(seeds))
        for number, step in enumerate(steps):
            rows = rows[passed[rows]]
            if isinstance(step, FilterStep):
                passed[rows] = self._verdicts(step, columns, rows, solutions, number, seeds)
            else:
                column = np.zeros(len(passed), dtype=np.int64)
                for row in rows.tolist():
                    with fixed(seeds[row], number) if seeds else nullcontext():
                        column[row] = self._value(step, columns, row, solutions, times)
                columns[step.variable.name] = column

    def _verdicts(
        self,
        step: FilterStep,
        columns: dict[str, np.ndarray],
        rows: np.ndarray,
        solutions: Mapping[int, BNode],
        number: int,
        seeds: Seeds | None,
    ) -> np.ndarray:
        made = self._ready(step)
        evaluator = made.evaluator
        if len(made.scope) == 1 and evaluator.pure:
            column = columns[made.scope[0]][rows]
            if len(column) == 1:
                return np.array([self._remembered(made, int(column[0])) == filter_codes.TRUE], dtype=np.bool_)
            used, inverse = np.unique(column, return_inverse=True)
            known = [self._remembered(made, term) for term in used.tolist()]
            return np.array([verdict == filter_codes.TRUE for verdict in known], dtype=np.bool_)[inverse]
        said = np.zeros(len(rows), dtype=np.bool_)
        for place, row in enumerate(rows.tolist()):
            with fixed(seeds[row], number) if seeds else nullcontext():
                solution = solutions[row] if evaluator.labels else None
                said[place] = evaluator.truth(self._bindings(made.scope, columns, row), solution) is True
        return said

    def _remembered(self, step: ReadyStep, term: int) -> int:
        """Return the verdict of a filter on a term; it is evaluated once."""
        known = filter_codes.UNDECIDED if step.memo is None else self.runtime.recalled(step.memo, term)
        if known != filter_codes.UNDECIDED:
            return known
        bindings = {step.scope[0]: python().term_of(self.terms.text(term))} if term else {}
        verdict = filter_codes.VERDICTS[step.evaluator.truth(bindings)]
        if step.memo is not None and term > 0:
            self.runtime.remember(step.memo, term, verdict)
        return verdict

    def _value(
        self,
        step: ExtendStep,
        columns: dict[str, np.ndarray],
        row: int,
        solutions: Mapping[int, BNode],
        times: np.ndarray,
    ) -> int:
        made = self._ready(step)
        if made.computed is not None and (found := self._computed(made.computed, made.evaluator, columns, row)):
            return found
        bindings = self._bindings(made.scope, columns, row)
        if made.timed:
            given = times_of(*times[row].tolist())
            bindings |= {name: python().term_of(text) for name, text in given.items()}
        value = made.evaluator.value(bindings, solutions[row] if made.evaluator.labels else None)
        return 0 if value is None else self.terms.intern(python().text_of(value))

    def _computed(self, computed: Computed, evaluator: Evaluator, columns: dict[str, np.ndarray], row: int) -> int:
        """Return the value where all that an expression looks at are integers; 0 where not."""
        numbers: dict[str, int] = {}
        for name in evaluator.variables:
            term = int(columns[name][row]) if name in columns else 0
            number = integer_of(self.terms.text(term)) if term else None
            if number is None:
                return 0
            numbers[name] = number
        return self.terms.intern(text_of_integer(computed(numbers)))

    def _bindings(self, scope: Iterable[str], columns: dict[str, np.ndarray], row: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in scope:
            term = int(columns[name][row]) if name in columns else 0
            if term:
                found[name] = python().term_of(self.terms.text(term))
        return found

    def _ready(self, step: Step) -> ReadyStep:
        found = self._steps.get(id(step))
        if found is None:
            found = self._steps[id(step)] = ready(step, self.programs)
        return found


def _key(query: Query, output: Output, rows: np.ndarray) -> bytes:
    """Return the bytes of a solution: all that decides what is shown of it."""
    return b"%d " % query.number + rows[0, : layout.O_COLUMNS + len(output.names)].tobytes()


def _new_blank(name: str | None = None) -> BNode:
    from rdflib import BNode

    return BNode(name)
