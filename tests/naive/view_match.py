"""MATCH in a view (MEANING §7, RSEP-QL): the events that its patterns find, and what stands in the query for it.

`matching.py` says which of them go together.
"""

from __future__ import annotations

from dataclasses import dataclass

from naive.matching import Bindings, Order, joined
from naive.view_graphs import Pattern, Triple, matches
from retewave.compiler.algebra import Policy


@dataclass(frozen=True)
class NaiveEvent:
    """EVENT ON window { … }: triple patterns that one event must have."""

    window: int  # the number of its window
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True)
class NaiveMatch:
    """MATCH { … }: stands in the query as VALUES."""

    events: dict[str, NaiveEvent]  # by the names that it has
    order: Order
    policy: Policy
    variables: tuple[str, ...]

    def values(self, bag: list[Bindings]) -> str:
        rows = ("(" + " ".join(dict(each)[name] for name in self.variables) + ")" for each in bag)
        return f"VALUES ({' '.join(self.variables)}) {{ {' '.join(rows)} }}"


def mappings(patterns: tuple[Pattern, ...], triples: frozenset[Triple]) -> list[Bindings]:
    """Return what a basic graph pattern binds in a graph, by nested loops."""
    found: list[Bindings] = [()]
    for pattern in patterns:
        fitting = (
            (before, {one: other for one, other in zip(pattern, triple, strict=True) if one[0] == "?"})
            for before in found
            for triple in triples
            if matches(pattern, triple)
        )
        both = [joined(before, tuple(own.items())) for before, own in fitting]
        found = list(dict.fromkeys(each for each in both if each is not None))
    return found
