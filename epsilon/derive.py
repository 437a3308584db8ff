"""What one input triple entails, found by walking the network backwards from what is asked.

Data's way: network + goal -> **derivations** -> dispatch tables.  A goal is a triple pattern; a derivation
says "an input triple of this form entails that triple, which the goal asks for".  Every rule has a single
premise, so a derivation is a path through the network, and walking it backwards touches only what can
contribute: this is the paper's relevance (section 3.4) taken to its fixpoint, and its flattening at once.

What an open pattern sees (`?x ?p ?y`, `?x a ?c`) is what SPARQL's RDFS entailment regime says of a stream's
triples: all entailed ones, by their named classes and properties.  Two things are left out.  The schema's own
triples and RDFS's axioms about its vocabulary are no part of the stream.  That everything is an
rdfs:Resource (rdfs4a, rdfs4b; owl:Thing alike) is entailed only for who asks for it by name.

Paths may lead through triples with a literal subject or a blank predicate (generalised RDF, where the RDFS
rules are complete); only what is emitted must be an RDF triple.  Blank class expressions are never emitted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from retewave.epsilon.axioms import Axiom
from retewave.epsilon.network import Link, LinkKind, Network, Node, property_node, value_node
from retewave.epsilon.vocabulary import (
    TOP_CLASSES,
    TYPE,
    Triple,
    is_blank,
    is_iri,
    is_literal,
    membership_property,
    rdfs,
)

__all__ = [
    "INPUT",
    "OBJECT",
    "SUBJECT",
    "Answers",
    "Derivation",
    "From",
    "Goal",
    "Part",
    "answers",
    "derivations",
    "most_general",
    "path",
]


class From(Enum):
    """Where a part of an entailed triple comes from, when it is no constant."""

    SUBJECT = "subject"  # the input triple's subject
    INPUT = "predicate"  # the input triple's predicate
    OBJECT = "object"  # the input triple's object

    __hash__ = object.__hash__  # Enum's own is slow, and derivations are hashed by the hundred thousand


SUBJECT, INPUT, OBJECT = From.SUBJECT, From.INPUT, From.OBJECT
Part: TypeAlias = From | bytes


class Goal(NamedTuple):
    """A triple pattern whose instances somebody asks for; None is "any term"."""

    subject: bytes | None
    predicate: bytes | None
    object: bytes | None


class Derivation(NamedTuple):
    """An input triple (s p o) with the given constants entails (subject predicate object)."""

    given_subject: bytes | None  # None: any
    given_predicate: bytes | None  # None: any
    given_object: bytes | None  # None: any
    subject: Part
    predicate: Part  # INPUT or a constant
    object: Part

    @property
    def literal_guard(self) -> bool:
        """Say whether it does not fire when the input's object is a literal: no literal is a subject."""
        return self.subject is OBJECT

    @property
    def is_identity(self) -> bool:
        """Say whether the entailed triple is the input triple itself."""
        kept = (self.subject, self.given_subject), (self.object, self.given_object)
        return all(part in (own, given) for (part, given), own in zip(kept, (SUBJECT, OBJECT), strict=True)) and (
            self.predicate in (INPUT, self.given_predicate)
        )


@dataclass(frozen=True)
class Answers:
    """All that a goal can get."""

    derivations: tuple[Derivation, ...]  # what an input triple must look like, and what it then entails
    facts: frozenset[Triple]  # what holds without any input (owl:oneOf)


# A state of the walk is "an input triple (a p b) entails (subject q object)".  The goal's free subject and
# object are the tokens _X and _Y, wherever on the path they are; None is a position that nobody looks at.
_X, _Y = 0, 1
_MEMBER = rdfs("member")
_Term: TypeAlias = int | bytes | None


class _State(NamedTuple):
    a: _Term
    p: bytes | None  # None: whatever predicate; only rdfs4a and rdfs4b say so
    b: _Term
    subject: _Term
    object: _Term


_Steps: TypeAlias = "dict[_State, tuple[_State, Axiom | str] | None]"


def answers(network: Network, goal: Goal) -> Answers:
    """Return every derivation and fact that the goal can see, the identity included.

    >>> from retewave.epsilon.axioms import Kind
    >>> network = Network.of([Axiom(Kind.SUB_PROPERTY, b"<http://e/p>", b"<http://e/q>")])
    >>> [d.given_predicate for d in answers(network, Goal(None, b"<http://e/q>", None)).derivations]
    [b'<http://e/q>', b'<http://e/p>']
    """
    found: dict[Derivation, None] = {}
    facts: set[Triple] = set()
    if goal.predicate is None:
        found[_any_identity(goal)] = None
    for predicate in _asked_predicates(network, goal):
        steps = _walk(network, _start(goal, predicate))
        for state in steps:
            derivation = _derivation(state, predicate)
            if derivation is not None:
                found[derivation] = None
            facts.update(_facts(network, state, predicate))
    return Answers(most_general(found), frozenset(facts))


def derivations(network: Network, predicate: bytes) -> tuple[Derivation, ...]:
    """Return all that an input triple with this predicate entails, whoever asks, the identity included."""
    everything = answers(network, Goal(None, None, None)).derivations
    itself = Derivation(None, predicate, None, SUBJECT, predicate, OBJECT)
    return most_general((itself, *(found for found in everything if found.given_predicate == predicate)))


def path(network: Network, goal: Goal, derivation: Derivation) -> tuple[str, ...]:
    """Return the axioms, first to last, by which a derivation reaches its goal: a shortest way."""
    if derivation.is_identity:
        return ()
    assert isinstance(derivation.predicate, bytes)
    steps = _walk(network, _start(goal, derivation.predicate))
    at = next(state for state in steps if _derivation(state, derivation.predicate) == derivation)
    taken: list[str] = []
    while (step := steps[at]) is not None:
        at = step[0]
        taken.append(str(step[1]))
    return tuple(taken)


def _any_identity(goal: Goal) -> Derivation:
    return Derivation(goal.subject, None, goal.object, goal.subject or SUBJECT, INPUT, goal.object or OBJECT)


def _asked_predicates(network: Network, goal: Goal) -> tuple[bytes, ...]:
    if goal.predicate is not None:
        return (goal.predicate,)
    return tuple(sorted(p for p in network.predicates | {_MEMBER} if is_iri(p)))


def _start(goal: Goal, predicate: bytes) -> _State:
    subject: _Term = _X if goal.subject is None else goal.subject
    object_: _Term = _Y if goal.object is None else goal.object
    return _State(subject, predicate, object_, subject, object_)


def _walk(network: Network, start: _State) -> _Steps:
    """Visit, breadth first, every state from which the start follows; keep how each was reached."""
    steps: _Steps = {start: None}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for before, axiom in _before(network, state):
            if before not in steps and not _is_covered(before, steps):
                steps[before] = (state, axiom)
                waiting.append(before)
    return steps


def _is_covered(state: _State, steps: _Steps) -> bool:
    """Say whether the same was already reached without a look at the object."""
    a, p, b, subject, object_ = state
    return isinstance(b, bytes) and (a, p, None, subject, object_) in steps


def _before(network: Network, state: _State) -> Iterator[tuple[_State, Axiom | str]]:
    """Yield each state that entails this one in one step, with the axiom that says so."""
    if state.p is None:
        return
    for link in network.into.get(property_node(state.p), ()):
        yield _across(state, link), link.axiom
    if state.p == _MEMBER:
        for number in range(1, network.containers + 1):
            yield (
                state._replace(p=membership_property(number)),
                f"rdf:_{number} rdfs:subPropertyOf rdfs:member",
            )
    for node in _constant_nodes(network, state):
        bound = _bind(state, state.b, node.object)
        for link in network.into[node]:
            yield _towards_constant(bound, link), link.axiom
    if state.p == TYPE and state.b in TOP_CLASSES:
        yield state._replace(p=None, b=None), "rdfs4a: a subject is a resource"
        yield state._replace(p=None, a=None, b=state.a), "rdfs4b: an object is a resource"


def _across(state: _State, link: Link) -> _State:
    """Go back along a link between property nodes."""
    if link.kind is LinkKind.SO:
        return _State(state.a, link.source.predicate, state.b, state.subject, state.object)
    return _State(state.b, link.source.predicate, state.a, state.subject, state.object)


def _constant_nodes(network: Network, state: _State) -> tuple[Node, ...]:
    """Return the class and value nodes whose triples are of the state's form."""
    assert state.p is not None
    if isinstance(state.b, bytes):
        node = value_node(state.p, state.b)
        return (node,) if node in network.into else ()
    return network.values.get(state.p, ())


def _bind(state: _State, token: _Term, value: bytes | None) -> _State:
    """Put a constant wherever the token is."""
    if token not in (_X, _Y):
        return state
    return _State(*(value if part == token else part for part in state))  # type: ignore[arg-type]


def _towards_constant(state: _State, link: Link) -> _State:
    """Go back along a link that ends in a class or value node: it carried one term, now in `state.a`."""
    source = link.source
    if link.kind is LinkKind.O:
        return _State(None, source.predicate, state.a, state.subject, state.object)
    return _State(state.a, source.predicate, source.object, state.subject, state.object)


def _derivation(state: _State, predicate: bytes) -> Derivation | None:
    """Return what the state says of input triples, or None when no RDF triple is meant."""
    subject, object_ = _located(state, state.subject), _located(state, state.object)
    unnamed_class = predicate == TYPE and isinstance(object_, bytes) and is_blank(object_)
    if unnamed_class or (isinstance(subject, bytes) and is_literal(subject)):
        return None
    given_subject = state.a if isinstance(state.a, bytes) else None
    given_object = state.b if isinstance(state.b, bytes) else None
    if not _may_be_given(given_subject, state.p, given_object):
        return None
    return Derivation(given_subject, state.p, given_object, subject, predicate, object_)


def _may_be_given(subject: bytes | None, predicate: bytes | None, object_: bytes | None) -> bool:
    """Say whether a stream can hold such a triple: no blank node of the schema, no literal subject."""
    if predicate is not None and not is_iri(predicate):
        return False
    if predicate == TYPE and object_ is not None and is_blank(object_):
        return False
    return subject is None or not is_literal(subject)


def _located(state: _State, term: _Term) -> Part:
    if isinstance(term, bytes):
        return term
    return SUBJECT if state.a is term else OBJECT


def _facts(network: Network, state: _State, predicate: bytes) -> Iterator[Triple]:
    """Yield what the schema's own facts entail by way of this state."""
    if state.p != TYPE or not network.facts:
        return
    classes = [state.b] if isinstance(state.b, bytes) else list(network.facts)
    for name in classes:
        for fact in network.facts.get(name, ()):
            if isinstance(state.a, bytes) and state.a != fact.subject:
                continue
            end = _bind(_bind(state, state.b, name), state.a, fact.subject)
            assert isinstance(end.subject, bytes) and isinstance(end.object, bytes)
            unnamed_class = predicate == TYPE and is_blank(end.object)
            if not unnamed_class and not is_literal(end.subject):
                yield end.subject, predicate, end.object


def most_general(found: Iterable[Derivation]) -> tuple[Derivation, ...]:
    """Keep each derivation once, and only if it does not repeat what a more general one says."""
    once = dict.fromkeys(found)
    forms = {_form(one) for one in once}
    return tuple(one for one in once if not any(wider in once for wider in _generalisations(one, forms)))


_Form: TypeAlias = tuple[bytes | None, bool, bool]  # the predicate, and which constants are given


def _form(derivation: Derivation) -> _Form:
    subject, predicate, object_, *_ = derivation
    return predicate, subject is not None, object_ is not None


def _generalisations(derivation: Derivation, forms: set[_Form]) -> Iterator[Derivation]:
    """Yield the derivations of some forms of which this one is an instance: they forget given constants."""
    predicate, subject, object_ = _form(derivation)
    if object_ and (predicate, subject, False) in forms:
        yield from _forget_object(derivation)
    if subject and (predicate, False, object_) in forms:
        yield from _forget_subject(derivation)
    if subject and object_ and (predicate, False, False) in forms:
        for without_object in _forget_object(derivation):
            yield from _forget_subject(without_object)


def _forget_object(derivation: Derivation) -> Iterator[Derivation]:
    given = derivation.given_object
    for subject in _constant_or(derivation.subject, given, OBJECT):
        for object_ in _constant_or(derivation.object, given, OBJECT):
            yield derivation._replace(given_object=None, subject=subject, object=object_)


def _forget_subject(derivation: Derivation) -> Iterator[Derivation]:
    given = derivation.given_subject
    for subject in _constant_or(derivation.subject, given, SUBJECT):
        for object_ in _constant_or(derivation.object, given, SUBJECT):
            yield derivation._replace(given_subject=None, subject=subject, object=object_)


def _constant_or(part: Part, constant: bytes | None, source: From) -> tuple[Part, ...]:
    return (part, source) if part == constant else (part,)
