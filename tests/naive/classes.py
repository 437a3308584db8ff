"""What class expressions mean of a few triples (MEANING §8, entailment), by fixpoint and nested loops.

`entailed` closes triples under the axioms of a schema; `holds` says whether an individual is in a class expression by
structure, or by what the ontology puts below it.
What is below an expression is found by a chase: of something that is in a class, and of what must then be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count

from naive import epsilon
from naive.individuals import individuals, is_value, others, said_of
from retewave.epsilon.axioms import Axiom
from retewave.epsilon.classes.expression import (
    NOTHING,
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    ClassExpression,
    Complement,
    DataType,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Only,
    Restricted,
    Some,
)
from retewave.epsilon.vocabulary import TYPE, Triple

Seen = frozenset[tuple[ClassExpression, bytes]]  # what is being proved
FARTHEST = 5  # steps from a thing to what must be there of it; no expression of the tests looks so far


@dataclass(frozen=True)
class Ontology:
    """What triples are reasoned with."""

    axioms: tuple[Axiom, ...] = ()  # by which one triple entails another
    inclusions: tuple[tuple[ClassExpression, ClassExpression], ...] = ()  # others: sub-class and super-class
    lefts: tuple[ClassExpression, ...] = ()  # the classes, and left sides of inclusions, that may be below others


@lru_cache(4096)
def entailed_of(ontology: Ontology, triples: frozenset[Triple]) -> frozenset[Triple]:
    """Return what a set of triples entails; asked again and again of the same sets."""
    return entailed(ontology, triples)


def entailed(ontology: Ontology, triples: Iterable[Triple]) -> frozenset[Triple]:
    """Return all that triples entail together."""
    found = frozenset(each for triple in triples for each in epsilon.entailed(ontology.axioms, triple))
    while True:
        more = {
            said
            for sub, above in ontology.inclusions
            for one in individuals(found)
            if holds(ontology, sub, one, found)
            for said in said_of(one, above)
        }
        new = found | {each for triple in more for each in epsilon.entailed(ontology.axioms, triple)}
        if new == found:
            return found
        found = new


def holds(
    ontology: Ontology, expression: ClassExpression, one: bytes, facts: frozenset[Triple], seen: Seen = frozenset()
) -> bool:
    """Tell whether facts, closed under the schema, put a term into a class expression."""
    if (expression, one) in seen:
        return False
    seen |= {(expression, one)}
    match expression:
        case NamedClass(name):
            return expression == THING or (one, TYPE, name) in facts
        case AllOf(parts):
            return all(holds(ontology, part, one, facts, seen) for part in parts)
        case AnyOf(parts):
            by_structure = any(holds(ontology, part, one, facts, seen) for part in parts)
        case OneOf(members):
            by_structure = one in members
        case Some(role, filler) | AtLeast(role, 1, filler):
            by_structure = any(holds(ontology, filler, other, facts, seen) for other in others(role, one, facts))
        case HasValue(role, value):
            by_structure = value in others(role, one, facts)
        case HasSelf(role):
            by_structure = one in others(role, one, facts)
        case DataType() | Restricted():
            return is_value(expression, one)
        case _:
            by_structure = False
    return by_structure or any(holds(ontology, each, one, facts, seen) for each in below(ontology, expression))


@lru_cache(4096)
def below(ontology: Ontology, expression: ClassExpression) -> tuple[ClassExpression, ...]:
    """Return the classes and left sides of inclusions that are below an expression whatever else is said."""
    return tuple(each for each in ontology.lefts if _is_below(ontology, each, expression))


def _is_below(ontology: Ontology, one: ClassExpression, expression: ClassExpression) -> bool:
    something, other = b"_:x", b"_:y"
    facts = _chased(ontology, _witness(one, something, count()))
    if _is_contradictory(ontology, facts):
        return False
    match expression:
        case Complement(part):
            both = _chased(ontology, {*_witness(one, something, count()), *_witness(part, something, count(100))})
            return _is_contradictory(ontology, both)
        case Only(role, filler):
            edge = (other, role.name, something) if role.inverse else (something, role.name, other)
            more = _chased(ontology, {*_witness(one, something, count()), edge})
            return not _is_contradictory(ontology, more) and _by_structure(filler, other, more)
    return _by_structure(expression, something, facts)


def _by_structure(expression: ClassExpression, one: bytes, facts: frozenset[Triple]) -> bool:
    return holds(Ontology(), expression, one, facts)


def _witness(expression: ClassExpression, one: bytes, names: Iterator[int]) -> set[Triple]:
    """Return triples that put a term into an expression, with new names for what must be there."""
    match expression:
        case AllOf(parts):
            return {triple for part in parts for triple in _witness(part, one, names)}
        case Some(role, filler):
            other = b"_:n%d" % next(names)
            edge = (other, role.name, one) if role.inverse else (one, role.name, other)
            return {edge, *_witness(filler, other, names)}
    return set(said_of(one, expression)) if expression != THING else set()


def _chased(ontology: Ontology, triples: Iterable[Triple]) -> frozenset[Triple]:
    """Close triples under all inclusions: what must be there gets a name, as far away as an expression may look."""
    ontology = replace(ontology, lefts=())  # the chase itself finds what must be there
    names, facts = count(1000), entailed(ontology, triples)
    done: set[tuple[ClassExpression, bytes]] = set()
    far: dict[bytes, int] = {}  # how far a name is from what was there first: a class may want one more of its own kind
    while True:
        more: set[Triple] = set()
        for sub, above in ontology.inclusions:
            for one in individuals(facts) | {b"_:x"}:
                away = far.get(one, 0)
                if not isinstance(above, Some) or (above, one) in done or away == FARTHEST:
                    continue
                if _by_structure(sub, one, facts):
                    done.add((above, one))
                    wanted = _witness(above, one, names)
                    far |= dict.fromkeys(individuals(wanted) - individuals(facts) - {one}, away + 1)
                    more |= wanted
        if not more - facts:
            return facts
        facts = entailed(ontology, facts | more)


def _is_contradictory(ontology: Ontology, facts: frozenset[Triple]) -> bool:
    apart = [sub for sub, above in ontology.inclusions if above == NOTHING]
    return any(_by_structure(sub, one, facts) for sub in apart for one in individuals(facts))
