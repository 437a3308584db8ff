"""Contradictions: the expressions that nothing may be in, by an ontology.

Data's way: ontology -> **expressions that nothing may be in** -> `unfolding` -> patterns over an event and static data.
An event that has such a pattern contradicts the ontology.  Nothing follows of that; it is counted.
Left out: contradictions that take a thing which no triple names, or two names of one thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from retewave.epsilon.classes.expression import NOTHING, AllOf, ClassExpression, Complement
from retewave.epsilon.classes.inclusions import conjuncts
from retewave.epsilon.classes.ontology import Inclusion, Ontology
from retewave.epsilon.classes.unfolding import MOST_PROOFS, CannotUnfold, Proof, Unfolding

__all__ = ["Contradictions", "contradictions"]


@dataclass(frozen=True)
class Contradictions:
    """The patterns that no event should have."""

    proofs: tuple[Proof, ...]  # each once
    left_out: tuple[str, ...]  # axioms whose contradictions are not looked for


def contradictions(ontology: Ontology, unfolding: Unfolding) -> Contradictions:
    """Return the patterns by which triples contradict an ontology."""
    found: dict[Proof, None] = {}
    left_out: list[str] = []
    for inclusion in ontology.inclusions:
        for expression in _impossible(inclusion):
            try:
                proofs = unfolding.proofs(expression)
            except CannotUnfold:
                proofs = None
            if proofs is None or len(found) + len(proofs) > MOST_PROOFS:
                left_out.append(str(inclusion))
            else:
                found.update(dict.fromkeys(proofs))
    return Contradictions(tuple(found), tuple(dict.fromkeys(left_out)))


def _impossible(inclusion: Inclusion) -> Iterator[ClassExpression]:
    """Yield the expressions that nothing is in, if an inclusion holds."""
    if inclusion.above == NOTHING:
        yield inclusion.below
    for part in conjuncts(inclusion.above):
        if isinstance(part, Complement):
            yield AllOf((inclusion.below, part.part))
