"""Build a SELECT inside a group: a pattern of which only some variables are seen from outside.

Data's way: parse tree of a subquery -> **algebra** -> normal form.
Invariant: variables that it does not show get names that occur nowhere else.  Clauses without a meaning for single
matches (aggregates, DISTINCT, ORDER BY and the like) are refused by name and place.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.compiler.algebra import Algebra, Variable, operands, renamed, visible, walk
from retewave.compiler.expressions.tree import variables
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, tokens_of
from retewave.compiler.languages.sparql.modifiers import refuse_modifiers
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import group, values
from retewave.compiler.languages.sparql.results import selection

__all__ = ["subselect"]


def subselect(tree: ParseTree, context: Context) -> Algebra:
    """Build a subquery."""
    clauses = {rule(part): part for part in tree.children}
    head = clauses["select_clause"]
    distinct = next((each for each in tokens_of(head) if kind_of(each) == "DISTINCT"), None)
    if distinct is not None:
        raise context.unsupported("DISTINCT in a subquery", distinct, "write it at the outer SELECT")
    refuse_modifiers(clauses["solution_modifier"], context)
    where = group(clauses["where_clause"].children[-1], context)
    if "values_clause" in clauses:
        where = join(where, values(clauses["values_clause"].children[0], context))
    parts = selection(head, where, context)
    shown, pattern = set(parts["projection"]), parts["where"]
    hidden = dict.fromkeys(each for each in _mentioned(pattern) if not each.hidden and each.name not in shown)
    return renamed(pattern, {each: context.fresh() for each in hidden})


def _mentioned(pattern: Algebra) -> Iterator[Variable]:
    """Yield the variables that stand anywhere in a pattern, those of absent groups and conditions included."""
    for each in walk(pattern):
        if not operands(each):
            yield from visible(each)
        for name in ("variable", "expression", "condition"):
            found = getattr(each, name, None)
            if found is not None:
                yield from sorted(variables(found), key=str)
