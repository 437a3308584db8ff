"""The normal form: a query as a union of branches, each a conjunction that a Rete network can run.

Data's way: algebra -> **branches** -> plan -> network.
Invariants: the branches' solutions together are the algebra's, with SPARQL's multiplicities.  Scopes are made
explicit, so that steps of different groups may stand in one list: a step sees the variables of its `scope`
and takes all others as unbound.
Here are SPARQL's monotone operators.  `joining` makes one branch of two, `probing` has OPTIONAL, MINUS, EXISTS and
their kin, `relating` the relations in time, `policies` the choice of pairs of a SEQ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import count, islice, product

from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    Exists,
    Extend,
    Filter,
    First,
    Join,
    Last,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
    PolicyName,
    Query,
    Relate,
    Row,
    Sequence,
    Triples,
    Union,
    Values,
    Within,
)
from retewave.compiler.expressions.tree import Variable, variables
from retewave.compiler.rewrite import choosing, optional, policies, probing
from retewave.compiler.rewrite.branch import Branch, ExtendStep, FilterStep, Step
from retewave.compiler.rewrite.choosing import Normal
from retewave.compiler.rewrite.durations import longest
from retewave.compiler.rewrite.joining import Fresh, conjuncts, join
from retewave.compiler.rewrite.relating import bounded
from retewave.compiler.rewrite.repetitions import with_calls_apart
from retewave.compiler.rewrite.sequences import in_sequence
from retewave.errors import QueryError
from retewave.windows import relations

__all__ = ["MOST_BRANCHES", "Branch", "ExtendStep", "FilterStep", "Step", "branches"]

MOST_BRANCHES = 1_000


def branches(query: Query) -> tuple[Branch, ...]:
    """Return the branches of a query, in the order of its alternatives.

    >>> from retewave.compiler.parse import parse
    >>> query = parse("SELECT * { ?x <urn:p> ?y { ?y <urn:q> 1 } UNION { ?y <urn:r> 1 } }")
    >>> [[str(pattern.predicate) for pattern in branch.patterns] for branch in branches(query)]
    [["b'<urn:p>'", "b'<urn:q>'"], ["b'<urn:p>'", "b'<urn:r>'"]]
    """
    numbers = count(1)

    def fresh(variable: Variable) -> Variable:
        name = variable.name
        own = name.removeprefix("_:.").rsplit(".", 1)[0] if name.startswith("_:.") else name
        return Variable(f"_:.{own}.{next(numbers)}")

    try:
        found = _normal(query.where, fresh, query.policy.name, whole=True)
        return tuple(with_calls_apart(probing.closed(branch, fresh)) for branch in found)
    except RecursionError as error:
        raise QueryError(f"{query.source}: the query is nested too deeply") from error


def _normal(pattern: Algebra, fresh: Fresh, policy: PolicyName, *, whole: bool = False) -> list[Branch]:
    """Return the branches of a pattern; `whole`: it is the whole pattern, but for filters and a WITHIN around it."""
    of = partial(_normal, fresh=fresh, policy=policy)
    match pattern:
        case Triples(patterns):
            return [Branch(patterns=patterns)]
        case Values():
            return _bounded(_split(pattern))
        case Union(left, right):
            return _bounded(of(left) + of(right))
        case Filter() | Extend():
            return _stepped(pattern, partial(of, whole=whole))
        case Join(left, right):
            sides = of(left), of(right)
            _check_count(len(sides[0]) * len(sides[1]))
            return [join(one, other, fresh).branch for one, other in product(*sides)]
        case Relate(relation=relations.SEQ) | Between() if policy != "unrestricted":
            return _bounded(policies.taken(pattern, policy, of, fresh, whole))
        case Within(inner, width, place):
            return [bounded(branch, width, place) for branch in of(inner, whole=whole)]
    return _bounded(_of_time(pattern, of, fresh))


def _of_time(pattern: Algebra, of: Normal, fresh: Fresh) -> Iterable[Branch]:
    """Return the branches of an operator of time."""
    match pattern:
        case Relate():
            return choosing.related(pattern, of, fresh)
        case First() | Last():
            return choosing.chosen(pattern, of, fresh)
        case Between():
            pairs = choosing.in_sequence(pattern.before, pattern.after, of, fresh, pattern.place)
            return (each.branch for each in probing.not_barred(pattern, pairs, of, fresh))
        case Before():
            return probing.never_before(pattern, of, fresh)
        case After():
            return probing.never_after(pattern, of, fresh)
        case Sequence():
            return in_sequence(pattern, of, fresh)
    return _looking(pattern, of, fresh)


def _looking(pattern: Algebra, of: Normal, fresh: Fresh) -> Iterable[Branch]:
    """Return the branches of an operator that needs probes."""
    match pattern:
        case LeftJoin():
            return probing.left_join(pattern, of, fresh)
        case OptionalBefore():
            return optional.optional_before(pattern, of, fresh)
        case OptionalEquals():
            return optional.optional_equals(pattern, of, fresh)
        case Minus():
            return probing.minus(pattern, of, fresh)
        case Exists():
            return probing.exists(pattern, of, fresh)
    raise TypeError(f"not an operator of the algebra: {pattern!r}")


def _stepped(pattern: Algebra, of: Normal) -> list[Branch]:
    """Return the branches of a pattern with filters and assignments around it, of which there may be thousands."""
    around: list[Filter | Extend] = []
    while isinstance(pattern, Filter | Extend):
        around.append(pattern)
        pattern = pattern.pattern
    return [_with_steps(branch, around) for branch in of(pattern)]


def _with_steps(branch: Branch, around: list[Filter | Extend]) -> Branch:
    """Return a branch with the steps of the operators around it, which are given from the outermost."""
    seen, steps = branch.bound | branch.assigned, list(branch.steps)
    width: int | None = None
    for each in reversed(around):
        if isinstance(each, Extend):
            steps.append(ExtendStep(each.variable, each.expression, variables(each.expression) & seen))
            seen |= {each.variable}
            continue
        for part in conjuncts(each.expression):
            most = longest(part)
            if most is None:
                steps.append(FilterStep(part, variables(part) & seen))
            else:
                width = most if width is None else min(width, most)
    branch = replace(branch, steps=tuple(steps))
    return branch if width is None else bounded(branch, width)


def _bounded(found: Iterable[Branch]) -> list[Branch]:
    branches = list(islice(found, 2 * MOST_BRANCHES))
    _check_count(len(branches))
    return branches


def _check_count(number: int) -> None:
    if number > MOST_BRANCHES:
        raise QueryError(
            f"the pattern has {number:,} alternatives, more than {MOST_BRANCHES:,}",
            hint="alternatives multiply (UNION, paths, rows with UNDEF): register several queries instead",
        )


def _split(table: Values) -> list[Branch]:
    """Split a table by the columns that its rows bind; rows that bind none become branches without conditions."""
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
