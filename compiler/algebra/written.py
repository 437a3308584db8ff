"""Names in messages for operators that look at time, or at other solutions: as they are written, with their places.

Where it stands: beside data's way, for modules that refuse a pattern, or warn of it.
"""

from __future__ import annotations

from retewave.compiler.algebra.graph import Algebra, Exists, Extend, Filter, LeftJoin, Minus
from retewave.compiler.algebra.temporal import (
    After,
    Before,
    Between,
    First,
    Last,
    OptionalBefore,
    OptionalEquals,
    Relate,
    Within,
)
from retewave.compiler.algebra.walk import walk
from retewave.compiler.expressions.tree import Expression, mentions
from retewave.errors import Place
from retewave.windows import relations

__all__ = ["looking", "missing", "name_of"]

_NAMES: dict[type, str] = {
    LeftJoin: "OPTIONAL",
    Minus: "MINUS",
    Within: "WITHIN",
    OptionalBefore: "OPTIONALSEQ",
    OptionalEquals: "EQUALSOPTIONAL",
    Between: "NOT",
    Before: "NOT",
    After: "NOT",
    First: "FIRST",
    Last: "LAST",
}
_MISSING = (LeftJoin, Minus, OptionalBefore, OptionalEquals, Between, Before, After, First, Last)
_CALLS = {"GETDURATION": "getDURATION()", "GETSTARTTIME": "getSTARTTIME()", "GETENDTIME": "getENDTIME()"}


def looking(pattern: Algebra) -> tuple[str, Place | None] | None:
    """Return the name and the place of the outermost operator that looks at times, or at other solutions.

    >>> from retewave.compiler.parse import parse
    >>> looking(parse("SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }").where)[0]
    'OPTIONAL'
    >>> looking(parse("SELECT * { ?x <urn:p> ?y }").where)
    """
    for each in walk(pattern):
        name = name_of(each)
        if name is not None:
            return name, getattr(each, "place", None)
    return None


def missing(pattern: Algebra) -> tuple[str, Place | None] | None:
    """Return the name and the place of the outermost operator that tells of missing solutions.

    >>> from retewave.compiler.parse import parse
    >>> missing(parse("SELECT * { { ?x <urn:p> ?y } SEQ NOT { ?x <urn:q> ?z } WITHIN 5s }").where)[0]
    'NOT'
    """
    told = (each for each in walk(pattern) if isinstance(each, _MISSING) or (isinstance(each, Exists) and each.negated))
    return next(((name_of(each) or "", each.place) for each in told), None)


def name_of(node: Algebra) -> str | None:
    """Return the name of an operator that looks at time, or at other solutions; None for others."""
    match node:
        case Relate(relation=relations.SEQ):
            return "SEQ"
        case Relate(relation=relation):
            return relations.NAMES[relation].upper().replace(" ", "_")
        case Exists(negated=negated):
            return "NOT EXISTS" if negated else "EXISTS"
        case Filter(expression=expression) | Extend(expression=expression):
            return _time_asked(expression)
    return _NAMES.get(type(node))


def _time_asked(expression: Expression) -> str | None:
    """Return the function by which an expression asks for a time of the solution, if it does."""
    return next((name for call, name in _CALLS.items() if mentions(expression, frozenset((call,)))), None)
