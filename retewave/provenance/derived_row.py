"""Explain a row of a view's report: the triples in its windows that it is derived from, and what was not in them.

Data's way: `Match.explain` -> the row's derivation -> **arrivals, and words about groups, absence and windows** ->
explanation.
Invariant: nothing is searched for: the report has noted the derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from retewave.compiler.algebra import TriplePattern
from retewave.provenance.arrivals import ArrivalWords
from retewave.provenance.derivation import Derivation, Lacking, PartSolution, Several
from retewave.provenance.explanation import Arrival, Explanation, Micros, Reckoning
from retewave.provenance.made_of import Sources
from retewave.provenance.pattern_words import PatternWords, patterns_of
from retewave.provenance.time_words import TimeWords
from retewave.provenance.words import Words
from retewave.viz.explain.names import Prefixes
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["explain_row"]

Beneath = Callable[[Sources, Mapping[int, int]], tuple[str | None, Explanation | None]]


def explain_row(batch: Matches, row: int, beneath: Beneath) -> Explanation:
    """Return why a row is in a report; `beneath` tells which rule has built a triple, and why."""
    return _Row(batch, row, beneath).explanation()


class _Row:
    """A row, and what is said of it so far."""

    def __init__(self, batch: Matches, row: int, beneath: Beneath) -> None:
        assert batch.derived is not None
        assert batch.reported is not None
        self.batch, self.row, self.derived, self.beneath = batch, row, batch.derived, beneath
        self.at = batch.reported[1]
        self.words = Words(Prefixes.of(batch.query.parsed.prefixes), {})
        known = [each for bounds in batch.derived.bounds for each in bounds if each > BEFORE_ALL]
        self.clock = TimeWords.of(batch.clock, [self.at, *known])
        self.of_triples = ArrivalWords(batch, self.derived.sources, self.words, self.clock)
        self.arrivals: list[Arrival] = []
        self.windows: dict[int, list[int]] = {}  # the numbers of the arrivals in each window, by its number
        self.said: list[Reckoning] = []

    def explanation(self) -> Explanation:
        batch, query = self.batch, self.batch.query
        shown = {name: batch.text(int(batch.ids[self.row, place])) for place, name in enumerate(query.variables)}
        binding = {name: self.words.prefixes.short(text) for name, text in shown.items() if text is not None}
        derivation = self.derived.rows[self.row]
        for _ in self._told(derivation or ()):
            pass
        said = (*self.said, *self._windows(), self._report(known=derivation is not None))
        interval = int(batch.starts[self.row]), self.at
        start, end = map(self.clock.instant, interval)
        return Explanation(query.name, binding, start, end, tuple(self.arrivals), said, interval, self.clock)

    def _told(self, derivation: Derivation) -> Iterator[int]:
        """Yield the numbers of the arrivals of a derivation, and note what is said of it."""
        for step in derivation:
            match step:
                case PartSolution():
                    yield from self._solved(step)
                case Several():
                    yield from self._several(step)
                case Lacking() if (said := self._lacking(step)) not in self.said:  # members of a group lack the same
                    self.said.append(said)

    def _solved(self, step: PartSolution) -> Iterator[int]:
        leaf = self.derived.leaves[step.leaf]
        for pattern, told in zip(patterns_of(leaf.pattern), step.triples, strict=True):
            plain = TriplePattern(pattern.subject, pattern.predicate, pattern.object)
            beneath = self.beneath(self.derived.sources, told)
            self.arrivals.append(self.of_triples.arrival(plain, told, beneath))
            number = len(self.arrivals)
            if leaf.window is not None and self.arrivals[-1].micros is not None:
                self.windows.setdefault(leaf.window, []).append(number)
            yield number

    def _several(self, step: Several) -> list[int]:
        parts = [tuple(self._told(part)) for part in step.parts]
        numbers = [number for part in parts for number in part]
        texts = [(name, self.batch.text(term)) for name, term in step.values]
        values = [f"{name} = {'nothing' if text is None else self.words.prefixes.short(text)}" for name, text in texts]
        counted = {"GROUP BY": "solution", "path": "step", "MATCH": "event"}[step.operator]
        told = f"{step.count:,} {counted}{'s' * (step.count != 1)}"
        more = f" and {step.count - len(parts):,} more" if step.count > len(parts) else ""
        listed = f"{spelled_numbers(numbers)}{more}"
        said = ", ".join([*values, f"of {told}" if values else told]) + (f": {listed}" if numbers else "")
        spans = [span for number in numbers if (span := self.arrivals[number - 1].micros) is not None]
        micros = (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
        self.said.append(Reckoning("group", step.operator, said, micros, tuple(parts), step.count))
        return numbers

    def _lacking(self, step: Lacking) -> Reckoning:
        bound = {variable: self.batch.text(term) or b"" for variable, term in step.bound}
        said = PatternWords(self.words.prefixes, self.derived.leaves, bound).said(step.pattern)
        return Reckoning("absent", step.operator, f"no {said}", self._window_of(step))

    def _window_of(self, step: Lacking) -> Micros | None:
        """Return the window in which something was not, if it is looked for in one."""
        windows = {self.derived.leaves[leaf].window for leaf in PatternWords.leaves_in(step.pattern)}
        only = next(iter(windows)) if len(windows) == 1 else None
        return None if only is None else self._open(only)

    def _open(self, window: int) -> Micros | None:
        """Return the bounds of a window, if it is open for any time."""
        low, high = self.derived.bounds[window]
        first = int(self.batch.starts[self.row]) if low <= BEFORE_ALL else low
        return (min(first, high), high) if low < high else None

    def _windows(self) -> Iterator[Reckoning]:
        """Yield the windows that have the triples."""
        assert self.batch.query.parsed.view is not None
        for number, numbers in sorted(self.windows.items()):
            window = self.batch.query.parsed.view.windows[number]
            low, high = self.derived.bounds[number]
            opens = "" if low <= BEFORE_ALL else f"behind {self.clock.short(low)}, "
            named = self.words.prefixes.short(f"{'' if window.name is None else window.name.decode()} {window}".strip())
            said = f"{named}: {opens}up to {self.clock.short(high)}: {spelled_numbers(numbers)}"
            yield Reckoning("window", "WINDOW", said, self._open(number), (tuple(numbers),))

    def _report(self, *, known: bool) -> Reckoning:
        assert self.batch.query.parsed.view is not None
        view, at = self.batch.query.parsed.view, self.clock.short(self.at)
        said = f"{view.reporting} at {at}"
        if view.told == "ISTREAM":
            said += ", and not in the report before"
        elif view.told == "DSTREAM":
            before = "the report before" if self.derived.before is None else self._before(self.derived.before)
            said += f", no more: all of this was in {before}"
        if not known:
            said += "; what the row was made of is not known: the view has gone on from a snapshot since then"
        return Reckoning("report", "REPORT", said, (self.at, self.at))

    def _before(self, time: int) -> str:
        return f"the report at {self.clock.short(time)}"


def spelled_numbers(numbers: list[int]) -> str:
    """Spell the numbers of arrivals: neighbours together.

    >>> spelled_numbers([1, 2, 3, 5])
    '(1–3), (5)'
    """
    breaks = [0, *(place for place, (one, two) in enumerate(pairwise(numbers), 1) if two != one + 1), len(numbers)]
    runs = [numbers[begin:end] for begin, end in pairwise(breaks)]
    return ", ".join(f"({run[0]})" if len(run) == 1 else f"({run[0]}–{run[-1]})" for run in runs if run)
