"""Events of OBEP as branches: patterns over one event and static data, and relations in time between detections.

Data's way: definitions + proofs -> patterns over one event, patterns over detections -> **branches, and what each of
them finds** -> plan -> network.
A detection comes in again, on a stream of the query's own, as one triple: its individual, a predicate for its event,
and a *token*, a literal that holds its individual, its justification and its parts.  So a composite is a pattern over
tokens: SEQ, AND, FIRST and the others are the algebra's.  What a guard finds in a justification comes in beside the
token, a triple for each variable, under a name for each solution.
NOT has three kinds of branches: what came, what justifications use, and, once both are complete, what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from retewave.compiler.algebra import (
    Algebra,
    BlankNode,
    Exists,
    Filter,
    First,
    Join,
    Last,
    Query,
    Relate,
    TemplateTriple,
    TriplePattern,
    Triples,
    Union,
    Variable,
    Within,
)
from retewave.compiler.algebra.detections import (
    AnyEvent,
    BothEvents,
    ChosenEvent,
    CompositeEvent,
    EventDefinition,
    EventExpression,
    EventRest,
    EventsInTime,
    EventWithin,
    GuardPart,
    LogicalEvent,
    NamedEvent,
    local_name,
    named_events,
    operands_of,
)
from retewave.compiler.expressions.tree import Call, Operation
from retewave.compiler.rewrite.data_ranges import is_in_range
from retewave.compiler.rewrite.detected import BACKGROUND, BranchFound, Detecting, GuardUse, token_of
from retewave.compiler.rewrite.normal import branches
from retewave.epsilon.classes.unfolding import Atom, Part, Proof
from retewave.errors import QueryError
from retewave.windows import relations

__all__ = ["detecting"]

MOST_WAYS = 64  # ways to take the patterns of one proof from the event and from static data


def detecting(
    query: Query,
    base: str,
    proofs: dict[bytes, tuple[Proof, ...]],
    contradictions: tuple[Proof, ...],
    in_background: Callable[[Atom], bool],
) -> Detecting:
    """Return the branches of a query about events; `in_background` tells which patterns static data may match."""
    assert query.events is not None
    built = _Building(query, Detecting(query.events, base, proofs, in_background))
    for number, definition in enumerate(query.events.events):
        built.define(number, definition)
    for name in query.events.returned:
        built.tell(name)
    for number, proof in enumerate(contradictions):
        built.contradict(number, proof)
    return built.made


@dataclass
class _Building:
    query: Query
    made: Detecting
    rests: int = 0  # number of NOTs

    def define(self, number: int, definition: EventDefinition) -> None:
        """Add the branches of a definition."""
        if isinstance(definition, LogicalEvent):
            for proof in self.made.proofs[definition.name]:
                choices = self._choices(proof)
                self._check_ways(choices, definition)
                for where in self._ways(proof, choices):
                    individual = proof.individual
                    self._add(where, BranchFound("logical", number, individual), self._detection(number), proof.axioms)
        else:
            self._compose(number, definition)

    def tell(self, name: bytes) -> None:
        """Add the branch of what is told of an event."""
        number = self._number(name)
        made = self.made
        detection = Variable("individual"), made.predicate("token", number), Variable("detection")
        where = Triples((TriplePattern(*detection, made.stream),))
        template: tuple[TemplateTriple, ...] = ()
        if made.definitions.form == "RDF":
            template = (TemplateTriple(BlankNode("s"), BlankNode("p"), BlankNode("o")),)  # type: ignore[arg-type]
        self._add(where, BranchFound("told", number), template)

    def contradict(self, number: int, proof: Proof) -> None:
        """Add the branches of triples that contradict the ontology, unless static data may have too many of them."""
        choices = self._choices(proof)
        if _has_too_many(choices):
            self.made.notices.append(f"events are not counted that contradict {'; '.join(proof.axioms) or proof.atoms}")
            return
        for where in self._ways(proof, choices):
            self._add(where, BranchFound("contradiction", number, proof.individual), (), proof.axioms)

    def _number(self, name: bytes) -> int:
        return next(place for place, each in enumerate(self.made.definitions.events) if each.name == name)

    def _detection(self, number: int) -> tuple[TemplateTriple, ...]:
        """Return the triples by which a detection comes in again, as far as others can know before it is there."""
        node, made = BlankNode("individual"), self.made
        found = [TemplateTriple(node, made.predicate("token", number), BlankNode("token"))]
        for use in made.uses:
            if use.event == number:
                names = ("of", *(each.name for each in use.variables))
                found += [
                    TemplateTriple(node, made.predicate("guard", use.number, name), BlankNode("value"))
                    for name in names
                ]
        return tuple(found)

    def _add(
        self, where: Algebra, found: BranchFound, template: tuple[TemplateTriple, ...], axioms: tuple[str, ...] = ()
    ) -> None:
        made = self.made
        for branch in branches(replace(self.query, where=where)):
            aliases = tuple(
                each.alias for each in (named_events(found.expression) if found.expression else ())
                if token_of(each.alias) in branch.bound
            )  # fmt: skip
            made.branches.append(branch)
            made.found.append(replace(found, aliases=aliases))
            made.templates.append(template)
            made.axioms.append(axioms)
            made.hidden += [each.name for each in branch.bound if each.name not in made.hidden]

    # ---- logical events ----
    def _choices(self, proof: Proof) -> list[tuple[bool, ...]]:
        """Return for each pattern of a proof whether it may be taken from static data, or not."""
        return [(False, True) if self.made.in_background(atom) else (False,) for atom in proof.atoms]

    def _check_ways(self, choices: list[tuple[bool, ...]], definition: LogicalEvent) -> None:
        if _has_too_many(choices):
            raise QueryError(
                f"static data may have {sum(len(each) > 1 for each in choices)} of the triples that one way to prove "
                f"{local_name(definition.name)} asks for; {MOST_WAYS.bit_length() - 1} are the most",
                place=definition.place,
                hint="name a part of the expression as a class of the ontology, and say in static data what is in it",
            )

    def _ways(self, proof: Proof, choices: list[tuple[bool, ...]]) -> Iterator[Algebra]:
        """Yield the ways to take the patterns of a proof from one event and from static data."""
        for chosen in product(*choices):
            if not all(chosen):
                yield self._pattern(proof, chosen)

    def _pattern(self, proof: Proof, background: tuple[bool, ...]) -> Algebra:
        event = Variable("_:.event")
        patterns = [
            TriplePattern(_term(s), p, _term(o), *((BACKGROUND, None) if static else (None, event)))
            for (s, p, o), static in zip(proof.atoms, background, strict=True)
        ]
        where: Algebra = Triples(tuple(patterns))
        for unknown, range_ in proof.data:
            where = Filter(is_in_range(_variable(unknown), range_), where)
        if isinstance(proof.individual, int) and all(s != proof.individual for s, _, _ in proof.atoms):
            no_value = Operation("!", (Call("ISLITERAL", (_variable(proof.individual),)),))
            where = Filter(no_value, where)  # an individual is no literal
        return Within(where, 0)

    # ---- composites ----
    def _compose(self, number: int, definition: CompositeEvent) -> None:
        expression = self._without_rests(definition.pattern)
        uses = {part.alias: self._use(part, expression) for part in definition.guard.parts if part.patterns}
        where = self._whole(expression, uses, False)
        for part in definition.guard.filters:
            where = Filter(part, where)
        self._add(where, BranchFound("composite", number, expression=expression), self._detection(number))

    def _use(self, part: GuardPart, expression: EventExpression) -> GuardUse:
        """Return the use that a guard makes of a part, and let the event's detections bring its data along."""
        named = next(each for each in named_events(expression) if each.alias == part.alias)
        variables = tuple(dict.fromkeys(
            term for pattern in part.patterns for term in pattern.terms if isinstance(term, Variable)
        ))  # fmt: skip
        number = self._number(named.event)
        for use in self.made.uses:
            if (use.event, use.patterns) == (number, part.patterns):
                return use
        use = GuardUse(len(self.made.uses), number, part.patterns, variables)
        self.made.uses.append(use)
        for place, found in enumerate(self.made.found):
            if found.event == number and found.kind in ("logical", "composite"):
                self.made.templates[place] = self._detection(number)
        return use

    def _of(self, expression: EventExpression, uses: dict[str, GuardUse], chosen: bool) -> Algebra:
        """Return the pattern of an expression; below FIRST and LAST a guard waits until they have chosen."""
        match expression:
            case NamedEvent():
                return self._named(expression, None if chosen else uses.get(expression.alias))
            case EventWithin(pattern, width, place):
                return Within(self._of(pattern, uses, chosen), width, place)
            case AnyEvent(left, right):
                return Union(self._whole(left, uses, chosen), self._whole(right, uses, chosen))
            case BothEvents(left, right, place):
                sides = self._whole(left, uses, chosen), self._whole(right, uses, chosen)
                both = Relate(sides[0], relations.EQUALS, sides[1], place)
                return Within(both, 0) if self._is_instant(expression) else both
            case EventsInTime(left, relation, right, place):
                sides = self._of(left, uses, chosen), self._of(right, uses, chosen)
                whole: Algebra = Relate(sides[0], relation, sides[1], place)
                return whole if chosen else self._guarded(whole, (left, right), uses)
            case ChosenEvent(pattern, last, place):
                inner = self._of(pattern, uses, True)
                return Last(inner, place) if last else First(inner, place)
        raise TypeError(f"not an event expression: {expression!r}")

    def _is_instant(self, expression: EventExpression) -> bool:
        """Tell whether an expression finds instants alone, so that nothing has to wait for longer."""
        match expression:
            case NamedEvent(event):
                return _is_rest(expression) or isinstance(self.made.definitions[event], LogicalEvent)
            case EventsInTime():
                return False
        return all(map(self._is_instant, operands_of(expression)))

    def _whole(self, expression: EventExpression, uses: dict[str, GuardUse], chosen: bool) -> Algebra:
        """Return the pattern of an expression, with the guards on what FIRST or LAST at its top has chosen."""
        found = self._of(expression, uses, chosen)
        return found if chosen else self._guarded(found, (expression,), uses)

    def _guarded(self, whole: Algebra, sides: tuple[EventExpression, ...], uses: dict[str, GuardUse]) -> Algebra:
        """Join what guards ask of parts that FIRST or LAST has chosen."""
        for side in sides:
            for each in _chosen_parts(side):
                if each.alias in uses:
                    whole = Join(whole, self._solution(each, uses[each.alias]))
        return whole

    def _named(self, part: NamedEvent, use: GuardUse | None) -> Algebra:
        if use is not None:
            return self._solution(part, use)
        node = Variable(f"_:.individual.{part.alias}")
        number = _rest_number(part) if _is_rest(part) else self._number(part.event)
        kind = "rest" if _is_rest(part) else "token"
        predicate = self.made.predicate(kind, number)
        return Triples((TriplePattern(node, predicate, token_of(part.alias), self.made.stream, place=part.place),))

    def _solution(self, part: NamedEvent, use: GuardUse) -> Algebra:
        """Return the pattern of a solution of a guard, which has the token."""
        node, made = Variable(f"_:.solution.{part.alias}"), self.made
        found = [TriplePattern(node, made.predicate("guard", use.number, "of"), token_of(part.alias), made.stream)]
        for each in use.variables:
            found.append(TriplePattern(node, made.predicate("guard", use.number, each.name), each, made.stream))
        return Triples(tuple(found))

    # ---- NOT ----
    def _without_rests(self, expression: EventExpression) -> EventExpression:
        """Return an expression with a name in place of each NOT, of which the branches are added."""
        match expression:
            case NamedEvent():
                return expression
            case EventRest(pattern):
                return self._rest(self._without_rests(pattern))
            case ChosenEvent(pattern) | EventWithin(pattern):
                return replace(expression, pattern=self._without_rests(pattern))
        return replace(
            expression, left=self._without_rests(expression.left), right=self._without_rests(expression.right)
        )

    def _rest(self, pattern: EventExpression) -> NamedEvent:
        number, made = self.rests, self.made
        self.rests += 1
        used, event, node = made.predicate("used", number), Variable("_:.event"), Variable("_:.used")
        self._add(
            self._whole(pattern, {}, False),
            BranchFound("used", number, expression=pattern),
            (TemplateTriple(BlankNode("used"), used, BlankNode("by")),),
        )
        any_ = TriplePattern(Variable("_:.s"), Variable("_:.p"), Variable("_:.o"), None, event)
        came = Within(Triples((any_,)), 0)
        if not any(each.kind == "came" for each in made.found):
            self._add(came, BranchFound("came", number), ())
        group = Triples((TriplePattern(node, used, made.stream, made.stream),))
        left = Exists(came, group, negated=True)
        template = (TemplateTriple(BlankNode("rest"), made.predicate("rest", number), BlankNode("token")),)
        self._add(Within(left, 0), BranchFound("rest", number), template)
        return NamedEvent(f"not:{number}".encode(), f"not {number}")


def _has_too_many(choices: list[tuple[bool, ...]]) -> bool:
    """Tell whether there are too many ways to take patterns from one event and from static data."""
    return 1 << sum(len(each) > 1 for each in choices) > MOST_WAYS


def _is_rest(part: NamedEvent) -> bool:
    return part.event.startswith(b"not:")


def _rest_number(part: NamedEvent) -> int:
    return int(part.event.partition(b":")[2])


def _chosen_parts(side: EventExpression) -> Iterator[NamedEvent]:
    while isinstance(side, EventWithin):
        side = side.pattern
    if isinstance(side, ChosenEvent):
        yield from named_events(side)


def _term(part: Part) -> bytes | Variable:
    return _variable(part) if isinstance(part, int) else part


def _variable(unknown: int) -> Variable:
    return Variable(f"_:.x{unknown}")
