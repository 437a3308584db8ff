"""Which classes an ontology puts below a class expression.

Data's way: ontology + the expressions that are asked about -> normal forms -> saturation -> **the classes below each**.
An inclusion whose left side is no single name has a *bridge*: a name of our own for that side.  So what is below an
expression is named classes and bridges.
The fixpoint is complete for Horn axioms.  An ontology that says more (unions on the right, `not`, `max`, functional
properties) may put more classes below an expression: `open_axioms` says which axioms that may hang on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from retewave.epsilon.classes.expression import (
    NOTHING,
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    AtMost,
    ClassExpression,
    Complement,
    DataType,
    Exactly,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Only,
    Property,
    Restricted,
    Some,
    is_data,
    within,
)
from retewave.epsilon.classes.inclusions import (
    Below,
    Bridge,
    alternatives,
    bridges_of,
    conjuncts,
    is_horn,
    is_simple,
    roles_above,
    signature,
)
from retewave.epsilon.classes.ontology import Ontology
from retewave.epsilon.classes.saturation import BOTTOM, TOP, Saturation

__all__ = ["Subsumption"]


_BY_NAME = (NamedClass, Some, HasValue, HasSelf, AnyOf, OneOf, DataType, Restricted)  # what a name tells all of


class Subsumption:
    """Says what lies below the expressions that it was made for."""

    def __init__(self, ontology: Ontology, asked: Iterable[ClassExpression]) -> None:
        self.ontology, self.asked = ontology, tuple(asked)
        # what a reasoner has said: the classes and bridges below an expression, and the expressions that hold of all
        self.told: Mapping[ClassExpression, frozenset[Below]] = {}
        self.told_of_all: frozenset[ClassExpression] = frozenset()
        self.bridges = tuple(dict.fromkeys(bridges_of(ontology)))
        self._saturation = Saturation(roles_above(ontology))
        self._left: dict[ClassExpression, object] = {}  # expression -> the name that has all that is in it
        for each in ontology.inclusions:
            for part in alternatives(each.below):
                self._right(self._name(part), each.above)
        for bridge in self.bridges:
            self._right(bridge, bridge.expression)
            self._right(bridge, bridge.inclusion.above)
            self._ask(bridge.expression)
        for expression in self.asked:
            self._ask(expression)

    def _ask(self, expression: ClassExpression) -> None:
        for each in within(expression):
            self._name(each)

    @cached_property
    def names(self) -> tuple[Below, ...]:
        """All classes and bridges."""
        return (*(NamedClass(name) for name in sorted(self.ontology.classes)), *self.bridges)

    def expressions(self) -> tuple[ClassExpression, ...]:
        """Return all that may be asked about: with the parts of each, and the left sides of axioms."""
        whole = (*self.asked, *(each.expression for each in self.bridges))
        return tuple(dict.fromkeys(part for each in whole for part in within(each) if not is_data(part)))

    def below(self, expression: ClassExpression) -> tuple[Below, ...]:
        """Return the greatest classes and bridges below an expression; not those that nothing can be in."""
        asked = self._members.get(self._name(expression), ()) if isinstance(expression, _BY_NAME) else self.names
        known = [each for each in asked if self._is_below(each, expression)]
        found = [each for each in known if self._says_more(each, expression)]
        told = self.told_below(expression).difference(known)
        found += [each for each in self.names if each in told] if told else []
        return tuple(each for each in found if not self._is_covered(each, found))

    @cached_property
    def _members(self) -> dict[object, list[Below]]:
        """By name: the classes and bridges that have it."""
        found: dict[object, list[Below]] = {}
        for each in self.names:
            for name in self._saturation.holds(frozenset((each,))):
                found.setdefault(name, []).append(each)
        return found

    def _says_more(self, one: Below, expression: ClassExpression) -> bool:
        """Tell whether it takes more to see it than the form of both and what single triples entail."""
        if isinstance(one, NamedClass) or self._simple is None:
            return True
        return not self._simple._is_below(one, expression)

    @cached_property
    def _simple(self) -> Subsumption | None:
        """The same for what single triples entail."""
        inclusions = tuple(each for each in self.ontology.inclusions if is_simple(each))
        if len(inclusions) == len(self.ontology.inclusions):
            return None
        expressions = (*self.asked, *(each.expression for each in self.bridges))
        found = Subsumption(replace(self.ontology, inclusions=inclusions), expressions)
        for bridge in self.bridges:
            found._right(bridge, bridge.expression)
        return found

    def _is_covered(self, one: Below, found: list[Below]) -> bool:
        """Tell whether a class is below another one that was found, and need not be looked at."""
        if isinstance(one, Bridge):
            return False
        held = self._saturation.holds(frozenset((one,)))
        others = (each for each in found if isinstance(each, NamedClass) and each != one and each in held)
        return any(one not in self._saturation.holds(frozenset((each,))) or each.name < one.name for each in others)

    def told_above(self, name: bytes) -> frozenset[bytes]:
        """Return the classes to which axioms lead from a class one by one, as ε goes."""
        if name not in self._told:
            found, waiting = {name}, [name]
            while waiting:
                for above in self._steps.get(waiting.pop(), ()):
                    if above not in found:
                        found.add(above)
                        waiting.append(above)
            self._told[name] = frozenset(found)
        return self._told[name]

    @cached_property
    def _told(self) -> dict[bytes, frozenset[bytes]]:
        return {}

    @cached_property
    def _steps(self) -> dict[bytes, set[bytes]]:
        found: dict[bytes, set[bytes]] = {}
        for each in self.ontology.inclusions:
            for one in alternatives(each.below):
                for above in conjuncts(each.above):
                    if isinstance(one, NamedClass) and isinstance(above, NamedClass):
                        found.setdefault(one.name, set()).add(above.name)
        return found

    def holds_of_all(self, expression: ClassExpression) -> bool:
        """Tell whether everything is in an expression."""
        return expression == THING or self._is_below(None, expression) or expression in self.told_of_all

    def _is_below(self, one: Below | None, expression: ClassExpression) -> bool:
        own = frozenset() if one is None else frozenset((one,))
        held = self._saturation.holds(own)
        if BOTTOM in held:
            return False
        if self._name(expression) in held:
            return True
        match expression:
            case AllOf(parts):
                return all(self._is_below(one, part) for part in parts)
            case Only(role, filler):
                probe: object = ("only", role)
                self._saturation.needs[probe] = [(role, frozenset((("any", role),)))]
                return self._successor_has(own | {probe}, role, filler)
            case Complement(part):
                probe = ("is", part)
                self._right(probe, part)
                return BOTTOM in self._saturation.holds(own | {probe})
            case AtMost(role, number, filler):
                return any(self._is_at_most(name, role, number, filler) for name in held)
            case AtLeast(role, number, filler):
                return any(self._is_at_least(name, role, number, filler) for name in held)
            case Exactly(role, number, filler):
                return all(self._is_below(one, kind(role, number, filler)) for kind in (AtLeast, AtMost))
        return False

    def _successor_has(self, context: frozenset[object], role: Property, filler: ClassExpression) -> bool:
        """Tell whether whatever stands behind a role is in an expression."""
        held = self._saturation.holds(context)
        if BOTTOM in held:
            return False
        wanted = self._name(filler)
        fresh = ("any", role)
        targets = [to for by, to in self._saturation._edges[context] if by == role and fresh in to]
        return any(wanted in self._saturation.holds(to) or filler == THING for to in targets)

    def _is_at_most(self, name: object, role: Property, number: int, filler: ClassExpression) -> bool:
        match name:
            case AtMost(wider, less, larger) | Exactly(wider, less, larger):
                return less <= number and wider in self._above(role) and self._is_sub(filler, larger)
        return False

    def _is_at_least(self, name: object, role: Property, number: int, filler: ClassExpression) -> bool:
        match name:
            case AtLeast(narrower, more, smaller) | Exactly(narrower, more, smaller):
                return more >= number and role in self._above(narrower) and self._is_sub(smaller, filler)
        return False

    def _is_sub(self, one: ClassExpression, other: ClassExpression) -> bool:
        if other == THING or one == other:
            return True
        probe = ("is", one)
        self._right(probe, one)
        return self._name(other) in self._saturation.holds(frozenset((probe,)))

    def _above(self, role: Property) -> frozenset[Property]:
        return self._saturation.above.get(role) or frozenset((role,))

    # ---- what a reasoner says ----
    def told_below(self, expression: ClassExpression) -> frozenset[Below]:
        """Return what a reasoner has put below an expression; nothing if none was asked."""
        return self.told.get(expression, frozenset()) - {expression}

    def is_by_reasoner(self, one: Below, expression: ClassExpression) -> bool:
        """Tell whether a reasoner alone knows that something is below an expression."""
        return one in self.told_below(expression) and not self._is_below(one, expression)

    # ---- normal forms ----
    def _name(self, expression: ClassExpression) -> object:
        """Return a name that has all that is in an expression by its form."""
        if expression == THING:
            return TOP
        if expression == NOTHING:
            return BOTTOM
        if expression in self._left:
            return self._left[expression]
        self._left[expression] = expression
        self._spell(expression)
        return expression

    def _spell(self, expression: ClassExpression) -> None:
        """Say what is in an expression by its form."""
        name = expression
        match expression:
            case AllOf(parts):
                self._saturation.all_below([self._name(part) for part in parts], name)
            case AnyOf(parts):
                for part in parts:
                    self._saturation.all_below([self._name(part)], name)
            case Some(role, filler) | AtLeast(role, 1, filler):
                self._saturation.some[role, self._name(filler)].append(name)
            case HasValue(role, value):
                self._saturation.some[role, OneOf((value,))].append(name)
            case OneOf(members) if len(members) > 1:
                for member in members:
                    self._saturation.all_below([OneOf((member,))], name)

    def _right(self, name: object, expression: ClassExpression) -> None:
        """Say that what has a name is in an expression."""
        saturation = self._saturation
        if (name, expression) in self._said:
            return
        self._said.add((name, expression))
        saturation.all_below([name], self._name(expression))
        match expression:
            case AllOf(parts):
                for part in parts:
                    self._right(name, part)
            case Some(role, filler):
                self._some(name, role, filler)
            case AtLeast(role, number, filler) | Exactly(role, number, filler) if number > 0:
                self._some(name, role, filler)
            case HasValue(role, value):
                saturation.needs[name].append((role, frozenset((OneOf((value,)),))))
            case Only(role, filler):
                back = ("behind", role, name)
                saturation.some[Property(role.name, not role.inverse), name].append(back)
                self._right(back, filler)
            case Complement(part):
                saturation.all_below([name, self._name(part)], BOTTOM)

    @cached_property
    def _said(self) -> set[tuple[object, ClassExpression]]:
        return set()

    def _some(self, name: object, role: Property, filler: ClassExpression) -> None:
        target: object = ("is", filler)
        if filler == THING:
            target = TOP
        else:
            self._right(target, filler)
        self._saturation.needs[name].append((role, frozenset((target,))))

    # ---- what the fixpoint cannot see ----
    @cached_property
    def _is_open(self) -> bool:
        """Tell whether the ontology says anything beyond the fixpoint."""
        known = self.ontology
        return bool(known.equating or known.recursive) or not all(map(is_horn, known.inclusions))

    def open_axioms(self, expression: ClassExpression) -> tuple[str, ...]:
        """Return the axioms beyond the fixpoint by which more classes may lie below an expression."""
        if not self._is_open:
            return ()
        reached, found = self._reached(expression), dict[str, None]()
        for each in self.ontology.inclusions:
            if signature(each.above) & reached and not is_horn(each):
                found[str(each)] = None
        for name, kind in ({**self.ontology.equating, **self.ontology.recursive}).items():
            if name in reached:
                found[f"{NamedClass(name)} is an {kind}"] = None
        return tuple(found)

    def _reached(self, expression: ClassExpression) -> set[bytes]:
        """Return the names by which something may come below an expression."""
        reached = set(signature(expression))
        waiting = True
        while waiting:
            waiting = False
            for each in self.ontology.inclusions:
                right = signature(each.above)
                if right and right & reached and not right | signature(each.below) <= reached:
                    reached |= right | signature(each.below)
                    waiting = True
            for one, other in self.ontology.roles:
                if other.name in reached and one.name not in reached:
                    reached.add(one.name)
                    waiting = True
        return reached
