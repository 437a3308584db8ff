"""The normal form: a query as a union of branches, each a plain conjunction that a Rete network can run.

Data's way: algebra -> **branches** -> plan -> network.
A branch means: join all its patterns and tables, then take its steps in order.  Invariants: every variable
of a pattern or table is bound in every solution of the join; a variable that only a step assigns may be
unbound; the branches' solutions together are the algebra's, with SPARQL's multiplicities. Scopes are made
explicit, so that steps of different groups may stand in one list: a step sees the variables of its `scope`
and takes all others as unbound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, product
from typing import TypeAlias

from retewave.compiler.algebra import (
    Algebra,
    Extend,
    Filter,
    Join,
    Query,
    Row,
    TriplePattern,
    Triples,
    Union,
    Values,
)
from retewave.compiler.expressions.tree import Call, Expression, Operation, Variable, rename, variables
from retewave.errors import QueryError

__all__ = ["MOST_BRANCHES", "Branch", "ExtendStep", "FilterStep", "Step", "branches"]

MOST_BRANCHES = 1_000

Fresh: TypeAlias = Callable[[Variable], Variable]


@dataclass(frozen=True)
class FilterStep:
    """Keep a solution if the expression is true."""

    expression: Expression  # false and error both drop the solution
    scope: frozenset[Variable]  # the variables that it mentions and may see; it takes others as unbound


@dataclass(frozen=True)
class ExtendStep:
    """Give a variable the value of an expression; an error leaves it unbound."""

    variable: Variable  # no pattern, table or earlier step has it
    expression: Expression  # what it becomes
    scope: frozenset[Variable]  # the variables that it mentions and may see; it takes others as unbound


Step: TypeAlias = FilterStep | ExtendStep


@dataclass(frozen=True)
class Branch:
    """One conjunction."""

    patterns: tuple[TriplePattern, ...] = ()  # joined by their variables, in the order written
    values: tuple[Values, ...] = ()  # joined likewise; no UNDEF in them
    steps: tuple[Step, ...] = ()  # in the order of evaluation

    @property
    def bound(self) -> frozenset[Variable]:
        """Return the variables that are bound in every solution."""
        of_patterns = (pattern.variables for pattern in self.patterns)
        return frozenset().union(*of_patterns, *(table.variables for table in self.values))

    @property
    def assigned(self) -> frozenset[Variable]:
        """Return the variables that a step assigns: an error may leave them unbound."""
        return frozenset(step.variable for step in self.steps if isinstance(step, ExtendStep))


def branches(query: Query) -> tuple[Branch, ...]:
    """Return the branches of a query, in the order of its alternatives.

    >>> from retewave.compiler.parse import parse
    >>> query = parse("SELECT * { ?x <urn:p> ?y { ?y <urn:q> 1 } UNION { ?y <urn:r> 1 } }")
    >>> [[str(pattern.predicate) for pattern in branch.patterns] for branch in branches(query)]
    [["b'<urn:p>'", "b'<urn:q>'"], ["b'<urn:p>'", "b'<urn:r>'"]]
    """
    numbers = count(1)

    def fresh(variable: Variable) -> Variable:
        return Variable(f"_:.{variable.name}.{next(numbers)}")

    try:
        return tuple(_normal(query.where, fresh))
    except RecursionError as error:
        raise QueryError(f"{query.source}: the query is nested too deeply") from error


def _normal(pattern: Algebra, fresh: Fresh) -> list[Branch]:
    match pattern:
        case Triples(patterns):
            return [Branch(patterns=patterns)]
        case Values():
            return _bounded(_split(pattern))
        case Union(left, right):
            return _bounded(_normal(left, fresh) + _normal(right, fresh))
        case Filter() | Extend():
            return _stepped(pattern, fresh)
        case Join(left, right):
            return _joined(_normal(left, fresh), _normal(right, fresh), fresh)
    raise TypeError(f"not an operator of the algebra: {pattern!r}")


def _stepped(pattern: Algebra, fresh: Fresh) -> list[Branch]:
    """Return the branches of filters and assignments around a pattern, of which there may be thousands."""
    around: list[Filter | Extend] = []
    while isinstance(pattern, Filter | Extend):
        around.append(pattern)
        pattern = pattern.pattern
    return [_with_steps(branch, around) for branch in _normal(pattern, fresh)]


def _with_steps(branch: Branch, around: list[Filter | Extend]) -> Branch:
    """Return a branch with the steps of what stands around it, the outermost first."""
    seen, steps = branch.bound | branch.assigned, list(branch.steps)
    for each in reversed(around):
        if isinstance(each, Extend):
            steps.append(ExtendStep(each.variable, each.expression, variables(each.expression) & seen))
            seen |= {each.variable}
        else:
            steps += (FilterStep(part, variables(part) & seen) for part in _conjuncts(each.expression))
    return replace(branch, steps=tuple(steps))


def _bounded(found: list[Branch]) -> list[Branch]:
    _check_count(len(found))
    return found


def _check_count(number: int) -> None:
    if number > MOST_BRANCHES:
        raise QueryError(
            f"the pattern has {number:,} alternatives, more than {MOST_BRANCHES:,}",
            hint="alternatives multiply (UNION, paths, rows with UNDEF): register several queries instead",
        )


def _split(table: Values) -> list[Branch]:
    """Split a table by the columns that a row binds; a row that binds none is a branch without conditions."""
    groups: dict[tuple[bool, ...], list[Row]] = {}
    for row in table.rows:
        groups.setdefault(tuple(cell is not None for cell in row), []).append(row)
    found: list[Branch] = []
    for mask, rows in groups.items():
        if not any(mask):
            found += [Branch()] * len(rows)
            continue
        columns = tuple(column for column, kept in zip(table.variables, mask, strict=True) if kept)
        cells = tuple(tuple(cell for cell in row if cell is not None) for row in rows)
        found.append(Branch(values=(Values(columns, cells),)))
    return found


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    # A filter keeps only what is true, and a conjunction is true exactly when all of its parts are.
    if isinstance(expression, Operation) and expression.operator == "&&":
        for part in expression.operands:
            yield from _conjuncts(part)
    else:
        yield expression


def _joined(left: list[Branch], right: list[Branch], fresh: Fresh) -> list[Branch]:
    _check_count(len(left) * len(right))
    return [_join(one, other, fresh) for one, other in product(left, right)]


def _join(left: Branch, right: Branch, fresh: Fresh) -> Branch:
    """Join two branches.

    A shared variable that patterns bind on both sides joins by its name.  One that a step assigns gets a new
    name on that side, because it may be unbound there; steps after both sides check that the two agree and,
    where both sides assigned it, take the value of the side that has one.
    """
    shared = (left.bound | left.assigned) & (right.bound | right.assigned)
    checks: list[Step] = []
    for variable in sorted(shared & (left.assigned | right.assigned), key=lambda each: each.name):
        one = fresh(variable) if variable in left.assigned else variable
        other = fresh(variable) if variable in right.assigned else variable
        left, right = _renamed(left, variable, one), _renamed(right, variable, other)
        checks += _agreement(variable, one, other)
    return Branch(
        patterns=left.patterns + right.patterns,
        values=left.values + right.values,
        steps=(*left.steps, *right.steps, *checks),
    )


def _agreement(variable: Variable, one: Variable, other: Variable) -> Iterator[Step]:
    """Yield the steps that join an assigned variable with its other self."""
    both = frozenset((one, other))
    alternatives: Expression = Call("SAMETERM", (one, other))
    for each in (one, other):
        if each != variable:
            alternatives = Operation("||", (Operation("!", (Call("BOUND", (each,)),)), alternatives))
    yield FilterStep(alternatives, both)
    if variable not in both:
        yield ExtendStep(variable, Call("COALESCE", (one, other)), both)


def _renamed(branch: Branch, old: Variable, new: Variable) -> Branch:
    """Rename a variable in the steps; only one that a step assigns is ever renamed."""
    if old == new:
        return branch
    names = {old: new}
    return replace(branch, steps=tuple(_renamed_step(step, names) for step in branch.steps))


def _renamed_step(step: Step, names: dict[Variable, Variable]) -> Step:
    expression = rename(step.expression, names)
    scope = frozenset(names.get(each, each) for each in step.scope)
    if isinstance(step, FilterStep):
        return FilterStep(expression, scope)
    return ExtendStep(names.get(step.variable, step.variable), expression, scope)
