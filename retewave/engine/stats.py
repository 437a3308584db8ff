"""An engine in numbers: counts of input, of kept rows and of output, and the seconds of its work.

Where it stands: beside data's way.  The engine and its readers keep the counts; this module only gathers them.
Invariant: the result is JSON, with the same keys and types at any time; unknown is 0.
With `Engine(stats=True)` the counts by memory, by join and by probe are there too, as `network`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from retewave.rete.counters import RuleCounts, built, next_due, probe_counters, runs_of, totals
from retewave.windows.times import spell_instant

if TYPE_CHECKING:
    from retewave.engine.engine import Engine

__all__ = ["Seconds", "peak_rss_bytes", "stats"]

Step = TypeVar("Step")


class Seconds:
    """Seconds that an engine has worked; `with` it, the total runs.

    >>> seconds = Seconds()
    >>> with seconds:
    ...     list(seconds.timed("match", iter("ab")))
    ['a', 'b']
    >>> 0 < seconds.match < seconds.total
    True
    """

    def __init__(self) -> None:
        self.read = 0.0  # spent scanning, added up over readers; in threads it runs beside the matching
        self.match = 0.0  # spent matching
        self._total = 0.0  # of runs and pushes that have ended
        self._since = 0.0  # when those under way began
        self._depth = 0  # number of runs and pushes under way
        self._lock = threading.Lock()  # two readers add to `read`, and runs of several threads begin and end

    @property
    def total(self) -> float:
        """Wall time of runs and pushes, the caller's work on the matches meanwhile included."""
        return self._total + (time.perf_counter() - self._since if self._depth else 0.0)

    def begin(self) -> None:
        """Let the total run."""
        with self._lock:
            if self._depth == 0:
                self._since = time.perf_counter()
            self._depth += 1

    def end(self) -> None:
        """Let the total stand, if nothing else is under way."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._total += time.perf_counter() - self._since

    def __enter__(self) -> Seconds:
        self.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def timed(self, part: Literal["read", "match"], steps: Iterator[Step]) -> Generator[Step, None, None]:
        """Iterate, and add the time that each step takes."""
        lock, clock = self._lock, time.perf_counter
        while True:
            started = clock()
            try:
                step = next(steps)
            except StopIteration:
                return
            finally:
                spent = clock() - started
                with lock:
                    setattr(self, part, getattr(self, part) + spent)
            yield step


def stats(engine: Engine) -> dict[str, Any]:
    """Return counts of what went in, what is kept and what came out.

    >>> from retewave import Engine
    >>> engine = Engine()
    >>> query = engine.register("SELECT ?x WHERE { ?x a ?class }", name="typed")
    >>> _ = engine.push(("http://e/x", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://e/c"), time=0)
    >>> found = stats(engine)
    >>> found["triples"], found["matches"]
    (1, {'typed': 1})
    """
    seconds = engine.seconds
    total = seconds.total
    return {
        "triples": engine.triples,
        "malformed": sum(reader.counters.malformed for reader in engine.readers),
        "untimed": sum(reader.counters.untimed for reader in engine.readers),
        "late": engine.order.late,
        "future": engine.order.future,
        "matches": {query.name: query.matched for query in engine.queries},
        "matches_by_deadline": {query.name: query.by_deadline for query in engine.queries if query.by_deadline},
        "inconsistent_events": {query.name: query.inconsistent for query in engine.queries if query.inconsistent},
        **_of_rules(engine),
        **_of_reports(engine),
        "unreturned": engine.telling.unreturned,
        "dropped": engine.dropped,
        "seconds": {"total": total, "read": seconds.read, "match": seconds.match},
        "triples_per_second": engine.triples / total if total else 0.0,
        "peak_rss_bytes": peak_rss_bytes(),
        "terms": len(engine.terms),
        **_of_network(engine),
        **_of_waiting(engine),
        **_counted(engine),
    }


def _of_reports(engine: Engine) -> dict[str, dict[str, int]]:
    """Return, by query, how many solutions DISTINCT did not report, and how many entries it remembers."""
    compiled = engine.matcher.main
    found = {} if compiled is None else {query.name: compiled.outcome.counts(query.number) for query in engine.queries}
    return {
        part: {name: counts[part] for name, counts in found.items() if counts} for part in ("suppressed", "remembered")
    }


def _of_rules(engine: Engine) -> dict[str, int]:
    """Return how many triples rules have built, and in how many rounds."""
    compiled = engine.matcher.main
    found = RuleCounts(0, 0) if compiled is None else built(compiled.runtime.counted)
    return {"derivations": found.derivations, "rounds": found.rounds}


def _counted(engine: Engine) -> dict[str, Any]:
    """Return the network's counts by memory, by join and by probe, if it keeps them."""
    compiled = engine.matcher.main
    if compiled is None or not engine.matcher.options.stats:
        return {}
    from retewave.viz.explain.counts import counts

    return {"network": counts(compiled)}


def _of_network(engine: Engine) -> dict[str, int]:
    """Return the counts of the network's arrays."""
    matcher = engine.matcher
    found = {
        "live_rows": 0,
        "runs": 0,
        "static_rows": 0,
        "collected": matcher.collected,
        "shed": matcher.shed,
        "arena_bytes": 0,
    }
    for each in () if matcher.networks is None else matcher.networks.all:
        held = totals(each.runtime.arena)
        found["live_rows"] += held.live
        found["runs"] += runs_of(each.runtime.arena, each.runtime.network)
        found["static_rows"] += held.static
        found["collected"] += held.collected
        found["shed"] += held.shed
        found["arena_bytes"] += held.used_bytes
    return found


def _of_waiting(engine: Engine) -> dict[str, Any]:
    """Return how many tuples wait for a decision, and when the next of them is due, as the user tells times."""
    runtimes = [each.runtime for each in engine.matcher.networks.all] if engine.matcher.networks else []
    counters = (probe_counters(each.net, each.arena, n) for each in runtimes for n in range(len(each.network.probes)))
    due = min((found for each in runtimes if (found := next_due(each.arena)) is not None), default=None)
    return {
        "waiting": sum(each.waiting for each in counters),
        "next_due": "" if due is None else spell_instant(engine.shown_clock.decode(due)),
    }


def peak_rss_bytes() -> int:
    """Return the most memory that this process has held; 0 where the system does not tell."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # Windows has no such module
        return 0
    peak = getrusage(RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
