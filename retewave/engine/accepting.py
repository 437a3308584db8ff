"""Checks of a query before it is registered: refuse queries that cannot run, warn of parts that are hardly meant.

Where it stands: between the normal form of a query and the registry.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from retewave.compiler.algebra import Query as Parsed
from retewave.compiler.algebra import TriplePattern
from retewave.compiler.algebra.written import missing
from retewave.compiler.lower import kept_for_ever
from retewave.compiler.plan.producers import EXPLAINED
from retewave.compiler.plan.shape import Listener
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.parts import parts_of
from retewave.errors import QueryError
from retewave.views.bounds import reach

__all__ = [
    "CartesianWarning",
    "UnboundedWarning",
    "check_parts",
    "check_runs",
    "check_shedding",
    "check_view",
    "check_width",
    "warn_of_what_is_kept",
    "warn_of_what_views_keep",
]

MOST_COLUMNS = 250  # a row of a memory, with its link and times, fits one page
MOST_NAMED = 3  # patterns that a warning shows


class CartesianWarning(UserWarning):
    """A query is a cartesian product, as its author allowed."""


class UnboundedWarning(UserWarning):
    """A query with operators of time, OPTIONAL, MINUS or EXISTS keeps rows for ever, as nothing bounds them."""


def check_width(parsed: Parsed, normal: tuple[Branch, ...], explained: bool) -> None:
    """Refuse a pattern with more variables and constants than a row of a memory has room for."""
    for branch in (each for one in normal for each in _rows(one)):
        patterns = tuple(_joined(branch))
        constants = sum(isinstance(term, bytes) for pattern in patterns for term in (pattern.subject, pattern.object))
        columns = len(branch.bound) + constants
        told = len(EXPLAINED) * len(patterns) if explained else 0
        if columns + told > MOST_COLUMNS:
            raise QueryError(
                f"{_name(parsed)}: the pattern has {columns} variables, and constants as subjects and "
                f"objects{f', and {told} columns to explain them' if told else ''}; {MOST_COLUMNS} is the most",
                hint="split it: let one query CONSTRUCT what the other looks for",
            )


def _rows(branch: Branch) -> Iterator[Branch]:
    """Yield a branch, and each branch that its probes or its parts' probes look at: each has rows of its own."""
    yield branch
    for probe in branch.all_probes:
        yield probe.there


def _joined(branch: Branch) -> Iterator[TriplePattern]:
    """Yield the patterns whose triples are in a branch's rows: its own, its parts', and those that must exist."""
    yield from branch.patterns
    for part in branch.parts:
        yield from _joined(part.branch)
    for probe in branch.probes:
        if probe.wanted:
            yield from _joined(probe.there)


def check_parts(parsed: Parsed, normal: tuple[Branch, ...], allowed: bool) -> None:
    """Refuse a cartesian product that the user has not allowed; warn of one that is allowed."""
    for branch in normal:
        parts = parts_of(branch)
        if len(parts) < 2:
            continue
        listed = "; ".join(f"{{ {part} }}" for part in parts)
        what = f"{_name(parsed)}: {len(parts)} parts of the pattern share no variable: {listed}"
        if not allowed:
            raise QueryError(
                what,
                hint="each match of one part pairs with each match of the other; to mean that: "
                "allow_cartesian=True, or --allow-cartesian",
            )
        warnings.warn(what, CartesianWarning, stacklevel=4)


def check_runs(parsed: Parsed, normal: tuple[Branch, ...]) -> None:
    """Refuse a choice of pairs: sequences have none."""
    if not any(branch.has_runs for branch in normal):
        return
    if parsed.policy.chooses:
        what = f"POLICY {parsed.policy} is for SEQ of EP-SPARQL"
        raise QueryError(what, place=parsed.policy.place, hint="a strategy stands between two steps: , ; or :")


def check_shedding(parsed: Parsed, normal: tuple[Branch, ...]) -> None:
    """Refuse a query that gives wrong answers when rows are dropped: it looks at absence, or uses events up."""
    if parsed.policy.chooses:
        raise QueryError(
            f'POLICY {parsed.policy} chooses among all that has come, and under at_limit="shed" some of it is dropped',
            place=parsed.policy.place,
            hint='at_limit="error" (--at-limit error) stops instead; a narrower window keeps fewer rows',
        )
    if any(branch.has_runs for branch in normal):
        raise QueryError(
            f'{_name(parsed)}: runs grow from earlier ones, and under at_limit="shed" some of these are dropped',
            hint='at_limit="error" (--at-limit error) stops instead; a narrower WITHIN keeps fewer runs',
        )
    if all(probe.wanted for branch in normal for probe in branch.all_probes):
        return
    operator, place = missing(parsed.where) or ("NOT", None)
    name = _name(parsed) + ": " if place is None else ""
    raise QueryError(
        f'{name}{operator} tells of what is not there, and under at_limit="shed" that may be a triple that was dropped',
        place=place,
        hint='at_limit="error" (--at-limit error) stops instead; a narrower window keeps fewer rows',
    )


def check_view(parsed: Parsed, sheds: bool) -> None:
    """Refuse the parts of a query that views cannot have."""
    if sheds:
        raise QueryError(
            f'{_name(parsed)}: a view looks at whole windows, and under at_limit="shed" some of that is dropped',
            hint='at_limit="error" (--at-limit error) stops instead; a narrower window keeps fewer rows',
        )


def warn_of_what_views_keep(parsed: Parsed) -> None:
    """Warn of a view whose windows never forget."""
    assert parsed.view is not None
    for each in parsed.view.windows:
        if reach((each.extent,)) is None:
            warnings.warn(
                f"{_name(parsed)}: the window {each} never forgets: what it holds is kept for ever",
                UnboundedWarning,
                stacklevel=4,
            )


def warn_of_what_is_kept(parsed: Parsed, listener: Listener) -> None:
    """Warn of a query whose memories grow as long as the stream runs, where its text does not show that."""
    kept = tuple(dict.fromkeys(_readable(str(pattern)) for pattern in kept_for_ever(listener)))
    if not kept:
        return
    listed = " and ".join(f"{{ {pattern} }}" for pattern in kept[:MOST_NAMED])
    more = f" and {len(kept) - MOST_NAMED} more" if len(kept) > MOST_NAMED else ""
    endless = [f"<{stream.iri[1:-1].decode()}>" for stream in parsed.streams if stream.width is None]
    where = f"FROM STREAM {' and '.join(endless)}" if endless else "FROM STREAM <…>"
    warnings.warn(
        f"{_name(parsed)}: what is found of {listed}{more} is kept for ever, as nothing bounds it: write {where} "
        "[RANGE 1h], or put WITHIN 1h behind the groups",
        UnboundedWarning,
        stacklevel=4,
    )


def _name(parsed: Parsed) -> str:
    return parsed.name or parsed.source


def _readable(pattern: str) -> str:
    """Return a pattern with the names that variables had before they were renamed.

    >>> _readable("_:.x.2 <urn:p> _:._:b.1")
    '?x <urn:p> _:b'
    """
    pattern = re.sub(r"_:\.(?:detection|solution)\.(\S+) <urn:retewave:events:.*", r"\1", pattern)
    named = re.sub(r"_:\.(\S+)\.\d+", r"?\1", pattern)
    return named.replace("?_:", "_:")
