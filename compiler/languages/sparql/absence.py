"""Check where NOT { … } stands in a chain of groups; where it may not stand, say how to mend it.

Data's way: parse tree of a chain -> **checked** -> algebra.
Laws: only SEQ stands beside an absent group.  At an end of the chain, WITHIN bounds the time in which the group must
be absent.  The WITHIN of a trailing group is not wider than the time for which its streams keep triples.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.algebra import After, Algebra, Triples, shown_parts
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import token
from retewave.errors import QueryError
from retewave.windows.durations import spell
from retewave.windows.relations import SEQ, code_of

__all__ = ["alone", "check_inside", "check_range", "check_sequence", "endless", "misplaced", "twice"]


def misplaced(absent: ParseTree, context: Context) -> QueryError:
    """Return the error for NOT without an operator of time beside it."""
    hint = "write { … } SEQ NOT { … } SEQ { … }; MINUS { … } and FILTER NOT EXISTS { … } look at no order in time"
    return context.error("NOT stands beside SEQ", token(absent), hint)


def alone(absent: ParseTree, context: Context) -> QueryError:
    """Return the error for a chain that is nothing but an absent group."""
    what = "NOT needs a group that it is compared with"
    return context.error(what, token(absent), "write NOT { … } SEQ { … } WITHIN 5m, or { … } SEQ NOT { … } WITHIN 5m")


def twice(absent: ParseTree, context: Context) -> QueryError:
    """Return the error for two absent groups side by side."""
    what = "one NOT stands between two groups"
    return context.error(what, token(absent), "write NOT { { … } UNION { … } }: neither of them may be there")


def endless(absent: ParseTree, leading: bool, context: Context) -> QueryError:
    """Return the error for NOT at an end of a chain without WITHIN."""
    width = _range(context)
    clause = "NOT { … } SEQ { … }" if leading else "{ … } SEQ NOT { … }"
    where, when = ("begins", "before") if leading else ("ends", "after")
    what = f"a chain that {where} with NOT needs WITHIN"
    hint = f"how long {when}? write {clause} WITHIN {'5m' if width is None else spell(width)}"
    return context.error(what, token(absent), hint)


def check_sequence(operator: Token, context: Context) -> None:
    """Refuse any operator but SEQ beside an absent group."""
    name = operator.upper()
    if name in ("OPTIONALSEQ", "EQUALSOPTIONAL") or code_of(name) != SEQ:
        raise context.error(f"{name} cannot stand beside NOT", operator, "SEQ can: { … } SEQ NOT { … } SEQ { … }")


def check_range(pattern: Algebra, operator: Token, width: int, context: Context) -> None:
    """Refuse a trailing NOT whose deadline comes when the streams no longer keep the triples before it."""
    kept = _kept(pattern, context)
    if kept is not None and width > kept:
        what = f"WITHIN {spell(width)} is wider than RANGE {spell(kept)}: what stands before NOT is forgotten by then"
        raise context.error(what, operator, f"write [RANGE {spell(width)}] or more, or WITHIN {spell(kept)}")


def check_inside(pattern: Algebra, operator: Token, width: int, context: Context) -> None:
    """Refuse a bound around a trailing NOT that is shorter than the WITHIN of that NOT."""
    waiting = [pattern]
    while waiting:
        each = waiting.pop()
        waiting += shown_parts(each)
        if isinstance(each, After) and each.width > width:
            what = f"WITHIN {spell(width)} can never hold: the NOT before it takes {spell(each.width)}"
            raise context.error(what, operator, f"write WITHIN {spell(each.width)} or more")


def _kept(pattern: Algebra, context: Context) -> int | None:
    """Return how long the streams keep the triples of a pattern; None: without end."""
    widths = {stream.iri: stream.width for stream in context.streams}
    waiting, found = [pattern], list[int]()
    while waiting:
        each = waiting.pop()
        waiting += shown_parts(each)
        for triple in each.patterns if isinstance(each, Triples) else ():
            for width in widths.values() if triple.source is None else (widths.get(triple.source),):
                if width is None:
                    return None
                found.append(width)
    return max(found, default=None)


def _range(context: Context) -> int | None:
    """Return the width of the streams' windows, if all have the same."""
    widths = {stream.width for stream in context.streams}
    return widths.pop() if len(widths) == 1 else None
