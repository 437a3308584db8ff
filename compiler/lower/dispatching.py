"""Lower the dispatch tables of the schema: to which α tests each input triple goes, as numbers.

Data's way: dispatch tables + α tests -> **keys and routes** -> the kernel's array.
"""

from __future__ import annotations

from retewave.compiler.expressions.programs import Programs
from retewave.compiler.lower.lowered import Lowered
from retewave.compiler.plan.producers import AlphaTest
from retewave.compiler.rewrite.detected import OWN
from retewave.epsilon.atoms import Atom
from retewave.epsilon.dispatch import Dispatch, From
from retewave.epsilon.dispatch import Route as Derived
from retewave.rete.network.records import Key, Route
from retewave.rete.words import layout

__all__ = ["lower_dispatch"]


def lower_dispatch(lowered: Lowered, dispatch: Dispatch, programs: Programs) -> None:
    """Give a network its keys, with the routes to the plan's α tests."""
    tests: dict[Atom, list[int]] = {}
    for number, producer in enumerate(lowered.plan.producers):
        if isinstance(producer, AlphaTest):
            tests.setdefault(producer.atom, []).append(lowered.alphas[number])
    atoms = dispatch.reduction.atoms
    for key, found in dispatch.table.items():
        own = key[1] is not None and key[1].startswith(OWN)  # only queries that name it see its triples
        lowered.network.keys[_key(key, programs)] = [
            _route(route, alpha, programs)
            for route in found
            for alpha in tests.get(atoms[route.atom], ())
            if not own or _names(atoms[route.atom], key[1])
        ]
    lowered.network.known = frozenset(programs.id(text) for text in dispatch.known)


def _names(atom: Atom, predicate: bytes | None) -> bool:
    return atom.predicate is not None and predicate in atom.predicate


def _route(route: Derived, alpha: int, programs: Programs) -> Route:
    subject, predicate, object_ = (_part(part, programs) for part in (route.subject, route.predicate, route.object))
    return Route(alpha, subject, predicate, object_, route.guard, route.twin)


def _key(key: tuple[bytes | None, bytes | None, bytes | None], programs: Programs) -> Key:
    s, p, o = (0 if text is None else programs.id(text) for text in key)
    return s, p, o


def _part(part: From | bytes, programs: Programs) -> int:
    if isinstance(part, bytes):
        return programs.id(part)
    if part is From.SUBJECT:
        return layout.FROM_SUBJECT
    return layout.FROM_OBJECT if part is From.OBJECT else layout.FROM_PREDICATE
