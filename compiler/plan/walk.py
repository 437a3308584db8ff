"""Walk a plan: the one place that knows which producers have inputs, and what each of them calls its columns.

Data's way: plan -> **what an end reaches** -> explanations, drawings, why-not, the inspector.
An end reaches a tree: its producer, the inputs of that, and so on down to triple patterns and inline tables.  Ends
share producers, so a producer may be in many trees, with other names in each.
Invariant: the leaves of an end's tree are the patterns and inline tables of its branch, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from retewave.compiler.algebra import TriplePattern, Values, Variable
from retewave.compiler.plan.producers import (
    EITHER,
    END,
    EVENT,
    RUN,
    START,
    TAKEN,
    TRIPLE,
    AlphaTest,
    End,
    Input,
    Instants,
    Join,
    Maker,
    Plan,
    Probe,
    Producer,
    RunStep,
    Spent,
    State,
    Table,
    columns_of,
)
from retewave.compiler.plan.shape import Member
from retewave.compiler.rewrite.branch import Branch, Decided
from retewave.compiler.rewrite.branch import Probe as Look
from retewave.rete.words.layout import OF_ROW
from retewave.windows.intervals import AFTER_ALL

__all__ = [
    "Reached",
    "comes_last",
    "depths",
    "input_names",
    "inputs_of",
    "lasting",
    "linking",
    "lookbacks",
    "looks_of",
    "moment_of",
    "momentary",
    "reached",
    "times_of",
    "told_of",
    "users_of",
]


@dataclass(frozen=True)
class Reached:
    """A producer as one end reaches it."""

    number: int  # of the producer
    producer: Maker  # the producer
    names: Mapping[int, str]  # its columns in the words of a member: ?x, $1 for the first open constant, start, end
    leaf: int  # which of the branch's patterns, counted on through its inline tables; -1: none, it is a join
    above: Input | None  # as which input of a join it is read; None at the end itself
    inputs: tuple[Reached, ...] = ()  # the producers below, input by input
    again: bool = False  # a state of runs that the walk has gone below already

    def walk(self) -> Iterator[Reached]:
        """Yield this and all that is below, depth first, each before its inputs."""
        yield self
        for each in self.inputs:
            yield from each.walk()

    def leaves(self) -> Iterator[Reached]:
        """Yield the patterns and inline tables, in the order of the walk."""
        return (each for each in self.walk() if not each.inputs and not each.again)


def inputs_of(producer: Producer) -> tuple[Input, ...]:
    """Return what a producer reads; a test and a table read no other producer."""
    return () if isinstance(producer, AlphaTest | Table | Spent) else producer.inputs


def reached(plan: Plan, end: End, member: Member | None = None) -> Reached:
    """Return the tree below an end, with the names of a member, or of the first one."""
    numbers = (member or end.shape.members[0]).numbers
    names = {end.columns[number]: str(variable) for variable, number in numbers.items() if number in end.columns}
    names.update({column: f"${place}" for place, column in enumerate(end.parameters, 1)})
    written = (member or end.shape.members[0]).steps.leaves
    return _reached(plan, end.producer, names, iter(end.leaves), None, written, {})


def _reached(
    plan: Plan,
    number: int,
    names: Mapping[int, str],
    leaves: Iterator[int],
    above: Input | None,
    written: tuple[TriplePattern | Values, ...],
    states: dict[int, Reached],
) -> Reached:
    producer = plan.producers[number]
    if number in states:
        return Reached(number, producer, {**states[number].names, **names}, -1, above, again=True)  # type: ignore[arg-type]
    assert not isinstance(producer, Spent | Instants)  # no end reaches it
    if isinstance(producer, AlphaTest | Table):
        leaf = next(leaves)
        own = _written(producer, written[leaf]) if leaf < len(written) else {}
        return Reached(number, producer, {**own, **names}, leaf, above)
    inputs = tuple(
        _reached(plan, each.producer, input_names(producer, place, names), leaves, each, written, states)
        for place, each in enumerate(producer.inputs)
    )
    found = Reached(number, producer, {**_names_below(producer, inputs), **names}, -1, above, inputs)
    if isinstance(producer, State) and not producer.once:
        states[number] = found
    return found


def _written(producer: Producer, leaf: TriplePattern | Values) -> dict[int, str]:
    """Return what a pattern or an inline table calls the columns of what stands for it."""
    if isinstance(producer, AlphaTest) and isinstance(leaf, TriplePattern):
        terms = ((place, leaf.terms[place]) for place in producer.columns if place in TRIPLE)
        return {place: _name(term) for place, term in terms if isinstance(term, Variable)}
    if isinstance(producer, Table) and isinstance(leaf, Values):
        return {column: _name(variable) for column, variable in enumerate(leaf.variables)}
    return {}


def _name(variable: Variable) -> str:
    """Return how a variable is written; one that the compiler has made of another is ?x.1."""
    return f"?{variable.name[3:]}" if variable.name.startswith("_:.") else str(variable)


def _names_below(producer: Maker, inputs: tuple[Reached, ...]) -> dict[int, str]:
    """Return what the inputs call the columns of what is made of them: nobody above may ask for them by name."""
    found: dict[int, str] = {}
    for column, (place, source) in enumerate(_origins(producer)):
        names = inputs[place].names
        name = {START: "start", END: "end"}.get(source) or names.get(source)
        if name is not None:
            found[column] = name
    return found


_NOWHERE = -100  # in place of a column: a link or a constant


def _origins(producer: Producer) -> Iterator[tuple[int, int]]:
    """Yield where each column is from: an input, and its column, START or END.

    A run's column is that of the first way by which runs come there; what no way binds is its own input.
    """
    match producer:
        case Probe():
            yield from ((0, source) for source in producer.origins)
            yield from ((1, source) for source in producer.taken)
        case State():
            yield from ((0, source) for source in producer.columns[0])
        case RunStep(run, way):
            event = 0 if run is None else 1
            for place, source in way.columns:
                if place >= EITHER:
                    yield event, place - EITHER
                else:
                    yield (event, source) if place == TAKEN else (0, source if place == RUN else _NOWHERE)
        case Join():
            yield from _joined(producer)


def _joined(producer: Join) -> Iterator[tuple[int, int]]:
    for place, source in producer.origins:
        yield (0, producer.inputs[0].keys[source]) if place < 0 else (place, source)


def moment_of(tree: Reached, column: int) -> tuple[Reached, bool]:
    """Return whose start or end a column has that holds a time, and whether it is the end."""
    while column not in (START, END):
        place, column = list(_origins(tree.producer))[column]
        tree = tree.inputs[place]
    return tree, column == END


def times_of(plan: Plan) -> list[frozenset[int]]:
    """Return, by producer, the columns that hold times."""
    found: list[frozenset[int]] = []
    for producer in plan.producers:
        origins = _origins(producer)
        inputs = inputs_of(producer)
        found.append(
            frozenset(
                column
                for column, (place, source) in enumerate(origins)
                if source in (START, END) or source in found[inputs[place].producer]
            )
        )
    return found


def told_of(plan: Plan) -> list[frozenset[int]]:
    """Return, by producer, the columns that are there only because somebody asks what matches are made of."""
    found: list[frozenset[int]] = []
    for producer in plan.producers:
        inputs = inputs_of(producer)
        told = frozenset[int]()
        if isinstance(producer, AlphaTest):
            told = frozenset((*range(EVENT, columns_of(producer)), *_said(producer)))
        else:
            origins = enumerate(_origins(producer))
            told = frozenset(column for column, (place, source) in origins if source in found[inputs[place].producer])
        found.append(told)
    return found


def _said(test: AlphaTest) -> Iterator[int]:
    """Yield the places of a test's triples that it says itself: constants, and terms that are repeated."""
    atom = test.atom
    sets = (atom.subject, atom.predicate, atom.object)
    yield from (place for place, one in enumerate(sets) if one and len(one) == 1)
    yield from (later for _, later in test.equal)


def looks_of(branch: Branch) -> dict[int, Look]:
    """Return the looks that a branch and its parts ask for, by the first of the leaves that each looks at."""
    found: dict[int, Look] = {}
    _number(branch, 0, found)
    return found


def _number(branch: Branch, leaf: int, found: dict[int, Look]) -> int:
    """Count the leaves of a branch, in the order of `Branch.leaves`, from a number on; return the next number."""
    leaf += len(branch.patterns) + len(branch.values)
    for part in branch.parts:
        leaf = _number(part.branch, leaf, found)
    for each in branch.runs.branches if branch.runs else ():
        leaf = _number(each, leaf, found)
    for look in branch.probes:
        found[leaf] = look
        leaf = _number(look.there, leaf, found)
    return leaf


def _run_names(made: State | RunStep, place: int, names: Mapping[int, str]) -> dict[int, str]:
    """Return what an input of a state or a step calls its columns."""
    if isinstance(made, State):
        if place < len(made.entries):
            return {source: names[column] for column, source in enumerate(made.columns[place]) if column in names}
        way, of = made.again[place - len(made.entries)], TAKEN
    else:
        way, of = made.way, TAKEN if made.run is None else place
    return {
        source: names[column] for column, (which, source) in enumerate(way.columns) if which == of and column in names
    }


def input_names(join: Maker, place: int, names: Mapping[int, str]) -> dict[int, str]:
    """Return what one of the inputs calls its columns, given what the join or probe calls its own."""
    found: dict[int, str] = {}
    assert not isinstance(join, AlphaTest | Table)
    if isinstance(join, State | RunStep):
        return _run_names(join, place, names)
    if isinstance(join, Probe):
        decided, looked = join.inputs
        found = {source: names[column] for column, source in enumerate(join.origins) if column in names}
        if place == 0:
            return found
        return {key: found[own] for own, key in zip(decided.keys, looked.keys, strict=True) if own in found}
    for column, (slot, source) in enumerate(join.origins):
        if column not in names:
            continue
        if slot < 0:
            found[join.inputs[place].keys[source]] = names[column]
        elif slot == place:
            found[source] = names[column]
    return found


def lasting(plan: Plan) -> list[bool]:
    """Return, by producer, whether its tuples can be made again of the rows that memories hold.

    What a probe has passed cannot, nor what is made of tuples that only pass a memory, nor what WITHIN bounds: its
    parts go sooner than it does; nor what is a query's that uses events up; nor what is of one event, whose triples go
    with its instant.
    """
    found: list[bool] = []
    bounded = {each.producer for one in plan.producers for each in inputs_of(one) if each.within is not None}
    of_instants = momentary(plan)
    for number, producer in enumerate(plan.producers):
        if not inputs_of(producer):
            found.append(True)
            continue
        passes = not isinstance(producer, Join) or producer.last is not None or of_instants[number]
        made = all(found[each.producer] for each in inputs_of(producer))
        spends = isinstance(producer, Join | Probe) and producer.spender != ""
        found.append(made and not passes and not spends and number not in bounded)
    return found


def momentary(plan: Plan) -> list[bool]:
    """Return, by producer, whether its tuples are of one instant: solutions of an event."""
    found: list[bool] = []
    for producer in plan.producers:
        if isinstance(producer, AlphaTest):
            found.append(producer.whole)
        else:
            once = isinstance(producer, State) and producer.once
            parts = inputs_of(producer) if once or isinstance(producer, Join | Probe) else ()
            timed = [found[each.producer] for each in parts if not each.timeless]
            deadline = isinstance(producer, Probe) and producer.decided is Decided.AT_DEADLINE
            found.append(bool(timed) and all(timed) and not deadline)
    return found


def comes_last(join: Join, of_instant: bool) -> int:
    """Return the input of a join whose rows can only come last: by time, or as all others are static; -1: none.

    Of the latter only those of one instant: no other network makes these again from rows that a memory keeps.
    """
    if join.last is not None:
        return join.last
    streamed = [place for place, each in enumerate(join.inputs) if not each.timeless]
    return streamed[0] if of_instant and len(streamed) == 1 else -1


def linking(plan: Plan) -> list[frozenset[int]]:
    """Return, by producer, the columns of its tuples that have links to runs."""
    found: list[frozenset[int]] = []
    for producer in plan.producers:
        match producer:
            case State(entries=entries, columns=rows, link=link, once=once):
                of = (found[each.producer] for each in entries)
                entered = [{i for i, each in enumerate(row) if each in own} for row, own in zip(rows, of, strict=True)]
                links = set().union(*entered) if once else {columns_of(producer)} | ({link} - {None})
                found.append(frozenset(each for each in links if each is not None))
            case RunStep(run, way):
                own = frozenset() if run is None else found[run.producer]
                places = enumerate(way.columns)
                found.append(frozenset(i for i, (of, it) in places if of == OF_ROW or (of == RUN and it in own)))
            case Probe(inputs=(decided, _), origins=origins):
                own = found[decided.producer]
                found.append(frozenset(i for i, each in enumerate(origins) if each in own))
            case _:
                found.append(frozenset())
    return found


def lookbacks(plan: Plan) -> list[int]:
    """Return, by producer, how long before the start of its tuples all must be known for these to be all, microseconds.

    AFTER_ALL: without a bound, as for what a NOT without a window has passed.
    """
    found: list[int] = []
    for producer in plan.producers:
        most = max((found[each.producer] for each in inputs_of(producer)), default=0)
        if isinstance(producer, Probe):
            decided, looked = (found[each.producer] for each in producer.inputs)
            most = max(decided, looked + _lookback(producer))
        found.append(min(most, AFTER_ALL))
    return found


def _lookback(probe: Probe) -> int:
    """Return how far before the start of its tuples a probe looks."""
    starts = (max(0, -gap.gap) for gap in probe.gaps if gap.earlier[0] == 0 and gap.later == (1, START))
    return min(starts, default=AFTER_ALL) if probe.reach < 0 else min((probe.reach, *starts))


def users_of(plan: Plan) -> list[frozenset[int]]:
    """Return, by producer, the numbers of the ends that reach it."""
    found: list[set[int]] = [set() for _ in plan.producers]
    for place, end in enumerate(plan.ends):
        waiting = [end.producer]
        while waiting:
            number = waiting.pop()
            if place not in found[number]:
                found[number].add(place)
                waiting += [each.producer for each in inputs_of(plan.producers[number])]
    return [frozenset(users) for users in found]


def depths(plan: Plan) -> list[int]:
    """Return, by producer, how many joins deep it is."""
    found: list[int] = []
    for producer in plan.producers:
        found.append(max((1 + found[each.producer] for each in inputs_of(producer)), default=0))
    return found
