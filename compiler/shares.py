"""How a network is spread over shards: which variables are hashed, and into how many parts each.

Data's way: shapes -> **schemes** -> routing (where a triple goes) and ownership (which matches a shard keeps).
A scheme gives some variables of a shape a *share*, a number of parts; each term belongs to one of these parts.  A part
of each share variable makes a cell; cells are shards (the HyperCube of Afrati and Ullman).  A triple goes to every cell
that agrees with the variables it binds, so a pattern without a share variable is replicated along it.  A match binds
all share variables, so it is complete in exactly one cell.  A shard keeps the matches of its own cell; it drops other
matches, which the same triples complete in other roles.

A decision (something is missing, is first, is chosen) is made in one shard, which has all rows that are looked at
(`keys`).  A query without such a key is *alone*: it is in one shard, as a whole.

Invariant: rows that DISTINCT, or a set of solutions, compares are kept by the same shard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from types import MappingProxyType

from retewave.compiler.expressions.tree import Call, Constant, Variable
from retewave.compiler.keys import keys_of, reason_of
from retewave.compiler.plan.shape import Listener, Member, Shape
from retewave.compiler.rewrite.normal import Branch, FilterStep

__all__ = ["NO_MATCHES", "Alone", "Load", "Scheme", "names_for", "owned", "schemes"]

_APART = "DISTINCT compares rows that have no variable of all patterns' in common"
_FEEDING = -1  # in place of a query: all that read what rules build
MOST_SHARE_VARIABLES = 5  # more of them are never worth their replication


@dataclass(frozen=True)
class Load:
    """How much of the stream one pattern takes, or what matches cost."""

    weight: float = 1.0  # its triples, as a part of all; 0 for what comes as static data only
    heaviest: tuple[tuple[int, float], ...] = ()  # (variable, part of its triples that have the most frequent term)


NO_MATCHES = Load(0.0)  # nothing is known of them


@dataclass(frozen=True)
class Alone:
    """A query that one shard runs as a whole."""

    reason: str  # why


@dataclass(frozen=True)
class Scheme:
    """How one shape is spread."""

    shares: tuple[tuple[int, int], ...]  # (variable of the shape, parts that its terms are told into), all above 1
    first: int  # the shard of the first cell
    copies: tuple[float, ...]  # by pattern: the shards that a triple of it goes to
    share_of_stream: float = 1.0  # what the busiest shard gets of the triples that the patterns take
    replication: float = 1.0  # the shards that such a triple goes to, on average
    work: float = 1.0  # what the busiest shard has to do for triples and matches, as a part of those triples
    reason: str | None = None  # why it runs in one shard, if it does

    @property
    def cells(self) -> int:
        """Return how many cells there are."""
        return prod(parts for _, parts in self.shares)

    def strides(self) -> tuple[int, ...]:
        """Return by how many cells the next part of each share variable is further on."""
        return tuple(prod(parts for _, parts in self.shares[place + 1 :]) for place in range(len(self.shares)))

    def parts_of(self, shard: int, shards: int) -> tuple[int, ...] | None:
        """Return the parts of the share variables that a shard keeps; nothing if it keeps none.

        >>> Scheme(((0, 2), (1, 3)), 0, ()).parts_of(5, 8), Scheme(((0, 2), (1, 3)), 0, ()).parts_of(6, 8)
        ((1, 2), None)
        """
        cell = (shard - self.first) % shards
        if cell >= self.cells:
            return None
        return tuple(cell // stride % parts for stride, (_, parts) in zip(self.strides(), self.shares, strict=True))


def schemes(
    shapes: Sequence[Shape],
    shards: int,
    loads: Mapping[tuple[int, int], Load],
    matches: Mapping[int, Load],
    compared: Mapping[int, frozenset[str]],
    alone: Mapping[int, Alone] = MappingProxyType({}),
    anywhere: Collection[tuple[int, int]] = (),
    feeding: Collection[int] = (),
) -> tuple[Scheme, ...]:
    """Choose a scheme for each shape.

    `loads` has (shape, pattern) where the load of a pattern is known to differ from the usual; `matches` has the shapes
    of whose matches something is known, as triples that cost as much; `compared` has, by number, the queries that
    compare their rows, and in which variables; `alone` those that are in one shard as a whole; `anywhere` has
    (query, branch) where it makes no difference in which shards that branch of a query that compares rows is; `feeding`
    the queries that build triples or may read these: equal terms of their keys are in the same shard.
    """
    meeting = _meeting(shapes, compared, anywhere)
    wanted = []
    for number, shape in enumerate(shapes):
        places = range(len(shape.patterns))
        of_patterns = tuple(loads.get((number, place), Load()) for place in places)
        bound = tuple(_variables(shape, place) for place in places)
        found_there = matches.get(number, NO_MATCHES)
        wanted.append(_Wanted(bound, of_patterns, found_there, *_allowed(shape, compared, meeting, alone, anywhere)))
    found: dict[int, Scheme] = {}
    for group in _groups(shapes, {*meeting, *alone}, anywhere, feeding):
        found |= _spread([(number, wanted[number]) for number in group], shards)
    return tuple(found[number] for number in range(len(shapes)))


@dataclass(frozen=True)
class _Wanted:
    """What a scheme is chosen for."""

    bound: tuple[frozenset[int], ...]  # by pattern: the variables that it binds
    loads: tuple[Load, ...]  # by pattern
    matches: Load  # a match binds all variables, and is never sent
    allowed: frozenset[int]  # the variables that the shape may be spread by
    reason: str | None  # why there are none
    alone: bool = False  # one of its queries is in one shard as a whole


def _spread(group: Sequence[tuple[int, _Wanted]], shards: int) -> dict[int, Scheme]:
    """Choose the schemes of shapes whose rows have to meet: all are spread by one variable each, or none is."""
    if shards == 1:
        return {number: Scheme((), 0, tuple(1.0 for _ in one.bound)) for number, one in group}
    if not all(one.allowed for _, one in group):
        first = min(number for number, _ in group) % shards
        return {number: _in_one_shard(one, first, group) for number, one in group}
    if len(group) == 1:
        ((number, one),) = group
        return {number: _best(one.bound, one.loads, one.matches, tuple(sorted(one.allowed)), shards)}
    together = (
        [_scheme(one.bound, one.loads, one.matches, dict.fromkeys(one.allowed, many)) for _, one in group]
        for many in range(shards, 0, -1)
    )
    totals = [_total(one.loads) for _, one in group]
    best = min(together, key=lambda each: _cost(list(zip(each, totals, strict=True))))
    return {number: scheme for (number, _), scheme in zip(group, best, strict=True)}


def _in_one_shard(one: _Wanted, first: int, group: Sequence[tuple[int, _Wanted]]) -> Scheme:
    """Return the scheme of a shape that is not spread; what DISTINCT compares is in the first shard."""
    reason = one.reason
    if reason is None:
        reasons = (each.reason for _, each in group if each.alone and each.reason is not None)
        reason = next(reasons, _APART)
    together = not any(each.alone for _, each in group) and (len(group) > 1 or reason == _APART)
    return Scheme((), 0 if together else first, tuple(1.0 for _ in one.bound), reason=reason)


def _groups(
    shapes: Sequence[Shape],
    together: Collection[int],
    anywhere: Collection[tuple[int, int]],
    feeding: Collection[int],
) -> list[list[int]]:
    """Return the shapes by groups: those that one query wants in the same shards are together."""
    groups: list[tuple[set[int], set[int]]] = []  # shapes, and the queries by which they hang together
    for number, shape in enumerate(shapes):
        members = [each for each in shape.members if (each.listener.number, each.branch) not in anywhere]
        queries = {member.listener.number for member in members}
        queries = {
            _FEEDING if query in feeding else query for query in queries if query in together or query in feeding
        }
        mine = [group for group in groups if group[1] & queries]
        groups = [group for group in groups if group not in mine]
        groups.append(({number}.union(*(each for each, _ in mine)), queries.union(*(each for _, each in mine))))
    return [sorted(group) for group, _ in groups]


def _variables(shape: Shape, place: int) -> frozenset[int]:
    return frozenset(part for part in shape.patterns[place].parts if isinstance(part, int))


def _meeting(
    shapes: Sequence[Shape], compared: Mapping[int, frozenset[str]], anywhere: Collection[tuple[int, int]]
) -> dict[int, str | None]:
    """Return, for each query of several branches that compares rows, the one variable by which all are spread."""
    branches: dict[int, list[set[str]]] = {}
    for shape in shapes:
        in_patterns = _bound(shape)
        for member in shape.members:
            if member.listener.number in compared and (member.listener.number, member.branch) not in anywhere:
                names = {variable.name for variable, number in member.numbers.items() if number in in_patterns}
                branches.setdefault(member.listener.number, []).append(names & compared[member.listener.number])
    return {query: min(set.intersection(*names), default=None) for query, names in branches.items() if len(names) > 1}


def names_for(shapes: Sequence[Shape], query: int) -> frozenset[str]:
    """Return the names of the variables that a query may be spread by in all of its branches, whatever it compares."""
    members = [(shape, member) for shape in shapes for member in shape.members if member.listener.number == query]
    found = [
        {variable.name for variable, number in member.numbers.items() if number in _bound(shape)}
        for shape, member in members
    ]
    return frozenset(set.intersection(*found)) if found else frozenset()


def _bound(shape: Shape) -> frozenset[int]:
    """Return the variables that a shape may be spread by, for all that its rows are compared in."""
    if shape.branch is not None:
        return frozenset(int(variable.name[1:]) for variable in keys_of(shape.branch))
    return frozenset().union(*(_variables(shape, place) for place in range(len(shape.patterns))))


def _allowed(
    shape: Shape,
    compared: Mapping[int, frozenset[str]],
    meeting: Mapping[int, str | None],
    alone: Mapping[int, Alone],
    anywhere: Collection[tuple[int, int]],
) -> tuple[frozenset[int], str | None, bool]:
    """Return the variables that a shape may be spread by, why there are none, and whether a query is alone."""
    for member in shape.members:
        if member.listener.number in alone:
            return frozenset(), alone[member.listener.number].reason, True
    allowed = _bound(shape)
    if not allowed:
        return allowed, "no pattern has a variable" if shape.branch is None else reason_of(shape.branch), False
    for member in shape.members:
        query = member.listener.number
        if query in compared and (query, member.branch) not in anywhere:
            allowed &= _comparable(member, compared[query], meeting)
    return allowed, None if allowed else _APART, False


def _comparable(member: Member, compared: frozenset[str], meeting: Mapping[int, str | None]) -> frozenset[int]:
    """Return the variables that equal rows of a query have equal terms in, in all of its branches."""
    query = member.listener.number
    names = {meeting[query]} if query in meeting else compared
    return frozenset(number for variable, number in member.numbers.items() if variable.name in names)


@cache
def _best(
    bound: tuple[frozenset[int], ...], loads: tuple[Load, ...], matches: Load, allowed: tuple[int, ...], shards: int
) -> Scheme:
    """Return the scheme whose busiest shard has the least to do; then the one that sends the least."""
    candidates = sorted(allowed, key=lambda variable: (-_binding(variable, bound, loads), variable))
    candidates = candidates[:MOST_SHARE_VARIABLES]
    total = _total(loads)
    every = (
        _scheme(bound, loads, matches, dict(zip(candidates, parts, strict=True)))
        for parts in _parts(len(candidates), shards)
    )
    return min(every, key=lambda scheme: _cost([(scheme, total)]))


def _scheme(bound: Sequence[frozenset[int]], loads: Sequence[Load], matches: Load, parts: Mapping[int, int]) -> Scheme:
    """Return the scheme that gives variables these shares."""
    given = {variable: many for variable, many in parts.items() if many > 1}
    total = _total(loads)
    load = sum(_load(variables, each, given) for variables, each in zip(bound, loads, strict=True))
    copies = tuple(
        float(prod(many for variable, many in given.items() if variable not in variables)) for variables in bound
    )
    sent = sum(each.weight * many for each, many in zip(loads, copies, strict=True))
    work = load + _load(frozenset(given), matches, given)
    return Scheme(tuple(sorted(given.items())), 0, copies, load / total, sent / total, work / total)


def _total(loads: Sequence[Load]) -> float:
    return sum(each.weight for each in loads) or 1.0


def _cost(schemes: Sequence[tuple[Scheme, float]]) -> tuple[float, float]:
    """Return what the busiest shard has to do and what is sent, given how much of the stream each shape takes."""
    work = sum(scheme.work * total for scheme, total in schemes)
    return round(work, 9), sum(scheme.replication * total for scheme, total in schemes)


def _binding(variable: int, bound: Sequence[frozenset[int]], loads: Sequence[Load]) -> float:
    """Return how much of the stream binds a variable; how many patterns do breaks the tie."""
    patterns = [place for place, variables in enumerate(bound) if variable in variables]
    return sum(loads[place].weight for place in patterns) + 1e-6 * len(patterns)


def _load(variables: frozenset[int], load: Load, given: Mapping[int, int]) -> float:
    """Return what of a load the busiest shard gets: what has the most frequent term, and a part of all others."""
    heaviest = dict(load.heaviest)
    parts = [(heaviest.get(variable, 0.0), many) for variable, many in given.items() if variable in variables]
    return load.weight * prod(heavy + (1 - heavy) / many for heavy, many in parts)


def _parts(variables: int, shards: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to give variables shares that need no more than the given number of shards."""
    if variables == 0:
        yield ()
        return
    for first in range(shards, 0, -1):  # of shares that are as good, the most for the first variable
        for rest in _parts(variables - 1, shards // first):
            yield (first, *rest)


def owned(
    listeners: Sequence[Listener], shapes: Sequence[Shape], spread: Sequence[Scheme], shard: int, shards: int
) -> list[Listener]:
    """Return the queries as one shard runs them: with the filters that keep its own cells' matches only.

    A query of which the shard has no cell is left out.
    """
    steps: dict[tuple[int, int], tuple[FilterStep, ...]] = {}
    there: set[int] = set()  # queries
    for shape, scheme in zip(shapes, spread, strict=True):
        parts = scheme.parts_of(shard, shards)
        for member in shape.members:
            steps[member.listener.number, member.branch] = _keeping(member, parts, scheme)
            there |= set() if parts is None else {member.listener.number}

    def branch_of(listener: Listener, number: int, branch: Branch) -> Branch:
        return replace(branch, steps=steps[listener.number, number] + branch.steps)

    return [
        replace(each, branches=tuple(branch_of(each, number, branch) for number, branch in enumerate(each.branches)))
        for each in listeners
        if each.number in there
    ]


def _keeping(member: Member, parts: tuple[int, ...] | None, scheme: Scheme) -> tuple[FilterStep, ...]:
    if parts is None:
        return (FilterStep(Constant(b'"false"^^<http://www.w3.org/2001/XMLSchema#boolean>'), frozenset()),)
    names = {number: variable for variable, number in member.numbers.items()}
    return tuple(
        _in_share(names[variable], many, part) for (variable, many), part in zip(scheme.shares, parts, strict=True)
    )


def _in_share(variable: Variable, share: int, part: int) -> FilterStep:
    expression = Call("IN_SHARE", (variable, Constant(b"%d" % share), Constant(b"%d" % part)))
    return FilterStep(expression, frozenset((variable,)))
