"""Build what stands behind a pattern: GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET; and SELECT around them.

Data's way: parse tree of SELECT and of the clauses behind its pattern -> **algebra** (SPARQL 1.1, section 18.2.4).
Each of these clauses makes a view of the query.  The order of the operators: group, having, values of SELECT, order,
projection, distinct, slice.
Invariant: where solutions are grouped, an expression sees only keys, aggregates, and what stands before it in SELECT.
"""

from __future__ import annotations

from collections.abc import Iterable

from lark import Tree

from retewave.compiler.algebra import (
    AggregateCall,
    Algebra,
    Distinct,
    Extend,
    Filter,
    Grouped,
    Ordered,
    Projected,
    Sliced,
    SortKey,
    Variable,
    visible,
)
from retewave.compiler.expressions.tree import Expression, variables
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.sparql.expressions import conjunction, expression, tell_unbound, unknown, variable
from retewave.compiler.languages.sparql.paths import join
from retewave.compiler.languages.sparql.patterns import bind

__all__ = ["has_aggregate", "modified", "note_modifiers", "related", "sliced"]

_MODIFIERS = {
    "group_clause": "GROUP BY",
    "having_clause": "HAVING",
    "order_clause": "ORDER BY",
    "limit_clause": "LIMIT",
    "offset_clause": "OFFSET",
}


def note_modifiers(tree: ParseTree, context: Context) -> None:
    """Note the clauses, each of which makes a view of the query."""
    for clause in tree.children:
        context.view_by(_MODIFIERS[rule(clause)], clause)


def modified(where: Algebra, trailing: Algebra | None, tree: ParseTree, context: Context) -> Algebra:
    """Return the solutions of a CONSTRUCT with the clauses behind its pattern."""
    clauses = {rule(part): part for part in tree.children}
    select = _Select(where, trailing, clauses, context)
    select.group(bool(clauses.keys() & {"group_clause", "having_clause"}))
    return sliced(select.ordered(), clauses)


def related(
    head: ParseTree, where: Algebra, trailing: Algebra | None, tree: ParseTree, context: Context
) -> tuple[Algebra, tuple[str, ...]]:
    """Return the relation of a SELECT, and the names of its columns; `trailing` is the VALUES behind all clauses."""
    clauses = {rule(part): part for part in tree.children}
    kinds = {kind_of(each) for each in tokens_of(head)}
    select = _Select(where, trailing, clauses, context)
    projections = [part for part in trees_of(head) if rule(part) == "projection"]
    values = [_Value(part) for part in projections] if "STAR" not in kinds else []
    grouped = bool(clauses.keys() & {"group_clause", "having_clause"}) or any(
        has_aggregate(part) for part in (*projections, *_of(clauses, "order_clause"))
    )
    if grouped and "STAR" in kinds:
        raise context.error("SELECT * cannot be grouped", token(head), "name the keys and the aggregates")
    select.group(grouped, values)
    names = select.project(values) if values else select.project_all()
    found: Algebra = Projected(select.ordered(), tuple(map(Variable, names)))
    if "DISTINCT" in kinds:
        found = Distinct(found)
    return sliced(found, clauses), names


def sliced(pattern: Algebra, clauses: dict[str, ParseTree]) -> Algebra:
    """Return a pattern cut by LIMIT and OFFSET, if these are there."""
    limit, offset = (clauses.get(name) for name in ("limit_clause", "offset_clause"))
    if limit is None and offset is None:
        return pattern
    return Sliced(
        pattern, 0 if offset is None else int(token(offset, 1)), None if limit is None else int(token(limit, 1))
    )


def has_aggregate(tree: ParseTree) -> bool:
    """Tell whether an aggregate stands in the tree of SELECT or of a clause behind a pattern."""
    return next(tree.find_pred(lambda part: rule(part) == "aggregate"), None) is not None


def _of(clauses: dict[str, ParseTree], name: str) -> Iterable[ParseTree]:
    return (clauses[name],) if name in clauses else ()


class _Value:
    """One column of SELECT: a variable, perhaps with an expression for its value."""

    def __init__(self, tree: ParseTree) -> None:
        *value, self.target = tree.children  # the tree of the variable
        self.tree: ParseTree | None = value[0] if value else None  # the tree of the expression
        self.variable = variable(self.target)  # the column's name
        self.built: Expression | None = None  # its expression, where that is built before the solutions are grouped


class _Select:
    """A SELECT on its way from pattern to relation."""

    def __init__(
        self, where: Algebra, trailing: Algebra | None, clauses: dict[str, ParseTree], context: Context
    ) -> None:
        self.pattern = where  # the algebra that is built until now
        self.trailing = trailing  # VALUES behind the clauses: joined once solutions are grouped
        self.clauses = clauses  # the clauses behind the pattern, by rule
        self.context = context
        self.grouped = False  # its solutions are groups
        self.sort: tuple[SortKey, ...] | None = None  # ORDER BY, once built

    def project_all(self) -> tuple[str, ...]:
        return tuple(each.name for each in visible(self.pattern) if not each.hidden)

    def project(self, values: list[_Value]) -> tuple[str, ...]:
        """Take the columns of SELECT; return their names."""
        names: dict[str, None] = {}
        for each in values:
            if each.variable.name in names:
                raise self.context.error(f"{each.variable} is projected twice", each.target)
            self._column(each)
            names[each.variable.name] = None
        return tuple(names)

    def _column(self, value: _Value) -> None:
        known = visible(self.pattern)
        if value.tree is None:
            if value.variable not in known and not self.grouped:
                raise unknown(value.variable, value.target, known, self.context)
            self._check_seen((value.variable,), value.target)
        elif value.built is None:
            self.pattern = bind(self.pattern, value.target, value.tree, self.context)
        else:
            if value.variable in known:
                hint = "AS needs a variable that is new here"
                raise self.context.error(f"{value.variable} is bound already", value.target, hint)
            self._check_seen(variables(value.built), value.tree)
            self.pattern = Extend(self.pattern, value.variable, value.built)

    def group(self, grouped: bool, values: Iterable[_Value] = ()) -> None:
        """Group the solutions, if they are grouped: by GROUP BY, with all aggregates; then filter them by HAVING."""
        if grouped:
            self._group(values)
        if self.trailing is not None:
            self.pattern = join(self.pattern, self.trailing)

    def _group(self, values: Iterable[_Value]) -> None:
        keys = self._keys()
        found: dict[AggregateCall, Variable] = {}
        for each in values:
            each.built = None if each.tree is None else self._built(each.tree, found)
        conditions = [part for clause in _of(self.clauses, "having_clause") for part in trees_of(clause)]
        having = [self._built(part, found) for part in conditions]
        self.sort = self._sort_keys(found)
        aggregates = tuple((name, call) for call, name in found.items())
        grouped = Grouped(self.pattern, keys, aggregates, "group_clause" not in self.clauses)
        self.pattern = self.context.around(grouped)
        self.grouped = True
        for part, condition in zip(conditions, having, strict=True):
            self._check_seen(variables(condition), part)
        if having:
            self.pattern = Filter(conjunction(having), self.pattern)

    def _keys(self) -> tuple[Variable, ...]:
        keys: dict[Variable, None] = {}
        for clause in _of(self.clauses, "group_clause"):
            for part in trees_of(clause):
                keys[self._key(part)] = None
        return tuple(keys)

    def _key(self, tree: ParseTree) -> Variable:
        """Return the variable of a key; an expression is bound to one first."""
        value, *named = [part for part in tree.children if isinstance(part, Tree)]
        if rule(value) == "var" and not named:
            key = variable(value)
            if key not in visible(self.pattern):
                raise unknown(key, value, visible(self.pattern), self.context)
            return key
        if named:
            self.pattern = bind(self.pattern, named[0], value, self.context)
            return variable(named[0])
        fresh = self.context.fresh()
        tell_unbound(value, visible(self.pattern), self.context)
        built = expression(value, self.context)
        self.pattern = Extend(self.context.around(self.pattern), fresh, built)
        return fresh

    def _built(self, tree: ParseTree, found: dict[AggregateCall, Variable]) -> Expression:
        """Build an expression that may have aggregates, which are noted in `found`."""
        self.context.aggregates = found
        try:
            return expression(tree, self.context)
        finally:
            self.context.aggregates = None

    def _check_seen(self, asked: Iterable[Variable], node: ParseTree) -> None:
        """Refuse a variable that a group has many values of."""
        if not self.grouped:
            return
        known = visible(self.pattern)
        for each in sorted(set(asked) - set(known), key=str):
            hint = f"name it in GROUP BY, or choose one of its values: SAMPLE({each})"
            raise self.context.error(f"{each} is neither a key of GROUP BY nor in an aggregate", node, hint)

    def _sort_keys(self, found: dict[AggregateCall, Variable]) -> tuple[SortKey, ...]:
        keys: list[SortKey] = []
        for clause in _of(self.clauses, "order_clause"):
            for part in (each for each in trees_of(clause) if rule(each) == "order_condition"):
                descending = any(kind_of(each) == "DESC" for each in tokens_of(part))
                keys.append(SortKey(self._built(trees_of(part)[-1], found), descending))
        return tuple(keys)

    def ordered(self) -> Algebra:
        """Return the solutions in order."""
        keys = self._sort_keys({}) if self.sort is None else self.sort
        self.pattern = self.context.around(self.pattern)
        for clause in _of(self.clauses, "order_clause"):
            for key in keys:
                self._check_seen(variables(key.expression), clause)
            if not self.grouped:
                tell_unbound(clause, visible(self.pattern), self.context)
        return Ordered(self.pattern, keys) if keys else self.pattern
