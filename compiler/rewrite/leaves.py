"""The parts of a view that the network keeps: basic graph patterns, each read from one window, or from static data.

Data's way: algebra of a view -> **leaves**, and the algebra with `LeafFound` in their places -> plan; `retewave.views`.
A *leaf* is monotone: the network finds its solutions as triples come, with the time from the first to the last of them.
Filters of a leaf alone are asked there, too.  Whether a solution is in a window follows from its interval.
Where the default graph has several windows, or one besides named windows, each triple pattern is a leaf for each of
them, for a solution of a basic graph pattern may take triples from any.  So it is where a window counts: what it holds
is not known from the times of triples, so the network could never forget what it has joined.
A *presence* tells which triples that some pattern can use come into a window: it decides when windows are empty, and
when content changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeAlias

from retewave.compiler.algebra import (
    Algebra,
    Distinct,
    Extend,
    Filter,
    InGraph,
    InWindow,
    Join,
    Matched,
    PathClosure,
    PolicyName,
    Query,
    SingleEvent,
    TriplePattern,
    Triples,
    Union,
    Values,
    Variable,
    ViewFrame,
    newest_of,
    retold,
    visible,
)
from retewave.compiler.algebra.walk import changed
from retewave.compiler.expressions.tree import IMPURE, TIMESTAMP, Constant, mentions, variables
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.detected import BACKGROUND
from retewave.compiler.rewrite.normal import branches
from retewave.compiler.rewrite.timestamps import calls_apart
from retewave.errors import QueryError

__all__ = [
    "STREAMED",
    "Leaf",
    "LeafFound",
    "MatchFound",
    "PathFound",
    "SingleEventFound",
    "TimesFound",
    "ViewLeaves",
    "leaves_of",
]

STREAMED = "urn:retewave:streamed"  # a stream that marks patterns which static data do not match; it brings no triple
_TIMED = frozenset((TIMESTAMP,))
_LATE = IMPURE | _TIMED  # functions that the network does not ask for
_Active: TypeAlias = int | bytes | None  # the source of a pattern: a window, a named graph, or the default graph


@dataclass(frozen=True)
class LeafFound:
    """The solutions of a leaf that are in its window: stands in the algebra in place of the leaf's patterns."""

    leaf: int  # the leaf's number
    variables: tuple[Variable, ...]  # the variables that it binds


@dataclass(frozen=True)
class SingleEventFound:
    """The solutions of an event pattern, each of one event: stands in MATCH in place of `SingleEvent`."""

    leaf: int  # the leaf's number
    variables: tuple[Variable, ...]  # the variables that it binds


@dataclass(frozen=True)
class MatchFound:
    """MATCH, with `SingleEventFound`s under `Relate`, `First` and `Last`."""

    pattern: Any  # the pattern that is put in order
    variables: tuple[Variable, ...]  # the variables that it binds
    policy: PolicyName  # which pairs a SEQ takes


@dataclass(frozen=True)
class TimesFound:
    """Solutions, each with the latest time of a triple: stands where an expression above calls f:timestamp."""

    pattern: Any  # the solutions
    variable: Variable  # bound to the time; hidden
    leaves: tuple[int, ...]  # the numbers of the leaves that have such triples
    variables: tuple[Variable, ...]  # those of the triple


@dataclass(frozen=True)
class Leaf:
    """One part that the network keeps."""

    pattern: Algebra  # triples, perhaps with filters
    window: int | None  # the number of the window in the frame; None: the background, or a named graph
    presence: bool = False  # asks only which triples have come
    event: Variable | None = None  # the event that all of its triples came in; None: they may come in several
    timed: bool = False  # asks only when its triples arrived

    @property
    def is_triple(self) -> bool:
        """Tell whether each solution is one triple of the window."""
        return isinstance(self.pattern, Triples) and len(self.pattern.patterns) == 1

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its solutions bind."""
        return tuple(each for each in visible(self.pattern) if each != self.event)


@dataclass(frozen=True)
class ViewLeaves:
    """A view without the parts that the network keeps, and these parts."""

    pattern: Any  # the algebra with `LeafFound`s
    leaves: tuple[Leaf, ...]  # by their numbers
    branches: tuple[Branch, ...]  # a branch for each leaf, which the network runs

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all variables of all leaves."""
        events = (leaf.event.name for leaf in self.leaves if leaf.event is not None)
        return tuple(dict.fromkeys((*(each.name for leaf in self.leaves for each in leaf.variables), *events)))


@dataclass
class _Splitting:
    """The state of splitting one view."""

    frame: ViewFrame  # its windows
    policy: PolicyName = "unrestricted"  # which pairs a SEQ in MATCH takes
    graphs: tuple[bytes, ...] = ()  # the IRIs of the dataset's named graphs
    leaves: list[Leaf] = field(default_factory=list)  # so far
    places: dict[tuple[Any, ...], int] = field(default_factory=dict)  # equal parts are one leaf
    numbers: Iterator[int] = field(default_factory=lambda: count(1))  # of fresh variables

    def found(self, pattern: Algebra, window: int | None) -> Any:
        key = pattern, window
        if key not in self.places:
            self.places[key] = len(self.leaves)
            self.leaves.append(Leaf(pattern, window))
        return LeafFound(self.places[key], visible(pattern))

    def timed(self, triple: TriplePattern, window: int) -> int:
        """Return the leaf that tells when such triples arrived in a window."""
        pattern = _from(Triples((triple,)), self.frame.windows[window].stream)
        key = pattern, window, "timed"
        if key not in self.places:
            self.places[key] = len(self.leaves)
            self.leaves.append(Leaf(pattern, window, timed=True))
        return self.places[key]

    def fresh(self) -> Variable:
        return Variable(f"_:.leaf.{next(self.numbers)}")


def leaves_of(query: Query) -> ViewLeaves:
    """Split a view into leaves, which the network keeps, and the rest.

    >>> from retewave.compiler.parse import parse
    >>> query = parse("SELECT (COUNT(*) AS ?n) { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }")
    >>> [str(leaf.pattern.patterns[0]) for leaf in leaves_of(query).leaves]
    ['?x <urn:p> ?y', '?y <urn:q> ?z']
    """
    assert query.view is not None
    stated = tuple(each for each in query.view.graphs if isinstance(each, bytes))
    graphs = stated or tuple(f"<{name}>".encode() for name in query.graphs)
    splitting = _Splitting(query.view, query.policy.name, graphs)
    pattern = _split(query.where, None, splitting)
    found = [*splitting.leaves, *_presences(splitting)]
    return ViewLeaves(pattern, tuple(found), tuple(_branch(leaf, query) for leaf in found))


def _branch(leaf: Leaf, query: Query) -> Branch:
    (only,) = branches(replace(query, where=leaf.pattern))
    return only


def _split(pattern: Algebra, window: _Active, of: _Splitting) -> Any:
    """Return a pattern with its leaves replaced; `window`: the window that it reads."""
    match pattern:
        case Triples(()) | Values():
            return pattern
        case Triples():
            return _graph_pattern(pattern, (), window, of)
        case Filter():
            return _filter(pattern, window, of)
        case Extend(expression=expression) if mentions(expression, _TIMED):
            return _timed(pattern, window, of)
        case InWindow(name, inner):
            return _in_windows(name, inner, of)
        case InGraph(graph, inner):
            return _in_graphs(graph, inner, of)
        case Matched(inner):
            return MatchFound(_in_order(inner, of), visible(inner), of.policy)
        case PathClosure():
            return _path(pattern, window, of)
    return changed(pattern, lambda part: _split(part, window, of))


def _path(pattern: PathClosure, window: _Active, of: _Splitting) -> PathFound:
    nodes = _split(_anything(of), window, of) if pattern.least == 0 else None
    return PathFound(replace(pattern, step=_split(pattern.step, window, of)), nodes)


def _filter(pattern: Filter, window: _Active, of: _Splitting) -> Any:
    """Return filters; those that a basic graph pattern can have are a part of it."""
    conditions, core = [pattern.expression], pattern.pattern
    while isinstance(core, Filter):
        conditions.append(core.expression)
        core = core.pattern
    if isinstance(core, Triples) and core.patterns and not any(mentions(each, _LATE) for each in conditions):
        return _graph_pattern(core, tuple(conditions), window, of)
    if mentions(pattern.expression, _TIMED):
        return _timed(pattern, window, of)
    return changed(pattern, lambda part: _split(part, window, of))


def _timed(pattern: Filter | Extend, window: _Active, of: _Splitting) -> Any:
    """Return a filter or an assignment that asks for times of triples, over solutions that have these times."""
    expression, calls = calls_apart(pattern.expression, of.fresh)
    inner = _split(pattern.pattern, window, of)
    merged = [number for number, each in enumerate(of.frame.windows) if each.name is None]
    windows = merged if window is None else [window] if isinstance(window, int) else []
    for call, variable in calls.items():
        terms = [each.text if isinstance(each, Constant) else each for each in call.arguments]
        triple = TriplePattern(*terms)  # type: ignore[arg-type]  # the parser takes nothing else
        leaves = tuple(of.timed(triple, number) for number in windows)
        inner = TimesFound(inner, variable, leaves, visible(Triples((triple,))))
    return replace(pattern, pattern=inner, expression=expression)


def _in_order(pattern: Any, of: _Splitting) -> Any:
    """Return the pattern in MATCH, with its event patterns replaced."""
    if isinstance(pattern, SingleEvent):
        return _event(pattern, of)
    return changed(pattern, lambda part: _in_order(part, of))


def _event(each: SingleEvent, of: _Splitting) -> SingleEventFound:
    """Return the leaf of an event pattern: its triples come in one event."""
    core: Any = each.pattern
    while isinstance(core, Filter):
        core = core.pattern
    if not isinstance(core, Triples):
        what = f"EVENT … AS {each.name} has more than triple patterns and filters on them"
        raise QueryError(what, place=each.place, hint="join the rest in WHERE, beside MATCH")
    number = next(number for number, window in enumerate(of.frame.windows) if window.name == each.window)
    stream, key = of.frame.windows[number].stream, (each.pattern, ~number)
    if key not in of.places:
        event = of.fresh()
        own = retold(each.pattern, lambda one: replace(one, source=stream, event=event))
        of.places[key] = len(of.leaves)
        of.leaves.append(Leaf(own, number, event=event))
    return SingleEventFound(of.places[key], visible(each.pattern))


@dataclass(frozen=True)
class PathFound:
    """A path, with the triples whose ends are the terms that it may connect in no step."""

    path: PathClosure  # its step is split
    nodes: Any  # all triples of the active graph; None: not needed


def _anything(of: _Splitting) -> Triples:
    return Triples((TriplePattern(of.fresh(), of.fresh(), of.fresh()),))


def _in_windows(name: bytes | Variable, inner: Algebra, of: _Splitting) -> Any:
    """Return a pattern as it is read from a window, or from each of the named ones."""
    named = {each.name: number for number, each in enumerate(of.frame.windows) if each.name is not None}
    if isinstance(name, bytes):
        return _split(inner, named[name], of)
    return _in_each(name, inner, named, of)


def _in_graphs(name: bytes | Variable, inner: Algebra, of: _Splitting) -> Any:
    """Return a pattern as it is read from a named graph of the dataset, or from each of them."""
    if isinstance(name, bytes):
        return _split(inner, name, of) if name in of.graphs else Values((), ())
    return _in_each(name, inner, {each: each for each in of.graphs}, of)


def _in_each(name: Variable, inner: Algebra, named: Mapping[bytes, int | bytes], of: _Splitting) -> Any:
    """Return a pattern as it is read from several windows or graphs, each with its name."""
    parts: list[Any] = [Join(_split(inner, each, of), Values((name,), ((known,),))) for known, each in named.items()]
    whole = parts[0] if parts else Values((name,), ())
    for each in parts[1:]:
        whole = Union(whole, each)
    return whole


def _graph_pattern(triples: Triples, conditions: tuple[Any, ...], window: _Active, of: _Splitting) -> Any:
    """Return the leaves, joined, of a basic graph pattern with filters on it."""
    frame = of.frame
    if isinstance(window, bytes):
        named = retold(triples, lambda each: replace(each, graph=window))
        assert isinstance(named, Triples)
        return _connected(named, conditions, BACKGROUND, None, of)
    if window is not None and not newest_of(frame.windows[window].extent):
        return _connected(triples, conditions, frame.windows[window].stream, window, of)
    merged = [number for number, each in enumerate(frame.windows) if each.name is None]
    if window is None and not merged:
        return _connected(triples, conditions, BACKGROUND, None, of)
    if window is None and len(frame.windows) == 1 and not newest_of(frame.windows[0].extent):
        return _connected(triples, conditions, None, 0, of)
    read: list[int | None] = [*merged, None] if window is None else [window]
    whole: Any = Triples(())
    for each in triples.patterns:
        whole = Join(whole, _one(each, read, of))
    return _filtered(whole, conditions)


def _one(pattern: TriplePattern, windows: list[int | None], of: _Splitting) -> Any:
    """Return a triple pattern as it is read from windows, and from the background (None)."""
    streams = [BACKGROUND if each is None else of.frame.windows[each].stream for each in windows]
    parts: list[Any] = [
        of.found(_from(Triples((pattern,)), stream), window) for stream, window in zip(streams, windows, strict=True)
    ]
    united = parts[0]
    for part in parts[1:]:
        united = Union(united, part)
    return Distinct(united) if len(parts) > 1 else united


def _connected(
    triples: Triples, conditions: tuple[Any, ...], stream: bytes | None, window: int | None, of: _Splitting
) -> Any:
    """Return the join of the connected parts of a basic graph pattern, a leaf each, with the filters on them."""
    rest = list(conditions)
    whole: Any = None
    for part in _parts(triples.patterns):
        own: Algebra = _from(Triples(tuple(part)), stream)
        bound = set(visible(own))
        for each in [each for each in rest if variables(each) and variables(each) <= bound]:
            own = Filter(each, own)
            rest.remove(each)
        one = of.found(own, window)
        whole = one if whole is None else Join(whole, one)
    return _filtered(whole, rest)


def _parts(patterns: Iterable[TriplePattern]) -> list[list[TriplePattern]]:
    """Return the patterns in groups that share variables, directly or by others of the group."""
    parts: list[tuple[set[Variable], list[TriplePattern]]] = []
    for each in patterns:
        names, joined = set(each.variables), [each]
        for other in [other for other in parts if other[0] & names]:
            names |= other[0]
            joined = [*other[1], *joined]
            parts.remove(other)
        parts.append((names, joined))
    return [joined for _, joined in parts]


def _filtered(pattern: Any, conditions: Iterable[Any]) -> Any:
    for each in conditions:
        pattern = Filter(each, pattern)
    return pattern


def _from(pattern: Algebra, stream: bytes | None) -> Algebra:
    return retold(pattern, lambda each: replace(each, source=stream))


def _presences(of: _Splitting) -> Iterator[Leaf]:
    """Yield a leaf for each triple pattern and window that is no leaf by itself."""
    known: set[tuple[TriplePattern, int | None]] = set()
    for leaf in of.leaves:
        if isinstance(leaf.pattern, Triples) and leaf.is_triple and not leaf.timed:
            known.add((leaf.pattern.patterns[0], leaf.window))
    for leaf in of.leaves:
        core = leaf.pattern
        while isinstance(core, Filter):
            core = core.pattern
        if leaf.window is None or leaf.is_triple or leaf.timed or not isinstance(core, Triples):
            continue
        for each in core.patterns:
            if (each, leaf.window) not in known:
                known.add((each, leaf.window))
                yield Leaf(Triples((each,)), leaf.window, presence=True, event=leaf.event)
