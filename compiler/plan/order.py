"""The order of joins: which inputs are joined next, and under which key.

Data's way: shape -> **join order** -> plan.  Inputs that all share the same variables, and pairwise nothing
else, are joined at once, in one keyed node (a star): a row then costs one probe, however many they are.
Greedy and deterministic: static data first (it is joined once and for all), then the largest star, then the
longest key, then as written.  A cartesian product comes last, where nothing else is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from retewave.rete.operators.join import MOST_SLOTS

__all__ = ["Candidate", "Star", "next_star"]


@dataclass(frozen=True)
class Candidate:
    """An input that waits to be joined."""

    variables: frozenset[int]  # the variables that it binds
    static: bool  # has rows before the stream starts


@dataclass(frozen=True)
class Star:
    """The next join."""

    key: tuple[int, ...]  # the variables that its inputs share; empty: a cartesian product
    inputs: tuple[int, ...]  # places of two or more candidates


def next_star(candidates: Sequence[Candidate]) -> Star:
    """Choose the next join of two or more candidates.

    >>> offer = [Candidate(frozenset((0, n)), False) for n in range(1, 4)]
    >>> next_star([*offer, Candidate(frozenset((1,)), False)])
    Star(key=(0,), inputs=(0, 1, 2))
    """
    keys = {a.variables & b.variables for a, b in combinations(candidates, 2)} - {frozenset()}
    if not keys:
        return Star((), tuple(range(len(candidates)))[:MOST_SLOTS])
    stars = [star for key in keys for star in _stars(candidates, key)]
    return min(stars, key=lambda star: _rank(candidates, star))


def _stars(candidates: Sequence[Candidate], key: frozenset[int]) -> list[Star]:
    """Return the star of all candidates under a key, and that of the static ones alone."""
    everything = _star(candidates, key, range(len(candidates)))
    static = _star(candidates, key, [i for i, each in enumerate(candidates) if each.static])
    return [star for star in (static, everything) if len(star.inputs) > 1]


def _star(candidates: Sequence[Candidate], key: frozenset[int], places: Sequence[int]) -> Star:
    """Take candidates, in order, that share the key and nothing else with each one taken before."""
    taken: list[int] = []
    bound: set[int] = set()
    for place in places:
        variables = candidates[place].variables
        if key <= variables and not (variables - key) & bound and len(taken) < MOST_SLOTS:
            taken.append(place)
            bound |= variables - key
    return Star(tuple(sorted(key)), tuple(taken))


def _rank(candidates: Sequence[Candidate], star: Star) -> tuple[bool, int, int, tuple[int, ...]]:
    dynamic = not all(candidates[place].static for place in star.inputs)
    return dynamic, -len(star.inputs), -len(star.key), star.inputs
