"""A UNION of conjunctions of triple patterns as data: drawn by strategies, and written as a query's text.

The text is what the engine and the naive meaning are both given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from naive.reports import Distinct

Term = bytes | str  # a constant's text, or the name of a variable, "?x"
Binding = dict[str, bytes]
Window = int | None | Mapping[str, int | None]  # one width, or a width for each named stream; None: unbounded

MS = 1000  # the unit of the cases' times and windows, in microseconds


@dataclass(frozen=True)
class Pattern:
    """One triple pattern."""

    terms: tuple[Term, Term, Term]


@dataclass(frozen=True)
class Comparison:
    """FILTER (variable operator number)."""

    variable: str
    operator: str  # < > = !=
    number: int


@dataclass(frozen=True)
class Branch:
    """A conjunction."""

    patterns: tuple[Pattern, ...]
    tables: tuple[tuple[Binding, ...], ...] = ()  # VALUES: each match agrees with one row of each
    filters: tuple[Comparison, ...] = ()


@dataclass(frozen=True)
class Query:
    """What is looked for."""

    branches: tuple[Branch, ...]
    window: Mapping[str, int | None] | None = None  # a width for each stream; None: every stream, unbounded
    project: tuple[str, ...] | None = None  # the variables reported; None: all
    distinct: Distinct = False  # which of the matches are reported: `tests/naive/reports.py`


def text_of(query: Query) -> str:
    """Write a query as C-SPARQL."""
    streams = ""
    for iri, width in (query.window or {}).items():
        streams += f"FROM STREAM <{iri}> " + (f"[RANGE {width // MS}ms] " if width is not None else "")
    where = " UNION ".join("{ " + body_of(branch) + " }" for branch in query.branches)
    shown = " ".join(query.project) if query.project else "*"
    return f"SELECT {distinct_text(query.distinct)}{shown} {streams}WHERE {{ {where} }}"


def distinct_text(distinct: Distinct) -> str:
    """Write which matches are reported."""
    if isinstance(distinct, bool):
        return "DISTINCT " if distinct else ""
    bound = "" if distinct.within is None else f"LIMIT {distinct.most} FOR {distinct.within // MS}ms "
    return f"DISTINCT ON ({' '.join(distinct.variables)}) {bound}"


def body_of(branch: Branch) -> str:
    """Write a conjunction."""
    parts = [" ".join(t if isinstance(t, str) else t.decode() for t in p.terms) + " ." for p in branch.patterns]
    for table in branch.tables:
        (variable,) = table[0]
        parts.append(f"VALUES {variable} {{ {' '.join(row[variable].decode() for row in table)} }}")
    parts += [f"FILTER({f.variable} {f.operator} {f.number})" for f in branch.filters]
    return "\n".join(parts)
