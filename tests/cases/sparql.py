"""Write algebra without time as SPARQL, for the comparison of one instant with what SPARQL says."""

from __future__ import annotations

from retewave.compiler.algebra import (
    Algebra,
    Exists,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Triples,
    Union,
    Values,
)
from retewave.compiler.expressions.tree import Expression, to_sparql


def select(where: Algebra) -> str:
    """Return a query for all different solutions."""
    return f"SELECT DISTINCT * WHERE {group(where)}"


def group(pattern: Algebra) -> str:
    """Return a pattern as a group of its own."""
    return "{ " + _inside(pattern) + " }"


def _inside(pattern: Algebra) -> str:
    match pattern:
        case Triples(patterns):
            return " . ".join(map(str, patterns))
        case Join(left, right):
            return f"{group(left)} {group(right)}"
        case Union(left, right):
            return f"{group(left)} UNION {group(right)}"
        case Filter(expression, inner):
            return group(inner) + _filter(expression)
        case Extend(inner, variable, expression):
            return f"{_inside(inner)} BIND({to_sparql(expression)} AS {variable})"
        case Values(variables, rows):
            lines = (" ".join("UNDEF" if text is None else text.decode() for text in row) for row in rows)
            return f"VALUES ({' '.join(map(str, variables))}) {{ {' '.join(f'({line})' for line in lines)} }}"
        case LeftJoin(left, right, condition):
            return f"{group(left)} OPTIONAL {{ {group(right)}{_filter(condition)} }}"
        case Minus(left, right):
            return f"{group(left)} MINUS {group(right)}"
        case Exists(inner, looked_for, condition, negated):
            word = "NOT EXISTS" if negated else "EXISTS"
            return f"{group(inner)} FILTER {word} {{ {_inside(looked_for)}{_filter(condition)} }}"
    raise ValueError(f"no SPARQL for {type(pattern).__name__}")


def _filter(condition: Expression | None) -> str:
    return "" if condition is None else f" FILTER{to_sparql(condition)}"
