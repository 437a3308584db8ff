"""Identity: what a producer of a plan is, in words that no other query of the plan changes.

Data's way: plan -> **identities** -> what names a node's state: from one network to the next, in snapshots, in Spark's
store.  A producer's number, the order of a join's inputs and the numbers of a join's columns depend on which queries
are planned with it; an identity is made of constants, streams and, for a join, of the identities of its inputs in an
order of their own.
Invariant: producers with one identity hold the same rows of the same stream, as far as their windows reach; columns
with one name are the same column of these.
Left out: windows, and the columns that nobody needs (`lower`): they tell which rows a memory keeps, not what they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retewave.compiler.expressions.tree import Variable, rename, to_sparql
from retewave.compiler.plan.producers import AlphaTest, Input, Join, Plan, Producer, Table
from retewave.compiler.plan.shape import Streams

__all__ = ["Identity", "digest", "identities"]


@dataclass(frozen=True)
class Identity:
    """What a producer is."""

    digest: str  # equal for equal producers, in every plan and every process
    columns: tuple[str, ...]  # its columns' names; "" for one that nobody can ask for
    places: tuple[int, ...] = ()  # of a join, by input: its place in the identity's order
    keys: tuple[str, ...] = ()  # of a join, by column of the key: its name


def digest(parts: Iterable[object]) -> str:
    """Return a short name of some texts and numbers in their order.

    >>> digest(["a", 1]) == digest(["a", 1]), digest(["a", 1]) == digest(["a1"])
    (True, False)
    """
    return hashlib.blake2b(repr(tuple(parts)).encode(), digest_size=16).hexdigest()


def identities(plan: Plan, streams: Mapping[str, int]) -> list[Identity]:
    """Return the identity of each producer of a plan; `streams` has the numbers of the streams by their IRIs."""
    names = {number: iri for iri, number in streams.items()}
    found: list[Identity] = []
    for producer in plan.producers:
        found.append(_identity(producer, found, names))
    return found


def _identity(producer: Producer, below: list[Identity], streams: Mapping[int, str]) -> Identity:
    if isinstance(producer, AlphaTest):
        return Identity(digest(_test(producer, streams)), ("s", "p", "o", "event"))
    if isinstance(producer, Table):
        columns = tuple(f"v{column}" for column in range(producer.columns))
        return Identity(digest(("table", producer.columns, producer.rows)), columns)
    return _join(producer, [below[each.producer] for each in producer.inputs])


def _test(test: AlphaTest, streams: Mapping[int, str]) -> tuple[object, ...]:
    atom = test.atom
    constants = (_sorted(atom.subject), atom.predicate, _sorted(atom.object))
    return ("test", constants, test.equal, _named(test.streams, streams), test.columns)


def _sorted(texts: frozenset[bytes] | None) -> tuple[bytes, ...] | None:
    return None if texts is None else tuple(sorted(texts))


def _named(streams: Streams, names: Mapping[int, str]) -> tuple[tuple[str, int], ...] | None:
    return None if streams is None else tuple(sorted((names[number], shift) for number, shift in streams))


def _join(join: Join, below: list[Identity]) -> Identity:
    """Return a join's identity: its inputs sorted by what they are, its key and columns by the names they have there.

    Inputs that are alike stay in the order of their query's patterns, which no other query changes.
    """
    filters = [_filters(each, identity) for each, identity in zip(join.inputs, below, strict=True)]
    keys = [
        tuple(identity.columns[key] for key in each.keys) for each, identity in zip(join.inputs, below, strict=True)
    ]
    order = sorted(
        range(len(join.inputs)), key=lambda place: (below[place].digest, sorted(keys[place]), filters[place])
    )
    places = [0] * len(order)
    for canonical, place in enumerate(order):
        places[place] = canonical
    key = tuple(f"0.{name}" for name in keys[order[0]])
    columns = tuple(
        key[column] if place < 0 else f"{places[place]}.{below[place].columns[column]}"
        for place, column in join.origins
    )
    equal = sorted(zip(*(keys[place] for place in order), strict=True))
    inputs = [(below[place].digest, filters[place]) for place in order]
    return Identity(digest(("join", inputs, equal, sorted(columns))), columns, tuple(places), key)


def _filters(each: Input, identity: Identity) -> list[str]:
    names = {Variable(f"c{column}"): Variable(name) for column, name in enumerate(identity.columns)}
    return sorted(to_sparql(rename(one.expression, names)) for one in each.filters)
