"""FIRST and LAST in what OPTIONAL, MINUS, EXISTS and SEQ NOT SEQ look at: the choice is made for each solution anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cases.conjunctions import MS
from cases.temporal import PREDICATES, Case, X, Z, ranges, stream_of
from hypothesis import assume, given
from hypothesis import strategies as st
from laws.telling import law
from laws.test_engine_time import all_told, engine_for, of_token
from naive.detectors import detected

from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Query, TriplePattern, Triples, Variable
from retewave.compiler.expressions.tree import Operation
from retewave.errors import QueryError
from retewave.windows import relations

KINDS = ("optional", "minus", "exists", "between")
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
    match draw(st.integers(0, 6)):
        case 4:
            return algebra.Within(found, draw(WIDTHS))
        case 5:
            return algebra.Filter(Operation("!=", (X, Variable("w"))), found)
        case 6:
            return algebra.Join(found, draw(leaf(Variable("u"))))
    return found


@st.composite
def looked_at(draw: st.DrawFn, kind: str) -> Case:
    """Draw a query that looks at a choice, in a window or before a further group."""
    own, there = draw(side(Z, Variable("v"))), draw(choice())
    if kind == "optional":
        where: Algebra = algebra.LeftJoin(own, there, None)
    elif kind == "minus":
        where = algebra.Minus(own, there)
    elif kind == "exists":
        where = algebra.Exists(own, there, None, draw(st.booleans()))
    else:
        where = algebra.Between(own, there, draw(leaf(Variable("v2"))), None)
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
        assert "FIRST and LAST are decided with the whole pattern" in refused.what
        assume(condition=False)
        raise
    assert all_told(engine, case) == Counter(map(of_token, detected(case.query, case.stream, case.static)))
