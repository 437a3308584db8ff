"""What one input triple entails, found by walking the network backwards from what is asked.

Data's way: network + goal -> **derivations** -> dispatch tables.  A goal is a triple pattern; a derivation
says "an input triple of this form entails that triple, which the goal asks for".  Every rule has a single
premise, so a derivation is a path through the network, and walking it backwards touches only what can
contribute: this is the paper's relevance (section 3.4) taken to its fixpoint, and its flattening at once.

An open pattern (`?x ?p ?y`, `?x a ?c`) sees the triples that SPARQL's RDFS entailment regime gives for a stream: all
entailed triples, by their named classes and properties.  Two things are left out:
* the schema's own triples and RDFS's axioms about its vocabulary, which are no part of the stream;
* that everything is an rdfs:Resource (rdfs4a, rdfs4b; owl:Thing alike), unless a pattern asks for it by name.

Paths may lead through triples with a literal subject or a blank predicate (generalised RDF, where the RDFS
rules are complete); only the emitted triple must be RDF's.  Blank class expressions are never emitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from retewave.epsilon.derivation import INPUT, OBJECT, SUBJECT, Derivation, Goal, Part, most_general
from retewave.epsilon.network import Network
from retewave.epsilon.vocabulary import TYPE, Triple, is_blank, is_iri, is_literal, rdfs
from retewave.epsilon.walk import Term, WalkState, bind, start, walk

__all__ = ["Answers", "answers", "derivations", "path"]


@dataclass(frozen=True)
class Answers:
    """All that a goal can get."""

    derivations: tuple[Derivation, ...]  # the form of an input triple, and the triple that it then entails
    facts: frozenset[Triple]  # triples that hold without any input (owl:oneOf)


def answers(network: Network, goal: Goal) -> Answers:
    """Return every derivation and fact that the goal can see, the identity included.

    >>> from retewave.epsilon.axioms import Axiom, Kind
    >>> network = Network.of([Axiom(Kind.SUB_PROPERTY, b"<http://e/p>", b"<http://e/q>")])
    >>> [d.given_predicate for d in answers(network, Goal(None, b"<http://e/q>", None)).derivations]
    [b'<http://e/q>', b'<http://e/p>']
    """
    found: dict[Derivation, None] = {}
    facts: set[Triple] = set()
    if goal.predicate is None:
        found[_any_identity(goal)] = None
    for predicate in _asked_predicates(network, goal):
        steps = walk(network, start(goal, predicate))
        for state in steps:
            derivation = _derivation(state, predicate)
            if derivation is not None:
                found[derivation] = None
            facts.update(_facts(network, state, predicate))
    return Answers(most_general(found), frozenset(facts))


def derivations(network: Network, predicate: bytes) -> tuple[Derivation, ...]:
    """Return all that an input triple with this predicate entails, whatever is asked for, the identity included."""
    everything = answers(network, Goal(None, None, None)).derivations
    itself = Derivation(None, predicate, None, SUBJECT, predicate, OBJECT)
    return most_general((itself, *(found for found in everything if found.given_predicate == predicate)))


def path(network: Network, goal: Goal, derivation: Derivation) -> tuple[str, ...]:
    """Return the axioms, first to last, by which a derivation reaches its goal: a shortest way."""
    if derivation.is_identity:
        return ()
    assert isinstance(derivation.predicate, bytes)
    steps = walk(network, start(goal, derivation.predicate))
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
    return tuple(sorted(p for p in network.predicates | {rdfs("member")} if is_iri(p)))


def _derivation(state: WalkState, predicate: bytes) -> Derivation | None:
    """Return what the state says of input triples, or None when no RDF triple is meant."""
    subject, object_ = _located(state, state.subject), _located(state, state.object)
    given_subject = state.a if isinstance(state.a, bytes) else None
    given_object = state.b if isinstance(state.b, bytes) else None
    if not (_is_said(given_subject, state.p, given_object) and _is_said(subject, predicate, object_)):
        return None
    return Derivation(given_subject, state.p, given_object, subject, predicate, object_)


def _is_said(subject: Part | None, predicate: bytes | None, object_: Part | None) -> bool:
    """Tell whether it is the form of an RDF triple, about no nameless property or class of the schema."""
    if predicate is not None and is_blank(predicate):
        return False
    if predicate == TYPE and isinstance(object_, bytes) and is_blank(object_):
        return False
    return not (isinstance(subject, bytes) and is_literal(subject))


def _located(state: WalkState, term: Term) -> Part:
    if isinstance(term, bytes):
        return term
    return SUBJECT if state.a is term else OBJECT


def _facts(network: Network, state: WalkState, predicate: bytes) -> Iterator[Triple]:
    """Yield what the schema's own facts entail by way of this state."""
    if state.p != TYPE or not network.facts:
        return
    classes = [state.b] if isinstance(state.b, bytes) else list(network.facts)
    for name in classes:
        for fact in network.facts.get(name, ()):
            if isinstance(state.a, bytes) and state.a != fact.subject:
                continue
            end = bind(bind(state, state.b, name), state.a, fact.subject)
            assert isinstance(end.subject, bytes) and isinstance(end.object, bytes)
            if _is_said(end.subject, predicate, end.object):
                yield end.subject, predicate, end.object
