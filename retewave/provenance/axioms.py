"""Which axioms of the schema make one triple of another: the route by which the dispatch has led it.

Data's way: the triple that came, the triple that a pattern saw -> **axioms** -> explanation.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.epsilon.dispatch import INPUT, OBJECT, SUBJECT, Dispatch, Key, Part, Route, why

__all__ = ["Texts", "axioms", "seen_as"]

Texts = tuple[bytes, bytes, bytes]  # subject, predicate and object, canonical


def axioms(dispatch: Dispatch, came: Texts, seen: Texts) -> tuple[str, ...]:
    """Return the axioms, first to last, by which a triple entails another; the shortest of several ways.

    >>> from retewave.epsilon.atoms import Atom
    >>> from retewave.epsilon.axioms import Axiom, Kind
    >>> from retewave.epsilon.dispatch import routes
    >>> from retewave.epsilon.network import Network
    >>> network = Network.of([Axiom(Kind.INVERSE, b"<p>", b"<q>")])
    >>> axioms(routes([Atom.of(None, b"<q>", None)], network), (b"<a>", b"<p>", b"<b>"), (b"<b>", b"<q>", b"<a>"))
    ('<p> owl:inverseOf <q>',)
    """
    if came == seen:
        return ()
    ways = [why(dispatch, key, route) for key, route in _routes(dispatch, came) if _derived(route, came) == seen]
    return min(ways, key=len, default=())


def seen_as(dispatch: Dispatch, came: Texts) -> Iterator[Texts]:
    """Yield the triples that patterns of a dispatch see of a triple: itself, and those that it entails.

    A literal is no subject, so entailed triples with such a subject are left out.
    """
    for _, route in _routes(dispatch, came):
        if not (route.guard and came[2].startswith(b'"')):
            yield _derived(route, came)


def _routes(dispatch: Dispatch, came: Texts) -> Iterator[tuple[Key, Route]]:
    """Yield the routes that an input triple takes, each with its key."""
    subject, predicate, object_ = came
    known = predicate if predicate in dispatch.known else None
    for of_subject in (None, subject):
        for of_object in (None, object_):
            key = of_subject, known, of_object
            yield from ((key, route) for route in dispatch.table.get(key, ()))


def _derived(route: Route, came: Texts) -> Texts:
    """Return the triple that a route makes of an input."""
    return (
        _part(route.subject, came),
        came[1] if route.predicate is INPUT else _part(route.predicate, came),
        _part(route.object, came),
    )


def _part(part: Part, came: Texts) -> bytes:
    if isinstance(part, bytes):
        return part
    return came[0] if part is SUBJECT else came[2] if part is OBJECT else came[1]
