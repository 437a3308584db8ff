"""Walk the full network backwards, from a triple that is asked for to all that entail it.

Data's way: network + goal -> **walk** -> derivations -> dispatch tables.  Every rule has a single premise, so
what entails a triple is a path, and walking it backwards touches only what can contribute.  The goal's free
subject and object are carried as tokens: that is how inverses, domains and ranges compose along a path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from retewave.epsilon.axioms import Axiom
from retewave.epsilon.derivation import Goal
from retewave.epsilon.network import Link, LinkKind, Network, Node, property_node, value_node
from retewave.epsilon.vocabulary import TOP_CLASSES, TYPE, membership_property, rdfs

__all__ = ["Steps", "Term", "WalkState", "bind", "start", "walk"]

# The goal's free subject and object, wherever on the path they are.
_X, _Y = 0, 1
_MEMBER = rdfs("member")
Term: TypeAlias = int | bytes | None  # a token, a constant, or a position that nobody looks at


class WalkState(NamedTuple):
    """An input triple (a p b) entails (subject q object)."""

    a: Term
    p: bytes | None  # None: whatever predicate; only rdfs4a and rdfs4b say so
    b: Term
    subject: Term
    object: Term


Steps: TypeAlias = "dict[WalkState, tuple[WalkState, Axiom | str] | None]"


def start(goal: Goal, predicate: bytes) -> WalkState:
    """Return the state in which the input is what is asked for."""
    subject: Term = _X if goal.subject is None else goal.subject
    object_: Term = _Y if goal.object is None else goal.object
    return WalkState(subject, predicate, object_, subject, object_)


def walk(network: Network, asked: WalkState) -> Steps:
    """Visit, breadth first, every state from which what is asked follows; keep how each was reached."""
    steps: Steps = {asked: None}
    waiting = deque([asked])
    while waiting:
        state = waiting.popleft()
        for before, axiom in _before(network, state):
            if before not in steps and not _is_covered(before, steps):
                steps[before] = (state, axiom)
                waiting.append(before)
    return steps


def _is_covered(state: WalkState, steps: Steps) -> bool:
    """Tell whether the same was already reached without a look at the object."""
    a, p, b, subject, object_ = state
    return isinstance(b, bytes) and (a, p, None, subject, object_) in steps


def _before(network: Network, state: WalkState) -> Iterator[tuple[WalkState, Axiom | str]]:
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
        bound = bind(state, state.b, node.object)
        for link in network.into[node]:
            yield _towards_constant(bound, link), link.axiom
    if state.p == TYPE and state.b in TOP_CLASSES:
        yield state._replace(p=None, b=None), "rdfs4a: a subject is a resource"
        yield state._replace(p=None, a=None, b=state.a), "rdfs4b: an object is a resource"


def _across(state: WalkState, link: Link) -> WalkState:
    """Go back along a link between property nodes."""
    if link.kind is LinkKind.SO:
        return WalkState(state.a, link.source.predicate, state.b, state.subject, state.object)
    return WalkState(state.b, link.source.predicate, state.a, state.subject, state.object)


def _constant_nodes(network: Network, state: WalkState) -> tuple[Node, ...]:
    """Return the class and value nodes whose triples are of the state's form."""
    assert state.p is not None
    if isinstance(state.b, bytes):
        node = value_node(state.p, state.b)
        return (node,) if node in network.into else ()
    return network.values.get(state.p, ())


def bind(state: WalkState, token: Term, value: bytes | None) -> WalkState:
    """Put a constant wherever the token is."""
    if token not in (_X, _Y):
        return state
    return WalkState(*(value if part == token else part for part in state))  # type: ignore[arg-type]


def _towards_constant(state: WalkState, link: Link) -> WalkState:
    """Go back along a link that ends in a class or value node: it carried one term, now in `state.a`."""
    source = link.source
    if link.kind is LinkKind.O:
        return WalkState(None, source.predicate, state.a, state.subject, state.object)
    return WalkState(state.a, source.predicate, source.object, state.subject, state.object)
