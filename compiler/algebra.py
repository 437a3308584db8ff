"""The algebra that every language of retewave becomes: what a query means, without its syntax.

Data's way: text -> parse -> **algebra** -> normal form -> plan -> network.
Nodes are immutable and say nothing about order of evaluation; multiplicities are SPARQL's (bags).  A
constant is its canonical N-Triples text (`bytes`), a variable a `Variable`.  Only the operators that some
language produces now are here; a temporal join will be `Join` with a relation, a pattern over one event
`Triples` with that scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from retewave.compiler.expressions.tree import Expression, Variable
from retewave.errors import Place
from retewave.windows.durations import spell

__all__ = [
    "Algebra",
    "BlankNode",
    "DistinctOn",
    "Extend",
    "Filter",
    "Join",
    "Query",
    "Row",
    "Stream",
    "TemplateTriple",
    "Term",
    "TriplePattern",
    "Triples",
    "Union",
    "Values",
    "Variable",
    "visible",
]

Term: TypeAlias = bytes | Variable  # a constant's canonical text, or a variable
Row: TypeAlias = tuple[bytes | None, ...]  # a line of VALUES; None is UNDEF


@dataclass(frozen=True)
class TriplePattern:
    """A triple with variables in it.

    >>> str(TriplePattern(Variable("x"), b"<urn:p>", b'"5"'))
    '?x <urn:p> "5"'
    """

    subject: Term  # what the triple's subject must be
    predicate: Term  # its predicate
    object: Term  # its object
    source: bytes | None = None  # the IRI of the stream that must deliver it; None: any, or static data
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written

    @property
    def terms(self) -> tuple[Term, Term, Term]:
        """Return subject, predicate and object."""
        return self.subject, self.predicate, self.object

    @property
    def variables(self) -> frozenset[Variable]:
        """Return the variables, hidden ones included."""
        return frozenset(term for term in self.terms if isinstance(term, Variable))

    def __str__(self) -> str:
        return " ".join(term.decode() if isinstance(term, bytes) else str(term) for term in self.terms)


@dataclass(frozen=True)
class Triples:
    """A basic graph pattern: all of its triple patterns at once; none of them is the empty solution."""

    patterns: tuple[TriplePattern, ...]  # in the order written


@dataclass(frozen=True)
class Join:
    """Both sides, where they agree on the variables that they share."""

    left: Algebra  # written first
    right: Algebra  # written second


@dataclass(frozen=True)
class Union:
    """The solutions of either side, with their multiplicities."""

    left: Algebra  # written first
    right: Algebra  # written second


@dataclass(frozen=True)
class Filter:
    """The solutions for which the expression is true; an error is not true."""

    expression: Expression  # sees the variables of `pattern` only
    pattern: Algebra  # what is filtered


@dataclass(frozen=True)
class Extend:
    """BIND: every solution with one variable more, which an error leaves unbound."""

    pattern: Algebra  # what is extended
    variable: Variable  # not visible in `pattern`
    expression: Expression  # sees the variables of `pattern` only


@dataclass(frozen=True)
class Values:
    """Inline data: one solution a row."""

    variables: tuple[Variable, ...]  # the columns
    rows: tuple[Row, ...]  # a bag


Algebra: TypeAlias = Triples | Join | Union | Filter | Extend | Values


@dataclass(frozen=True)
class BlankNode:
    """A blank node of a template: a new one for every match."""

    label: str  # equal labels in one template are one node


@dataclass(frozen=True)
class TemplateTriple:
    """A triple that CONSTRUCT builds from every match."""

    subject: Term | BlankNode  # a literal here, or a variable bound to one, builds no triple
    predicate: Term  # likewise what is not an IRI
    object: Term | BlankNode  # anything


@dataclass(frozen=True)
class Stream:
    """A stream that a query listens to."""

    iri: bytes  # its name as canonical text, "<...>"
    width: int | None  # the window's width in microseconds; None: unbounded
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written


@dataclass(frozen=True)
class DistinctOn:
    """DISTINCT ON: which matches are alike, and how many of these are reported.

    >>> str(DistinctOn(("room",), 300_000_000, 3))
    'at most 3 for each ?room within 5m'
    """

    variables: tuple[str, ...]  # matches with equal terms in these are alike; none: all are
    within: int | None = None  # microseconds from the end of one that was reported; None: while one of them is alive
    most: int = 1  # how many of them are reported within that time

    def __str__(self) -> str:
        each = f" for each {' '.join(f'?{name}' for name in self.variables)}" if self.variables else ""
        time = "while such a match is alive" if self.within is None else f"within {spell(self.within)}"
        return f"at most {self.most}{each} {time}"


@dataclass(frozen=True)
class Query:
    """One query, whatever language it was written in."""

    form: Literal["SELECT", "CONSTRUCT"]  # what comes out of a match
    where: Algebra  # the pattern; expressions of the SELECT clause are `Extend`s around it
    projection: tuple[str, ...]  # the names of the variables that a match shows; empty for CONSTRUCT
    template: tuple[TemplateTriple, ...] = ()  # what CONSTRUCT builds; empty for SELECT
    name: str | None = None  # REGISTER QUERY name
    distinct: bool = False  # DISTINCT, with ON or without
    on: DistinctOn | None = None  # what stands behind DISTINCT; None: all that is shown is compared
    reduced: bool = False  # SELECT REDUCED: duplicates may go, and need not
    streams: tuple[Stream, ...] = ()  # FROM STREAM; none means every stream
    window: int | None = None  # the width in microseconds that holds over all streams (.tpg's TIMEWINDOW)
    dataset: tuple[str, ...] = ()  # FROM <...>: IRIs or files that hold schema or static data, as written
    schema: tuple[str, ...] = ()  # files that hold the schema only (.tpg's EPSILON_ONTOLOGY)
    static: tuple[str, ...] = ()  # files that hold static data only (.tpg's STATIC_INSTANCES)
    base: str = ""  # the last BASE
    prefixes: tuple[tuple[str, str], ...] = ()  # (label, IRI), for printing
    language: str = "sparql"  # the language of `text`
    text: str = field(default="", repr=False)  # as the user wrote it
    source: str = "<query>"  # a file's path, or "<query>"
    notices: tuple[str, ...] = ()  # what was read and will hardly do what was meant


def visible(pattern: Algebra) -> tuple[Variable, ...]:
    """Return the in-scope variables in the order of their first appearance, hidden ones included.

    >>> triples = Triples((TriplePattern(Variable("x"), b"<urn:p>", Variable("y")),))
    >>> [str(variable) for variable in visible(Join(triples, Values((Variable("x"),), ())))]
    ['?x', '?y']
    """
    return tuple(dict.fromkeys(_appearances(pattern)))


def _appearances(pattern: Algebra) -> Iterator[Variable]:
    waiting: list[Algebra | Variable] = [pattern]  # a stack of its own: patterns may be nested as deeply as one likes
    while waiting:
        match waiting.pop():
            case Variable() as variable:
                yield variable
            case Triples(patterns):
                yield from (term for triple in patterns for term in triple.terms if isinstance(term, Variable))
            case Join(left, right) | Union(left, right):
                waiting += (right, left)
            case Filter(_, inner):
                waiting.append(inner)
            case Extend(inner, variable, _):
                waiting += (variable, inner)
            case Values(columns, _):
                yield from columns
