"""Build the triples of rules that the kernel cannot build: with new blank nodes, assigned values, verdicts of Python.

Data's way: output rows of rules -> decide -> **build** -> input rows of the same instant -> the feed of the network.
Where it stands: beside the outcome; the same output rows become matches, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from retewave.compiler.algebra import BlankNode, TemplateTriple
from retewave.compiler.plan.identity import digest
from retewave.compiler.plan.shape import Listener
from retewave.construct import built
from retewave.engine.deciding import Deciding
from retewave.engine.detecting import Detector
from retewave.engine.guarding import Guarding
from retewave.engine.solved import Solved
from retewave.engine.stages import Solutions
from retewave.engine.states import State
from retewave.epsilon.network import Network as EpsilonNetwork
from retewave.match import Matches
from retewave.provenance.groups import RunParts, apart
from retewave.query import Query
from retewave.rete.terms.kinds import Values
from retewave.rete.words import layout
from retewave.rete.words.rows import END, EVENT, OBJECT, ROW_WIDTH, START, STREAM, SUBJECT
from retewave.windows.times import Clock

__all__ = ["Feeding", "feeder"]

_CLOCK = Clock("int")  # of batches that nobody sees


class Feeding:
    """Builds the triples that the rules of one network feed."""

    def __init__(
        self,
        deciding: Deciding,
        queries: Mapping[int, Query],
        rules: Mapping[int, int],
        detectors: Mapping[int, Detector],
    ) -> None:
        self.deciding = deciding  # decides the filters that the kernel has left open
        self.queries = queries  # by number
        self.rules = rules  # number of a rule -> number of the stream that it feeds
        self.detectors = detectors  # they build the detections of queries about events, by number
        self.solved = Solved()  # of rules whose solutions are a set, or make blank nodes
        for each in detectors.values():
            each.solved = self.solved

    @contextmanager
    def as_before(self) -> Iterator[None]:
        """Build for a while, and forget that afterwards."""
        remembered = {name: dict(state.state()) for name, state in self.states.items()}
        try:
            yield
        finally:
            for name, state in self.states.items():
                state.put(remembered[name])

    @property
    def states(self) -> dict[str, State]:
        """The states of the instant, by identity."""
        found: dict[str, State] = {digest(("solved",)): self.solved} if self.rules else {}
        for each in self.detectors.values():
            found[digest(("noticed", each.query.name, each.query.text))] = each.noticed
        return found

    def rows(self, out: np.ndarray) -> tuple[np.ndarray, Values]:
        """Return the triples of output rows, as input rows whose events number the solutions; and terms' values."""
        found = [np.empty((0, ROW_WIDTH), dtype=np.int64)]
        numbers = set(out[:, layout.O_QUERY].tolist())
        for number in sorted(numbers):
            rows = out if len(numbers) == 1 else out[out[:, layout.O_QUERY] == number]
            if number in self.detectors:
                found.append(self.detectors[number].rows(rows, sum(map(len, found))))
            elif number in self.rules:
                rows, _, parts = apart(rows, np.arange(len(rows)))
                left = rows[[self._is_left(self.queries[number], int(b)) for b in rows[:, layout.O_BRANCH]]]
                if len(left):
                    found.append(self._of_rule(self.queries[number], left, parts, sum(map(len, found))))
        return np.concatenate(found), self.deciding.terms.values

    def _is_left(self, query: Query, branch: int) -> bool:
        """Tell whether Python must build from a row, as the kernel cannot."""
        if branch & layout.UNDECIDED_ROW or self.deciding.outputs[query.number, branch].always:
            return True
        return any(map(_makes_nodes, query.parsed.template))

    def _of_rule(self, query: Query, rows: np.ndarray, parts: RunParts, first: int) -> np.ndarray:
        decided = self.deciding.decided(Solutions(query, rows, np.arange(len(rows)), rows[:, :0], parts=parts))
        scopes: list[bytes] = []
        is_set = query.parsed.solutions == "set"
        if is_set or any(map(_makes_nodes, query.parsed.template)):
            names = self._names(query, decided)
            times = [self.solved.again(name, end) for name, end in zip(names, _ends(decided), strict=True)]
            kept = np.array([time == 0 or not is_set for time in times], dtype=np.bool_)
            decided = decided.only(kept)
            scopes = [b"r%s.%d" % (names[place].encode(), times[place]) for place in np.flatnonzero(kept).tolist()]
        starts, ends = decided.rows[:, layout.O_START], decided.rows[:, layout.O_END]
        shown = decided.columns[:, : len(query.variables)]
        made = built(Matches(query, self.deciding.terms, _CLOCK, shown, starts, ends), self._numbers, scopes=scopes)
        found = np.empty((len(made.matches), ROW_WIDTH), dtype=np.int64)
        found[:, SUBJECT : OBJECT + 1] = made.ids.T
        found[:, START], found[:, END] = starts[made.matches], ends[made.matches]
        found[:, STREAM], found[:, EVENT] = self.rules[query.number], first + made.matches
        return found

    def _names(self, query: Query, found: Solutions) -> list[str]:
        """Return names of a rule's solutions: the same for the same terms and the same interval, whenever it is asked.

        So a flush makes the blank nodes that are made when the instant is closed.
        """
        keys = [query.columns.index(name) for name in query.solved]
        columns = found.columns[:, keys] if query.parsed.solutions == "set" else found.columns
        own, text = (self.deciding.runtime.options.seed, query.name, query.text), self.deciding.terms.text
        rows = zip(found.rows[:, layout.O_START].tolist(), _ends(found), columns.tolist(), strict=True)
        return [digest((*own, start, end, *(text(each) if each else None for each in ids))) for start, end, ids in rows]

    def _numbers(self, texts: Sequence[bytes]) -> np.ndarray:
        """Return the ids of texts; there are few of them at a time."""
        return np.array([self.deciding.terms.intern(text) for text in texts], dtype=np.int64)


def _ends(found: Solutions) -> list[int]:
    ends: list[int] = found.rows[:, layout.O_END].tolist()
    return ends


def _makes_nodes(triple: TemplateTriple) -> bool:
    return isinstance(triple.subject, BlankNode) or isinstance(triple.object, BlankNode)


def feeder(
    deciding: Deciding,
    queries: Mapping[int, Query],
    listeners: Sequence[Listener],
    network: EpsilonNetwork,
    streams: Mapping[str, int],
) -> Feeding:
    """Return the builder for the rules among some queries, over a schema's network."""
    rules = {each.number: each.all_rules[0].stream for each in listeners if each.all_rules}
    detectors = {
        number: Detector(
            query,
            query.plan,
            deciding,
            Guarding(query.plan.uses, (proof for found in query.plan.proofs.values() for proof in found), network),
            streams,
            Solved(),
        )
        for number, query in queries.items()
        if query.plan is not None and number in rules
    }
    return Feeding(deciding, queries, rules, detectors)
