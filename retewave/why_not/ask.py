"""Why not?  For a binding that a user expected: the deepest partial matches, and the causes that refused the next join.

Data's way: live rows of the memories -> rows by pattern -> search -> **answer**.
It looks at the rows of this moment: live rows, static data, inline tables.  It says what it cannot know: whether a
triple that has been collected had come, and which rows a filter before a memory kept out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from retewave.compiler.plan.producers import End
from retewave.errors import UsageError
from retewave.io.rdf import to_text
from retewave.query import Query
from retewave.viz.explain.keeping import NOTHING, evaluated_of
from retewave.viz.explain.names import MOST_LISTED, Prefixes, listed
from retewave.why_not.answer import Alternative, RunsReached, WhyNot
from retewave.why_not.branch import BranchAsked
from retewave.why_not.rows import UNKNOWN, Memories
from retewave.why_not.runs import runs_reached
from retewave.why_not.windows import ViewWindows
from retewave.windows.intervals import is_static
from retewave.windows.times import Instant

if TYPE_CHECKING:
    from retewave.engine.engine import Engine

__all__ = ["WhyNot", "check_kind", "why_not"]


def why_not(engine: Engine, query: Query, binding: Mapping[str, Any] | None = None) -> WhyNot:
    """Say why a query has not matched a binding: terms by the names of the query's variables.

    >>> from retewave import Engine
    >>> engine = Engine()
    >>> both = engine.register("SELECT * { ?x <urn:p> ?y . ?y <urn:q> ?z }", name="both")
    >>> _ = engine.push(("urn:a", "urn:p", "urn:b"), time=1)
    >>> print(why_not(engine, both, {"x": "urn:a"}))
    both: why not ?x = <urn:a>?
      found 1 of 2 patterns
        ✓ ?x <urn:p> ?y  ←  <urn:a> <urn:p> <urn:b>  [1]
        ✗ <urn:b> <urn:q> ?z  (no triple)
          it has not come while the query listens: no row has been collected
    <BLANKLINE>
    """
    engine.registry.check(query)
    if binding is not None and not isinstance(binding, Mapping):
        raise UsageError(f"a binding maps variables to terms, and is not {binding!r}", hint='{"x": "http://…"}')
    check_kind(query)
    return QueryQuestion(engine, query, binding or {}).answer()


def check_kind(query: Query) -> None:
    """Refuse a question about a query of a kind of which it cannot be told."""
    if query.plan is not None:
        hint = "engine.explain() says what one event and static data must say; each detection has match.explain()"
        raise UsageError(f"{query.name} is of OBEP: why something is no detection cannot be told yet", hint=hint)


class QueryQuestion:
    """A question about a query."""

    def __init__(self, engine: Engine, query: Query, binding: Mapping[str, Any]) -> None:
        self.engine, self.query = engine, query
        self.compiled = engine.matcher.current()
        self.terms = engine.terms
        self.prefixes = Prefixes.of(query.parsed.prefixes)
        self.asked = {name.removeprefix("?"): to_text(term) for name, term in binding.items()}
        self.ids = {name: self.terms.find(text) or UNKNOWN for name, text in self.asked.items()}
        self.memories = Memories(self.compiled, self.terms, engine.datasets.static)
        self.ends = [
            (end, member)
            for end in self.compiled.plan.ends
            for member in end.shape.members
            if member.listener.number == query.number
        ]
        self.ends.sort(key=lambda each: each[1].branch)
        self.windows: ViewWindows | None = None
        if query.is_view:
            self.windows = ViewWindows(self.compiled.outcome.views[query.number], engine.shown_clock.decode)
            self.ends = [each for each in self.ends if self.windows.asks(each[1].branch)]
        self._check_names()

    def _check_names(self) -> None:
        known = dict.fromkeys(
            variable.name
            for _, member in self.ends
            for variable in (*member.numbers, *sorted(member.steps.assigned, key=str))
            if not variable.hidden
        )
        for name in self.asked:
            if name not in known:
                listed_names = ", ".join(f"?{each}" for each in known) or "none"
                raise UsageError(f"{self.query.name} has no variable ?{name}", hint=f"it has {listed_names}")

    def answer(self) -> WhyNot:
        if any(member.steps.has_runs for _, member in self.ends):
            return self._of_runs()
        branches = [BranchAsked(self, end, member) for end, member in self.ends]
        alternatives = tuple(each.answer() for each in branches)
        looking = any(
            each.matches and any(not look.probe.wanted for look in branch.branch.looked)
            for each, branch in zip(alternatives, branches, strict=True)
        )
        asked = {name: self.prefixes.short(text) for name, text in self.asked.items()}
        notes = [note for each in branches for note in each.of_reports()]
        notes += [*self._above(), *self._notes(alternatives, looking)]
        parts = self.windows is not None
        return WhyNot(self.query.name, asked, self._matched(), alternatives, tuple(notes), parts=parts)

    def _of_runs(self) -> WhyNot:
        """Return how far the runs of a sequence have come."""
        numbered = enumerate(self.ends, 1)
        found = [each for number, (end, _) in numbered for each in self._reached(number, end)]
        asked = {name: self.prefixes.short(text) for name, text in self.asked.items()}
        return WhyNot(self.query.name, asked, self._matched(), (), tuple(self._notes((), False)), tuple(found))

    def _reached(self, number: int, end: End) -> Iterator[RunsReached]:
        instant = self.engine.shown_clock.decode
        yield from runs_reached(self.compiled, end, self.ids, number, instant)

    def _matched(self) -> int:
        shown = {name: text for name, text in self.asked.items() if name in self.query.variables}
        if not shown:
            return self.query.matched
        return sum(all(match.text(name) == text for name, text in shown.items()) for match in self.query.matches)

    def _above(self) -> Iterator[str]:
        """Yield what a view evaluates above its parts, if anything."""
        above = NOTHING if self.query.leaves is None else evaluated_of(self.query.leaves, self.query.parsed)
        if not above.startswith(NOTHING):
            yield f"this tells of the parts of the view; evaluated above them at each report: {above}"

    def _notes(self, alternatives: tuple[Alternative, ...], looking: bool) -> Iterator[str]:
        """Yield notes; `looking`: a match is there unless a row that is gone has barred it."""
        for name, term in self.ids.items():
            if term == UNKNOWN:
                yield f"no row, pattern or static triple has the term that ?{name} was asked to be"
        if looking and not self._matched():
            yield "what barred a match may have been collected since: then it looks as if everything were there"
        foretold = self.compiled.outcome.foretold.get(self.query.number)
        if foretold:
            many = "a match before its time" if len(foretold) == 1 else f"{len(foretold):,} matches before their time"
            yield f"flush has told {many}, as if nothing more came; what comes is still compared with what waits"
        waiting = self.engine.order.waiting + len(self.engine.matcher.waiting)
        if waiting:
            yield f"{waiting:,} triples wait for late items, or for room, and have not been matched yet"
        if late := self.engine.order.late:
            yield f"{late:,} triples came later than the lateness allows, and have been left out"
        heard = {stream.iri[1:-1].decode() for stream in self.query.parsed.streams}
        deaf = sorted(self.engine.registry.streams.keys() - heard)
        if heard and deaf:
            yield f"the query does not hear {listed([f'<{iri}>' for iri in deaf[:MOST_LISTED]], len(deaf))}"
        silent = self.compiled.outcome.counts(self.query.number).get("suppressed", 0)
        if self.query.parsed.distinct and (silent or any(each.matches for each in alternatives)):
            on = self.query.parsed.on
            once = "a match once while an earlier one with the same bindings is alive"
            yield f"DISTINCT reports {once}" if on is None else f"DISTINCT ON reports {on}"

    def moment(self, end: int, start: int) -> tuple[Instant | None, Instant | None]:
        """Return an interval as the user tells times; nothing for static."""
        if is_static(start, end):
            return None, None
        clock = self.engine.shown_clock
        return clock.decode(start), clock.decode(end)
