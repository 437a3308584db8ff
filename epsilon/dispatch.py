"""The dispatch tables: for the form of an input triple, the α-memories it feeds and with which triple.

Data's way: reduction -> **dispatch** -> the kernel's tables.  ε and α are one look-up: every test on a
constant is in the key, so nothing is scanned, and no entailed triple is built that no atom asks for.

The look-up rule: for an input (s p o) with p in `known`, look up (·,p,·), (·,p,o), (s,p,·), (s,p,o);
otherwise the same keys with None for p.  A dot is None.  What an any-predicate atom sees of a known
predicate is listed under that predicate too.  Each route that fires gives its atom one triple; routes marked
`twin` may give the same triple as another route of that atom for that input, and are compared then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from retewave.epsilon.atoms import Atom
from retewave.epsilon.derivation import INPUT, OBJECT, SUBJECT, Derivation, From, Goal, Part, most_general
from retewave.epsilon.network import Network
from retewave.epsilon.reduce import Reduction, goals, reduce
from retewave.epsilon.twins import twins

__all__ = ["INPUT", "OBJECT", "SUBJECT", "Dispatch", "Fact", "From", "Key", "Part", "Route", "routes", "why"]

Key: TypeAlias = tuple[bytes | None, bytes | None, bytes | None]


class Route(NamedTuple):
    """The triple that one atom gets from an input triple that is found under a key."""

    atom: int  # the atom's position in the given sequence
    subject: Part  # SUBJECT or OBJECT of the input, or a constant text
    predicate: Part  # INPUT, or a constant text
    object: Part
    guard: bool  # does not fire when the input's object is a literal (it would become a subject)
    twin: bool  # another route to this atom may give the same triple from the same input


class Fact(NamedTuple):
    """A triple that the schema itself entails (owl:oneOf), for one atom: a static row."""

    atom: int
    subject: bytes
    predicate: bytes
    object: bytes


@dataclass(frozen=True)
class Dispatch:
    """The tables of a set of atoms over a schema."""

    reduction: Reduction  # the network that the tables were made from
    table: Mapping[Key, tuple[Route, ...]]  # the form of an input triple -> routes, by atom
    known: frozenset[bytes]  # the predicates that have keys of their own
    facts: tuple[Fact, ...]  # to be put in the memories before the stream starts

    @cached_property
    def shapes(self) -> Mapping[bytes | None, frozenset[tuple[bool, bool]]]:
        """Return, by predicate, which look-ups exist: (subject in key, object in key)."""
        found: dict[bytes | None, set[tuple[bool, bool]]] = defaultdict(set)
        for subject, predicate, object_ in self.table:
            found[predicate].add((subject is not None, object_ is not None))
        return {predicate: frozenset(shapes) for predicate, shapes in found.items()}


def routes(atoms: Sequence[Atom], network: Network) -> Dispatch:
    """Build the tables of some atoms over a schema's network.

    >>> from retewave.epsilon.axioms import Axiom, Kind
    >>> network = Network.of([Axiom(Kind.INVERSE, b"<p>", b"<q>")])
    >>> dispatch = routes([Atom.of(None, b"<q>", None)], network)
    >>> route = dispatch.table[None, b"<p>", None][0]
    >>> route.subject.name, route.predicate, route.object.name, route.guard, route.twin
    ('OBJECT', b'<q>', 'SUBJECT', True, False)
    """
    reduction = reduce(network, atoms)
    per_atom = [_derivations(reduction, atom) for atom in atoms]
    known = frozenset(d.given_predicate for found in per_atom for d in found if d.given_predicate is not None)
    table: dict[Key, list[Route]] = defaultdict(list)
    for number, found in enumerate(per_atom):
        for group in _by_predicate(found, known):
            for derivation, route in _routed(number, group):
                table[derivation.given_subject, derivation.given_predicate, derivation.given_object].append(route)
    facts = dict.fromkeys(
        Fact(number, *fact)
        for number, atom in enumerate(atoms)
        for goal in goals(atom)
        for fact in sorted(reduction.answered[goal].facts)
    )
    return Dispatch(reduction, {key: tuple(found) for key, found in table.items()}, known, tuple(facts))


def why(dispatch: Dispatch, key: Key, route: Route) -> tuple[str, ...]:
    """Return the axioms, first to last, that carry an input of this key to the route's atom."""
    derivation = Derivation(*key, route.subject, route.predicate, route.object)
    for goal in goals(dispatch.reduction.atoms[route.atom]):
        for candidate in _as_walked(derivation):
            if candidate in dispatch.reduction.answered[goal].derivations:
                return dispatch.reduction.why(_with_predicate(goal, candidate), candidate)
    return ()


def _with_predicate(goal: Goal, derivation: Derivation) -> Goal:
    if isinstance(derivation.predicate, bytes):
        return goal._replace(predicate=derivation.predicate)
    return goal


def _as_walked(derivation: Derivation) -> tuple[Derivation, ...]:
    """Return the forms that a derivation may have had before it was listed under a known predicate."""
    return (
        derivation,
        derivation._replace(given_predicate=None),
        derivation._replace(given_predicate=None, predicate=INPUT),
    )


def _derivations(reduction: Reduction, atom: Atom) -> tuple[Derivation, ...]:
    """Return the derivations of an atom, each once even when several of its goals see it."""
    return tuple(dict.fromkeys(d for goal in goals(atom) for d in reduction.answered[goal].derivations))


def _by_predicate(found: Iterable[Derivation], known: frozenset[bytes]) -> list[tuple[Derivation, ...]]:
    """Group by input predicate; derivations for any predicate are repeated for each known predicate."""
    groups: dict[bytes | None, list[Derivation]] = defaultdict(list)
    for derivation in found:
        groups[derivation.given_predicate].append(derivation)
    anything = groups.get(None, [])
    if anything:
        for predicate in sorted(known):
            groups[predicate] += [_under(predicate, derivation) for derivation in anything]
    return [most_general(group) for group in groups.values()]


def _under(predicate: bytes, derivation: Derivation) -> Derivation:
    emitted = predicate if derivation.predicate is INPUT else derivation.predicate
    return derivation._replace(given_predicate=predicate, predicate=emitted)


def _routed(atom: int, group: Sequence[Derivation]) -> list[tuple[Derivation, Route]]:
    twinned = twins(group)
    return [(d, Route(atom, d.subject, d.predicate, d.object, d.literal_guard, d in twinned)) for d in group]
