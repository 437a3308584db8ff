"""Build the detections of events, which come in again: of a proof's triples, of the tokens of an event's parts.

Data's way: output rows of a query about events -> decide -> **justify** -> tokens -> input rows of the same instant ->
the feed of the network.
The network finds proofs, and combinations of tokens.  What it cannot know is decided here: that a justification is
minimal, what guards find in it, what NOT leaves of an event, and the name of each detection.
Invariant: equal detections have equal names and tokens, so the feed takes each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from retewave.compiler.plan.producers import EVENT, GIVEN_TRIPLE, STREAM
from retewave.compiler.rewrite.detected import BranchFound, Detecting, token_of
from retewave.detection import Source, Token, TripleText, graph_of, named, read_token, written
from retewave.engine.deciding import Deciding
from retewave.engine.guarding import Guarding
from retewave.engine.justifying import justified, shown
from retewave.engine.noticed import Ids, Noticed
from retewave.engine.solved import Solved
from retewave.engine.stages import Solutions
from retewave.query import Query
from retewave.rete.words import layout
from retewave.rete.words.rows import OBJECT, ROW_WIDTH, SUBJECT

__all__ = ["Detector"]

_BRANCH = layout.UNDECIDED_ROW - 1
_MOST_KNOWN = 10_000  # answers that are remembered
_ORDER = ("came", "used", "logical", "composite", "rest", "told", "contradiction")

Built: TypeAlias = tuple[bytes, bytes, bytes, int]  # a triple that comes in again, and the number of its stream


@dataclass(frozen=True)
class _Given:
    """Where an output row tells of the triple that a pattern took."""

    triple: tuple[int, int, int]  # the words of subject, predicate, object
    stream: int  # the word of its stream
    event: int  # the word of its event


Given: TypeAlias = Mapping[Ids, tuple[bool, int]]  # given triples: whether each is of the event, and its stream


@dataclass(frozen=True)
class _Row:
    """A row that is read."""

    words: list[int]  # as the kernel has written them
    terms: list[int]  # those among which its columns stand
    places: Mapping[str, int]  # variable -> where in these
    branch: int  # of the query
    start: int  # microseconds
    end: int  # microseconds
    given: Given  # of a proof: the given triples

    def term(self, variable: str) -> int:
        """Return the id that a variable has."""
        return self.terms[self.places[variable]]


@dataclass
class Detector:
    """Builds the detections of one query."""

    query: Query  # whose definitions they are
    plan: Detecting  # how its rows are read
    deciding: Deciding  # decides the filters that the kernel has left open
    guarding: Guarding  # finds the solutions of guards
    streams: Mapping[str, int]  # the numbers of the streams, by their IRIs
    solved: Solved  # of which detections are built already
    noticed: Noticed = field(default_factory=Noticed)  # of the instant
    _tokens: dict[bytes, Token] = field(default_factory=dict)  # by the text of the literal
    _places_of_given: dict[int, list[_Given]] = field(default_factory=dict)  # by branch
    _texts: dict[int, str] = field(default_factory=dict)  # of terms, while rows are read
    # what static data proves by itself, of whom
    _static: dict[tuple[int, bytes, frozenset[Ids]], bool] = field(default_factory=dict)

    def rows(self, out: np.ndarray, first: int) -> np.ndarray:
        """Return the triples that output rows build, as input rows whose events are detections from `first` on."""
        self._texts.clear()
        texts: list[bytes] = []  # of three terms for each triple
        made: list[tuple[int, ...]] = []
        for row in self._in_order(out):
            self.noticed.at(row.end)
            for built in self._built(row):
                for s, p, o, stream in built:
                    texts += (s, p, o)
                    made.append((0, 0, 0, row.start, row.end, stream, first))
                first += 1
        found = np.array(made, dtype=np.int64).reshape(-1, ROW_WIDTH)
        if made:
            found[:, SUBJECT : OBJECT + 1] = self.deciding.terms.intern_many(texts).reshape(-1, 3)
        return found

    def _in_order(self, out: np.ndarray) -> list[_Row]:
        """Return rows in the order in which they are to be read: of justifications the smaller first."""
        branches = out[:, layout.O_BRANCH].tolist()
        read = [
            self._row(words, words, self._columns[branch], branch)
            for words, branch in zip(out.tolist(), branches, strict=True)
            if branch in self._columns
        ]
        if len(read) < len(branches):
            open_ = [place for place, branch in enumerate(branches) if branch not in self._columns]
            read += self._decided(out[open_])
        return sorted(read, key=self._rank) if len(read) > 1 else read

    def _decided(self, out: np.ndarray) -> Iterator[_Row]:
        """Yield the rows that pass the checks that the kernel has left open."""
        found = self.deciding.take(Solutions(self.query, out, np.arange(len(out)), out[:, :0]))
        for words, columns in zip(found.rows.tolist(), found.columns.tolist(), strict=True):
            yield self._row(words, columns, self._place, words[layout.O_BRANCH] & _BRANCH)

    def _row(self, words: list[int], terms: list[int], places: Mapping[str, int], branch: int) -> _Row:
        given = self._justification(words, branch) if self.plan.found[branch].kind == "logical" else {}
        return _Row(words, terms, places, branch, words[layout.O_START], words[layout.O_END], given)

    def _rank(self, row: _Row) -> tuple[int, int, int]:
        return row.end, _ORDER.index(self.plan.found[row.branch].kind), len(row.given)

    def _built(self, row: _Row) -> Iterator[list[Built]]:
        """Yield, for each detection of a row, the triples that come in again."""
        found = self.plan.found[row.branch]
        match found.kind:
            case "came":
                (given,) = self._given(row.branch)
                self.noticed.came(row.words[given.event], self._triple(row, given))
            case "used":
                triples = justified(found.expression, self._parts(row, found)) or {}
                self.noticed.use(found.event, {self._ids(each) for each in triples})
            case "logical":
                yield from self._logical(row, found)
            case "composite":
                yield from self._composite(row, found)
            case "rest":
                yield from self._rest(row, found)
            case "told":
                yield from self._graph(row, found)
            case "contradiction":
                self.query.inconsistent += self.noticed.contradicts(self._event(row))

    # ---- reading rows ----
    def _given(self, branch: int) -> list[_Given]:
        """Return where the rows of a branch tell of the triples that they are made of."""
        if branch not in self._places_of_given:
            told = self.deciding.outputs[self.query.number, branch].told
            words = {(each.leaf, each.what): layout.O_COLUMNS + column for each, column in told.items() if column >= 0}
            self._places_of_given[branch] = [
                _Given(
                    (words[leaf, GIVEN_TRIPLE[0]], words[leaf, GIVEN_TRIPLE[1]], words[leaf, GIVEN_TRIPLE[2]]),
                    words[leaf, STREAM],
                    words[leaf, EVENT],
                )
                for leaf in sorted({leaf for leaf, _ in words})
            ]
        return self._places_of_given[branch]

    @cached_property
    def _columns(self) -> dict[int, dict[str, int]]:
        """By branch of which nothing is left open: where in its rows the columns stand."""
        outputs = {
            branch: self.deciding.outputs[self.query.number, branch] for branch in range(len(self.plan.branches))
        }
        return {
            branch: {name: layout.O_COLUMNS + place for place, name in enumerate(output.names)}
            for branch, output in outputs.items()
            if not output.always
        }

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.query.columns)}

    @cached_property
    def _names(self) -> dict[int, str]:
        return {number: iri for iri, number in self.streams.items()}

    @cached_property
    def _own(self) -> frozenset[int]:
        """The numbers of the streams that the query itself feeds: it does not look at these."""
        if self.plan.definitions.form != "RDF":
            return frozenset()
        return frozenset(self.streams.get(name[1:-1].decode(), -1) for name in self.plan.definitions.returned)

    def _event(self, row: _Row) -> int:
        """Return the event of which a proof has triples."""
        return next(row.words[each.event] for each in self._given(row.branch) if row.words[each.event] != 0)

    def _triple(self, row: _Row, given: _Given) -> Ids:
        s, p, o = given.triple
        return row.words[s], row.words[p], row.words[o]

    def _text(self, term: int) -> str:
        if term not in self._texts:
            self._texts[term] = self.deciding.terms.text(term).decode()
        return self._texts[term]

    def _ids(self, triple: TripleText) -> Ids:
        s, p, o = (self.deciding.terms.intern(text.encode()) for text in triple)
        return s, p, o

    def _justification(self, words: list[int], branch: int) -> Given:
        """Return the given triples of a proof."""
        found: dict[Ids, tuple[bool, int]] = {}
        for given in self._given(branch):
            s, p, o = given.triple
            triple = words[s], words[p], words[o]
            streamed = words[given.event] != 0
            if triple[0] != 0 and (streamed or triple not in found):  # a fact of the schema itself is no given triple
                found[triple] = streamed, words[given.stream]
        return found

    def _parts(self, row: _Row, found: BranchFound) -> dict[str, Token]:
        return {alias: self._token(row.term(token_of(alias).name)) for alias in found.aliases}

    def _token(self, term: int) -> Token:
        text = self.deciding.terms.text(term)
        known = self._tokens.get(text)
        return self._remembered(text, read_token(text)) if known is None else known

    def _remembered(self, text: bytes, token: Token) -> Token:
        if len(self._tokens) >= _MOST_KNOWN:
            self._tokens.clear()
        self._tokens[text] = token
        return token

    # ---- detections ----
    def _logical(self, row: _Row, found: BranchFound) -> Iterator[list[Built]]:
        given = row.given
        event = self._event(row)
        if self._own and any(stream in self._own for streamed, stream in given.values() if streamed):
            return
        if isinstance(found.individual, int):
            individual = row.term(f"_:.x{found.individual}")
        else:
            individual = self.deciding.terms.intern(found.individual)
        if not self.noticed.is_minimal((found.event, individual, event), frozenset(given)):
            return
        if self._is_known_already(found.event, individual, given):
            return
        texts: dict[TripleText, Source] = {
            (self._text(s), self._text(p), self._text(o)): self._source(row, *source)
            for (s, p, o), source in given.items()
        }
        who = self._text(individual)
        proof = self.plan.axioms[row.branch]
        yield from self._detected(row, found.event, who, texts, {}, (row.start, row.end), proof)

    def _is_known_already(self, event: int, individual: int, given: Given) -> bool:
        """Tell whether the static part of a justification proves as much: then the justification is not minimal."""
        static = frozenset(triple for triple, (streamed, _) in given.items() if not streamed)
        if not static or event not in self._static_may_prove:
            return False
        key = event, self.deciding.terms.text(individual), static
        if key not in self._static:
            if len(self._static) >= _MOST_KNOWN:
                self._static.clear()
            text = self.deciding.terms.text
            triples = frozenset((text(s), text(p), text(o)) for s, p, o in static)
            proofs = self.plan.proofs[self.plan.definitions.events[event].name]
            self._static[key] = self.guarding.proves(proofs, key[1], triples)
        return self._static[key]

    @cached_property
    def _static_may_prove(self) -> frozenset[int]:
        """The events with a proof that needs nothing but static data."""
        return frozenset(
            number
            for number, each in enumerate(self.plan.definitions.events)
            if any(all(map(self.plan.in_background, proof.atoms)) for proof in self.plan.proofs.get(each.name, ()))
        )

    def _source(self, row: _Row, streamed: bool, stream: int) -> Source:
        return (self._names.get(stream, ""), row.start, row.end) if streamed else None

    def _composite(self, row: _Row, found: BranchFound) -> Iterator[list[Built]]:
        parts = self._parts(row, found)
        triples = justified(found.expression, parts)
        assert triples is not None
        interval = shown(found.expression, parts) or (row.start, row.end)
        yield from self._detected(row, found.event, "", triples, parts, interval, ())

    def _detected(
        self, row: _Row, event: int, individual: str, triples: Mapping[TripleText, Source], parts: Mapping[str, Token],
        interval: tuple[int, int], proof: tuple[str, ...],
    ) -> Iterator[list[Built]]:  # fmt: skip
        """Yield the triples of a detection that come in again, if it is not there already."""
        event_name = self.plan.definitions.events[event].name.decode()
        made_of = sorted(triples) if not parts else sorted((alias, each.name) for alias, each in parts.items())
        name = named(self.plan.base, event_name, individual, row.start, row.end, made_of)
        if self.solved.again(_digest(name), row.end):
            return
        brief = {alias: (each.name, each.event, each.individual, each.start, each.end) for alias, each in parts.items()}
        token = Token(name, event_name, individual or f"<{name}>", *interval, triples, brief, proof)
        yield from self._comes_in(event, token)

    def _comes_in(self, event: int, token: Token) -> Iterator[list[Built]]:
        plan, text = self.plan, written(token)
        self._remembered(text, token)
        stream, predicate = self.streams[plan.base], plan.predicate("token", event)
        yield [(token.individual.encode(), predicate, text, stream)] if predicate in plan.read else []
        uses = self.guarding.by_event.get(event, ())
        triples = [tuple(text.encode() for text in triple) for triple in token.justification] if uses else []
        for use in uses:
            for solution in sorted(self.guarding.solutions(use, triples)):  # type: ignore[arg-type]
                its = f"<{named(plan.base, token.name, use.number, solution)}>".encode()
                names = ((each.name, value) for each, value in zip(use.variables, solution, strict=True))
                found: list[Built] = [(its, plan.predicate("guard", use.number, "of"), text, stream)]
                found += [(its, plan.predicate("guard", use.number, name), value, stream) for name, value in names]
                yield found

    def _rest(self, row: _Row, found: BranchFound) -> Iterator[list[Built]]:
        (given, *_) = self._given(row.branch)
        event, stream = row.words[given.event], row.words[given.stream]
        left = self.noticed.rest(found.event, event)
        if not left or stream in self._own:
            return
        texts: dict[TripleText, Source] = {
            (self._text(s), self._text(p), self._text(o)): self._source(row, True, stream) for s, p, o in left
        }
        name = named(self.plan.base, "not", found.event, row.start, row.end, sorted(texts))
        if self.solved.again(_digest(name), row.end):
            return
        token = Token(name, "", "", row.start, row.end, texts, {})
        yield [
            (
                f"<{name}>".encode(),
                self.plan.predicate("rest", found.event),
                written(token),
                self.streams[self.plan.base],
            )
        ]

    def _graph(self, row: _Row, found: BranchFound) -> Iterator[list[Built]]:
        """Yield the triples of a told detection's graph, for the stream of its event."""
        if self.plan.definitions.form != "RDF":
            return
        token = self._token(row.term("detection"))
        name = self.plan.definitions.events[found.event].name
        stream = self.streams[name[1:-1].decode()]
        yield [(*triple, stream) for triple in graph_of(token)]


def _digest(name: str) -> str:
    """Return the digest at the end of a name, as long as `Solved` has them."""
    return name.rpartition("/")[2]
