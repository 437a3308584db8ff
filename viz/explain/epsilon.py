"""Which forms of input reach a triple pattern, and which axioms of the schema let them.

Data's way: dispatch tables -> **forms of input** -> explanation.
A form is a key of the tables with one of its routes, written in the pattern's own variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from retewave.epsilon.atoms import Atom
from retewave.epsilon.dispatch import INPUT, OBJECT, SUBJECT, Dispatch, Key, Route, why
from retewave.viz.explain.names import MOST_LISTED, Prefixes

__all__ = ["Epsilon", "Form", "is_given"]


@dataclass(frozen=True)
class Form:
    """A form of input that entails the triples that a pattern asks for."""

    input: str  # the input triple, in the pattern's variables; `_` is anything
    binds: tuple[str, ...]  # the values that the schema gives to the pattern's other variables
    axioms: tuple[str, ...]  # why, first to last
    no_literal: bool  # does not hold when the input's object is a literal


class Epsilon:
    """The dispatch tables, read by the atoms that they feed."""

    def __init__(self, dispatch: Dispatch) -> None:
        self.dispatch = dispatch
        atoms = dispatch.reduction.atoms
        self._entailing: dict[Atom, list[tuple[Key, Route]]] = defaultdict(list)
        self._facts: dict[Atom, int] = defaultdict(int)
        for key, routes in dispatch.table.items():
            for route in routes:
                if not is_given(key, route):
                    self._entailing[atoms[route.atom]].append((key, route))
        for fact in dispatch.facts:
            self._facts[atoms[fact.atom]] += 1

    def count(self, atom: Atom) -> int:
        """Return how many forms of input entail an atom's triples, besides the triples themselves."""
        return len(self._entailing.get(atom, ()))

    def facts(self, atom: Atom) -> int:
        """Return how many triples that an atom asks for the schema itself states."""
        return self._facts.get(atom, 0)

    def forms(self, atom: Atom, pattern: Sequence[str], prefixes: Prefixes) -> tuple[Form, ...]:
        """Return the first forms of input of an atom; `pattern` has the names of its three places."""
        found = self._entailing.get(atom, [])[:MOST_LISTED]
        return tuple(self._form(key, route, pattern, prefixes) for key, route in found)

    def _form(self, key: Key, route: Route, pattern: Sequence[str], prefixes: Prefixes) -> Form:
        emitted = (route.subject, route.predicate, route.object)
        shown = []
        for given, part in zip(key, (SUBJECT, INPUT, OBJECT), strict=True):
            carried = [name for name, source in zip(pattern, emitted, strict=True) if source is part]
            shown.append(prefixes.short(given) if given is not None else (carried or ["_"])[0])
        binds = [
            f"{name} = {prefixes.short(source)}"
            for name, source in zip(pattern, emitted, strict=True)
            if isinstance(source, bytes) and name[:1] in ("?", "$", "_")
        ]
        axioms = tuple(prefixes.short(axiom) for axiom in why(self.dispatch, key, route))
        return Form(" ".join(shown), tuple(binds), axioms, route.guard)


def is_given(key: Key, route: Route) -> bool:
    """Tell whether a route gives the input triple itself."""
    emitted = (route.subject, route.predicate, route.object)
    same = zip(key, (SUBJECT, INPUT, OBJECT), emitted, strict=True)
    return all(source is part or (given is not None and source == given) for given, part, source in same)
