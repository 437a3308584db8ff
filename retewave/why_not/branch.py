"""Why not, of one side of a UNION: the deepest combinations of its patterns, and why the next pattern failed.

Data's way: rows by pattern -> search -> **partial matches, with the causes** -> the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.algebra import TriplePattern, Values, Variable
from retewave.compiler.expressions.tree import rename
from retewave.compiler.plan.producers import End
from retewave.compiler.plan.shape import Member
from retewave.epsilon.derivation import OBJECT, SUBJECT
from retewave.epsilon.dispatch import why
from retewave.rete.counters import totals
from retewave.viz.explain.counts import Counts, count
from retewave.viz.explain.epsilon import is_given
from retewave.viz.explain.names import MOST_LISTED, spell_window
from retewave.viz.explain.relations import in_words
from retewave.why_not.answer import Alternative, Candidate, Found, Partial, Reason, Refusal
from retewave.why_not.decisions import Decisions
from retewave.why_not.rows import END, START, UNKNOWN, PatternRows, Related, Span
from retewave.why_not.search import Search, Steps, Verdict, Within, filter_text
from retewave.why_not.windows import PartAsked
from retewave.windows import durations
from retewave.windows.intervals import is_static
from retewave.windows.relations import NAMES, NONE
from retewave.windows.times import Instant, spell_instant

if TYPE_CHECKING:
    from retewave.why_not.ask import QueryQuestion

__all__ = ["BranchAsked"]

MOST_CANDIDATES = 3


class BranchAsked:
    """A question about one side of a UNION."""

    def __init__(self, asked: QueryQuestion, end: End, member: Member) -> None:
        self.all, self.member = asked, member
        self.branch = asked.memories.parts(end, member)
        if asked.windows is not None:
            self.branch = asked.windows.with_contents(member.branch, self.branch)
        self.parts = self.branch.rows
        self.width = member.listener.width
        self.steps = Steps(member.steps, asked.terms, asked.asked)
        bound = {name: term for name, term in asked.ids.items() if name in self.steps.bound}
        self.decisions = Decisions(asked, self.branch, self.steps)
        self.search = Search(self.branch, bound, self.width, self.steps, self._failed)
        self.decisions.search = self.search
        self.now = totals(asked.compiled.runtime.arena).now

    def answer(self) -> Alternative:
        """Return the deepest partial matches, with the causes, or the complete match that there is."""
        partials = self.search.partials()
        pending = tuple(self.decisions.pending())
        if self.search.complete is not None:
            return Alternative(len(self.parts), (), self._found(self.search.complete), pending=pending)
        found = tuple(self._partial(each) for each in partials)
        return Alternative(len(self.parts), found, whole=not self.search.exhausted, pending=pending)

    def of_reports(self) -> Iterator[str]:
        """Yield in which reports of a view what was found is."""
        if self.all.windows is not None:
            whole, of = self.search.complete, self._of_window
            for within in self.search.partials() if whole is None else [whole]:
                yield from self.all.windows.told(of, within, whole=within is whole)

    def _partial(self, within: Within) -> Partial:
        missing = [place for place in range(len(self.parts)) if place not in within.chosen]
        refused = [self._refusal(within, place) for place in missing]
        failed = None if missing else self._failed(within)
        refused += [] if failed is None else [failed]
        static = is_static(within.window_start, within.end)
        expired = bool(within.chosen) and not static and self.now - within.window_start > self.width
        return Partial(self._found(within), tuple(refused), expired)

    def _found(self, within: Within) -> tuple[Found, ...]:
        return tuple(
            Found(
                self._pattern(place, {}), self._triple(place, row), *self._moment(place, row), self._used_up(place, row)
            )
            for place, row in sorted(within.chosen.items())
        )

    def _used_up(self, place: int, row: int) -> Instant | None:
        at = self.parts[place].used_up.get(row)
        return None if at is None else self.all.moment(at, at)[1]

    def _failed(self, within: Within) -> Refusal | None:
        """Return the cause that keeps a combination of all patterns from being a match, if there is any."""
        refusal = self.decisions.refusal(within)
        if refusal is not None:
            return refusal
        if self.all.windows is not None and (missed := self.all.windows.missed(self._of_window, within)):
            return missed
        step, said = self.steps.final(within.bound, self.decisions.interval(within))
        if not step:
            return None
        reason: Reason = "value" if step.startswith("BIND") else "filter"
        return Refusal(self.all.prefixes.short(step), reason, self.all.prefixes.short(said), 0)

    @property
    def _of_window(self) -> PartAsked:
        return PartAsked(self.member.branch, self.parts, self._triple)

    # ---- the causes that refused a pattern ----
    def _refusal(self, within: Within, place: int) -> Refusal:
        rows = self.parts[place]
        near = self._nearest(within, place)
        agreeing = [(row, verdict) for row, verdict in near if not verdict.differing]
        shown = tuple(
            self._candidate(within, place, row, verdict) for row, verdict in (agreeing or near)[:MOST_CANDIDATES]
        )
        reason, said = self._reason(within, place, near, [verdict for _, verdict in agreeing])
        forms = tuple(self._forms(within, place)) if reason in ("no triple", "no memory") else ()
        return Refusal(self._pattern(place, within.bound), reason, said, len(rows.times), shown, forms)

    def _nearest(self, within: Within, place: int) -> list[tuple[int, Verdict]]:
        """Return the rows that differ least, first in the terms that were asked for, with the faults of each."""
        rows, differences = self.parts[place], self.search.differences(within, place)
        from_asked = self.search.differences(self.search.start, place)
        order = np.lexsort((-rows.times[:, END], differences, from_asked))[: 16 * MOST_CANDIDATES]
        found = [(row, self.search.verdict(within, place, row)) for row in order.tolist()]
        wrong = [(row, verdict) for row, verdict in found if verdict is not None]
        return sorted(wrong, key=lambda each: (from_asked[each[0]], len(each[1].differing), each[1].over))

    def _reason(
        self, within: Within, place: int, near: list[tuple[int, Verdict]], agreeing: list[Verdict]
    ) -> tuple[Reason, str]:
        if any(verdict.unmet for verdict in agreeing):
            return "filter", "there are such triples, but a filter refuses them"
        broken = next((verdict.broken for verdict in agreeing if verdict.broken), None)
        if broken:
            return "relation", f"there is such a triple, but {self._relation(broken)} does not hold"
        if agreeing:
            least, window = durations.spell(agreeing[0].over), spell_window(self.width)
            return "window", f"there is such a triple, but it is {least} outside the window of {window}"
        rows = self.parts[place]
        if rows.test is None:
            return "no triple", "the inline table has no such row"
        if self._came_elsewhere(within, rows):
            return "stream", "it came on a stream that the query does not hear"
        tied = {name for name in rows.names if name in within.bound}
        given = tied & self.all.asked.keys()
        keyed = [v for _, v in near if len(v.differing) < len(tied) and not given & set(v.differing)]
        if keyed:
            names = sorted({name for verdict in keyed for name in verdict.differing})
            return "key", f"there are such triples for another {self._names(names)}"
        return self._absent(rows)

    def _absent(self, rows: PatternRows) -> tuple[Reason, str]:
        """Say what is known of a triple that is not there."""
        if not rows.slots and self.all.windows is not None:
            return "no triple", "it has not come, or has left the window since"
        if not rows.slots and len(self.parts) > 1:
            return "no memory", "it can only come last, and is not kept: it matches when it comes, or never"
        if not rows.slots and self.branch.looked:
            return "no memory", "it is not kept: such a triple is decided on when it comes, or waits for that"
        if not rows.slots:
            return "no memory", "a pattern that is alone keeps nothing: such a triple matches when it comes, or never"
        counted = count(self.all.compiled)
        matcher, held = self.all.engine.matcher, totals(self.all.compiled.runtime.arena)
        former = matcher.collected + matcher.shed
        gone = former + held.collected + held.shed
        if counted.counting and not former:
            whole = [slot for slot in rows.slots if self._keeps_all(slot)] or rows.own_slots or rows.slots
            gone = min(counted.memories[slot].collected for slot in whole)
        said = "it has not come while the query listens: no row has been collected"
        if gone:
            since = self.all.engine.shown_clock.decode(self.now - self.width)
            said = f"it has not come, or came before {spell_instant(since)} and has been collected"
        return "no triple", said + "".join(self._kept_out(rows, counted))

    def _kept_out(self, rows: PatternRows, counted: Counts) -> Iterator[str]:
        """Name the filters that stand before a pattern's memory: rows that they refuse are not stored."""
        assert isinstance(rows.pattern, TriplePattern)
        if any(self._keeps_all(slot) for slot in rows.slots):
            return
        places = {Variable(f"c{c}"): term for c, term in enumerate(rows.pattern.terms) if isinstance(term, Variable)}
        for slot in rows.own_slots:
            filters = self.all.compiled.lowered.slots[slot].filters
            refused = counted.memories[slot].refused_by_filter
            if filters and (refused or not counted.counting):
                texts = " and ".join(filter_text(rename(each.expression, places)) for each in filters)
                how_many = f" ({refused:,} triple{'s' * (refused != 1)} so far)" if counted.counting else ""
                yield f"; or it came and was refused by {self.all.prefixes.short(texts)}{how_many}, and is not kept"

    def _keeps_all(self, slot: int) -> bool:
        """Tell whether a memory keeps every row, whatever filters say of it, as long as the query's window asks."""
        lowered = self.all.compiled.lowered
        window = lowered.network.nodes[lowered.network.slots[slot].node].window
        return not lowered.slots[slot].filters and window >= self.width

    def _came_elsewhere(self, within: Within, rows: PatternRows) -> bool:
        ids = self.all.memories.elsewhere(rows)
        same = np.ones(len(ids), dtype=np.bool_)
        for column, name in enumerate(rows.names):
            if name in within.bound:
                same &= ids[:, column] == within.bound[name]
        return bool(same.any())

    def _forms(self, within: Within, place: int) -> Iterator[str]:
        """Yield the other forms of input that entail a pattern's triples."""
        rows, dispatch = self.parts[place], self.all.compiled.dispatch
        if rows.test is None or not isinstance(rows.pattern, TriplePattern):
            return
        terms = [self._term(term, within.bound) for term in rows.pattern.terms]
        found = 0
        for key, routes in dispatch.table.items():
            for route in routes:
                emitted = (route.subject, route.predicate, route.object)
                asked = dispatch.reduction.atoms[route.atom] == rows.test.atom
                fits = all(not isinstance(p, bytes) or t in (p, None) for p, t in zip(emitted, terms, strict=True))
                if asked and fits and not is_given(key, route) and found < MOST_LISTED:
                    found += 1
                    shown = [_carried(each, place, terms, emitted) for place, each in enumerate(key)]
                    axioms = ", ".join(why(dispatch, key, route))
                    yield self.all.prefixes.short(f"{' '.join(shown)}  by {axioms}")

    # ---- words ----
    def _candidate(self, within: Within, place: int, row: int, verdict: Verdict) -> Candidate:
        triple, moment = self._triple(place, row), self._moment(place, row)
        if verdict.differing:
            wrong = ", ".join(self._differs(within, place, row, name) for name in verdict.differing)
        elif verdict.over:
            wrong = f"outside the window by {durations.spell(verdict.over)}"
        elif verdict.broken:
            wrong = self._broken(within, place, row, verdict.broken)
        else:
            wrong = f"{self.all.prefixes.short(verdict.unmet)} is not true"
        return Candidate(triple, *moment, wrong)

    def _differs(self, within: Within, place: int, row: int, name: str) -> str:
        rows = self.parts[place]
        has = self._text(int(rows.ids[row, rows.names.index(name)]))
        return f"{Variable(name)} is {has}, not {self._bound_text(name, within.bound)}"

    def _broken(self, within: Within, place: int, row: int, related: Related) -> str:
        """Say how two sides are related, in place of how they should be."""
        actual = self.search.actual(within, place, row, related)
        if related.code == NONE or not actual:
            return f"{self._relation(related)} does not hold"
        verb = {"before": "comes ", "after": "comes ", "during": "is "}.get(actual, "is " * actual.endswith(" by"))
        return f"{self._side(related.left)} {verb}{actual} {self._side(related.right)}, not {NAMES[related.code]}"

    def _side(self, span: Span) -> str:
        return "{ " + " . ".join(self._pattern(place, {}) for place in sorted(span.places)) + " }"

    def _relation(self, related: Related) -> str:
        left, right = self._side(related.left), self._side(related.right)
        if related.code != NONE:
            return f"{left} {NAMES[related.code]} {right}"
        sides = left, right
        return " and ".join(
            in_words([((sides[a], one), gap, (sides[b], o)) for (a, one), gap, (b, o) in related.bounds])
        )

    def _names(self, names: list[str]) -> str:
        return " and ".join(str(Variable(name)) for name in names)

    def _text(self, term: int) -> str:
        return self.all.prefixes.short(self.all.terms.text(term))

    def _bound_text(self, name: str, bound: Mapping[str, int]) -> str:
        return self.all.prefixes.short(self._bound(name, bound))

    def _bound(self, name: str, bound: Mapping[str, int]) -> bytes:
        return self.all.asked[name] if bound[name] == UNKNOWN else self.all.terms.text(bound[name])

    def _term(self, term: bytes | Variable, bound: Mapping[str, int]) -> bytes | None:
        if isinstance(term, bytes):
            return term
        return self._bound(term.name, bound) if term.name in bound else None

    def _pattern(self, place: int, bound: Mapping[str, int]) -> str:
        """Return a pattern as the query has it, with bound variables filled in."""
        pattern = self.parts[place].pattern
        if isinstance(pattern, Values):
            return f"VALUES {' '.join(map(str, pattern.variables))}"
        parts = [self._term(term, bound) or str(term).encode() for term in pattern.terms]
        return " ".join(self.all.prefixes.short(part) for part in parts)

    def _triple(self, place: int, row: int) -> str:
        rows = self.parts[place]
        ids = dict(zip(rows.names, rows.ids[row].tolist(), strict=True))
        if isinstance(rows.pattern, Values):
            return " ".join(self._text(term) for term in ids.values())
        return self._pattern(place, ids)

    def _moment(self, place: int, row: int) -> tuple[Instant | None, Instant | None]:
        times = self.parts[place].times[row]
        return self.all.moment(int(times[END]), int(times[START]))


def _carried(given: bytes | None, place: int, terms: list[bytes | None], emitted: tuple[Any, ...]) -> str:
    """Return the text of a place of an input form: its constant, the term carried over from there, or a variable."""
    if given is not None:
        return given.decode()
    carried = {0: SUBJECT, 2: OBJECT}.get(place)
    for term, source in zip(terms, emitted, strict=True):
        if source is carried and term is not None:
            return term.decode()
    return "_"
