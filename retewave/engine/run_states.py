"""The states of sequences: runs that may go on, and the instants at which events came.

Data's way: a network that is made -> **the runs and instants that it holds, by identity** ->
`retewave/engine/states.py`.
Runs are not made again from rows of other memories, as events are forgotten with their instant.  A run has a mark for
each step that takes the next event alone; which marks there are depends on all queries that share the state, so each
is told by what it waits for.  Of a mark that nobody kept it is not known whether its event came: such a run takes no
next event.  Of instants that nobody kept, those from now on are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from retewave.compiler.lower import Lowered
from retewave.compiler.plan.identity import Identity, digest, rival_name
from retewave.compiler.plan.producers import State as RunState
from retewave.engine.states import InMemories, State
from retewave.rete.counters import known_since, put_known_since
from retewave.rete.memory.carry import ROW_TIMES
from retewave.rete.runtime import Runtime
from retewave.rete.words.reals import word_of
from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Links", "run_states"]


class Links:
    """Where runs have gone that other runs grew from: links are places in one network's memory."""

    def __init__(self) -> None:
        self._new: dict[int, int] = {}
        self._followers: list[Callable[[], None]] = []

    def move(self, old: np.ndarray, new: np.ndarray) -> None:
        """Note that what some links led to is where others lead; who follows follows again."""
        self._new.update(zip(old.tolist(), new.tolist(), strict=True))
        for follow in self._followers:
            follow()

    def follow(self, follow: Callable[[], None]) -> None:
        """Let somebody follow the links, now and when more runs have gone elsewhere."""
        self._followers.append(follow)
        follow()

    def moved(self, rows: np.ndarray, places: Sequence[int], put: Callable[[np.ndarray], None]) -> None:
        """Put rows that have links in some places, now and when more runs have gone elsewhere."""
        if not places:
            put(rows)
            return

        def follow() -> None:
            new = rows.copy()
            for place in places:
                new[:, place] = self.found(rows[:, place])
            put(new)

        self.follow(follow)

    def found(self, links: np.ndarray) -> np.ndarray:
        """Return where some links lead now; nowhere, if that is not known yet."""
        return np.array([self._new.get(link, 0) for link in links.tolist()], dtype=np.int64)


@dataclass(frozen=True)
class KeptRuns(InMemories):
    """The runs of one state."""

    runtime: Runtime  # where they are
    links: Links  # where runs have gone
    number: int  # of the state
    slot: int  # number of their memory
    columns: int  # of a run
    keys: tuple[int, ...]  # the columns that make the key
    marks: tuple[str, ...]  # the names of the solutions that the marks wait for
    numbers: int  # how many numbers of its terms a run has behind the marks
    terms: ClassVar[frozenset[str]] = frozenset(("columns",))

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of times and a row of columns for each run, and its marks by their names."""
        rows = self.runtime.rows_of(self.slot)
        own = rows[:, ROW_TIMES + len(self.keys) :]
        found = {"times": rows[:, :ROW_TIMES], "columns": own[:, : self.columns]}
        found["links"] = self.runtime.links_to(self.number)
        return found | {name: own[:, self.columns + place] for place, name in enumerate(self.marks)}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Hold these runs, and no others."""
        times = state["times"].reshape(-1, ROW_TIMES)
        columns = state["columns"].reshape(len(times), self.columns)
        unknown = np.full(len(times), BEFORE_ALL)
        marks = [state.get(name, unknown) for name in self.marks]
        keys, numbers = columns[:, list(self.keys)], [np.full(len(times), word_of(np.nan))] * self.numbers
        self.runtime.put_rows(self.slot, np.column_stack([times, keys, columns, *marks, *numbers]))
        self.links.move(state["links"], self.runtime.links_to(self.number))
        link = self.runtime.network.states[self.number].link
        if link >= 0:
            before = columns[:, link].copy()
            self.links.follow(lambda: self.runtime.put_links(self.number, self.links.found(before)))


@dataclass(frozen=True)
class KeptInstants(InMemories):
    """The times at which events of a sequence came, and from when on all are known."""

    runtime: Runtime  # where they are
    slot: int  # number of their memory
    keys: int  # columns of the partition
    terms: ClassVar[frozenset[str]] = frozenset(("keys",))

    def state(self) -> Mapping[str, np.ndarray]:
        """Return a row of times and the partition of each, and since when all are known."""
        rows = self.runtime.rows_of(self.slot)
        times = np.column_stack([rows[:, :ROW_TIMES], rows[:, ROW_TIMES + self.keys]])
        since = np.array([known_since(self.runtime.arena, self.slot)])
        return {"times": times, "keys": rows[:, ROW_TIMES : ROW_TIMES + self.keys], "since": since}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Hold these instants, and no others."""
        times = state["times"].reshape(-1, ROW_TIMES + 1)
        keys = state["keys"].reshape(len(times), self.keys)
        self.runtime.put_rows(self.slot, np.column_stack([times[:, :ROW_TIMES], keys, times[:, ROW_TIMES:]]))
        put_known_since(self.runtime.arena, self.slot, int(state["since"][0]))


def run_states(
    lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]], links: Links
) -> Iterator[tuple[str, State]]:
    """Yield the states of sequences, with their identities."""
    if not lowered.states:
        return
    known, network = identities(), lowered.network
    for producer, number in lowered.states.items():
        made, slot = lowered.plan.producers[producer], network.states[number].slot
        assert isinstance(made, RunState)
        if slot >= 0:
            marks = tuple(rival_name(rivals, known) for rivals in lowered.rivals[producer])
            record = network.states[number]
            runs = KeptRuns(runtime, links, number, slot, record.columns, made.keys, marks, len(record.numbers))
            yield digest(("runs", known[producer].digest)), runs
    for producer, slot in lowered.instants.items():
        keys = network.nodes[network.slots[slot].node].keys
        yield digest(("instants kept", known[producer].digest)), KeptInstants(runtime, slot, keys)
