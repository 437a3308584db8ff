"""Check the functions of time in expressions: where they stand, and with which durations they are compared.

Data's way: parse tree of an expression -> **checked** -> expression.
Invariant: a function of time stands in a filter; a constant that getDURATION() is compared with has a fixed length.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.expressions.moments import parse_duration
from retewave.compiler.expressions.tree import Call, Constant, Expression
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, rule
from retewave.compiler.terms import XSD, unquote

__all__ = ["check_duration", "refuse_times"]

_DURATION = Call("GETDURATION", ())
_LENGTHS = tuple(f"^^<{XSD}{kind}>" for kind in ("duration", "dayTimeDuration"))
_WITH_MONTHS = f"^^<{XSD}yearMonthDuration>"
_WRITE = 'write it in days, hours, minutes and seconds: "PT5M"^^xsd:duration'


def refuse_times(tree: ParseTree, context: Context) -> None:
    """Refuse the functions of time in an expression that is no filter."""
    for call in tree.find_pred(lambda part: rule(part) == "builtin_call"):
        name = call.children[0]
        if isinstance(name, Token) and name.type.endswith("BUILTIN_TIME"):
            hint = "it is the time of what a group matches, which FILTER sees; a match has its start and end anyway"
            raise context.error(f"{name}() stands in FILTER only", name, hint)


def check_duration(left: Expression, right: Expression, nodes: tuple[Node, Node], context: Context) -> None:
    """Refuse to compare getDURATION() with a constant that has no fixed length, or is no duration."""
    for one, other, node in ((left, right, nodes[1]), (right, left, nodes[0])):
        if one == _DURATION and isinstance(other, Constant):
            _check_constant(other.text.decode(), node, context)


def _check_constant(text: str, node: Node, context: Context) -> None:
    lexical = unquote(text[: text.rindex('"') + 1]) if text.startswith('"') else ""
    if text.endswith(_WITH_MONTHS):
        raise context.error("a duration of months has no fixed length", node, _WRITE)
    if not text.endswith(_LENGTHS):
        raise context.error(f"getDURATION() is compared with {text}, which is no duration", node, _WRITE)
    found = parse_duration(lexical, text.endswith(_LENGTHS[0]), True)
    if found is None:
        raise context.error(f"{lexical!r} is not a duration", node, _WRITE)
    if found.months:
        raise context.error(f"{lexical} has months, which have no fixed length", node, _WRITE)
