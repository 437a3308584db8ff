"""Build a SELECT inside a group: a pattern of which only some variables are seen from outside.

Data's way: parse tree of a subquery -> **algebra** -> normal form.
Invariant: variables that it does not show get names that occur nowhere else, or are hidden by `Projected`, where
clauses without a meaning for single matches (aggregates, DISTINCT, ORDER BY and the like) make a view of the query.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.compiler.algebra import Algebra, Variable, operands, renamed, visible, walk
from retewave.compiler.expressions.tree import variables
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, tokens_of
from retewave.compiler.languages.sparql.modifiers import has_aggregate, note_modifiers, related
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import group, values
from retewave.compiler.languages.sparql.results import selection

__all__ = ["subselect"]


def subselect(tree: ParseTree, context: Context) -> Algebra:
    """Build a subquery."""
    clauses = {rule(part): part for part in tree.children}
    head, behind = clauses["select_clause"], clauses["solution_modifier"]
    duplicates = next((each for each in tokens_of(head) if kind_of(each) in ("DISTINCT", "REDUCED")), None)
    if duplicates is not None and (kind_of(duplicates) == "DISTINCT" or context.language.views):
        context.view_by(f"{duplicates.upper()} in a subquery", duplicates)
    told = next((each for each in tokens_of(head) if kind_of(each) == "TOLD"), None)
    if told is not None:
        raise context.error(f"{told.upper()} says what a query tells: it stands at the outer SELECT", told)
    note_modifiers(behind, context)
    where = group(clauses["where_clause"].children[-1], context)
    trailing = values(clauses["values_clause"].children[0], context) if "values_clause" in clauses else None
    if behind.children or duplicates is not None or has_aggregate(head):
        return related(head, where, trailing, behind, context)[0]
    if trailing is not None:
        where = join(where, trailing)
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
