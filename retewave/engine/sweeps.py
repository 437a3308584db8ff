"""When the dictionary is swept: not while a reader scans, and not in vain.

Where it stands: beside data's way; `retewave.engine.sweep` is one sweep, of which a slice follows each batch of rows.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

import numpy as np

from retewave.engine.compiled import CompiledNetwork
from retewave.engine.networks import Networks
from retewave.engine.sweep import Sweep
from retewave.log import log
from retewave.match import Matches
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words import layout
from retewave.rete.words.rows import OBJECT, SUBJECT

__all__ = ["Sweeps"]

Held = Callable[[], list[np.ndarray]]

_FEW = 16  # a sweep pays if one term in this many belongs to no row
_MANY_TIMES = 16  # a sweep that seems useless waits until the terms are this many times those that the last one left


class Swept(Protocol):
    """What holds terms, beside readers and matches."""

    terms: Terms  # the dictionary; a restored engine has another
    lock: threading.RLock  # held while anything of an engine is read or changed
    waiting: np.ndarray  # rows that are to be poured
    holders: list[Callable[[], np.ndarray]]  # rows that wait elsewhere

    @property
    def found(self) -> np.ndarray: ...

    @property
    def live_rows(self) -> int: ...

    def follow(self) -> Networks: ...


class Sweeps:
    """The sweeps of an engine's dictionary, one after another."""

    def __init__(self, of: Swept) -> None:
        self._of = of
        self._rows_before = 0  # live rows when the last sweep began
        self._rows_ahead = 0  # rows that were waiting then
        self._readings: list[tuple[threading.Lock, Held]] = []  # of readers: gates, and rows held
        self._batches: weakref.WeakSet[Matches] = weakref.WeakSet()  # matches that callers still hold
        self._sweep: Sweep | None = None  # the sweep that is under way

    @contextmanager
    def reading(self, gate: threading.Lock, held: Held) -> Iterator[None]:
        """Let the dictionary be swept only while the gate is shut, and spare what is held."""
        with self._of.lock:
            self._readings.append((gate, held))
        try:
            yield
        finally:
            with self._of.lock:
                self._readings.remove((gate, held))

    def whole(self) -> int:
        """Go through all at once; return how many terms are reclaimed."""
        sweep = self._begun()
        while not sweep.go_on(1 << 62):
            continue
        return sweep.freed

    @property
    def under_way(self) -> bool:
        """Whether a sweep is under way."""
        return self._sweep is not None

    def follow(self, former: CompiledNetwork | None, new: CompiledNetwork | None) -> None:
        """Go on with another network in place of one, before the rows of the former are poured into it."""
        if self._sweep is not None:
            self._sweep.follow(former, new)

    def leave(self) -> None:
        """Give up a sweep that is under way."""
        if self._sweep is not None:
            self._sweep.leave()
            self._sweep = None

    def go_on(self, work: int) -> None:
        """Go on with the sweep that is under way, or begin one when it is due."""
        if self._sweep is None and self._of.terms.due() and self._pays():
            self._sweep = self._begun()
            log.debug("a sweep of the dictionary begins, at %d terms", len(self._of.terms))
        if self._sweep is not None and self._sweep.go_on(work):
            log.debug("the sweep has ended: %d terms are reclaimed", self._sweep.freed)
            self._sweep = None

    def _pays(self) -> bool:
        """Tell whether a sweep may find anything.

        After a sweep that has freed almost nothing, it is known how many terms the rows use.  While a window fills,
        rows and terms grow at that ratio, and a sweep would find nothing; so none begins until there are more terms.
        """
        before = self._rows_before + self._rows_ahead
        growth = (self._of.live_rows + self._rows_ahead) / before if before else 1.0
        terms = self._of.terms
        unaccounted = len(terms) - terms.in_use(growth)
        return terms.worthwhile or _FEW * unaccounted >= terms.passing or terms.due(_MANY_TIMES)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let no reader scan meanwhile: then all its rows can be found, and the dictionary does not grow."""
        with ExitStack() as gates:
            for gate, _ in self._readings:
                gates.enter_context(gate)
            yield

    def _begun(self) -> Sweep:
        """Begin a sweep."""
        with self.standing_still():
            waiting = [rows for _, held in self._readings for rows in held()]
            waiting += [self._of.waiting, *(of() for of in self._of.holders)]
            marks = self._of.terms.begin_sweep()
        self._rows_before, self._rows_ahead = self._of.live_rows, sum(map(len, waiting))
        held = [self._of.found[:, layout.O_COLUMNS :], *(rows[:, SUBJECT : OBJECT + 1] for rows in waiting)]
        return Sweep(self._of.terms, marks, self._of.follow().all, held, self._batches)

    def note(self, found: list[Matches]) -> list[Matches]:
        """Note matches that somebody may hold from now on; return them."""
        for batch in found:
            self._batches.add(batch)
        if self._sweep is not None:
            self._sweep.spare(found)
        return found
