"""Conditions that the kernel cannot decide: Python is asked, below NOT, in what is optional, and in parts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from cases.temporal import ANYWHERE, NUMBERS, OPERATORS, Case, temporal_case
from helpers.telling import asked, bag, law, listening, poured, pushed, told
from hypothesis import given
from hypothesis import strategies as st
from naive.detectors import detected

from retewave.compiler.algebra import TriplePattern, Variable
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation
from retewave.windows.times import Clock

INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


def hard(one: Expression, other: Expression) -> list[Expression]:
    """Return conditions on two variables that the kernel cannot decide."""
    text, both = Call("STR", (one,)), Call("CONCAT", (Call("STR", (one,)), Call("STR", (other,))))
    short = Operation(
        "<", (Call("GETDURATION", ()), Constant(b'"PT0.002S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>'))
    )
    found: list[Expression] = [
        Call("REGEX", (text, Constant(b'"[ap1]$"'))),
        Operation(">", (Call("STRLEN", (Call("SUBSTR", (text, Constant(NUMBERS[1]))),)), Constant(NUMBERS[0]))),
        Call("CONTAINS", (Call("LCASE", (both,)), Constant(b'"b"'))),
        Operation("<", (Call(INTEGER, (text,)), Constant(NUMBERS[1]))),
        Operation("=", (both, Call("CONCAT", (Call("STR", (other,)), text)))),
    ]
    return [
        *found,
        *(Operation("!", (each,)) for each in found),
        *(Operation("||", (each, short)) for each in found[:3]),
    ]


def replaced(node: Any, draw: st.DrawFn) -> Any:
    """Return a pattern in which hard conditions have taken the place of most that compare."""
    if isinstance(node, tuple):
        return tuple(replaced(each, draw) for each in node)
    if isinstance(node, Operation) and all(isinstance(each, Variable | Constant) for each in node.operands):
        names = [each for each in node.operands if isinstance(each, Variable)]
        return draw(st.sampled_from([*hard(names[0], names[-1]), node])) if names and node.operator != "+" else node
    if not is_dataclass(node) or isinstance(node, Variable | Constant | TriplePattern):
        return node
    return replace(node, **{each.name: replaced(getattr(node, each.name), draw) for each in fields(node) if each.init})  # type: ignore[type-var]


@st.composite
def hard_case(draw: st.DrawFn) -> Case:
    """Draw a case with hard conditions in its operators, and perhaps one around it."""
    case = asked(draw(temporal_case(operators=OPERATORS | {ANYWHERE})))
    where = replaced(case.query.where, draw)
    return replace(case, query=replace(case.query, where=where))


@law(150)
@given(hard_case(), st.booleans())
def test_conditions_that_python_decides_are_those_of_the_naive_meaning(case: Case, at_once: bool) -> None:
    engine, _ = listening(case)
    engine.clock = Clock("float")
    found = told(engine.flush())
    if at_once:
        found += told(poured(engine, case.stream))
    else:
        found += told(match for item in case.stream for match in pushed(engine, item))
    assert found + told(engine.flush()) == bag(detected(case.query, case.stream, case.static))
