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
from retewave.compiler.rewrite.detections import BranchFound, Detecting, token_of
from retewave.detection import Source, Token, TripleText, graph_of, named, read_token, written
from retewave.engine.deciding import Deciding
from retewave.engine.guarding import Guarding
from retewave.engine.justifying import justified, shown
from retewave.engine.noticed import Ids, Noticed
from retewave.engine.solved import Solved
from retewave.engine.stages import Solutions
from retewave.query import Query
from retewave.rete.words import layout
from retewave.rete.words.rows import ROW_WIDTH

__all__ = ["Detector"]

_BRANCH = layout.UNDECIDED_ROW - 1
_MOST_KNOWN = 10_000  # answers that are remembered
_ORDER = ("came", "used", "logical", "composite", "rest", "told")

Built: TypeAlias = tuple[bytes, bytes, bytes, int]  # a triple that comes in again, and the number of its stream


@dataclass(frozen=True)
class _Given:
    """Where an output row tells of the triple that a pattern took."""

    triple: tuple[int, int, int]  # the words of subject, predicate, object
    stream: int  # the word of its stream
    event: int  # the word of its event


@dataclass(frozen=True)
class _Row:
    """A row that is read."""

    words: list[int]  # as the kernel has written them
    columns: list[int]  # ids, by the query's columns
    branch: int  # of the query
    start: int  # microseconds
    end: int  # microseconds


@dataclass
class Detector:
    """Builds the detections of one query."""

    query: Query  # whose definitions they are
    plan: Detecting  # how its rows are read
    deciding: Deciding  # decides what the kernel has left open
    guarding: Guarding  # finds what guards ask for
    streams: Mapping[str, int]  # the numbers of the streams, by their IRIs
    solved: Solved  # of which detections are built already
    noticed: Noticed = field(default_factory=Noticed)  # of the instant
    _tokens: dict[int, Token] = field(default_factory=dict)  # by the id of the literal, while rows are read
    # what static data proves by itself, of whom: the ids of static data stay what they are, others do not
    _static: dict[tuple[int, bytes, frozenset[Ids]], bool] = field(default_factory=dict)

    def rows(self, out: np.ndarray, first: int) -> np.ndarray:
        """Return what output rows build, as input rows whose events number the detections from `first` on."""
        found = self.deciding.take(Solutions(self.query, out, np.arange(len(out)), out[:, :0]))
        self._tokens.clear()
        made: list[tuple[int, ...]] = []
        for row in self._in_order(found):
            self.noticed.at(row.end)
            for built in self._built(row):
                for *triple, stream in built:
                    s, p, o = (self.deciding.terms.intern(text) for text in triple)
                    made.append((s, p, o, row.start, row.end, stream, first))
                first += 1
        return np.array(made, dtype=np.int64).reshape(-1, ROW_WIDTH)

    def _in_order(self, found: Solutions) -> list[_Row]:
        """Return rows in the order in which they are to be read: of justifications the smaller first."""
        branches = (found.rows[:, layout.O_BRANCH] & _BRANCH).tolist()
        rows = [
            _Row(words, columns, branch, words[layout.O_START], words[layout.O_END])
            for words, columns, branch in zip(found.rows.tolist(), found.columns.tolist(), branches, strict=True)
        ]
        return sorted(rows, key=self._rank)

    def _rank(self, row: _Row) -> tuple[int, int, int]:
        found = self.plan.found[row.branch]
        size = len(self._justification(row)) if found.kind == "logical" else 0
        return row.end, _ORDER.index(found.kind), size

    def _built(self, row: _Row) -> Iterator[list[Built]]:
        """Yield what comes in again of a row: for each detection its triples."""
        found = self.plan.found[row.branch]
        match found.kind:
            case "came":
                (given,) = self._given[row.branch]
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

    # ---- reading rows ----
    @cached_property
    def _given(self) -> list[list[_Given]]:
        """By branch: where its rows tell of the triples that they are made of."""
        found = []
        for branch in range(len(self.plan.branches)):
            told = self.deciding.outputs[self.query.number, branch].told
            words = {(each.leaf, each.what): layout.O_COLUMNS + column for each, column in told.items() if column >= 0}
            leaves = sorted({leaf for leaf, _ in words})
            found.append([
                _Given(
                    (words[leaf, GIVEN_TRIPLE[0]], words[leaf, GIVEN_TRIPLE[1]], words[leaf, GIVEN_TRIPLE[2]]),
                    words[leaf, STREAM],
                    words[leaf, EVENT],
                )
                for leaf in leaves
            ])  # fmt: skip
        return found

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

    def _triple(self, row: _Row, given: _Given) -> Ids:
        s, p, o = given.triple
        return row.words[s], row.words[p], row.words[o]

    def _text(self, term: int) -> str:
        return self.deciding.terms.text(term).decode()

    def _ids(self, triple: TripleText) -> Ids:
        s, p, o = (self.deciding.terms.intern(text.encode()) for text in triple)
        return s, p, o

    def _justification(self, row: _Row) -> dict[Ids, tuple[bool, int]]:
        """Return the given triples of a proof: whether each is of the event, and the number of its stream."""
        found: dict[Ids, tuple[bool, int]] = {}
        for given in self._given[row.branch]:
            triple = self._triple(row, given)
            streamed = row.words[given.event] != 0
            if triple[0] != 0 and (streamed or triple not in found):  # a fact of the schema itself is no given triple
                found[triple] = streamed, row.words[given.stream]
        return found

    def _parts(self, row: _Row, found: BranchFound) -> dict[str, Token]:
        return {alias: self._token(row.columns[self._place[token_of(alias).name]]) for alias in found.aliases}

    def _token(self, term: int) -> Token:
        if term not in self._tokens:
            self._tokens[term] = read_token(self.deciding.terms.text(term))
        return self._tokens[term]

    # ---- detections ----
    def _logical(self, row: _Row, found: BranchFound) -> Iterator[list[Built]]:
        given = self._justification(row)
        event = next(row.words[each.event] for each in self._given[row.branch] if row.words[each.event] != 0)
        if any(stream in self._own for streamed, stream in given.values() if streamed):
            return
        if isinstance(found.individual, int):
            individual = row.columns[self._place[f"_:.x{found.individual}"]]
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

    def _is_known_already(self, event: int, individual: int, given: Mapping[Ids, tuple[bool, int]]) -> bool:
        """Tell whether the part of a justification that is static data proves as much: then it is not minimal."""
        static = frozenset(triple for triple, (streamed, _) in given.items() if not streamed)
        if not static:
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
        """Yield what comes in again of a detection, if it is not there already."""
        event_name = self.plan.definitions.events[event].name.decode()
        made_of = sorted(triples) if not parts else sorted((alias, each.name) for alias, each in parts.items())
        name = named(self.plan.base, event_name, individual, row.start, row.end, made_of)
        if self.solved.again(_digest(name), row.end):
            return
        brief = {alias: (each.name, each.event, each.individual, each.start, each.end) for alias, each in parts.items()}
        token = Token(name, event_name, individual or f"<{name}>", *interval, triples, brief, proof)
        yield from self._comes_in(event, token)

    def _comes_in(self, event: int, token: Token) -> Iterator[list[Built]]:
        plan, node, text = self.plan, f"<{token.name}>".encode(), written(token)
        stream = self.streams[plan.base]
        said = {"token": text, "individual": token.individual.encode(), "event": token.event.encode()}
        named_ = ((plan.predicate(kind, event), value) for kind, value in said.items())
        yield [(node, predicate, value, stream) for predicate, value in named_ if predicate in plan.read]
        triples = [tuple(text.encode() for text in triple) for triple in token.justification]
        for use in self.guarding.by_event.get(event, ()):
            for solution in sorted(self.guarding.solutions(use, triples)):  # type: ignore[arg-type]
                its = f"<{named(plan.base, token.name, use.number, solution)}>".encode()
                names = ((each.name, value) for each, value in zip(use.variables, solution, strict=True))
                found: list[Built] = [(its, plan.predicate("guard", use.number, "of"), text, stream)]
                found += [(its, plan.predicate("guard", use.number, name), value, stream) for name, value in names]
                yield found

    def _rest(self, row: _Row, found: BranchFound) -> Iterator[list[Built]]:
        (given, *_) = self._given[row.branch]
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
        """Yield the graph of what is told, for the stream of its event."""
        if self.plan.definitions.form != "RDF":
            return
        token = self._token(row.columns[self._place["detection"]])
        name = self.plan.definitions.events[found.event].name
        stream = self.streams[name[1:-1].decode()]
        yield [(*triple, stream) for triple in graph_of(token)]


def _digest(name: str) -> str:
    """Return the digest at the end of a name, as long as `Solved` has them."""
    return name.rpartition("/")[2]
