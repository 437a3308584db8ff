"""Decide whether a query is a view, why, and check that all of its parts have a meaning there.

Data's way: windows, and the reasons that the builders have noted -> `ViewFrame` -> plan of a view.
Laws: a query is a view if it says so (`Windows.stated`), or if it has a part that has no meaning for single matches;
all else detects.  With STEP a view is reported at the steps, else when its windows change.  It tells all rows; with a
window inside WHERE, the new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lark import Token

from retewave.compiler.algebra import (
    Algebra,
    Exists,
    Extend,
    Filter,
    First,
    Join,
    Last,
    LeftJoin,
    Matched,
    Minus,
    Policy,
    Relate,
    ReportPolicy,
    SingleEvent,
    Sliding,
    Term,
    Triples,
    Union,
    Values,
    ViewFrame,
    Whole,
    WindowOn,
    is_stepped,
    operands,
    walk,
)
from retewave.compiler.algebra.relational import RELATIONAL
from retewave.compiler.algebra.written import name_of
from retewave.compiler.expressions.tree import TIMESTAMP, Call, Expression, children
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.reading import kind_of
from retewave.compiler.languages.windows.clauses import Windows
from retewave.errors import Place, QueryError

__all__ = ["frame"]

_PLAIN = (Triples, Join, LeftJoin, Minus, Exists, Union, Filter, Extend, Values, SingleEvent, *RELATIONAL)
_IN_MATCH = (Relate, First, Last)


def frame(windows: Windows, parts: Mapping[str, Any], context: Context) -> ViewFrame | None:
    """Return what makes a view of the query of these parts; nothing if it detects."""
    if not context.reasons:
        if context.graph_groups:
            node = context.graph_groups[0]
            what = "FROM NAMED" if isinstance(node, Token) and kind_of(node) == "NAMED" else "GRAPH"
            hint = "detectors read streams and the static data; REGISTER RSTREAM makes a view of the query"
            raise context.error(f"{what} stands in views only", node, hint)
        if context.timestamps:
            hint = "groups in order of time are { … } SEQ { … }; a window with STEP makes a view of the query"
            raise context.error("f:timestamp stands in views only", context.timestamps[0], hint)
        for one in context.in_expressions:
            hint = f"make it a condition of its own: FILTER {one.name} {{ … }}, or FILTER (… && {one.name} {{ … }}); "
            hint += "or REGISTER RSTREAM, which makes a view of the query"
            raise context.unsupported(f"{one.name} inside an expression", one.node, hint)
        return None
    _check_operators(parts["where"], context)
    _check_timestamps(parts["where"], context)
    _check_policy(parts["where"], parts["policy"], context)
    windows.tell_unread(context)
    for each in windows.found:
        if isinstance(each.extent, Sliding) and each.extent.width == 0:
            hint = "a view of the current instant is [NOW]"
            raise QueryError("the width of a window is more than 0", place=each.place, hint=hint)
    found = tuple(windows.found) or (WindowOn(None, None, Whole()),)
    if not windows.stated:
        _tell_unstated(found, context)
    told = windows.told or ("ISTREAM" if windows.hidden else "RSTREAM")
    graphs: tuple[Term, ...] = tuple(f"<{name}>".encode() for name in windows.graphs)
    return ViewFrame(found, _reporting(found, windows, context), told, context.reasons[0][0], graphs)


def _reporting(found: tuple[WindowOn, ...], windows: Windows, context: Context) -> ReportPolicy:
    stepped = any(is_stepped(each.extent) for each in found)
    policy = windows.policy or ReportPolicy("close" if stepped else "change")
    if policy.policy == "close" and not stepped:
        what = "REPORT WINDOW CLOSE needs a window with STEP"
        raise context.error(
            what, windows.reported or context.reasons[0][1], "add STEP to a window, or report by CONTENT CHANGE"
        )
    return policy


def _tell_unstated(found: tuple[WindowOn, ...], context: Context) -> None:
    """Tell that an aggregate or the like makes a view of what reads like a detector."""
    reason, node = context.reasons[0]
    ranges = [each.extent for each in found if isinstance(each.extent, Sliding)]
    opened = f", and [{ranges[0]}] is open at its older end" if ranges else ""
    what = f"{reason} makes a view of the query: it is reported when its windows change{opened}"
    step = f"[{ranges[0]} STEP …]" if ranges else "[RANGE … STEP …]"
    context.notice(f"{what}; for reports at steps write {step}", node)


def _check_timestamps(where: Algebra, context: Context) -> None:
    """Refuse f:timestamp where it is asked for no single solution."""
    asked = [each.expression for each in walk(where) if isinstance(each, Filter | Extend)]
    if context.timestamps and sum(_timestamps(each) for each in asked) < len(context.timestamps):
        hint = "BIND(f:timestamp(?s, :p, ?o) AS ?time) gives it a name, which may stand everywhere"
        raise context.error("f:timestamp stands in FILTER, BIND and SELECT only", context.timestamps[0], hint)


def _timestamps(expression: Expression) -> int:
    """Return how often an expression calls f:timestamp."""
    own = isinstance(expression, Call) and expression.function == TIMESTAMP
    return own + sum(map(_timestamps, children(expression)))


def _check_policy(where: Algebra, policy: Policy, context: Context) -> None:
    if policy.chooses and not any(isinstance(each, Matched) for each in walk(where)):
        context.notices.append(f"{policy.place}: POLICY has no effect: a view has sequences in MATCH {{ … }} only")


def _check_operators(where: Algebra, context: Context) -> None:
    """Refuse the operators of time outside MATCH, where a relation has no times."""
    inside: set[int] = set()  # the operators that stand in MATCH
    for each in walk(where):
        if isinstance(each, Matched) or (isinstance(each, _IN_MATCH) and id(each) in inside):
            inside.update(map(id, operands(each)))
        elif not isinstance(each, _PLAIN):
            hint = "make two queries: one that detects, and a view of what it builds"
            raise _refused(name_of(each) or type(each).__name__, getattr(each, "place", None), hint, context)
        for triple in each.patterns if isinstance(each, Triples) else ():
            if triple.source is not None:
                hint = "write the window behind the stream: STREAM <s> [RANGE 10s] { … }"
                raise _refused("STREAM without a window", triple.place, hint, context)


def _refused(what: str, place: Place | None, hint: str, context: Context) -> QueryError:
    reason, node = context.reasons[0]
    what = f"{what} cannot stand in a view, and {reason} makes one of the query"
    return QueryError(what, place=place or context.source.place(node), hint=hint)
