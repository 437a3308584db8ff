"""The arithmetic of a match: its branch once more, with the times of its triples.

Data's way: a branch, the times of its triples -> **reckonings** -> explanation.
A branch is gone through as the planner does (`retewave/compiler/plan/conjunction.py`): its operands have intervals, its
bounds hold between these, its width bounds the whole; each probe then looks at what is there, or is not.
Left out: what is static, which has no place in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType

from retewave.compiler.expressions.tree import to_sparql
from retewave.compiler.rewrite.branch import THERE, WHOLE, Bound, Branch, Decided, FilterStep, Moment, Probe, is_timed
from retewave.provenance.absence import Absence
from retewave.provenance.explanation import Kind, Reckoning
from retewave.provenance.time_words import TimeWords
from retewave.provenance.words import Words
from retewave.viz.explain.relations import grouped
from retewave.windows import durations
from retewave.windows.intervals import STATIC_END, STATIC_START, UNBOUNDED, is_static
from retewave.windows.relations import BEFORE, EQUALS, NAMES

__all__ = ["Operand", "Reckoner"]

_CHOOSING = ("FIRST", "LAST", "POLICY naive")  # operators that look twice: for another end, for another start
_Bounds = list[tuple[tuple[int, bool], int, tuple[int, bool]]]


@dataclass(frozen=True)
class Operand:
    """A part of a branch, with its interval."""

    numbers: tuple[int, ...] = ()  # of the arrivals in it
    start: int = STATIC_START  # microseconds
    end: int = STATIC_END  # microseconds

    @property
    def label(self) -> str:
        """Return its name: (1) is the first arrival, (1–3) a group."""
        first, last = min(self.numbers, default=0), max(self.numbers, default=0)
        return f"({first})" if first == last else f"({first}–{last})"

    @property
    def is_timed(self) -> bool:
        """Tell whether it has a place in time."""
        return not is_static(self.start, self.end)

    def at(self, at_end: bool) -> int:
        """Return its end, or its start."""
        return self.end if at_end else self.start


@dataclass
class Reckoner:
    """Goes through the branch of one match."""

    times: Mapping[int, tuple[int, int]]  # when the triples came: by leaf of the branch
    numbers: Mapping[int, int]  # the numbers of the arrivals, by leaf
    words: Words  # how terms are told
    clock: TimeWords  # how times are
    reach: int = UNBOUNDED  # how far the query's ranges let it look
    found: list[Reckoning] = field(default_factory=list)
    leaves: Iterator[int] = field(default_factory=count)  # as the planner numbers them

    def whole(self, branch: Branch, known: Mapping[int, Operand] = MappingProxyType({})) -> Operand:
        """Return the interval of a branch's solution, and note the arithmetic that led to it.

        `known`: operands of which all is said, and which are no part of what is returned.
        """
        operands = [self._pattern() for _ in branch.patterns]
        for _ in branch.values:
            next(self.leaves)
        for place, part in enumerate(branch.parts, len(operands)):
            operands.append(self._left_out(part.branch) if place in known else self.whole(part.branch))
        operands = [known.get(place, operand) for place, operand in enumerate(operands)]
        whole = _together(operands)
        self._bounds((each for each in branch.bounds if not known.keys() & _operands(each)), operands)
        if branch.width is not None and whole.is_timed and not self._is_due(whole):
            said = self.clock.length(whole.start, whole.end, branch.width)
            self._note("window", "WITHIN", f"{whole.label} {said}", (whole.start, whole.start + branch.width))
        for probe in branch.probes:
            whole = self._probe(probe, operands, whole)
        for step in branch.steps:
            if isinstance(step, FilterStep) and is_timed(step) and whole.is_timed:
                self._timed(step, whole)
        return _together([operand for place, operand in enumerate(operands) if place not in known]) if known else whole

    def _left_out(self, branch: Branch) -> Operand:
        """Step over the leaves of a branch."""
        for _ in branch.leaves:
            next(self.leaves)
        return Operand()

    def _is_due(self, whole: Operand) -> bool:
        """Tell whether an interval is that of a deadline, whose arithmetic is noted."""
        return any(each.kind == "deadline" and each.micros == (whole.start, whole.end) for each in self.found)

    def _pattern(self) -> Operand:
        leaf = next(self.leaves)
        if leaf not in self.times:
            return Operand()
        return Operand((self.numbers[leaf],), *self.times[leaf])

    def _note(self, kind: Kind, operator: str, said: str, micros: tuple[int, int] | None = None) -> None:
        self.found.append(Reckoning(kind, operator, said, micros))

    def _relate(self, operator: str, said: str, one: Operand, other: Operand) -> None:
        span = min(one.start, other.start), max(one.end, other.end)
        self.found.append(Reckoning("relation", operator, said, span, (one.numbers, other.numbers)))

    def _timed(self, step: FilterStep, whole: Operand) -> None:
        times = f"[{self.clock.short(whole.start)}, {self.clock.short(whole.end)}]"
        asked = self.words.prefixes.short(to_sparql(step.expression))
        said = f"{asked} of {whole.label} {times}, {durations.spell(whole.end - whole.start)}"
        self._note("filter", "FILTER", said)

    # ---- relations ----
    def _bounds(self, bounds: Iterable[Bound], operands: list[Operand]) -> None:
        """Note the relations between operands."""
        given: _Bounds = [
            ((each.earlier.operand, each.earlier.at_end), each.gap, (each.later.operand, each.later.at_end))
            for each in _needed(bounds, operands)
        ]
        for left, code, right in grouped(given):
            if not isinstance(code, int):
                self._unnamed(code, operands)
                continue
            active = code if code % 2 == 0 or code == EQUALS else code - 1
            one, other = (operands[left], operands[right]) if active == code else (operands[right], operands[left])
            name = "SEQ" if active == BEFORE else NAMES[active].upper()
            said = ", ".join(self._compared(_between(given, left, right), operands))
            self._relate(name, f"{one.label} {NAMES[active]} {other.label}: {said}", one, other)

    def _unnamed(self, given: _Bounds, operands: list[Operand]) -> None:
        for (one, at_end), gap, (other, other_at_end) in given:
            words = f"{operands[one].label} {_verb(at_end)} no later than {operands[other].label} {_verb(other_at_end)}"
            said = ", ".join(self._compared([((one, at_end), gap, (other, other_at_end))], operands))
            self._relate("OPTIONAL", f"{words}: {said}", operands[one], operands[other])

    def _compared(self, given: _Bounds, operands: list[Operand]) -> Iterator[str]:
        """Yield the comparisons of times that some bounds ask for; two that make times equal are one."""
        for place, (one, gap, other) in enumerate(given):
            back = (other, gap, one)
            if gap == 0 and back in given and given.index(back) < place:
                continue
            sign = "<" if gap > 0 else "=" if back in given else "≤"
            left, right = operands[one[0]].at(one[1]), operands[other[0]].at(other[1])
            yield f"{self.clock.short(left)} {sign} {self.clock.short(right)}"

    # ---- probes ----
    def _probe(self, probe: Probe, operands: list[Operand], whole: Operand) -> Operand:
        """Note the row that a probe has seen, if any; return the interval of the tuple that has passed."""
        decision = whole.start + probe.deadline if probe.decided is Decided.AT_DEADLINE else whole.end
        if probe.wanted:
            own = [whole] if len(probe.own) == 1 else operands
            there = self.whole(probe.there, dict(zip(probe.own, own, strict=False)))
            if there.is_timed:
                comparison = f"{self.clock.short(there.end)} ≤ {self.clock.short(whole.end)}"
                self._relate(probe.operator, f"{there.label} is there: {comparison}", there, whole)
            return whole
        self._left_out(probe.there)
        if whole.is_timed:
            self._absent(probe, operands, whole, decision)
        if probe.decided is not Decided.AT_DEADLINE or not whole.is_timed:
            return whole
        said = f"{self.clock.short(whole.start)} + {durations.spell(probe.deadline)} = {self.clock.short(decision)}"
        self._note("deadline", probe.operator, f"the deadline of {whole.label}: {said}", (whole.start, decision))
        return Operand(whole.numbers, whole.start, decision)

    def _absent(self, probe: Probe, operands: list[Operand], whole: Operand, decision: int) -> None:
        if probe.rank:
            self._taken(probe, whole)
            return

        absence = Absence()
        if probe.written is not None:
            absence.not_behind(whole.end, 0)
        else:
            _bound(absence, probe.bounds, operands, whole)
        if probe.keep is None:
            if probe.within is not None:
                absence.not_before(decision, -probe.within)
            if probe.ranged and self.reach < UNBOUNDED:
                absence.not_before(decision, -self.reach)
        together = {bound for bound in probe.bounds if bound.gap == 0 and bound.earlier.operand == THERE}
        if probe.operator in _CHOOSING and any(Bound(b.later, 0, b.earlier) in probe.bounds for b in together):
            return  # the second of two looks: for what ends at the same time
        said = absence.said(self.words.absent(probe), self.clock)
        self._note("absent", probe.operator, said, absence.span(whole.start, decision))

    def _taken(self, probe: Probe, whole: Operand) -> None:
        """Note, once, that a policy takes no other pair in place of this one."""
        said = f"no other pair that ends at {self.clock.short(whole.end)} is taken in place of {whole.label}"
        if all(each.said != said for each in self.found):
            self._note("relation", probe.operator, said)


def _bound(absence: Absence, bounds: Iterable[Bound], operands: list[Operand], whole: Operand) -> None:
    """Note from when to when something did not come, as the bounds of a probe say."""

    def time(moment: Moment) -> int:
        of = whole if moment.operand == WHOLE else operands[moment.operand]
        return of.at(moment.at_end)

    for bound in bounds:
        if not all(each.operand < 0 or operands[each.operand].is_timed for each in (bound.earlier, bound.later)):
            continue  # what is static has no place in time
        if bound.later.operand == THERE:
            absence.not_before(time(bound.earlier), bound.gap)
        else:
            absence.not_behind(time(bound.later), bound.gap)


def _together(operands: list[Operand]) -> Operand:
    """Return some operands as one."""
    start = min((each.start for each in operands), default=STATIC_START)
    return Operand(
        tuple(number for each in operands for number in each.numbers),
        start,
        max((each.end for each in operands), default=STATIC_END),
    )


def _needed(bounds: Iterable[Bound], operands: list[Operand]) -> list[Bound]:
    """Return the bounds between operands that have a place in time, without those that follow from two others."""
    timed = [
        each
        for each in dict.fromkeys(bounds)
        if operands[each.earlier.operand].is_timed and operands[each.later.operand].is_timed
    ]
    before = {(each.earlier.operand, each.later.operand) for each in timed if _is_before(each)}
    return [
        each
        for each in timed
        if not _is_before(each)
        or not any(
            (each.earlier.operand, middle) in before and (middle, each.later.operand) in before
            for middle in range(len(operands))
        )
    ]


def _operands(bound: Bound) -> set[int]:
    return {bound.earlier.operand, bound.later.operand}


def _is_before(bound: Bound) -> bool:
    return bound.gap == 1 and bound.earlier.at_end and not bound.later.at_end


def _between(given: _Bounds, left: int, right: int) -> _Bounds:
    return [each for each in given if {each[0][0], each[2][0]} == {left, right}]


def _verb(at_end: bool) -> str:
    return "ends" if at_end else "starts"
