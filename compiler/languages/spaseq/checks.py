"""Check what a sequence as a whole may not be, and tell of what it hardly is meant to be.

Data's way: steps and patterns -> **checked** -> sequence.
Laws: one step at least must be there.  What is decided at the end of the window, or looks back to its beginning, needs
WITHIN.  Each GPM binds the variables of PARTITION BY.
"""

from __future__ import annotations

from collections.abc import Iterable

from lark import Token

from retewave.compiler.algebra import Algebra, Extend, LeftJoin, Occurs, Triples, Union, Values, Variable, shown_parts
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node
from retewave.compiler.languages.sparql.expressions import similar
from retewave.compiler.languages.spaseq.events import Read
from retewave.compiler.languages.spaseq.steps import WrittenStep, names_in
from retewave.errors import QueryError

__all__ = ["check_ends", "check_partition", "tell_rebound", "tell_twice"]

_THERE = (Occurs.ONCE, Occurs.SOME, Occurs.MOST)


def tell_twice(names: Iterable[Token], context: Context) -> None:
    """Tell of a GPM that stands in several steps: its events agree in all variables."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            what = f"{name} stands here again: its events agree in all of its variables"
            context.notice(f"{what}; for other values define a GPM with variables of its own", name)
        seen.add(str(name))


def tell_rebound(binds: Iterable[Variable], groups: dict[Variable, str], node: Node, context: Context) -> None:
    """Tell of a variable that repetitions of an earlier GPM bind anew: one value of many is compared with."""
    for each in binds:
        if each in groups:
            what = f"{each} is bound anew in each repetition of {groups[each]}: here it is that of the last one"
            context.notice(what, node)


def check_ends(steps: list[WrittenStep], width: int | None, seq: ParseTree, context: Context) -> None:
    """Refuse a sequence of which nothing must be there, or that looks beyond itself for an unbounded time."""
    if not any(step.occurs in _THERE for step in steps):
        raise context.error(
            "nothing of this sequence must be there", seq, "write SEQ (A; B!) or the like: A has no mark"
        )
    if width is not None:
        return
    first, last = steps[0], steps[-1]
    if first.occurs in (Occurs.NEVER, Occurs.MAYBE):
        raise _endless(first, "begins", "before the next step", context)
    if last.occurs in (Occurs.NEVER, Occurs.MAYBE, Occurs.MOST):
        raise _endless(last, "ends", "after the first event", context)


def _endless(step: WrittenStep, where: str, when: str, context: Context) -> QueryError:
    name = " ".join(names_in(step.operand))
    what = f"a sequence that {where} with {name}{step.occurs.value} needs WITHIN"
    return context.error(what, step.at, f"how long {when}? write WITHIN 30 MINUTES before WHERE")


def check_partition(partition: dict[Variable, ParseTree], reads: list[Read], context: Context) -> None:
    """Refuse to partition by a variable that some GPM does not bind."""
    for each, node in partition.items():
        for read in reads:
            known = _always(read.pattern)
            if each not in known:
                what = f"PARTITION BY {each}: {read.name} does not bind {each} in each of its events"
                raise context.error(what, node, similar(each, known) or "each GPM tells to which run its events belong")


def _always(pattern: Algebra) -> frozenset[Variable]:
    """Return the variables that each solution of a pattern has."""
    match pattern:
        case Triples(patterns):
            return frozenset(term for triple in patterns for term in triple.terms if isinstance(term, Variable))
        case Values(columns, rows):
            return frozenset(
                column for place, column in enumerate(columns) if all(row[place] is not None for row in rows)
            )
        case Union(left, right):
            return _always(left) & _always(right)
        case LeftJoin(left=left):
            return _always(left)
        case Extend(inner, variable, _):
            return _always(inner) | {variable}
    return frozenset().union(*(_always(part) for part in shown_parts(pattern)))
