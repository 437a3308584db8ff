"""Justifications (MEANING §8): the minimal sets of given triples that put an individual into a class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from naive.classes import Ontology, entailed_of, holds
from naive.individuals import individuals
from retewave.epsilon.classes.expression import ClassExpression
from retewave.epsilon.vocabulary import Triple


def justifications(
    ontology: Ontology, expression: ClassExpression, one: bytes, event: Sequence[Triple], static: Sequence[Triple]
) -> set[frozenset[Triple]]:
    """Return the minimal sets of given triples that put a term into a class, if they have a triple of the event."""
    given = list(dict.fromkeys((*event, *static)))
    if not holds(ontology, expression, one, entailed_of(ontology, frozenset(given))):
        return set()
    found: list[frozenset[Triple]] = []
    for size in range(len(given) + 1):
        for chosen in map(frozenset, combinations(given, size)):
            if any(each <= chosen for each in found):
                continue
            facts = entailed_of(ontology, chosen)
            if one in individuals(facts) and holds(ontology, expression, one, facts):
                found.append(chosen)
    return {each for each in found if each & frozenset(event)}
