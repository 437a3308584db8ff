"""Matches: what a query found, in batches of ids that are decoded when somebody looks.

A batch holds ids; the dictionary may reclaim a term that nothing uses any more.  The first sweep that finds somebody
holding the batch spares its terms; most batches are gone by the second, which has it decode them (`outlast`).
That may be in another thread, in the middle of a look: so what was read of the dictionary counts only if the batch is
still not sealed afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from retewave.construct import Texts as TripleTexts
from retewave.construct import triples
from retewave.detection import Detection, DetectionPart, read_token
from retewave.errors import UsageError
from retewave.io.rdf import from_text
from retewave.numbering import batches
from retewave.provenance.groups import Groups, Repetition
from retewave.windows.intervals import is_static
from retewave.windows.times import Clock, Instant, spell_interval

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import rdflib

    from retewave.compiler.algebra import Variable
    from retewave.provenance.derivation import DerivedRows
    from retewave.provenance.explanation import Explanation
    from retewave.provenance.made_of import MadeOf
    from retewave.query import Query
    from retewave.rete.terms.dictionary import Terms
    from retewave.rete.terms.texts import Texts

__all__ = ["Match", "Matches", "in_order"]

Answer = TypeVar("Answer")


class _Own(NamedTuple):
    """What a sealed batch knows of its terms."""

    ids: np.ndarray  # int64, in order: those that the dictionary had for them
    texts: Texts  # of the first, the second…
    numbers: np.ndarray  # int64[n, variables]: the batch's terms by these numbers; 0 is unbound

    def find(self, ids: Any) -> Any:
        """Return the numbers of ids."""
        return np.where(ids == 0, 0, np.searchsorted(self.ids, ids) + 1)


class Matches:
    """Matches of one query, in the order in which they were found."""

    __slots__ = (
        "__weakref__", "_decoded", "_own", "_spared", "_triples", "bounds", "clock", "derived", "ends", "gone",
        "groups", "ids", "made_of", "number", "places", "query", "reported", "starts", "terms",
    )  # fmt: skip

    def __init__(
        self,
        query: Query,
        terms: Terms,
        clock: Clock,
        ids: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        places: np.ndarray | None = None,
        made_of: MadeOf | None = None,
    ) -> None:
        self.query = query  # whose matches they are
        self.terms = terms  # the dictionary of the ids
        self.clock = clock  # how times are shown
        self.ids = ids  # int64[n, variables]: the dictionary's; 0 is unbound
        self.starts = starts  # int64[n] microseconds
        self.ends = ends  # int64[n] microseconds
        self.number = batches.next()  # sets the blank nodes of CONSTRUCT apart, in the whole process
        self.places = np.arange(len(ids)) if places is None else places  # where they stood among other queries' matches
        self.made_of = made_of  # which triples, where the query is explained
        self.groups: Groups | None = None  # what repeated steps took, where the query is a sequence that has some
        self.reported: tuple[int, int] | None = None  # microseconds: the opening and the time of their report
        self.derived: DerivedRows | None = None  # why the rows of a report are there, if that was asked
        self.gone = 0  # how many of the rows, the last ones, are gone, where a report tells these beside the new ones
        self.bounds: tuple[tuple[int, int], ...] = ()  # of the report's windows, in microseconds: open, and closed
        self._own: _Own | None = None  # once sealed: its own copy of the texts
        self._triples: list[list[TripleTexts]] | None = None  # what CONSTRUCT builds, once somebody has asked for it
        self._decoded: dict[int, Any] = {}  # rdflib terms that somebody has looked at, by id
        self._spared = False  # a sweep has come by

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def denies(self) -> bool:
        """Tell whether they are the answer "false" of an ASK: a report without a row."""
        return self.reported is not None and not len(self) and self.query.parsed.form == "ASK"

    def __getitem__(self, row: int) -> Match:
        if not -len(self) <= row < len(self):
            raise IndexError(f"there are {len(self)} matches, none has the place {row}")
        return Match(self, row % len(self))

    def __iter__(self) -> Iterator[Match]:
        return map(partial(Match, self), range(len(self)))

    def outlast(self, marks: np.ndarray) -> None:
        """Live through a sweep: have one's terms spared, or need the dictionary no more from the second one on."""
        if self._spared:
            self.seal()
        else:
            ids = self._all_ids()
            marks[ids[ids < len(marks)]] = 1  # the others have come since the sweep began
            self._spared = True

    def after(self, count: int) -> Matches:
        """Return the matches behind the first `count`, with a copy of the texts."""
        self.seal()
        assert self._own is not None
        rest = Matches(
            self.query, self.terms, self.clock, self.ids[count:], self.starts[count:], self.ends[count:],
            self.places[count:], None if self.made_of is None else self.made_of.after(count),
        )  # fmt: skip
        rest.groups = None if self.groups is None else self.groups.after(count)
        rest.derived = None if self.derived is None else self.derived.after(count)
        rest.reported, rest.bounds = self.reported, self.bounds
        rest._own = self._own._replace(numbers=self._own.numbers[count:])
        return rest

    def seal(self) -> None:
        """Take a copy of the texts, so that the batch no longer needs the dictionary."""
        if self._own is None:
            used, places = np.unique(self._all_ids(), return_inverse=True)
            unbound = int(len(used) > 0 and used[0] == 0)
            numbers = places[: self.ids.size].reshape(self.ids.shape) + (1 - unbound)
            self._own = _Own(used[unbound:], self.terms.by_id.copied(used[unbound:]), numbers)

    def _all_ids(self) -> np.ndarray:
        """Return the ids that it shows, row by row, and behind them those of what it is made of."""
        more = [each.terms for each in (self.made_of, self.groups, self.derived) if each is not None]
        ids = self.ids.reshape(-1)
        return np.concatenate([ids, *more]) if more else ids

    @property
    def numbered(self) -> tuple[Texts, np.ndarray]:
        """The texts and values of its terms, and numbers by which they are found there in place of ids; 0 is unbound.

        The texts are the dictionary's as it is now, or the batch's own copy.
        """
        return (self.terms.by_id, self.ids) if self._own is None else (self._own.texts, self._own.numbers)

    def numbered_as(self, ids: np.ndarray) -> tuple[Texts, np.ndarray]:
        """Return the same texts, and the numbers of some other ids of its own, such as those of its groups."""
        return (self.terms.by_id, ids) if self._own is None else (self._own.texts, self._own.find(ids))

    def text(self, term: int) -> bytes | None:
        """Return the canonical text of one of the batch's ids; nothing for unbound."""
        if term == 0:
            return None
        return self._steady(lambda texts, of: texts.text(int(self._number(term))))

    def kinds(self, ids: np.ndarray) -> np.ndarray:
        """Return the kinds (`retewave.rete.terms.kinds`) of some of its ids."""
        return self._steady(lambda texts, _: texts.kind[self._number(ids)])

    def _number(self, ids: Any) -> Any:
        return ids if self._own is None else self._own.find(ids)

    def _steady(self, read: Callable[[Texts, np.ndarray], Answer]) -> Answer:
        """Read texts by numbers, again if another thread has sealed the batch: its ids may be other terms' by now."""
        own = self._own
        try:
            found = read(*self.numbered)
        except UsageError:  # there is no such term any more
            if self._own is own:
                raise
        else:
            if self._own is own:
                return found
        return read(*self.numbered)

    def blank_scope(self, row: int) -> bytes:
        """Return what the labels of the blank nodes that CONSTRUCT makes for a match begin with."""
        return b"m%d.%d" % (self.number, row)

    def triples(self) -> list[list[TripleTexts]]:
        """Return what a CONSTRUCT query builds of each match, as canonical texts."""
        if self._triples is None:
            self._triples = triples(self)
        return self._triples

    def distinct(self, name: str) -> tuple[list[bytes | None], np.ndarray]:
        """Return a variable's different terms as canonical texts (None: unbound), and the place of each match's."""

        def read(texts: Texts, numbers: np.ndarray) -> tuple[list[bytes | None], np.ndarray]:
            used, places = np.unique(numbers[:, self.query.place(name)], return_inverse=True)
            bound = used[used > 0].tolist()
            return [*[None] * (len(used) - len(bound)), *texts.texts(bound)], places

        return self._steady(read)

    def texts(self, name: str) -> list[bytes | None]:
        """Return a variable's terms as canonical N-Triples texts, match by match; None where it is unbound."""
        texts, places = self.distinct(name)
        return [texts[i] for i in places.tolist()]

    def term(self, term: int) -> Any:
        """Return one of the batch's ids as an rdflib term, which is made once; None for unbound."""
        if term == 0:
            return None
        found = self._decoded.get(term)
        if found is None:
            found = self._decoded[term] = from_text(self.text(term) or b"")
        return found

    def columns(self, *names: str) -> dict[str, list[Any]]:
        """Return variables, or all of them, as lists of rdflib terms, match by match; None where one is unbound."""
        found = {}
        for name in names or self.query.variables:
            used, places = np.unique(self.ids[:, self.query.place(name)], return_inverse=True)
            terms = [self.term(term) for term in used.tolist()]
            found[name.removeprefix("?")] = [terms[i] for i in places.tolist()]
        return found

    def to_arrow(self, *, typed: bool = True) -> pyarrow.Table:
        """Return the matches as a table: start, end, and each variable, as `Query.to_arrow` does."""
        from retewave.io.sinks.typed_columns import table

        return table([self], self.query.variables, typed=typed)

    def to_pandas(self, *, typed: bool = True) -> pandas.DataFrame:
        """Return the matches as a data frame, with the columns of `to_arrow`."""
        from retewave.io.sinks.frames import frame

        return frame(self.to_arrow(typed=typed))


def in_order(batches: Sequence[Matches]) -> Iterator[Match]:
    """Iterate over the matches of several batches in the order in which they were found."""
    if len(batches) == 1:
        return iter(batches[0])
    places = [
        (place, number, row) for number, batch in enumerate(batches) for row, place in enumerate(batch.places.tolist())
    ]

    def at(place: tuple[int, int, int]) -> Match:
        return batches[place[1]][place[2]]

    return map(at, sorted(places))  # `yield from` would close a generator: nobody could tell what it had not come to


class Match(Mapping[str, Any]):
    """One match: a mapping from the query's variables to rdflib terms, with its interval.

    Terms are decoded when they are looked at.
    """

    __slots__ = ("_batch", "_row")

    def __init__(self, batch: Matches, row: int) -> None:
        self._batch = batch
        self._row = row

    @property
    def query(self) -> Query:
        """The query that found it."""
        return self._batch.query

    @property
    def start(self) -> Instant | None:
        """When its earliest item starts, in the form in which times went in; None if all is static data."""
        return self._time(int(self._batch.starts[self._row]))

    @property
    def end(self) -> Instant | None:
        """When its last item ends, in the form in which times went in; None if all is static data."""
        return self._time(int(self._batch.ends[self._row]))

    def _time(self, time: int) -> Instant | None:
        batch, row = self._batch, self._row
        if is_static(int(batch.starts[row]), int(batch.ends[row])):
            return None
        return batch.clock.decode(time)

    def text(self, name: str) -> bytes | None:
        """Return a variable's term as canonical N-Triples text; None when it is unbound."""
        return self._batch.text(int(self._batch.ids[self._row, self.query.place(name)]))

    def __getitem__(self, name: str) -> Any:
        batch = self._batch
        found = batch.term(int(batch.ids[self._row, batch.query.place(name)]))
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        row = self._batch.ids[self._row]
        return (name for name, term in zip(self.query.variables, row, strict=True) if term != 0)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._batch.ids[self._row]))

    @property
    def triples(self) -> list[tuple[Any, Any, Any]]:
        """The triples that a CONSTRUCT query builds of it, as rdflib terms; empty for SELECT."""
        return [(from_text(s), from_text(p), from_text(o)) for s, p, o in self._batch.triples()[self._row]]

    @property
    def groups(self) -> dict[str, list[Repetition]]:
        """What the repeated steps of a sequence took: by the name of the event pattern, each repetition in order."""
        batch = self._batch
        if batch.groups is None:
            return {}

        def repetition(time: int, of: Mapping[Variable, int]) -> Repetition:
            texts = {each.name: batch.text(term) or b"" for each, term in of.items()}
            return Repetition(batch.clock.decode(time), texts, from_text)

        found = batch.groups.of(self._row)
        return {name: [repetition(*each) for each in repetitions] for name, repetitions in found.items()}

    @property
    def detection(self) -> Detection:
        """The detection, for queries that define events: what it was found of, its parts, its justification."""
        if self.query.plan is None:
            raise UsageError(
                f"{self.query.name} defines no events", hint="match.event, .individual, .parts and .graph are of OBEP"
            )
        return Detection(read_token(self.text("detection") or b""), self._batch.clock)

    @property
    def event(self) -> Any:
        """The event that was detected, an IRI."""
        return from_text(self.detection.event.encode())

    @property
    def individual(self) -> Any:
        """What the event was found of; of a composite event, an IRI of its own."""
        return from_text(self.detection.individual.encode())

    @property
    def parts(self) -> Mapping[str, DetectionPart]:
        """The parts of a composite event, by the names that MATCH gives them."""
        return self.detection.parts

    @property
    def graph(self) -> rdflib.Graph:
        """The detection as RDF: its justification, and the type of its individual."""
        return self.detection.graph

    def explain(self) -> Explanation:
        """Return which arrivals made it, and why they fit; print it, or take its fields.

        The query must have been registered with `explain=True`; one that defines events always explains.
        """
        if self.query.plan is not None:
            from retewave.provenance.detected import explain_detection

            return explain_detection(self._batch, self._row)
        from retewave.provenance.explain import explain

        return explain(self._batch, self._row)

    def to_svg(self) -> str:
        """Return its explanation as a picture on a time line, in SVG."""
        return self.explain().to_svg()

    def __repr__(self) -> str:
        terms = ", ".join(f"?{name} = {(self.text(name) or b'').decode()}" for name in self)
        return f"<Match of {self.query.name} {spell_interval(self.start, self.end)} {terms}>"

    def _repr_html_(self) -> str:
        from retewave.notebook import of_match

        return of_match(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
