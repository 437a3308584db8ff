"""Refuse a group of static data alone where an operator needs its time: it has none, so no match would be told.

Where it stands: between a query and the registry; it looks at the engine's static data and schema.
A group is static alone if static data has triples for each of its patterns, and no pattern names a stream.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    Exists,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
    Query,
    Relate,
    TriplePattern,
    Triples,
    operands,
    shown_parts,
    walk,
)
from retewave.compiler.algebra.written import name_of
from retewave.engine.compiled import fed_atoms
from retewave.engine.datasets import Datasets
from retewave.epsilon.atoms import Atom
from retewave.epsilon.dispatch import routes
from retewave.errors import QueryError
from retewave.rete.words.rows import SUBJECT

__all__ = ["check_timed"]

_BESIDE_STREAM = "if the stream brings such triples, too, write STREAM <…> { … } around the group"


def check_timed(parsed: Query, datasets: Datasets) -> None:
    """Refuse a query where a side of an operator of time, or of OPTIONAL, MINUS or EXISTS, is static data alone."""
    if parsed.view is not None:  # its operators do not ask for times
        return
    sides = [(node, side) for node in walk(parsed.where) for side in _timed(node)]
    patterns = tuple(dict.fromkeys(pattern for _, side in sides for pattern in _patterns(side)))
    given = _given(patterns, datasets) if patterns else frozenset()
    for node, side in sides:
        own = list(_patterns(side))
        if own and all(each in given for each in own):
            listed = " . ".join(map(str, own))
            first = isinstance(node, LeftJoin | Minus | Exists)
            hint = "put the pattern of the stream first" if first else "put a pattern of the stream into the group"
            raise QueryError(
                f"{name_of(node)} asks when {{ {listed} }} is, and static data gives that, which has no time",
                place=getattr(node, "place", None),
                hint=f"{hint}; {_BESIDE_STREAM}",
            )


def _timed(node: Algebra) -> Iterator[Algebra]:
    """Yield the operands whose time a node needs."""
    match node:
        case Relate() | Between() | Before() | After() | OptionalBefore() | OptionalEquals():
            yield from operands(node)
        case LeftJoin(left) | Minus(left) | Exists(left):
            yield left


def _patterns(side: Algebra) -> Iterator[TriplePattern]:
    """Yield the triple patterns whose triples are parts of a side's solutions."""
    waiting = [side]
    while waiting:
        each = waiting.pop()
        waiting += reversed(shown_parts(each))
        if isinstance(each, Triples):
            yield from each.patterns


def _given(patterns: tuple[TriplePattern, ...], datasets: Datasets) -> frozenset[TriplePattern]:
    """Return the patterns for which static data has triples."""
    atoms = {each: Atom.of(*each.terms) for each in patterns if each.source is None}
    if not atoms or not len(datasets.static):
        return frozenset()
    dispatch = routes(tuple(dict.fromkeys(atoms.values())), datasets.schema.network)
    fed = fed_atoms(datasets.static, dispatch, datasets.terms)
    return frozenset(each for each, atom in atoms.items() if atom in fed and _has_subject(each, datasets))


def _has_subject(pattern: TriplePattern, datasets: Datasets) -> bool:
    """Tell whether static data has triples about a pattern's subject, if that is a constant."""
    if not isinstance(pattern.subject, bytes):
        return True
    rows = datasets.static
    return bool(np.isin(datasets.terms.find(pattern.subject), rows[:, SUBJECT]).any())
