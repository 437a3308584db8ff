"""Explain a match: which arrivals made it, by which axioms, and the arithmetic of its windows and relations.

Data's way: `Match.explain` -> the match's parts -> **its arrivals, its branch reckoned again** -> explanation.
Invariant: nothing is searched for: all arrivals are in the match's own row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from retewave.compiler.algebra import TriplePattern, Variable
from retewave.compiler.plan.producers import END, EVENT, START, STREAM, TRIPLE, Told
from retewave.errors import UsageError
from retewave.provenance.arrivals import ArrivalWords, came_of, texts_of
from retewave.provenance.built import UNKNOWN, Occurrence, built_by
from retewave.provenance.copies import copies
from retewave.provenance.derived_row import explain_row
from retewave.provenance.explanation import Explanation, Reckoning
from retewave.provenance.made_of import MadeOf, Sources
from retewave.provenance.reckoning import Reckoner
from retewave.provenance.run_reckoning import Taken, of_run
from retewave.provenance.time_words import TimeWords
from retewave.provenance.words import Words
from retewave.rete.words.rows import BUILT_EVENTS
from retewave.viz.explain.names import Prefixes
from retewave.windows.intervals import UNBOUNDED, is_static, widest

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["explain"]


def explain(batch: Matches, row: int, behind: frozenset[Occurrence] = frozenset()) -> Explanation:
    """Return why a batch's match is one; `behind` is the triple that it has built, if it is a rule's."""
    if batch.derived is not None:
        return explain_row(batch, row, lambda sources, told: beneath(batch, sources, told, behind))
    if batch.made_of is None:
        raise UsageError(
            f"{batch.query.name} was registered without explain=True, so its matches do not know what they are made of",
            hint="engine.register(query, explain=True), or retewave run --explain",
        )
    return _Explaining(batch, row, batch.made_of, behind).explanation()


def beneath(
    batch: Matches, sources: Sources, told: Mapping[int, int], behind: frozenset[Occurrence]
) -> tuple[str | None, Explanation | None]:
    """Return the name of the rule that built a triple, and why it has; nothing for a triple that came in."""
    if -told[EVENT] < BUILT_EVENTS:
        return None, None
    occurrence = (came_of(batch, told) or texts_of(batch, told, TRIPLE)), (told[START], told[END])
    match = None if occurrence in behind else built_by(sources.rules, occurrence)
    if match is None:
        return UNKNOWN, None
    return match.query.name, explain(match._batch, match._row, behind | {occurrence})


class _Explaining:
    """A match, and its data."""

    def __init__(self, batch: Matches, row: int, made_of: MadeOf, behind: frozenset[Occurrence]) -> None:
        self.batch, self.row, self.made_of, self.behind = batch, row, made_of, behind
        self.branch = made_of.sources.branches[batch.query.number][made_of.branch(row)]
        self.told: dict[int, dict[int, int]] = {}
        for each, number in made_of.told(row).items():
            self.told.setdefault(each.leaf, {})[each.what] = number
        leaves = sorted(self.told.keys() - copies(self.branch))
        self.patterns = {leaf: cast(TriplePattern, self.branch.leaves[leaf]) for leaf in leaves}
        self.taken: list[Taken] = []  # of a run: what each step took, in order
        for state, told in made_of.run(row):
            self._take(made_of.steps(row)[state], told)
        self.times = {leaf: (self.told[leaf][START], self.told[leaf][END]) for leaf in self.patterns}
        self.interval = int(batch.starts[row]), int(batch.ends[row])
        self.words = Words(Prefixes.of(batch.query.parsed.prefixes), self._bound())
        spans = [each for each in (self.interval, *self.times.values()) if not is_static(*each)]
        self.clock = TimeWords.of(batch.clock, (time for span in spans for time in span))

    def _take(self, step: int, told: Mapping[Told, int]) -> None:
        """Add the triples of an event of a run: each is an arrival of its own, as a step may take many events."""
        leaves = sorted({each.leaf for each in told})
        places = range(len(self.told), len(self.told) + len(leaves))
        for place, leaf in zip(places, leaves, strict=True):
            self.told[place] = {each.what: number for each, number in told.items() if each.leaf == leaf}
            self.patterns[place] = cast(TriplePattern, self.branch.leaves[leaf])
        time = max(self.told[place][END] for place in places)
        self.taken.append(Taken(step, tuple(place + 1 for place in places), time))

    def explanation(self) -> Explanation:
        query, batch = self.batch.query, self.batch
        binding = {
            name: self.words.prefixes.short(text)
            for place, name in enumerate(query.variables)
            if (text := batch.text(int(batch.ids[self.row, place]))) is not None
        }
        said = ArrivalWords(batch, self.made_of.sources, self.words, self.clock)
        arrivals = tuple(
            said.arrival(pattern, self.told[leaf], beneath(batch, self.made_of.sources, self.told[leaf], self.behind))
            for leaf, pattern in self.patterns.items()
        )
        static = is_static(*self.interval)
        start, end = (None, None) if static else map(self.clock.instant, self.interval)
        micros = None if static else self.interval
        return Explanation(query.name, binding, start, end, arrivals, tuple(self._reckonings()), micros, self.clock)

    def _bound(self) -> dict[Variable, bytes]:
        """Return the match's bindings, pattern by pattern, as the triples say."""
        bound: dict[Variable, bytes] = {}
        for leaf, pattern in self.patterns.items():
            for term, text in zip(pattern.terms, texts_of(self.batch, self.told[leaf], TRIPLE), strict=True):
                if isinstance(term, Variable):
                    bound.setdefault(term, text)  # inside EXISTS a name may be another's
        return bound

    def _reckonings(self) -> Iterator[Reckoning]:
        """Yield the arithmetic of the branch, then of the windows on the query's streams."""
        numbers = {leaf: number for number, leaf in enumerate(self.patterns, 1)}
        widths = _widths(self.batch)
        reach = widest(widths.values())
        reckoner = Reckoner(self.times, numbers, self.words, self.clock, reach)
        if self.branch.runs is not None:
            yield from of_run(self.branch.runs, self.taken, self.interval, self.clock)
            return
        reckoner.whole(self.branch)
        yield from reckoner.found
        if is_static(*self.interval):
            return
        for stream, width in widths.items():
            starts = [span[0] for leaf, span in self.times.items() if self._is_heard(leaf, stream, width == reach)]
            if starts and width < UNBOUNDED:
                first = min(starts)
                called = "RANGE" if len(widths) == 1 else f"RANGE of <{stream}>"
                said = self.clock.length(first, self.interval[1], width)
                yield Reckoning("window", called, said, (first, first + width))

    def _is_heard(self, leaf: int, stream: str | None, is_widest: bool) -> bool:
        """Tell whether a triple is bounded by the window on a stream; one of no stream by the widest."""
        if is_static(*self.times[leaf]):
            return False
        own = self.made_of.sources.stream(self.told[leaf][STREAM])
        return is_widest if own is None else stream in (None, own)


def _widths(batch: Matches) -> Mapping[str | None, int]:
    """Return how wide the query's windows are, by stream; None: one for all streams."""
    parsed = batch.query.parsed
    if not parsed.streams:
        return {None: UNBOUNDED if parsed.window is None else parsed.window}
    widths: dict[str | None, int] = {}
    for stream in parsed.streams:
        own = stream.width if parsed.window is None else parsed.window
        widths[stream.iri[1:-1].decode()] = UNBOUNDED if own is None else own
    return widths
