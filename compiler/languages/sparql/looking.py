"""EXISTS inside an expression: a hidden variable, which the pattern that the expression is asked of binds.

Data's way: parse tree of EXISTS -> **a variable, and the group that is looked for** -> `ExistsValue`.
Only views have it: there the value is found for all solutions of a report at once.
"""

from __future__ import annotations

from retewave.compiler.algebra import Algebra, ExistsValue
from retewave.compiler.expressions.tree import Expression, Operation
from retewave.compiler.languages.context import Context, EmbeddedExists
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import rule
from retewave.compiler.languages.sparql.filters import condition
from retewave.compiler.languages.sparql.patterns import opened

__all__ = ["looked_for"]


def looked_for(tree: ParseTree, context: Context) -> Expression:
    """Return the value of EXISTS or NOT EXISTS in an expression."""
    negated = rule(tree) == "not_exists"
    before, context.looked = context.looked, []  # those in the group are its own
    group, variable = opened(tree.children[-1], context), context.fresh()
    place = context.source.place(tree)

    def around(pattern: Algebra) -> Algebra:
        return ExistsValue(pattern, group.pattern, variable, condition(group, (pattern,), context), place)

    context.looked = [*before, EmbeddedExists(tree, "NOT EXISTS" if negated else "EXISTS", around)]
    return Operation("!", (variable,)) if negated else variable
