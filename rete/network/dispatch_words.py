"""The words of the dispatch: predicates, keys and routes.

Data's way: keys and routes of a network -> **tables** -> the network's array; `rete/dispatch.py` reads them.
"""

from __future__ import annotations

from retewave.rete.dispatch import key_home, predicate_home
from retewave.rete.network.laying import Laying, enter, open_size
from retewave.rete.network.records import Route
from retewave.rete.words import layout

__all__ = ["put_dispatch"]


def put_dispatch(laid: Laying) -> None:
    """Add the sections of the dispatch."""
    keys = laid.network.keys
    routes: list[int] = []
    predicates = {p: [p, 0, 0, 0] for p in (0, *laid.predicates)}
    table = [0] * (laid.header[layout.N_ROUTES] - laid.header[layout.N_KEYS])
    mask = len(table) // layout.KEY_WIDTH - 1
    for (s, p, o), found in keys.items():
        begin, count = laid.header[layout.N_ROUTES] + len(routes), len(found)
        routes += [word for route in found for word in _route(laid, route, p, o)]
        if s or o:
            home = int(key_home(laid.seed, s, p, o, mask))
            enter(table, home, [s, p, o, begin, count], layout.KEY_WIDTH, layout.KEY_COUNT)
            predicates[p][layout.PREDICATE_SHAPES] |= _shape(s, o)
        else:
            predicates[p][layout.PREDICATE_BEGIN : layout.PREDICATE_COUNT + 1] = begin, count
    for predicate in (each for star in laid.stars.values() for each in star.predicates):
        predicates[predicate][layout.PREDICATE_SHAPES] |= layout.SHAPE_STAR
    laid.header[layout.N_KEY_MASK] = mask
    unknown = predicates.pop(0)
    _predicates(laid, predicates)
    laid.put(layout.N_UNKNOWN, unknown)
    laid.put(layout.N_KEYS, table)
    laid.put(layout.N_ROUTES, routes)


def _predicates(laid: Laying, predicates: dict[int, list[int]]) -> None:
    size = open_size(len(predicates))
    table, mask = [0] * (size * layout.PREDICATE_WIDTH), size - 1
    for p, record in predicates.items():
        enter(table, int(predicate_home(laid.seed, p, mask)), record, layout.PREDICATE_WIDTH, layout.PREDICATE_ID)
    laid.put(layout.N_PREDICATES, table)
    laid.header[layout.N_PREDICATE_MASK] = mask


def _route(laid: Laying, route: Route, predicate: int, obj: int) -> list[int]:
    """Return the words of a route of the inputs that have this predicate and object, if they are not 0."""
    if not 0 <= route.alpha < len(laid.network.alphas):
        raise IndexError(f"a route leads to α {route.alpha}, but there are {len(laid.network.alphas)}")
    alpha = laid.network.alphas[route.alpha]
    derived = (
        route.subject != layout.FROM_SUBJECT
        or route.predicate not in (layout.FROM_PREDICATE, predicate or layout.FROM_PREDICATE)
        or route.object not in (layout.FROM_OBJECT, obj or layout.FROM_OBJECT)
    )
    flags = route.guard * layout.FLAG_GUARD | route.twin * layout.FLAG_TWIN
    flags |= (
        derived * layout.FLAG_DERIVES
        | (alpha.equal != 0) * layout.FLAG_EQUAL
        | (alpha.streams >= 0) * layout.FLAG_STREAMS
    )
    flags |= alpha.given * layout.FLAG_GIVEN | alpha.whole * layout.FLAG_WHOLE
    place = laid.place_of(layout.N_ALPHAS, route.alpha, layout.ALPHA_WIDTH)
    return [place, route.subject, route.predicate, route.object, flags]


def _shape(s: int, o: int) -> int:
    return (layout.SHAPE_SPO if o else layout.SHAPE_SP) if s else layout.SHAPE_PO
