"""Read when a view is reported: REPORT behind the FROM clauses or inside a window, and TICK.

Data's way: parse tree of REPORT -> **report policy** -> frame of a view.
Laws: a report has one of three policies; NON EMPTY is a condition on it, and alone it is one on content change.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.algebra import ReportPolicy
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, kind_of, token, trees_of
from retewave.compiler.languages.windows.lengths import positive

__all__ = ["report", "tell_tick"]

_HINT = "write REPORT WINDOW CLOSE, REPORT CONTENT CHANGE or REPORT PERIODIC 10s, each perhaps with NON EMPTY"


def report(tree: ParseTree, context: Context) -> ReportPolicy:
    """Return what REPORT says."""
    _, *words = tree.children
    policies = [each for each in words if not _is_non_empty(each)]
    conditions = [each for each in words if _is_non_empty(each)]
    for several in (policies, conditions):
        if len(several) > 1:
            raise context.error("a view is reported by one policy", several[1], _HINT)
    if not policies:
        return ReportPolicy("change", non_empty=True)
    (policy,) = policies
    if isinstance(policy, Token):
        return ReportPolicy("close" if kind_of(policy) == "ON_CLOSE" else "change", non_empty=bool(conditions))
    return ReportPolicy("periodic", _period(policy, context), bool(conditions))


def _is_non_empty(written: Node) -> bool:
    return isinstance(written, Token) and kind_of(written) == "NON_EMPTY"


def _period(tree: ParseTree, context: Context) -> int:
    lengths = trees_of(tree)
    if not lengths:
        raise context.error("PERIODIC wants the time between two reports", tree, "write PERIODIC 10s")
    return positive(lengths[0], "the time between two reports", context)


def tell_tick(tree: ParseTree, context: Context) -> None:
    """Tell that TICK says nothing new: items, watermarks and ticks drive the clock of the engine, for all queries."""
    written = token(tree)
    context.notice(f"TICK {written.upper()} has no effect: a report is told when the clock is beyond its time", written)
