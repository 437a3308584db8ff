"""Data of the open instant that detections depend on: justifications found, triples that came, triples that NOT takes.

Where it stands: beside what builds detections in Python (`retewave/engine/detecting.py`).
Invariant: all of it is of events that end at one time; the next instant forgets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from retewave.windows.intervals import BEFORE_ALL

__all__ = ["Ids", "Noticed"]

Ids: TypeAlias = tuple[int, int, int]  # a triple, by the ids of its terms
Key: TypeAlias = tuple[int, int, int]  # of a justification: event defined, individual, event that came

_JUSTIFIED, _CAME, _USED, _CONTRADICTORY = 0, 1, 2, 3


class Noticed:
    """Sets of triples of one instant."""

    follows = False  # from the rows that are alive
    terms = frozenset({"triples"})  # the arrays of its state that hold terms

    def __init__(self) -> None:
        self._instant = BEFORE_ALL  # at which the events end
        self._justified: dict[Key, list[frozenset[Ids]]] = {}  # the justifications that were found
        self._came: dict[int, set[Ids]] = {}  # the triples that were given, by the number of their event
        self._used: dict[int, set[Ids]] = {}  # used triples, by the number of the NOT that takes them away
        self._contradictory: set[int] = set()  # the events that contradict the ontology

    def at(self, end: int) -> None:
        """Go on with an instant: forget another one."""
        if end != self._instant:
            self._instant = end
            self._forget()

    def is_minimal(self, key: Key, justification: frozenset[Ids]) -> bool:
        """Note a justification, unless an earlier one is a part of it; tell whether it is noted.

        A smaller justification was complete no later, as its triples are among those of the larger one.
        """
        found = self._justified.setdefault(key, [])
        if any(each <= justification for each in found):
            return False
        found.append(justification)
        return True

    def came(self, event: int, triple: Ids) -> None:
        """Note a triple of an event."""
        self._came.setdefault(event, set()).add(triple)

    def use(self, number: int, triples: set[Ids]) -> None:
        """Note the triples that a detection uses."""
        self._used.setdefault(number, set()).update(triples)

    def rest(self, number: int, event: int) -> set[Ids]:
        """Return the triples of an event that no detection has used."""
        return self._came.get(event, set()) - self._used.get(number, set())

    def contradicts(self, event: int) -> bool:
        """Note that an event contradicts the ontology; tell whether that is new."""
        new = event not in self._contradictory
        self._contradictory.add(event)
        return new

    def _forget(self) -> None:
        self._justified, self._came, self._used = {}, {}, {}
        self._contradictory = set()

    def advance(self, now: int) -> None:
        """Forget nothing: the next instant forgets it."""

    def mark(self, marks: np.ndarray) -> None:
        """Mark the terms of all triples."""
        ids = self.state()["triples"].reshape(-1)
        marks[ids[(ids > 0) & (ids < len(marks))]] = 1

    def state(self) -> dict[str, np.ndarray]:
        """Return a row of numbers and a row of terms for each triple."""
        keys: list[tuple[int, ...]] = []
        triples: list[Ids] = []
        for (event, individual, came), found in self._justified.items():
            for place, each in enumerate(found):
                keys += [(_JUSTIFIED, event, came, place)] * len(each)
                triples += [(individual, 0, 0), *each]
                keys.append((_JUSTIFIED, event, came, place))
        for kind, sets in ((_CAME, self._came), (_USED, self._used)):
            for number, each_set in sets.items():
                keys += [(kind, number, 0, 0)] * len(each_set)
                triples += each_set
        keys += [(_CONTRADICTORY, event, 0, 0) for event in self._contradictory]
        triples += [(0, 0, 0)] * len(self._contradictory)
        return {
            "instant": np.array([self._instant]),
            "keys": np.array(keys, dtype=np.int64).reshape(-1, 4),
            "triples": np.array(triples, dtype=np.int64).reshape(-1, 3),
        }

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        """Replace all that is remembered by the content of the arrays."""
        self._instant = int(state["instant"][0])
        self._forget()
        individual, of_one = 0, set[Ids]()
        last: tuple[int, ...] | None = None
        rows = zip(state["keys"].tolist(), state["triples"].tolist(), strict=True)
        for (kind, number, came, _), (s, p, o) in rows:
            if kind == _JUSTIFIED:
                if p == 0:  # the row of the individual begins a justification
                    self._close(last, individual, of_one)
                    individual, of_one, last = s, set(), (number, came)
                else:
                    of_one.add((s, p, o))
            elif kind == _CONTRADICTORY:
                self._contradictory.add(number)
            else:
                (self._came if kind == _CAME else self._used).setdefault(number, set()).add((s, p, o))
        self._close(last, individual, of_one)

    def _close(self, last: tuple[int, ...] | None, individual: int, found: set[Ids]) -> None:
        if last is not None:
            self._justified.setdefault((last[0], individual, last[1]), []).append(frozenset(found))
