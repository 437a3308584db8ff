"""Random queries with the operators of time, as algebra, and streams and static data to ask them of.

Variables, predicates and terms are few, so that solutions often join; times and widths are small multiples of one unit,
so that instants coincide and bounds and deadlines are hit exactly.  Static data has a predicate of its own, and every
operand has a streamed triple pattern: so none is static alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from naive.streams import Item
from naive.times import duration_text, moment_text

from cases.conjunctions import MS
from cases.engine import STREAMS
from retewave.compiler import algebra
from retewave.compiler.algebra import (
    Algebra,
    PolicyName,
    Query,
    Solutions,
    Stream,
    Term,
    TriplePattern,
    Triples,
    Variable,
    visible,
)
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation
from retewave.windows import relations

SUBJECTS = [b"<http://e/a>", b"<http://e/b>"]
PREDICATES = [b"<http://e/p>", b"<http://e/q>", b"<http://e/r>"]
NUMBERS = [b'"%d"^^<http://www.w3.org/2001/XMLSchema#integer>' % n for n in (1, 2)]
KNOWN = b"<http://e/known>"  # the predicate of static data
X, Y, Z, W, V, U = (Variable(name) for name in "xyzwvu")
WIDTHS = [5 * MS, 3 * MS, 8 * MS, 2 * MS, 1 * MS, 0]
SOLUTIONS: list[Solutions] = ["bag", "set"]
CHOOSING: list[PolicyName] = ["chronological", "recent", "naive"]
RELATED = [code for code in range(1, len(relations.NAMES)) if code != relations.BEFORE]

GRAPH = frozenset({"join", "union", "filter", "extend", "values", "optional", "minus", "exists"})
OF_TIME = frozenset(
    {"seq", "relate", "within", "times", "optionalseq", "equalsoptional", "between", "before", "after", "first", "last"}
)
ANYWHERE = "first and last anywhere"  # else they are the whole pattern, or a side of a sequence
OPERATORS = GRAPH | OF_TIME

UNARY = ("within", "filter", "extend", "values")
BINARY = ("seq", "join", "optional", "before", "after", "optionalseq", "minus", "exists", "union", "relate")


@dataclass(frozen=True)
class Case:
    """A query, and what it is asked of."""

    query: Query
    stream: list[Item]  # in the order of their ends
    static: frozenset  # triples that are always there


@dataclass(frozen=True)
class Room:
    """What a pattern may be made of."""

    operators: frozenset[str]
    sources: tuple[bytes | None, ...]  # the streams that a triple pattern may ask for
    narrowest: int | None  # of the query's ranges: no trailing NOT looks further
    predicates: tuple[bytes, ...] = tuple(PREDICATES)  # of the stream

    def having(self, *names: str) -> list[str]:
        return [name for name in names if name in self.operators]


@st.composite
def temporal_case(
    draw: st.DrawFn,
    *,
    operators: frozenset[str] = OPERATORS,
    depth: int = 4,
    leaves: int = 5,
    most: int = 12,
    policies: bool = False,
) -> Case:
    """Draw a query of some operators, nested so deeply and with at most so many basic patterns, and its data."""
    streams = draw(ranges)
    room = room_of(operators, streams)
    where = draw(pattern_of(room, draw(st.integers(1, depth)), leaves, may_choose=True))
    names = [variable.name for variable in visible(where)]
    shown = names if draw(st.integers(0, 3)) else draw(st.lists(st.sampled_from(names or [""]), unique=True))
    query = Query(
        "SELECT",
        where,
        tuple(name for name in shown if name),
        streams=streams,
        solutions=draw(st.sampled_from(SOLUTIONS)),
        policy=draw(policy()) if policies else algebra.Policy(),
    )
    return Case(query, draw(stream_of(most=most)), frozenset(draw(st.lists(known, max_size=2))))


def room_of(operators: Iterable[str], streams: tuple[Stream, ...]) -> Room:
    """Return what the pattern of a query on some streams may be made of."""
    narrowest = min((each.width for each in streams if each.width is not None), default=None)
    return Room(frozenset(operators), (None, None, None, *(each.iri for each in streams)), narrowest)


def _ranges() -> list[tuple[Stream, ...]]:
    one, two = (f"<{iri}>".encode() for iri in STREAMS)
    wide, narrow = 6 * MS, 2 * MS
    return [
        (Stream(one, wide), Stream(two, wide)),
        (Stream(one, narrow), Stream(two, narrow)),
        (Stream(one, wide), Stream(two, narrow)),
        (Stream(one, 3 * MS), Stream(two, None)),
        (Stream(one, 3 * MS),),
    ]


ranges = st.sampled_from([(), (), (), *_ranges()])


@st.composite
def policy(draw: st.DrawFn) -> algebra.Policy:
    """Draw a policy that chooses."""
    name = draw(st.sampled_from(CHOOSING))
    return algebra.Policy(name, keep=name != "naive" and draw(st.booleans()))


@st.composite
def pattern_of(draw: st.DrawFn, room: Room, depth: int, leaves: int, *, may_choose: bool = False) -> Algebra:
    """Draw a pattern."""
    kinds = room.having(*UNARY) if depth else []
    kinds += room.having(*BINARY) * 2 if depth and leaves > 1 else []
    kinds += room.having("between", "between") if depth and leaves > 2 else []
    kinds += room.having("equalsoptional") if depth and leaves > 1 else []
    kinds += room.having("first", "last") if depth and (may_choose or ANYWHERE in room.operators) else []
    kind = draw(st.sampled_from(["leaf", *kinds])) if depth < 3 or not kinds else draw(st.sampled_from(kinds))
    if kind == "leaf":
        return draw(leaf_of(room))
    if kind in UNARY or kind in ("first", "last"):
        return draw(_around(kind, room, draw(pattern_of(room, depth - 1, leaves))))
    sides = 3 if kind == "between" else 2
    chooses = kind in ("seq", "between", "optionalseq")
    parts = [draw(pattern_of(room, depth - 1, max(1, leaves // sides), may_choose=chooses)) for _ in range(sides)]
    return draw(_of(kind, room, parts))


@st.composite
def leaf_of(draw: st.DrawFn, room: Room) -> Triples:
    """Draw a basic graph pattern whose first triple is streamed."""
    patterns = [draw(_triple(room))]
    more = draw(st.integers(0, 5))
    if more == 4:
        patterns.append(draw(_triple(room)))
    elif more == 5:
        patterns.append(TriplePattern(patterns[0].subject, KNOWN, draw(st.sampled_from([W, Z]))))
    return Triples(tuple(patterns))


@st.composite
def _triple(draw: st.DrawFn, room: Room) -> TriplePattern:
    subjects: list[Term] = [X, X, X, X, X, X, SUBJECTS[0], Y]
    objects: list[Term] = [Z, W, V, U, Z, W, V, U, Y, X, NUMBERS[0]]
    return TriplePattern(
        draw(st.sampled_from(subjects)),
        draw(st.sampled_from(room.predicates)),
        draw(st.sampled_from(objects)),
        draw(st.sampled_from(room.sources)),
    )


@st.composite
def _around(draw: st.DrawFn, kind: str, room: Room, inner: Algebra) -> Algebra:
    match kind:
        case "within":
            return algebra.Within(inner, draw(st.sampled_from(WIDTHS)))
        case "filter":
            return algebra.Filter(draw(condition_of(room, inner)), inner)
        case "extend":
            name = next(each for each in map(Variable, ("b1", "b2", "b3", "b4", "b5")) if each not in visible(inner))
            return algebra.Extend(inner, name, draw(_value(room, inner)))
        case "values":
            rows = draw(st.lists(st.sampled_from([*SUBJECTS, None, *NUMBERS]), min_size=1, max_size=3, unique=True))
            column = draw(st.sampled_from([X, X, Z]))
            return algebra.Join(inner, algebra.Values((column,), tuple((row,) for row in rows)))
        case "first":
            return algebra.First(inner)
    return algebra.Last(inner)


@st.composite
def _of(draw: st.DrawFn, kind: str, room: Room, parts: list[Algebra]) -> Algebra:
    left, right = parts[0], parts[-1]
    condition = draw(condition_of(room, *parts)) if room.having("filter") and draw(st.integers(0, 3)) == 3 else None
    width = draw(st.sampled_from(WIDTHS))
    if room.narrowest is not None and kind == "after":
        width = min(width, room.narrowest)
    match kind:
        case "join":
            return algebra.Join(left, right)
        case "union":
            return algebra.Union(left, right)
        case "optional":
            return algebra.LeftJoin(left, right, condition)
        case "minus":
            return algebra.Minus(left, right)
        case "exists":
            return algebra.Exists(left, right, condition, draw(st.booleans()))
        case "seq":
            return algebra.Relate(left, relations.SEQ, right)
        case "relate":
            return algebra.Relate(left, draw(st.sampled_from(RELATED)), right)
    return _of_time(kind, parts, condition, width)


def _of_time(kind: str, parts: list[Algebra], condition: Expression | None, width: int) -> Algebra:
    left, right = parts[0], parts[-1]
    match kind:
        case "optionalseq":
            return algebra.OptionalBefore(left, right, condition)
        case "equalsoptional":
            return algebra.OptionalEquals(left, right, condition)
        case "between":
            return algebra.Between(left, parts[1], right, condition)
        case "before":
            return algebra.Before(left, right, width, condition)
        case "after":
            return algebra.After(left, right, width, condition)
    raise ValueError(f"no operator is called {kind!r}; the known ones are {', '.join(sorted(OPERATORS))}")


@st.composite
def condition_of(draw: st.DrawFn, room: Room, *parts: Algebra) -> Expression:
    """Draw a condition on the variables of some patterns, or on a solution's times."""
    variables = sorted({each for part in parts for each in visible(part)}, key=str) or [X]
    one, other = draw(st.sampled_from(variables)), draw(st.sampled_from(variables))
    kinds: list[Expression] = [
        Operation("!=", (one, other)),
        Operation("<", (one, Constant(NUMBERS[1]))),
        Call("BOUND", (one,)),
    ]
    kinds += [Operation("!", (Call("BOUND", (one,)),))]
    if "times" in room.operators:
        kinds += draw(_times())
    return draw(st.sampled_from(kinds))


@st.composite
def _times(draw: st.DrawFn) -> list[Expression]:
    long, start, end = (Call(name, ()) for name in ("GETDURATION", "GETSTARTTIME", "GETENDTIME"))
    width = Constant(duration_text(draw(st.sampled_from(WIDTHS))))
    moment = Constant(moment_text(draw(st.sampled_from(WIDTHS))))
    return [
        Operation(draw(st.sampled_from(["<", "<=", ">=", "="])), (long, width)),
        Operation(">", (width, long)),
        Operation("&&", (Operation("<=", (long, width)), Operation("<=", (moment, end)))),
        Operation(draw(st.sampled_from(["<", "="])), (start, end)),
        Operation(draw(st.sampled_from([">", "<="])), (start, moment)),
    ]


@st.composite
def _value(draw: st.DrawFn, room: Room, inner: Algebra) -> Expression:
    one = draw(st.sampled_from(sorted(visible(inner), key=str) or [X]))
    kinds: list[Expression] = [one, Operation("+", (one, Constant(NUMBERS[0]))), Call("STR", (one,))]
    kinds += [Call("GETDURATION", ())] * ("times" in room.operators)
    return draw(st.sampled_from(kinds))


_objects = st.sampled_from([*SUBJECTS, *NUMBERS])
_triples = st.tuples(st.sampled_from([SUBJECTS[0], *SUBJECTS]), st.sampled_from(PREDICATES), _objects)
known = st.tuples(st.sampled_from(SUBJECTS), st.just(KNOWN), _objects)


@st.composite
def stream_of(draw: st.DrawFn, *, most: int = 12) -> list[Item]:
    """Draw a stream, in which instants have one item or more, and now and then an event of two triples."""
    time, items = 0, list[Item]()
    for number, triple in enumerate(draw(st.lists(_triples, min_size=min(most, 8), max_size=most))):
        time += MS * draw(st.sampled_from([1, 0, 0, 1, 1, 2, 3]))
        length = MS * draw(st.sampled_from([0, 0, 0, 1, 2]))
        item = Item(triple, time - length, time, draw(st.sampled_from([None, *STREAMS, *STREAMS])))
        if items and draw(st.integers(0, 7)) == 7:
            last = items[-1] = replace(items[-1], event=number if items[-1].event is None else items[-1].event)
            item = replace(last, triple=triple)
            time = last.end
        items.append(item)
    return items
