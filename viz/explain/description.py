"""The records of a description: a plan in the words of its queries.

Data's way: network that runs -> **description** -> text, JSON.
One section a shape: queries that differ in constants only are one plan, and are described once.  Long lists are cut
short, and say by how much.  Left out: state, except which memories hold static rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from retewave.viz.explain.automaton import Automaton
from retewave.viz.explain.epsilon import Form
from retewave.viz.explain.rules import BuildPlan

__all__ = [
    "Description",
    "FilterPlan",
    "OpenConstant",
    "PatternPlan",
    "Section",
    "StepPlan",
    "StreamPlan",
]


@dataclass(frozen=True)
class StreamPlan:
    """A stream that a query hears."""

    stream: str  # its IRI
    range: str  # the window on it; two, with "to" between, when the queries of the section differ


@dataclass(frozen=True)
class PatternPlan:
    """A triple pattern and the α-memory test behind it."""

    alpha: int  # number of the α record
    pattern: str  # in the query's variables; $1, $2, … are the constants in which the queries differ
    line: int | None  # of the first query's text, in which it is written; None: nothing there stands for it alone
    entailed_by: tuple[Form, ...]  # the first forms of input that the schema makes it match, besides itself
    forms: int  # how many there are
    facts: int  # triples that the schema itself states, there before the stream
    shared_with: tuple[str, ...]  # the first other queries whose patterns pass the same test
    shared: int  # how many there are
    built_by: tuple[str, ...]  # rules that may give it something


@dataclass(frozen=True)
class StepPlan:
    """A node of the tree of steps: a pattern, inline data, a join of steps, or a probe of one step at another."""

    kind: str  # "pattern", "table", "join", "star" (three inputs or more), "product" (no key) or "probe"
    number: int  # of the α record, the node, or the probe
    label: str  # the pattern, the table's columns, or the operator that a probe is for
    memory: int | None  # the memory (slot) above that it fills; none at the root, or where a probe decides on it
    static: bool  # that memory holds rows that were there before the stream
    filters: tuple[str, ...]  # the filters that its tuples pass before they come into that memory
    within: str = ""  # likewise: how long they may be, and the part of the query that says so
    streamed: bool = False  # likewise: they are not static
    passing: bool = False  # a join keeps no rows of it: it can only come last
    key: tuple[str, ...] = ()  # under which a join's or a probe's inputs are read
    window: str = ""  # how long a join's memories keep a row, or the memory that a probe looks at
    relations: tuple[str, ...] = ()  # temporal relations between the inputs
    conditions: tuple[str, ...] = ()  # the conditions on a row that a probe looks at
    wants: str = ""  # "exists": a probe lets a tuple pass if a row fits; "absent": if none does
    decided: str = ""  # when a probe decides
    level: int = 0  # at one time, probes of lower levels decide first
    inputs: tuple[StepPlan, ...] = ()  # a join's inputs; of a probe its tuples, and the rows that it looks at
    shared_with: tuple[str, ...] = ()  # the first other queries that use this join or probe
    shared: int = 0  # how many there are


@dataclass(frozen=True)
class OpenConstant:
    """A place in which the queries of a shape differ."""

    name: str  # $1, $2, …
    terms: int  # how many terms there are
    examples: tuple[str, ...]  # the first queries' own, query by query


@dataclass(frozen=True)
class FilterPlan:
    """A filter or an assignment of a query."""

    expression: str  # in SPARQL
    by: str  # the place where it is decided
    early: bool  # done on the way into a memory already, not only at the end


@dataclass(frozen=True)
class Section:
    """The plan of a shape, with all its queries."""

    queries: tuple[str, ...]  # the first queries' names; an alternative of a UNION is numbered
    count: int  # how many there are
    answers: str  # its kind: detects, or a view, and why
    told: str  # when a match is told, at the latest
    kept: str  # the parts kept from report to report, if it is a part of a view; else empty
    evaluated: str  # the operators of the view that are evaluated at each report
    form: str  # SELECT, SELECT DISTINCT or CONSTRUCT; empty where its solutions are not told
    shows: tuple[str, ...]  # the variables of a match
    on: str  # which of them are reported, if DISTINCT ON says so; else empty
    builds: BuildPlan | None  # the triples that the first query feeds back, if it is a rule
    policy: str  # which pairs its sequences take; empty where they take all
    uses_up: bool  # whether the events of a match are not there for the query any more, when its instant is over
    streams: tuple[StreamPlan, ...]  # empty: every stream
    window: str  # the window that a match must fit
    open: tuple[OpenConstant, ...]  # where the queries differ
    patterns: tuple[PatternPlan, ...]  # in the order of their tests' numbers
    joins: StepPlan  # the tree
    filters: tuple[FilterPlan, ...]  # of the first query
    alike: bool  # all queries show and filter the same as the first query
    automaton: Automaton | None = None  # of its sequence of events, at the first of its alternatives


@dataclass(frozen=True)
class Description:
    """All plans of a network."""

    queries: int  # registered queries
    alphas: int  # α tests and inline tables
    memories: int  # inputs of joins, and memories that probes look at
    joins: int  # joins
    probes: int  # probes
    levels: int  # levels of probes: at one time, lower levels decide first
    prefixes: dict[str, str]  # label -> namespace, of the prefixes used
    sections: tuple[Section, ...]  # one section a shape
