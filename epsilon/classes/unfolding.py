"""What triples prove that an individual is in a class expression: patterns over one event and static data.

Data's way: class expression + subsumptions -> **proofs** -> branches of the query -> plan -> network.
A proof is a conjunction of triple patterns.  What one triple entails by itself is ε's: a pattern asks for a class or a
property, and sub-classes, domains, inverses and the like come in below.  Here is what takes several triples: by the
form of the expression, and by the axioms whose left side has several parts.
Laws: a proof never needs what it proves, of the same individual; a class whose definition needs the same class of
another individual would be a recursion over data, and is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from typing import TypeAlias

from retewave.epsilon.classes.expression import (
    NOTHING,
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    ClassExpression,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Property,
    Some,
    is_data,
)
from retewave.epsilon.classes.inclusions import Below
from retewave.epsilon.classes.subsumption import Subsumption
from retewave.epsilon.vocabulary import TYPE, is_literal
from retewave.errors import RetewaveError

__all__ = ["MOST_PROOFS", "CannotUnfold", "Proof", "Unfolding", "Unknown"]

MOST_PROOFS = 400  # patterns that one expression may become

Unknown: TypeAlias = int  # in place of a term: 0 is the individual itself
Part: TypeAlias = bytes | Unknown
Atom: TypeAlias = tuple[Part, bytes, Part]


class CannotUnfold(RetewaveError):
    """An expression for which there is no finite set of patterns."""


@dataclass(frozen=True)
class Proof:
    """A conjunction of triple patterns that puts an individual into a class expression."""

    atoms: tuple[Atom, ...] = ()  # each once
    data: tuple[tuple[Unknown, ClassExpression], ...] = ()  # values that must be in data ranges
    individual: Part = 0  # the individual: unknown, or one that {…} names
    axioms: tuple[str, ...] = ()  # the axioms that the proof depends on, but for ε's

    def and_(self, other: Proof) -> Proof:
        """Return the proof that has both, of one individual."""
        return Proof(
            tuple(dict.fromkeys((*self.atoms, *other.atoms))),
            tuple(dict.fromkeys((*self.data, *other.data))),
            self.individual,
            tuple(dict.fromkeys((*self.axioms, *other.axioms))),
        )

    def where(self, unknown: Unknown, is_: Part) -> Proof:
        """Return the proof with another term in place of an unknown."""

        def of(part: Part) -> Part:
            return is_ if part == unknown and isinstance(part, int) else part

        atoms = tuple(dict.fromkeys((of(s), p, of(o)) for s, p, o in self.atoms))
        data = tuple((is_ if each == unknown else each, what) for each, what in self.data)
        return Proof(atoms, data, of(self.individual), self.axioms)  # type: ignore[arg-type]

    @property
    def canonical(self) -> Proof:
        """The same proof, with its unknowns numbered as they appear."""
        numbers: dict[Part, int] = {0: 0}
        for s, _, o in self.atoms:
            for part in (s, o):
                if isinstance(part, int):
                    numbers.setdefault(part, len(numbers))
        atoms = tuple((numbers.get(s, s), p, numbers.get(o, o)) for s, p, o in self.atoms)
        data = tuple((numbers.setdefault(each, len(numbers)), what) for each, what in self.data)
        return Proof(atoms, data, numbers.get(self.individual, self.individual), self.axioms)


Seen: TypeAlias = tuple[tuple[ClassExpression, Part], ...]  # the expressions that are being proved, outermost first


@dataclass
class Unfolding:
    """Finds the proofs of class expressions over one ontology."""

    subsumption: Subsumption
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _known: dict[ClassExpression, tuple[Below, ...]] = field(default_factory=dict)  # what is below an expression

    def proofs(self, expression: ClassExpression) -> tuple[Proof, ...]:
        """Return the proofs of an expression, each once, without those that say more than another."""
        by_form: dict[Proof, Proof] = {}
        for each in self._of(expression, 0, ()):
            one = each.canonical
            by_form.setdefault(Proof(one.atoms, one.data, one.individual), one)
        found = list(by_form.values())
        for each in found:
            if not each.atoms:
                raise CannotUnfold(
                    f"({expression}) holds of everything, and so tells of nothing that happens",
                    hint="name a class or a property that a triple of the stream can tell",
                )
        kept = [each for each in found if not any(_says_less(other, each) for other in found)]
        return tuple(kept)

    def _of(self, expression: ClassExpression, term: Part, seen: Seen) -> list[Proof]:
        """Return the proofs that a term is in an expression."""
        if (expression, term) in seen:
            return []
        self._check_recursion(expression, term, seen)
        if (isinstance(term, bytes) and is_literal(term)) or is_data(expression):
            return self._of_data(expression, term)
        if expression == NOTHING:
            return []
        if self.subsumption.holds_of_all(expression):
            return [Proof()]
        inside = (*seen, (expression, term))
        found = list(self._by_form(expression, term, inside))
        if not isinstance(expression, AllOf):
            for each in self._below(expression):
                found += self._by_class(each, expression, term, inside)
        return self._bounded(found, expression)

    def _by_form(self, expression: ClassExpression, term: Part, seen: Seen) -> Iterator[Proof]:
        match expression:
            case NamedClass(name):
                yield Proof(((term, TYPE, name),))
            case AllOf(parts):
                yield from self._all(parts, term, seen)
            case AnyOf(parts):
                for part in parts:
                    yield from self._of(part, term, seen)
            case OneOf(members):
                yield from (proof for member in members for proof in _is_member(term, member))
            case Some(role, filler) | AtLeast(role, 1, filler):
                yield from self._some(role, filler, term, seen)
            case HasValue(role, value):
                yield Proof((_atom(role, term, value),))
            case HasSelf(role):
                yield Proof((_atom(role, term, term),))

    def _all(self, parts: Sequence[ClassExpression], term: Part, seen: Seen) -> Iterator[Proof]:
        found = [Proof()]
        for part in sorted(parts, key=lambda each: not isinstance(each, NamedClass)):
            more = self._of(part, term, seen)
            pairs = (_joined(one, other) for one, other in product(found, more))
            found = [each for each in pairs if each is not None]
            self._bounded(found, part)
            if not found:
                return
        yield from found

    def _some(self, role: Property, filler: ClassExpression, term: Part, seen: Seen) -> Iterator[Proof]:
        self._check_role(role)
        other = next(self._numbers)
        atom = Proof((_atom(role, term, other),))
        for each in self._of(filler, other, seen):
            whole = atom.and_(each)
            if each.individual != 0:  # {…} has named what stands behind the role
                whole = whole.where(other, each.individual)
            yield _named_values(Proof(whole.atoms, whole.data, 0, whole.axioms))

    def _by_class(self, each: Below, expression: ClassExpression, term: Part, seen: Seen) -> list[Proof]:
        """Return the proofs by a class, or by the left side of an axiom, that lies below an expression."""
        by = " (by the reasoner)" if self.subsumption.is_by_reasoner(each, expression) else ""
        if isinstance(each, NamedClass):
            if each == expression or self._is_told(each, expression):
                return []
            return [_because(one, f"{each} SubClassOf {expression}{by}") for one in self._of(each, term, seen)]
        return [_because(one, f"{each.inclusion}{by}") for one in self._of(each.expression, term, seen)]

    def _below(self, expression: ClassExpression) -> tuple[Below, ...]:
        if expression not in self._known:
            self._known[expression] = self.subsumption.below(expression)
        return self._known[expression]

    def _is_told(self, one: NamedClass, expression: ClassExpression) -> bool:
        """Tell whether ε leads from a class to another one: the axioms say so one by one."""
        return isinstance(expression, NamedClass) and expression.name in self.subsumption.told_above(one.name)

    def _of_data(self, expression: ClassExpression, term: Part) -> list[Proof]:
        if expression == THING:
            return [Proof()]
        if isinstance(term, bytes):
            return [Proof()] * (isinstance(expression, OneOf) and term in expression.members)
        return [Proof(data=((term, expression),))]

    def _check_recursion(self, expression: ClassExpression, term: Part, seen: Seen) -> None:
        if any(each == expression and at != term for each, at in seen):
            ring = [str(each) for each, _ in seen]
            ring = [f"({each})" if " " in each else each for each in (*ring[ring.index(str(expression)) :], ring[-1])]
            raise CannotUnfold(
                f"({expression}) is known by what has something in ({expression}) itself ({' <- '.join(ring)}): "
                "to know it of one individual takes a recursion over data",
                hint="leave that definition out of the ontology, or ask for a class that does not hang on it",
            )

    def _check_role(self, role: Property) -> None:
        why = self.subsumption.ontology.recursive.get(role.name)
        if why is not None:
            raise CannotUnfold(
                f"{role} is an {why}: which triples follow takes a recursion over data, or several triples",
                hint="ask for a property below it, of which each triple is given",
            )

    def _bounded(self, found: list[Proof], expression: ClassExpression) -> list[Proof]:
        if len(found) > MOST_PROOFS:
            raise CannotUnfold(
                f"({expression}) becomes more than {MOST_PROOFS} patterns",
                hint="name the part that has many alternatives as a class of the ontology, or as an event of its own",
            )
        return found


def _is_member(term: Part, member: bytes) -> Iterator[Proof]:
    if isinstance(term, bytes):
        yield from [Proof()] * (term == member)
    else:
        yield Proof(individual=member) if term == 0 else Proof(data=((term, OneOf((member,))),))


def _atom(role: Property, one: Part, other: Part) -> Atom:
    return (other, role.name, one) if role.inverse else (one, role.name, other)


def _joined(one: Proof, other: Proof) -> Proof | None:
    """Return both proofs of one individual; nothing if they name different individuals."""
    if one.individual != other.individual and 0 not in (one.individual, other.individual):
        return None
    named = one.individual if one.individual != 0 else other.individual
    whole = one.and_(other)
    return Proof(whole.atoms, whole.data, named, whole.axioms)


def _named_values(proof: Proof) -> Proof:
    """Put a single value in place of an unknown that must be it."""
    for unknown, what in proof.data:
        if isinstance(what, OneOf) and len(what.members) == 1 and isinstance(unknown, int):
            rest = tuple(each for each in proof.data if each != (unknown, what))
            return _named_values(
                Proof(proof.atoms, rest, proof.individual, proof.axioms).where(unknown, what.members[0])
            )
    return proof


def _because(proof: Proof, axiom: str) -> Proof:
    return Proof(proof.atoms, proof.data, proof.individual, tuple(dict.fromkeys((*proof.axioms, axiom))))


def _says_less(one: Proof, other: Proof) -> bool:
    """Tell whether a proof asks for a part only of what another asks for, word by word."""
    if one is other or one.individual != other.individual:
        return False
    return set(one.atoms) < set(other.atoms) and set(one.data) <= set(other.data)
