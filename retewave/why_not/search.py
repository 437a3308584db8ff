"""The deepest partial matches of a branch, by nested loops over the rows that fit.

Data's way: rows by pattern -> **partial matches** -> the answer of `why_not`.
The meaning is that of docs/language.md: one row for each pattern, such that variables agree, the relations and filters
hold and all are within one window; here a pattern may be left out, and the combinations that leave out fewest are kept.
The search tries the latest rows first and gives up after a number of steps; then it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from rdflib import BNode
from rdflib.term import Node

from retewave.compiler.expressions.evaluate import Evaluator, term_of
from retewave.compiler.expressions.times import at_times
from retewave.compiler.expressions.tree import Expression, Membership, Operation, to_sparql
from retewave.compiler.plan.producers import Probe
from retewave.compiler.plan.walk import Reached
from retewave.compiler.rewrite.branch import Decided, is_timed
from retewave.compiler.rewrite.normal import Branch, ExtendStep, FilterStep
from retewave.io.rdf import to_text
from retewave.rete.terms.dictionary import Terms
from retewave.why_not.rows import END, START, WINDOW_START, Parts, Related
from retewave.windows.intervals import STATIC_END, STATIC_START
from retewave.windows.relations import NAMES, holds

__all__ = ["NOTHING", "Search", "Steps", "Verdict", "Within", "filter_text"]

MOST_TRIED = 64  # rows of one pattern that are tried beside the same others
MOST_STEPS = 20_000
MOST_PARTIALS = 3


@dataclass(frozen=True)
class Within:
    """A combination of rows, of some patterns."""

    bound: Mapping[str, int]  # variable -> id; variables that were asked for are bound from the start
    chosen: Mapping[int, int]  # place of the pattern -> its row
    end: int  # the latest end
    window_start: int  # the earliest start, as the window sees it


NOTHING = Within({}, {}, STATIC_END, STATIC_START)  # the combination of no rows


@dataclass(frozen=True)
class Verdict:
    """The cause that keeps a row from a combination."""

    differing: tuple[str, ...] = ()  # variables that are bound to something else
    over: int = 0  # microseconds by which it is outside the window
    broken: Related | None = None  # the temporal relation that does not hold
    unmet: str = ""  # the filter that is not true, or the BIND that gives something else


class Steps:
    """A branch's filters and assignments, each evaluated as soon as all that it sees is bound."""

    def __init__(self, branch: Branch, terms: Terms, asked: Mapping[str, bytes]) -> None:
        self.branch, self.terms = branch, terms
        self.bound = {variable.name for variable in branch.bound}  # what patterns and tables bind
        self._asked = asked  # the texts of what was asked for
        timeless = (at_times(step.expression, STATIC_START, STATIC_END) for step in branch.steps)
        self._evaluators = [
            Evaluator(each, scope=step.scope) for each, step in zip(timeless, branch.steps, strict=True)
        ]

    def early(self, before: Mapping[str, int], after: Mapping[str, int]) -> str:
        """Return the first filter that could be decided only now, and is not true."""
        for step, evaluator in zip(self.branch.steps, self._evaluators, strict=True):
            seen = {variable.name for variable in step.scope}
            if (
                isinstance(step, ExtendStep)
                or is_timed(step)
                or not seen <= self.bound
                or not seen <= after.keys()
                or seen <= before.keys()
            ):
                continue
            if evaluator.truth(self.decoded(after, seen)) is not True:
                return filter_text(step.expression)
        return ""

    def final(self, bound: Mapping[str, int], interval: tuple[int, int]) -> tuple[str, str]:
        """Return the first step that a complete combination fails, and in which way; all are taken, in order."""
        known, solution = self.decoded(bound, self.bound), BNode()
        for step, evaluator in zip(self.branch.steps, self._evaluators, strict=True):
            if is_timed(step):
                evaluator = Evaluator(at_times(step.expression, *interval), scope=step.scope)
            seen = {variable.name: known[variable.name] for variable in step.scope if variable.name in known}
            if isinstance(step, FilterStep):
                if evaluator.truth(seen, solution) is not True:
                    return filter_text(step.expression), "it is not true of what was found"
                continue
            name, value = step.variable.name, evaluator.value(seen, solution)
            if value is not None:
                known[name] = value
            if name in self._asked and (value is None or to_text(value) != self._asked[name]):
                given = "nothing" if value is None else to_text(value).decode()
                return f"BIND({to_sparql(step.expression)} AS ?{name})", f"it gives {given}"
        return "", ""

    def decoded(self, bound: Mapping[str, int], names: set[str]) -> dict[str, Node]:
        """Return the terms that some variables are bound to."""
        return {name: term_of(self._text(name, bound[name])) for name in names if name in bound}

    def _text(self, name: str, term: int) -> bytes:
        return self.terms.text(term) if term > 0 else self._asked[name]


def filter_text(expression: Expression) -> str:
    """Return a filter as it would be written."""
    written = to_sparql(expression)
    bracketed = isinstance(expression, Operation | Membership)
    return f"FILTER{written}" if bracketed else f"FILTER({written})"


class Search:
    """A search over a branch."""

    def __init__(
        self,
        branch: Parts,
        asked: Mapping[str, int],
        width: int,
        steps: Steps,
        refused: Callable[[Within], object],
    ) -> None:
        self.parts, self.related, self.width, self.steps = branch.rows, branch.related, width, steps
        self.refused = refused  # what keeps a complete combination from being a match, if anything
        self._places = branch.places
        self.start = Within(asked, {}, NOTHING.end, NOTHING.window_start)
        self.complete: Within | None = None  # a combination of all patterns that passes everything
        self.exhausted = False  # not all was tried
        self._left = MOST_STEPS
        self._deepest: dict[frozenset[int], Within] = {}
        self._depth = 0

    def partials(self) -> list[Within]:
        """Return the deepest combinations, each of other patterns; `complete` if it passes everything."""
        self._extend(self.start, frozenset(range(len(self.parts))))
        found = list(self._deepest.values())
        return ([each for each in found if self._tied(each)] or found)[:MOST_PARTIALS]

    def _tied(self, within: Within) -> bool:
        """Tell whether the patterns found, and the terms asked for, hang together by their variables."""
        groups = [set(self.parts[place].names) for place in within.chosen]
        tied = set(self.start.bound) or set().union(*groups[:1])
        while groups:
            touching = [group for group in groups if group & tied]
            if not touching:
                return False
            tied.update(*touching)
            groups = [group for group in groups if not group & tied]
        return True

    def fitting(self, within: Within, place: int) -> np.ndarray:
        """Return which rows of a pattern agree with all that is bound, latest first."""
        return np.flatnonzero(self.differences(within, place) == 0)[::-1]

    def differences(self, within: Within, place: int) -> np.ndarray:
        """Return in how many variables each row of a pattern differs from the bound terms."""
        rows = self.parts[place]
        count = np.zeros(len(rows.times), dtype=np.int64)
        for column, name in enumerate(rows.names):
            if name in within.bound:
                count += rows.ids[:, column] != within.bound[name]
        return count

    def verdict(self, within: Within, place: int, row: int) -> Verdict | None:
        """Return the cause that keeps a row from a combination; nothing when it fits."""
        rows = self.parts[place]
        ids = dict(zip(rows.names, rows.ids[row].tolist(), strict=True))
        differing = tuple(name for name, term in ids.items() if within.bound.get(name, term) != term)
        if differing:
            return Verdict(differing)
        over = self._joined(within, place, row)
        if over.end - over.window_start > self.width:
            return Verdict(over=over.end - over.window_start - self.width)
        broken = next((each for each in self.related if place in each.places and self._breaks(over, each)), None)
        if broken is not None:
            return Verdict(broken=broken)
        unmet = self.steps.early(self._of_rows(within), self._of_rows(over))
        return Verdict(unmet=unmet) if unmet else None

    def _breaks(self, within: Within, related: Related) -> bool:
        """Tell whether a relation can be decided, and does not hold."""
        if not related.places <= within.chosen.keys():
            return False
        sides = [self.interval(within, side.tree) for side in (related.left, related.right)]
        if any(end < start for start, end in sides):
            return True  # what is static has no place in time
        return any(sides[one][at_end] + gap > sides[other][at_] for (one, at_end), gap, (other, at_) in related.bounds)

    def actual(self, within: Within, place: int, row: int, related: Related) -> str:
        """Return the name of the actual relation of two sides that are not as they should; None for static rows."""
        over = self._joined(within, place, row)
        sides = [self.interval(over, side.tree) for side in (related.left, related.right)]
        if any(end < start for start, end in sides):
            return ""
        return next(NAMES[code] for code in range(1, len(NAMES)) if holds(code, *sides[0], *sides[1]))

    def interval(self, within: Within, tree: Reached) -> tuple[int, int]:
        """Return the start and the end of the join of the chosen rows."""
        if not tree.inputs:
            place = self._places.get(tree.leaf)
            if place is None:
                return STATIC_START, STATIC_END
            times = self.parts[place].times[within.chosen[place]].tolist()
            return times[START], times[END]
        producer = tree.producer
        if isinstance(producer, Probe):
            start, end = self.interval(within, tree.inputs[0])
            return start, start + producer.deadline if producer.decided is Decided.AT_DEADLINE else end
        times = [self.interval(within, each) for each in tree.inputs]
        return min(start for start, _ in times), max(end for _, end in times)

    def _of_rows(self, within: Within) -> dict[str, int]:
        """Return the bindings of the chosen rows; a filter is charged to the row that completes its variables."""
        names = {name for place in within.chosen for name in self.parts[place].names}
        return {name: term for name, term in within.bound.items() if name in names}

    def _joined(self, within: Within, place: int, row: int) -> Within:
        rows = self.parts[place]
        end, window_start = int(rows.times[row, END]), int(rows.times[row, WINDOW_START])
        return Within(
            {**within.bound, **dict(zip(rows.names, rows.ids[row].tolist(), strict=True))},
            {**within.chosen, place: row},
            max(within.end, end),
            min(within.window_start, window_start),
        )

    def _extend(self, within: Within, remaining: frozenset[int]) -> None:
        self._left -= 1
        self.exhausted = self.exhausted or self._left < 0
        if self._left < 0 or self.complete is not None or len(within.chosen) + len(remaining) < self._depth:
            return
        if not remaining:
            self._note(within)
            return
        place, rows = self._next(within, remaining)
        others = remaining - {place}
        for row in rows[:MOST_TRIED].tolist():
            if self.verdict(within, place, row) is None:
                self._extend(self._joined(within, place, row), others)
        self.exhausted = self.exhausted or (len(rows) > MOST_TRIED and self.complete is None)
        self._extend(within, others)

    def _next(self, within: Within, remaining: frozenset[int]) -> tuple[int, np.ndarray]:
        """Return the pattern to try next: tied to bound variables and of fewest rows; and its rows that agree."""
        found = {place: self.fitting(within, place) for place in sorted(remaining)}
        loose = {place: not within.bound.keys() & set(self.parts[place].names) for place in found}
        place = min(found, key=lambda each: (loose[each], len(found[each])))
        return place, found[place]

    def _note(self, within: Within) -> None:
        if len(within.chosen) == len(self.parts) and not self.refused(within):
            self.complete = within
        if len(within.chosen) > self._depth:
            self._depth = len(within.chosen)
            self._deepest.clear()
        self._deepest.setdefault(frozenset(within.chosen), within)
