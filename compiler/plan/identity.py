"""Identity: a producer's content, in words that do not change when other queries come or go.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retewave.compiler.expressions.tree import Expression, Variable, rename, to_sparql
from retewave.compiler.plan.producers import (
    EITHER,
    END,
    OWN,
    START,
    TAKEN,
    WINDOW,
    AlphaTest,
    Input,
    Instants,
    Join,
    Plan,
    Probe,
    Producer,
    Rival,
    RunCall,
    RunStep,
    RunWay,
    Spent,
    State,
    Table,
    columns_of,
)
from retewave.compiler.plan.shape import Streams

__all__ = ["Identity", "column_name", "digest", "identities", "rival_name"]

_ALPHA = ("s", "p", "o", "event", "given s", "given p", "given o", "stream")  # the columns of an α test


@dataclass(frozen=True)
class Identity:
    """A producer's identity."""

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
        return Identity(digest(_test(producer, streams)), _ALPHA)
    if isinstance(producer, Table):
        columns = tuple(f"v{column}" for column in range(producer.columns))
        return Identity(digest(("table", producer.columns, producer.rows)), columns)
    if isinstance(producer, Spent):
        return Identity(digest(("spent", producer.spender)), ("event",))
    if isinstance(producer, State | RunStep | Instants):
        return _run(producer, below)
    inputs = [below[each.producer] for each in producer.inputs]
    return _probe(producer, inputs, below) if isinstance(producer, Probe) else _join(producer, inputs)


def _run(made: State | RunStep | Instants, below: Sequence[Identity]) -> Identity:
    """Return the identity of a state, a step or instants; their columns are in the order of the query's variables."""
    columns = tuple(f"r{column}" for column in range(columns_of(made)))
    columns += ("itself",) if isinstance(made, State) else ()
    if isinstance(made, RunStep):
        run = None if made.run is None else _read(made.run, below)
        return Identity(digest(("step", run, _way(made.way, below), made.width, made.tumbling, made.closing)), columns)
    if isinstance(made, Instants):
        return Identity(digest(("instants", sorted(_read(each, below) for each in made.inputs))), columns)
    entries = [
        (_read(each, below), [column_name(below[each.producer], column) for column in row])
        for each, row in zip(made.entries, made.columns, strict=True)
    ]
    again = [_way(each, below) for each in made.again]
    return Identity(digest(("state", entries, made.keys, again, made.width, made.link, made.once)), columns)


def _read(each: Input, below: Sequence[Identity]) -> tuple[object, ...]:
    identity = below[each.producer]
    keys = tuple(identity.columns[key] for key in each.keys)
    return identity.digest, keys, tuple(_filters(each, identity)), str(each.within), each.streamed


def _way(way: RunWay, below: Sequence[Identity]) -> tuple[object, ...]:
    event = below[way.event.producer]
    columns: list[tuple[object, object]] = []
    for of, column in way.columns:
        taken = of - EITHER if of >= EITHER else column
        columns.append((of if of < EITHER else column, column_name(event, taken) if of >= TAKEN else column))
    instants = None if way.instants is None else (below[way.instants.producer].digest, way.instants.keys)
    rivals = [_fitting(*each, below) for each in way.rivals]
    fitting = _fitting(way.event, way.equal, way.conditions, below)
    calls = [_called(each, event, below) for each in way.calls]
    return columns, way.follows, rivals, fitting, sorted(way.loose), calls, instants


def _called(call: RunCall, event: Identity, below: Sequence[Identity]) -> tuple[object, ...]:
    column = None if call.event is None else column_name(event, call.event)
    states = [("own" if number == OWN else below[number].digest, of) for number, of in call.states]
    return call.name, str(call.separator), column, call.counts, states


def _fitting(
    event: Input, equal: Iterable[tuple[int, int]], conditions: Iterable[Expression], below: Sequence[Identity]
) -> tuple[object, ...]:
    """Return the identity of the events that a run may take: their solutions, and the conditions."""
    identity = below[event.producer]
    names = {Variable(f"c{column}"): Variable(name) for column, name in enumerate(identity.columns)}
    pairs = [(run, column_name(identity, column)) for run, column in equal]
    return _read(event, below), pairs, [to_sparql(rename(each, names)) for each in conditions]


def rival_name(rivals: Iterable[Rival], below: Sequence[Identity]) -> str:
    """Return the name of a run's mark: of the solutions of which the first will be the run's next event."""
    return digest(("mark", sorted(map(str, (_fitting(*each, below) for each in rivals)))))


def _probe(probe: Probe, below: list[Identity], known: Sequence[Identity]) -> Identity:
    """Return a probe's identity: both inputs, and how it decides; its state depends on all of these."""
    first, second = below
    columns = tuple(column_name(first, origin) for origin in probe.origins)
    columns += tuple(f"there.{column_name(second, taken)}" for taken in probe.taken)
    keys = [
        tuple(identity.columns[key] for key in each.keys) for each, identity in zip(probe.inputs, below, strict=True)
    ]
    gaps = [(_time(below, gap.earlier), gap.gap, _time(below, gap.later)) for gap in probe.gaps]
    names = {
        Variable(f"{side}{number}"): Variable(f"{side}.{name}")
        for side, identity in zip("cd", below, strict=True)
        for number, name in enumerate(identity.columns)
    }
    conditions = sorted(to_sparql(rename(each, names)) for each in probe.conditions)
    how: list[object] = [probe.decided, probe.wanted, probe.streamed, probe.joint]
    how += [probe.deadline, probe.reach, probe.keep, probe.latest, probe.chooses, probe.spender]
    how += [(column_name(first, own), column_name(second, its)) for own, its in probe.rank]
    if probe.calls or probe.windowed:
        how += [probe.windowed, [_called(each, first, known) for each in probe.calls]]
    read: list[object] = [
        (_filters(each, identity), each.within, each.streamed)
        for each, identity in zip(probe.inputs, below, strict=True)
    ]
    parts = ("probe", first.digest, second.digest, sorted(zip(*keys, strict=True)), sorted(gaps), conditions, how, read)
    return Identity(digest((*parts, sorted(columns))), columns, (0, 1), keys[0])


def column_name(identity: Identity, column: int) -> str:
    """Return the name of a column of a producer, or of its start or end."""
    return {START: "start", END: "end", WINDOW: "window"}.get(column) or identity.columns[column]


def _time(below: list[Identity], time: tuple[int, int]) -> tuple[int, str]:
    return time[0], column_name(below[time[0]], time[1])


def _test(test: AlphaTest, streams: Mapping[int, str]) -> tuple[object, ...]:
    atom = test.atom
    predicates = _sorted(atom.predicate)
    one = predicates[0] if predicates is not None and len(predicates) == 1 else predicates  # as snapshots have it
    constants = (_sorted(atom.subject), one, _sorted(atom.object))
    kinds = tuple(
        kind
        for kind, is_one in (("whole", test.whole), ("background", test.background), ("by_ends", test.by_ends))
        if is_one
    )
    kinds += () if test.graph is None else (test.graph.decode(),)
    return ("test", constants, test.equal, _named(test.streams, streams), test.columns, *kinds)


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
        key[column] if place < 0 else f"{places[place]}.{column_name(below[place], column)}"
        for place, column in join.origins
    )
    equal = sorted(zip(*(keys[place] for place in order), strict=True))
    inputs = [(below[place].digest, filters[place]) for place in order]
    parts: list[object] = ["join", inputs, equal, sorted(columns)]
    read = [(join.inputs[place].within, join.inputs[place].streamed) for place in order]
    if join.gaps or any(each != (None, False) for each in read):
        gaps = [
            (
                places[gap.earlier[0]],
                column_name(below[gap.earlier[0]], gap.earlier[1]),
                gap.gap,
                places[gap.later[0]],
                column_name(below[gap.later[0]], gap.later[1]),
            )
            for gap in join.gaps
        ]
        parts += [sorted(gaps), read]
    if join.spender:
        parts.append(join.spender)
    return Identity(digest(parts), columns, tuple(places), key)


def _filters(each: Input, identity: Identity) -> list[str]:
    names = {Variable(f"c{column}"): Variable(name) for column, name in enumerate(identity.columns)}
    texts = ((to_sparql(rename(one.expression, names)), one.asked) for one in each.filters)
    return sorted(f"{text} decided there" if asked else text for text, asked in texts)
