"""Check that UNION and OPTIONAL beside operators of time have braces of their own: no rule says which binds first.

Data's way: parse tree of a group -> **checked** -> algebra.
Invariant: a chain of groups is joined by operators of time alone, or by UNION alone.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of
from retewave.errors import QueryError

__all__ = ["check_braces", "check_chain"]

_TAKING = ("optional_graph_pattern", "minus_graph_pattern")


def check_braces(group: ParseTree, context: Context) -> None:
    """Refuse OPTIONAL in a group that has operators of time: nobody could tell to which groups it belongs."""
    operator: Token | None = None
    optional: ParseTree | None = None
    for part in group.children:
        kind = rule(part)
        if kind in _TAKING and len(part.children) > 2:
            raise _behind(token(part), token(part, 2), context)
        if kind == "optional_graph_pattern":
            optional = part
        elif kind == "group_or_union_graph_pattern" and operator is None:
            operator = next((each for each in tokens_of(part) if kind_of(each) != "UNION"), None)
    if optional is not None and operator is not None:
        what = f"OPTIONAL beside {operator.upper()} wants braces"
        hint = f"write {{ {{ … }} {_shown(operator)} }} OPTIONAL {{ … }}, or OPTIONAL in the group that it belongs to"
        raise context.error(what, optional, hint)


def check_chain(chain: ParseTree, context: Context) -> None:
    """Refuse UNION in a chain that has operators of time."""
    tokens = tokens_of(chain)
    union = next((each for each in tokens if kind_of(each) == "UNION"), None)
    operator = next((each for each in tokens if kind_of(each) in ("RELATION", "WITHIN")), None)
    if union is not None and operator is not None:
        what, shown = f"UNION beside {operator.upper()} wants braces", _shown(operator)
        hint = f"write {{ {{ … }} UNION {{ … }} }} {shown}, or {{ {{ … }} {shown} }} UNION {{ … }}"
        raise context.error(what, union, hint)


def _behind(taking: Token, operator: Token, context: Context) -> QueryError:
    name, shown = taking.upper(), _shown(operator)
    what = f"{name} beside {operator.upper()} wants braces"
    hint = f"write {name} {{ {{ … }} {shown} }}, or {{ {{ … }} {name} {{ … }} }} {shown}"
    return context.error(what, operator, hint)


def _shown(operator: Token) -> str:
    return "WITHIN 5m" if kind_of(operator) == "WITHIN" else f"{operator.upper()} {{ … }}"
