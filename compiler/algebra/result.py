"""Results of a pattern: projection, templates, reports; and the query that holds all of it.

Data's way: text -> parse -> **algebra** -> normal form -> plan -> network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from retewave.compiler.algebra.detections import Definitions
from retewave.compiler.algebra.graph import Algebra, Term
from retewave.compiler.algebra.view import ViewFrame
from retewave.errors import Place
from retewave.windows.durations import spell

__all__ = ["BlankNode", "DistinctOn", "Policy", "PolicyName", "Query", "Solutions", "Stream", "TemplateTriple"]

PolicyName: TypeAlias = Literal["unrestricted", "naive", "chronological", "recent"]  # what each means: docs/order.md
Solutions: TypeAlias = Literal["bag", "set"]  # whether equal solutions of one instant are told apart


@dataclass(frozen=True)
class BlankNode:
    """A blank node of a template: a new one for every match."""

    label: str  # without "_:"; equal labels in one template are one node


@dataclass(frozen=True)
class TemplateTriple:
    """A triple that CONSTRUCT builds from every match."""

    subject: Term | BlankNode  # a literal here, or a variable bound to one, builds no triple
    predicate: Term  # likewise a term that is no IRI
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
class Policy:
    """Which partners a SEQ takes, and whether a match may use events of the match before.

    >>> str(Policy("recent", keep=True)), Policy("recent").consumes, Policy("naive").consumes
    ('recent KEEP', True, False)
    """

    name: PolicyName = "unrestricted"  # its name, which says which pairs it takes
    keep: bool = False  # selects, and uses nothing up
    place: Place | None = field(default=None, compare=False, repr=False)  # where it is written

    @property
    def chooses(self) -> bool:
        """Tell whether a SEQ does not take all."""
        return self.name != "unrestricted"

    @property
    def consumes(self) -> bool:
        """Tell whether the events of a match are used up."""
        return self.name in ("chronological", "recent") and not self.keep

    def __str__(self) -> str:
        return f"{self.name} KEEP" if self.keep else self.name


@dataclass(frozen=True)
class Query:
    """One query, whatever language it was written in."""

    form: Literal["SELECT", "CONSTRUCT", "ASK"]  # the kind of result
    where: Algebra  # the pattern; expressions of SELECT are `Extend`s around it; DISTINCT, ORDER BY … of a view, too
    projection: tuple[str, ...]  # the names of the variables that a match shows; empty for CONSTRUCT
    template: tuple[TemplateTriple, ...] = ()  # the triples that CONSTRUCT builds; empty for SELECT
    name: str | None = None  # REGISTER QUERY name
    distinct: bool = False  # DISTINCT, with ON or without
    on: DistinctOn | None = None  # the clause behind DISTINCT; None: all shown variables are compared
    reduced: bool = False  # SELECT REDUCED: duplicates may go, and need not
    streams: tuple[Stream, ...] = ()  # FROM STREAM; none means every stream
    window: int | None = None  # the width in microseconds that holds over all streams (.tpg's TIMEWINDOW)
    dataset: tuple[str, ...] = ()  # FROM <...>: IRIs or files that hold schema or static data, as written
    graphs: tuple[str, ...] = ()  # GRAPH <...>: IRIs or files of background graphs, as written
    schema: tuple[str, ...] = ()  # files that hold the schema only (.tpg's EPSILON_ONTOLOGY)
    static: tuple[str, ...] = ()  # files that hold static data only (.tpg's STATIC_INSTANCES)
    policy: Policy = Policy()  # which partners a SEQ takes
    feeds: bytes | None = None  # REGISTER STREAM <iri>: CONSTRUCT's triples come in again, on this stream
    is_rule: bool = False  # CONSTRUCT's triples come in again; without `feeds` on the stream that the query reads
    solutions: Solutions = "bag"  # whether equal solutions of one instant are told apart
    events: Definitions | None = None  # OBEP's events: `where` then shows their detections
    base: str = ""  # the last BASE
    prefixes: tuple[tuple[str, str], ...] = ()  # (label, IRI), for printing
    language: str = "sparql"  # the language of `text`
    text: str = field(default="", repr=False)  # as the user wrote it
    source: str = "<query>"  # a file's path, or "<query>"
    view: ViewFrame | None = None  # windows and reports, if it is a view; None: it detects
    notices: tuple[str, ...] = ()  # parts of the text that will hardly do what was meant
