"""Which class names lie below which, by an ontology of Horn axioms: a fixpoint over contexts.

Data's way: inclusions, in normal form -> **contexts and what holds in them** -> subsumptions.
A *context* is a set of names: what has all of them.  It gets more names, and edges to contexts of what must be there.
Normal forms: names together below a name; `some` role of a name below a name; a name below `some` role of names.
`D below r only C` is `inverse r some D` below C.
Law: for axioms of these forms it is complete; an inverse role makes a successor's context larger (`_follow`).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from retewave.epsilon.classes.expression import Property

__all__ = ["BOTTOM", "TOP", "Context", "Saturation"]

Name: TypeAlias = object  # hashable: a class expression, or a name of our own
Context: TypeAlias = frozenset[Name]

TOP, BOTTOM = "everything", "nothing"


@dataclass
class Saturation:
    """Axioms in normal form, and what follows."""

    above: dict[Property, frozenset[Property]]  # role -> itself and all roles above it
    together: dict[Name, list[tuple[frozenset[Name], Name]]] = field(default_factory=lambda: defaultdict(list))
    needs: dict[Name, list[tuple[Property, frozenset[Name]]]] = field(default_factory=lambda: defaultdict(list))
    some: dict[tuple[Property, Name], list[Name]] = field(default_factory=lambda: defaultdict(list))
    _holds: dict[Context, set[Name]] = field(default_factory=dict)
    _edges: dict[Context, set[tuple[Property, Context]]] = field(default_factory=lambda: defaultdict(set))
    _from: dict[Context, set[tuple[Property, Context]]] = field(default_factory=lambda: defaultdict(set))
    _waiting: deque[tuple[Context, Name]] = field(default_factory=deque)

    def all_below(self, names: Iterable[Name], above: Name) -> None:
        """Say that what has all of some names has another."""
        given = frozenset(names)
        for each in given:
            self.together[each].append((given - {each}, above))

    def holds(self, context: Context) -> set[Name]:
        """Return all names that a context has; BOTTOM is one if nothing can be in it."""
        self._open(context)
        while self._waiting:
            self._spread(*self._waiting.popleft())
        return self._holds[context]

    def _open(self, context: Context) -> None:
        if context not in self._holds:
            self._holds[context] = set()
            for each in (TOP, *context):
                self._add(context, each)

    def _add(self, context: Context, name: Name) -> None:
        if name not in self._holds[context]:
            self._holds[context].add(name)
            self._waiting.append((context, name))

    def _spread(self, context: Context, name: Name) -> None:
        held = self._holds[context]
        for others, above in self.together.get(name, ()):
            if others <= held:
                self._add(context, above)
        for role, filler in self.needs.get(name, ()):
            self._link(context, role, filler)
        for role, source in list(self._from[context]):
            self._tell(source, role, name)
        for role, target in list(self._edges[context]):
            self._follow(context, role, target, name)

    def _tell(self, source: Context, role: Property, name: Name) -> None:
        """Let the source of an edge have what follows from a name of its target."""
        if name == BOTTOM:
            self._add(source, BOTTOM)
        for wider in self._above(role):
            for above in self.some.get((wider, name), ()):
                self._add(source, above)

    def _follow(self, source: Context, role: Property, target: Context, name: Name) -> None:
        """Let the target of an edge have what follows from a name of its source."""
        for wider in self._above(Property(role.name, not role.inverse)):
            for above in self.some.get((wider, name), ()):
                if above not in self._holds[target]:
                    self._link(source, role, target | {above})

    def _link(self, source: Context, role: Property, target: Context) -> None:
        if (role, target) in self._edges[source]:
            return
        self._open(target)
        self._edges[source].add((role, target))
        self._from[target].add((role, source))
        for each in list(self._holds[target]):
            self._tell(source, role, each)
        for each in list(self._holds[source]):
            self._follow(source, role, target, each)

    def _above(self, role: Property) -> frozenset[Property]:
        return self.above.get(role) or frozenset((role,))
