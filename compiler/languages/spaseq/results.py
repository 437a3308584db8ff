"""Build what a query in SPAseq shows.

Data's way: parse tree of SELECT or CONSTRUCT -> **fields of the query** -> report stage.
Laws: SELECT sees aggregates over group variables.  A variable that no event binds is shown without a value, which a
notice tells: queries of the paper have such.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from retewave.compiler.algebra import Algebra, Variable, visible
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.expressions import similar, variable
from retewave.compiler.languages.sparql.results import selection

__all__ = ["shown"]


def shown(clause: ParseTree, where: Algebra, context: Context) -> dict[str, Any]:
    """Return the fields of a SELECT query."""
    known = visible(where)
    empty = [each for each in clause.children if isinstance(each, Tree) and _is_empty(each, known)]
    for each in empty:
        missing = variable(each.children[0])
        hint = similar(missing, known) or "the column stays empty"
        context.notice(f"{missing} has no value: no event of a match binds it; {hint}", each)
    parts = selection(Tree(clause.data, [each for each in clause.children if each not in empty]), where, context)
    names = [_name(each) for each in clause.children if isinstance(each, Tree) and rule(each) == "projection"]
    return parts | {"projection": tuple(names) or parts["projection"]}


def _is_empty(part: ParseTree, known: tuple[Variable, ...]) -> bool:
    return rule(part) == "projection" and len(part.children) == 1 and variable(part.children[0]) not in known


def _name(projection: ParseTree) -> str:
    return variable(projection.children[-1]).name
