"""Check the regular expressions in a query: a malformed one would never match, and nobody would be told.

Data's way: parse tree of REGEX or REPLACE -> **checked** -> expression.
Invariant: a constant pattern, replacement or flags that can only give an error is refused here.  Regular expressions
that come in data give their error when they are evaluated.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.expressions.tree import Call, Constant
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.reading import Node, first_token
from retewave.compiler.terms import unquote
from retewave.errors import QueryError

__all__ = ["check_patterns"]

_PARTS = {"REGEX": ("", "pattern", "flags"), "REPLACE": ("", "pattern", "replacement", "flags")}


def check_patterns(call: Call, arguments: list[Node], context: Context) -> None:
    """Raise a `QueryError` for a constant pattern, replacement or flags that XPath does not know."""
    if call.function not in _PARTS:
        return
    from retewave.compiler.expressions import functions_patterns as patterns
    from retewave.compiler.regex import xpath as xpath_regex

    given = {}
    for name, argument, node in zip(_PARTS[call.function], call.arguments, arguments, strict=False):
        if name and isinstance(argument, Constant):
            given[name] = _string(f"{call.function}'s {name}", argument, node, context), node
    if "flags" not in given and len(call.arguments) == len(_PARTS[call.function]):
        return  # the flags are not known yet, and they change what a pattern means
    flags, flags_node = given.get("flags", ("", None))
    try:
        at, name = flags_node, "flags"
        xpath_regex.check_flags(flags)
        if "pattern" in given:
            (pattern, at), name = given["pattern"], "pattern"
            patterns.check_pattern(pattern, flags, replacing=call.function == "REPLACE")
        if "replacement" in given:
            (replacement, at), name = given["replacement"], "replacement"
            patterns.check_replacement(replacement, given["pattern"][0] if "pattern" in given else "", flags)
    except xpath_regex.PatternError as error:
        assert at is not None
        raise _at(error.at, f"{call.function}'s {name}: {error.what}", error.hint, at, context) from error


def _string(what: str, constant: Constant, node: Node, context: Context) -> str:
    written = constant.text.decode()
    if not written.endswith('"'):
        raise context.error(f"{what} is {written}, which is no simple string", node, "write it as '…'")
    return unquote(written)


def _at(place: int, what: str, hint: str, node: Node, context: Context) -> QueryError:
    """Return an error that points into a string: at the character with this index."""
    hint = hint.replace("\\", "\\\\")  # as a string in a query writes it
    token = node if isinstance(node, Token) else first_token(node)
    found = context.error(what, node, hint)
    if token is None or token[:3] in ('"""', "'''"):
        return found
    column = 1
    for _ in range(place):
        column += 2 if token[column] == "\\" else 1
    return QueryError(what, place=context.source.at(token.line or 1, (token.column or 1) + column), hint=hint)
