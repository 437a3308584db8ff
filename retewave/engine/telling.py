"""The engine's turn, the matches that are yet to be told, and those that no call has returned yet.

Data's way: matches, late items -> **telling** -> callbacks; matches that a call could not return -> **the next call**.
An engine has two locks.  Its *state* (`Matcher.lock`) is held while anything is read or changed, and never while a
user's code runs.  Its *turn*, which is here, is held by the thread that pours and calls back.  So callbacks come one at
a time, in the order in which their matches were found, and a push waits until earlier matches have been told.
A callback may call anything.  Matches of its own calls are returned to it at once, and told after earlier matches.

Invariants: each match is told once, and is returned or yielded by one call.  A callback that raises keeps no other
match from being told; after an interrupt (KeyboardInterrupt) in a callback, the next call tells the rest.
Left out: pouring (`retewave.engine.matcher`), and which call it is (`retewave.engine.engine`).
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType

from retewave.engine.late import LateItem
from retewave.engine.registry import Registry
from retewave.log import Tally
from retewave.match import Match, Matches, in_order
from retewave.query import Query
from retewave.report import Report

__all__ = ["Finding", "Telling", "Turn"]

PATIENCE = 10.0  # seconds that a thread waits for another's callback before it says so
MOST_LEFT = 100_000  # matches that wait to be returned; beyond, the oldest are dropped
LISTED = 3  # errors that are told beside the first


class Turn:
    """A lock that a thread may take again, and that says so when another waits long for a callback to return.

    A caller that takes it often writes what `with` does: `turn.acquire(False) or turn.wait()`.
    """

    def __init__(self) -> None:
        self.calling: Query | str = ""  # whose callback is at work; empty when none is
        lock = threading.RLock()
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self) -> None:
        if not self.acquire(False):
            self.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def wait(self) -> None:
        """Take it when it is free, and warn when that takes long."""
        said, name = False, threading.current_thread().name
        while not self.acquire(timeout=PATIENCE):
            if self.calling and not said:
                said = True
                warnings.warn(
                    f"the thread {name} has waited {PATIENCE:g} s for {_name(self.calling)} to "
                    "return; if that waits for this thread, both will for ever",
                    RuntimeWarning,
                    stacklevel=4,
                )


class Telling:
    """Matches that are yet to be told, or to be returned.  The thread that tells them has the turn."""

    def __init__(self, registry: Registry, on_late: Callable[[list[LateItem]], object] | None) -> None:
        self.turn = Turn()  # held by the thread that pours and calls back
        self._registry = registry  # a query that was removed is told nothing more
        self._on_late = on_late
        self.untold: deque[Iterator[Match] | list[LateItem] | Report] = deque()  # oldest first
        self.at_work = False  # callbacks are being called: matches that a callback finds are told later
        self.left: deque[tuple[Sequence[Matches], int]] = deque()  # not returned, but for a number of first ones
        self._left_matches = 0  # number of matches in `left`
        self._leaving = threading.RLock()  # held while `left` changes: a thread without the turn may leave matches
        self.unreturned = 0  # matches that no call will return: more waited than `MOST_LEFT`
        self._tally = Tally("%s matches are dropped that calls which failed could not return")

    def add(self, found: Sequence[Matches]) -> None:
        """Note matches, and let them be told to those queries that have a callback."""
        heard = False
        for batch in found:
            query = batch.query
            query.take(batch)
            heard = heard or query.on_match is not None
            if query.on_report is not None and batch.reported is not None:
                self.untold.append(Report(batch, batch.reported[1]))
        if heard:
            self.untold.append(in_order(found))

    def add_late(self, items: list[LateItem]) -> None:
        """Let items that were set aside be told."""
        self.untold.append(items)

    def tell(self) -> None:
        """Call back until all has been told, then raise the first error; a callback's own calls tell nothing."""
        if self.at_work:
            return
        self.at_work = True
        errors: list[tuple[str, Exception]] = []
        try:
            while self.untold:
                self._tell_first(errors)
        except BaseException as interrupt:
            _note(interrupt, errors)
            raise
        finally:
            self.at_work, self.turn.calling = False, ""
        if errors:
            name, first = errors[0]
            first.add_note(f"retewave: raised by {name}; every callback has been called for all that was found")
            _note(first, errors[1:])
            raise first

    def _tell_first(self, errors: list[tuple[str, Exception]]) -> None:
        """Tell the first that waits: a match is told when its callback has been called, even if that raises."""
        found, turn, registry = self.untold[0], self.turn, self._registry
        if isinstance(found, Report):
            self.untold.popleft()
            self._tell_report(found, errors)
            return
        if isinstance(found, list):
            self.untold.popleft()
            self._tell_late(found, errors)
            return
        for match in found:
            query = match.query
            callback = query.on_match
            if callback is not None and query in registry:
                turn.calling = query
                try:
                    callback(match)
                except Exception as error:
                    errors.append((_name(query), error))
        self.untold.popleft()

    def _tell_report(self, report: Report, errors: list[tuple[str, Exception]]) -> None:
        query = report.query
        if query.on_report is not None and query in self._registry:
            self.turn.calling = query
            try:
                query.on_report(report)
            except Exception as error:
                errors.append((f"on_report of {query.name}", error))

    def _tell_late(self, items: list[LateItem], errors: list[tuple[str, Exception]]) -> None:
        if self._on_late is not None:
            self.turn.calling = "on_late"
            try:
                self._on_late(items)
            except Exception as error:
                errors.append(("on_late", error))

    def leave(self, found: Sequence[Matches], taken: int = 0) -> None:
        """Keep matches that a call cannot return for the next call, without the first `taken` ones."""
        with self._leaving:
            self.left.append((found, taken))
            self._left_matches += _count(found) - taken
            while self._left_matches > MOST_LEFT and len(self.left) > 1:
                oldest, gone = self.left.popleft()
                self._left_matches -= _count(oldest) - gone
                self.unreturned += _count(oldest) - gone
                self._tally.log(self.unreturned)

    def take_left(self) -> list[Matches]:
        """Return the matches that the earliest of the former calls has left, if there are any."""
        with self._leaving:
            if not self.left:
                return []
            batches, taken = self.left.popleft()
            self._left_matches -= _count(batches) - taken
        return [batch for batch in _after(batches, taken) if len(batch)] if taken else list(batches)


def _name(calling: Query | str) -> str:
    return calling if isinstance(calling, str) else f"on_match of {calling.name}"


def _count(batches: Sequence[Matches]) -> int:
    return sum(map(len, batches))


class Finding:
    """An iterator over the matches of a call; when it goes, those that were not taken are left to the next call."""

    def __init__(self, telling: Telling, found: Iterable[Sequence[Matches]]) -> None:
        self._telling = telling
        self._rest = deque(found)
        self._batches: Sequence[Matches] = ()  # the current ones
        self._matches: Iterator[Match] = iter(())  # matches of `_batches` that are not taken

    def __iter__(self) -> Iterator[Match]:
        return self

    def __next__(self) -> Match:
        while True:
            match = next(self._matches, None)
            if match is not None:
                return match
            if not self._rest:
                raise StopIteration
            self._batches = self._rest.popleft()
            self._matches = in_order(self._batches)

    def __del__(self) -> None:
        if left := sum(1 for _ in self._matches):
            self._telling.leave(self._batches, _count(self._batches) - left)
        for batches in self._rest:
            self._telling.leave(batches)


def _after(batches: Sequence[Matches], taken: int) -> list[Matches]:
    """Return batches without the first `taken` matches of their common order."""
    places = [(place, number) for number, batch in enumerate(batches) for place in batch.places.tolist()]
    gone = Counter(number for _, number in sorted(places)[:taken])
    return [batch.after(gone[number]) if gone[number] else batch for number, batch in enumerate(batches)]


def _note(error: BaseException, others: Sequence[tuple[str, Exception]]) -> None:
    """Add the other errors as a note."""
    if others:
        listed = ", ".join(f"{other!r} by {name}" for name, other in others[:LISTED])
        more = f", and {len(others) - LISTED:,} more" if len(others) > LISTED else ""
        error.add_note(f"retewave: other callbacks raised, too: {listed}{more}")
