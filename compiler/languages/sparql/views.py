"""Decide whether a query is a view, why, and check that all of its parts have a meaning there.

Data's way: windows, and the reasons that the builders have noted -> `ViewFrame` -> plan of a view.
Laws: a query is a view if it says so (`Windows.stated`), or if it has a part that has no meaning for single matches; all
else detects.  With STEP a view is reported at the steps, else when its windows change.  It tells all rows; with a window
inside WHERE, the new ones.
"""

from __future__ import annotations

from dataclasses import replace

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
    Triples,
    Union,
    Values,
    ViewFrame,
    Whole,
    WindowOn,
    operands,
    step_of,
    walk,
)
from retewave.compiler.algebra.relational import RELATIONAL
from retewave.compiler.algebra.written import name_of
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.windows.clauses import Windows

__all__ = ["frame"]

_PLAIN = (Triples, Join, LeftJoin, Minus, Exists, Union, Filter, Extend, Values, SingleEvent, *RELATIONAL)
_IN_MATCH = (Relate, First, Last)


def frame(windows: Windows, where: Algebra, policy: Policy, context: Context) -> ViewFrame | None:
    """Return what makes a view of the query; nothing if it detects."""
    if not context.reasons:
        if context.graph_groups:
            hint = "detectors read streams and the static data; REGISTER RSTREAM makes a view of the query"
            raise context.error("GRAPH stands in views only", context.graph_groups[0], hint)
        return None
    _check_operators(where, context)
    _check_policy(where, policy, context)
    windows.tell_unread(context)
    found = tuple(windows.found) or (WindowOn(None, None, Whole()),)
    if not windows.stated:
        _tell_unstated(found, context)
    told = windows.told or ("ISTREAM" if windows.hidden else "RSTREAM")
    return ViewFrame(found, _reporting(found, windows, context), told, context.reasons[0][0])


def _reporting(found: tuple[WindowOn, ...], windows: Windows, context: Context) -> ReportPolicy:
    stepped = any(step_of(each.extent) is not None for each in found)
    policy = windows.policy or ReportPolicy("close" if stepped else "change")
    if policy.policy == "close" and not stepped:
        what = "REPORT WINDOW CLOSE needs a window with STEP"
        raise context.error(what, windows.reported, "add STEP to a window, or report by CONTENT CHANGE")
    return policy


def _tell_unstated(found: tuple[WindowOn, ...], context: Context) -> None:
    """Tell that an aggregate or the like makes a view of what reads like a detector."""
    reason, node = context.reasons[0]
    ranges = [each.extent for each in found if not isinstance(each.extent, Whole)]
    opened = f", and [{ranges[0]}] is open at its older end" if ranges else ""
    what = f"{reason} makes a view of the query: it is reported when its windows change{opened}"
    step = f"[{replace(ranges[0], step=None)} STEP …]" if ranges else "[RANGE … STEP …]"
    context.notice(f"{what}; for reports at steps write {step}", node)


def _check_policy(where: Algebra, policy: Policy, context: Context) -> None:
    if policy.chooses and not any(isinstance(each, Matched) for each in walk(where)):
        context.notices.append(f"{policy.place}: POLICY has no effect: a view has sequences in MATCH {{ … }} only")


def _check_operators(where: Algebra, context: Context) -> None:
    """Refuse the operators of time outside MATCH, where a relation has no times."""
    inside: set[int] = set()  # the operators that stand in MATCH
    reason, node = context.reasons[0]
    for each in walk(where):
        if isinstance(each, Matched) or (isinstance(each, _IN_MATCH) and id(each) in inside):
            inside.update(map(id, operands(each)))
        elif not isinstance(each, _PLAIN):
            what = f"{name_of(each) or type(each).__name__} cannot stand in a view, and {reason} makes one of the query"
            raise context.error(what, node, "make two queries: one that detects, and a view of what it builds")
        if isinstance(each, Triples) and any(triple.source is not None for triple in each.patterns):
            what = f"STREAM without a window cannot stand in a view, and {reason} makes one of the query"
            raise context.error(what, node, "write the window behind the stream: STREAM <s> [RANGE 10s] { … }")
