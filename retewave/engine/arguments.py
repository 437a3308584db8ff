"""Checks of callers' arguments before the engine uses them: a wrong argument is told in words, and changes nothing.

Where it stands: at the front door, before data's way begins.
Left out: terms (`io/rdf.py`), times (`windows/times.py`) and durations, which have checks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from retewave.compiler.algebra import Policy, PolicyName, Query
from retewave.errors import UsageError
from retewave.io.rdf import to_text
from retewave.windows import durations

if TYPE_CHECKING:
    from retewave.io.reading.reader import Reader

__all__ = [
    "Triple",
    "WhenFull",
    "check_inbox",
    "check_options",
    "duration_of",
    "policy_of",
    "readers_of",
    "seconds_of_tick",
    "span",
    "texts_of",
    "triples_of",
]

Triple = Sequence[Any]

WhenFull = Literal["wait", "drop", "error"]  # the fate of an item that finds an inbox full

_MOST_SEED = 2**63 - 1


def triples_of(triples: Triple | Iterable[Triple]) -> list[Triple]:
    """Return one triple, or several, as a list."""
    if isinstance(triples, tuple) and triples and not isinstance(triples[0], tuple | list):
        return [triples]
    if isinstance(triples, str | bytes) or not isinstance(triples, Iterable):
        raise UsageError(
            f"a triple is a tuple of three terms, not {triples!r}", hint="give a triple, or a list of triples"
        )
    return list(triples)


def texts_of(triple: Any) -> tuple[bytes, bytes, bytes]:
    """Return the texts of a triple's terms."""
    if isinstance(triple, str | bytes) or not isinstance(triple, Iterable):
        raise UsageError(f"a triple is a tuple of three terms, not {triple!r}", hint="several triples are a list")
    parts = tuple(triple)
    if len(parts) != 3:
        hint = "push each graph of a dataset by itself: a graph is an event" if len(parts) == 4 else ""
        raise UsageError(f"a triple has three terms, not {len(parts)}: {triple!r}", hint=hint)
    s, p, o = to_text(parts[0]), to_text(parts[1]), to_text(parts[2])
    if s[:1] == b'"':
        raise UsageError(f"a literal cannot be a subject: {s.decode()}")
    if p[:1] != b"<":
        raise UsageError(f"only an IRI can be a predicate: {p.decode()}")
    return s, p, o


def check_reported(parsed: Query, on_report: object) -> None:
    """Refuse a callback for reports that cannot be called, or whose query makes no reports."""
    if on_report is None:
        return
    if not callable(on_report):
        raise UsageError(f"on_report is called with each report, and {on_report!r} cannot be called"[:200])
    if parsed.view is None:
        raise UsageError("on_report is for views, and this query detects: it has on_match")


def policy_of(given: object) -> Policy:
    """Return the policy that a text names, as a query would write it.

    >>> str(policy_of("recent keep"))
    'recent KEEP'
    """
    if isinstance(given, Policy):
        return given
    names = get_args(PolicyName)
    name, *keep = given.lower().split() if isinstance(given, str) and given.strip() else ("",)
    for known in names:
        if name == known and keep in ([], ["keep"]):
            return Policy(known, bool(keep))
    raise UsageError(f"unknown policy {given!r}", hint=f"known: {', '.join(names)}; KEEP behind it uses nothing up")


def span(time: Any) -> tuple[Any, Any]:
    """Return the start and the end of an instant or an interval."""
    if not isinstance(time, tuple):
        return time, time
    if len(time) != 2:
        raise UsageError(f"an interval is a pair of times, not {time!r}")
    return time[0], time[1]


def readers_of(readers: Sequence[Any]) -> list[Reader]:
    """Return readers; a path stands for `read(path)`: the time of its triples is when they arrive."""
    from retewave.io.reading.reader import Reader, read

    found = []
    for each in readers:
        if not isinstance(each, Reader | str | Path):
            raise UsageError(
                f"cannot run {type(each).__name__} {each!r}"[:200],
                hint="give what rw.read(source, …) returns, or a path",
            )
        found.append(each if isinstance(each, Reader) else read(each))
    return found


def seconds_of_tick(tick: int, readers: Sequence[Reader]) -> float:
    """Return a tick in seconds; refuse it unless the times of all readers are their arrival."""
    if tick <= 0:
        raise UsageError("a tick is longer than nothing", hint="such as 1s")
    timed = next((each for each in readers if each.rate is not None or each.time_property is not None), None)
    if timed is not None:
        raise UsageError(
            f"{timed.name}: a tick tells the time of arrival, and this stream has times of its own",
            hint="leave out the tick, or let the times be those of arrival",
        )
    return tick / 1e6


def check_options(datasets: object, imports: object, on_late: Callable[..., object] | None, seed: object) -> None:
    """Refuse arguments of an engine that have a wrong type."""
    for name, mapping in (("datasets", datasets), ("imports", imports)):
        if mapping is not None and not isinstance(mapping, Mapping):
            raise UsageError(f"{name} maps IRIs to files, and is not {mapping!r}", hint=f"{name}={{iri: path}}")
    if on_late is not None and not callable(on_late):
        raise UsageError(f"on_late is called with late items, and {on_late!r} cannot be called")
    if seed is not None and not _is_whole(seed, 0):
        raise UsageError(f"seed is a whole number from 0 on, not {seed!r}")


def check_bounds(max_live_rows: object, at_limit: object, max_derivations: object, max_runs: object) -> None:
    """Refuse impossible bounds."""
    if at_limit not in ("error", "shed"):
        raise UsageError(f"unknown at_limit {at_limit!r}", hint="known: error, shed")
    if max_live_rows is not None and not _is_whole(max_live_rows, 1):
        raise UsageError(f"max_live_rows is a whole number from 1 on, not {max_live_rows!r}", hint="None: no bound")
    if max_runs is not None and not _is_whole(max_runs, 1):
        raise UsageError(f"max_runs is a whole number from 1 on, not {max_runs!r}", hint="None: no bound")
    if not _is_whole(max_derivations, 1):
        raise UsageError(f"max_derivations is a whole number from 1 on, not {max_derivations!r}")


def _is_whole(number: object, least: int) -> bool:
    return isinstance(number, int) and least <= number <= _MOST_SEED


def check_inbox(size: object, when_full: object) -> None:
    """Refuse an impossible inbox."""
    if not isinstance(size, int) or size < 1:
        raise UsageError(f"an inbox holds a whole number of items from 1 on, not {size!r}")
    if when_full not in ("wait", "drop", "error"):
        raise UsageError(f"unknown when_full {when_full!r}", hint="known: wait, drop, error")


def duration_of(value: Any) -> int:
    """Return a duration that a user gives, in microseconds."""
    try:
        return durations.parse(value)
    except ValueError as e:
        raise UsageError(str(e)) from e
