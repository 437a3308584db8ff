"""FIRST and LAST in what OPTIONAL, MINUS, EXISTS and NOT look at: the choice is made for each solution anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cases.conjunctions import MS
from cases.temporal import PREDICATES, Case, X, Z, ranges, stream_of
from helpers.telling import law
from helpers.told import all_told, engine_for, of_token
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.detectors import detected

from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Query, TriplePattern, Triples, Variable
from retewave.compiler.expressions.tree import Operation
from retewave.errors import QueryError
from retewave.windows import relations

KINDS = ("optional", "minus", "exists", "between", "before", "after", "optionalseq", "equalsoptional", "seq")
FEW = (b"<http://e/a>", b"<http://e/b>")
WIDTHS = st.sampled_from([2 * MS, 4 * MS, 6 * MS])


@st.composite
def leaf(draw: st.DrawFn, *objects: Variable) -> Triples:
    """Draw one triple pattern."""
    return Triples((TriplePattern(X, draw(st.sampled_from(PREDICATES)), draw(st.sampled_from(objects))),))


@st.composite
def side(draw: st.DrawFn, *objects: Variable) -> Algebra:
    """Draw a group of one triple pattern, or of two."""
    one = draw(leaf(*objects))
    match draw(st.integers(0, 4)):
        case 3:
            return algebra.Join(one, draw(leaf(*objects)))
        case 4:
            return algebra.Relate(one, relations.SEQ, draw(leaf(*objects)))
    return one


@st.composite
def choice(draw: st.DrawFn) -> Algebra:
    """Draw FIRST or LAST, alone, in a window of its own, with a filter, or beside another group."""
    group = draw(side(Z, Variable("w")))
    found: Algebra = algebra.First(group) if draw(st.booleans()) else algebra.Last(group)
    match draw(st.integers(0, 8)):
        case 4:
            return algebra.Within(found, draw(WIDTHS))
        case 5:
            return algebra.Filter(Operation("!=", (X, Variable("w"))), found)
        case 6:
            return algebra.Join(found, draw(leaf(Variable("u"))))
        case 7:
            return algebra.Minus(found, draw(leaf(Z, Variable("u"))))
        case 8:
            return algebra.LeftJoin(found, draw(leaf(Variable("u"))), None)
    return found


@st.composite
def _of(draw: st.DrawFn, kind: str, own: Algebra, there: Algebra) -> Algebra:
    """Draw an operator that looks at `there`, perhaps with a condition."""
    condition = draw(st.sampled_from([None, None, Operation("!=", (X, Variable("w")))]))
    match kind:
        case "optional":
            return algebra.LeftJoin(own, there, condition)
        case "minus":
            return algebra.Minus(own, there)
        case "exists":
            return algebra.Exists(own, there, condition, draw(st.booleans()))
        case "before":
            return algebra.Before(there, own, draw(WIDTHS), condition)
        case "after":
            return algebra.After(own, there, draw(WIDTHS), condition)
        case "optionalseq":
            return algebra.OptionalBefore(there, own, condition)
        case "equalsoptional":
            return algebra.OptionalEquals(own, there, condition)
        case "seq":
            return algebra.Relate(there, relations.SEQ, own)
    return algebra.Between(own, there, draw(leaf(Variable("v2"))), condition)


@st.composite
def looked_at(draw: st.DrawFn, kind: str) -> Case:
    """Draw a query that looks at a choice, in a window or before a further group."""
    own, there = draw(side(Z, Variable("v"))), draw(choice())
    where: Algebra = draw(_of(kind, own, there))
    around = draw(st.integers(0, 4))
    if around in (1, 2):
        where = algebra.Within(where, draw(WIDTHS))
    if around in (2, 3):
        where = algebra.Relate(where, relations.SEQ, draw(leaf(Variable("t"))))
    shown = tuple(variable.name for variable in algebra.visible(where))
    query = Query("SELECT", where, shown, streams=draw(ranges), solutions="bag")
    few = [replace(item, triple=(*item.triple[:2], FEW[len(item.triple[2]) % 2])) for item in draw(stream_of())]
    return Case(query, few, frozenset())


@law(400)
@given(st.data())
def test_the_choice_is_the_one_as_of_each_decision(data: st.DataObject) -> None:
    case = data.draw(looked_at(data.draw(st.sampled_from(KINDS))))
    try:
        engine, _ = engine_for(case)
    except QueryError as refused:
        assert "narrower" in refused.what or "wider than" in refused.what, refused.what
        assume(condition=False)
        raise
    assert all_told(engine, case) == Counter(map(of_token, detected(case.query, case.stream, case.static)))
