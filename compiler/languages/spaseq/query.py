"""Build a query from a text in SPAseq: a sequence of events, and what is shown of each run.

Data's way: parse tree of an .spaseq file -> **query** -> normal form -> plan.
Invariant: the pattern is one `Sequence`, perhaps extended by expressions of SELECT.  CONSTRUCT is a rule: the triples
that it builds come in again.  A name without a prefix takes PREFIX :.  The paper's texts do not declare that prefix;
then it is a default IRI, which a notice tells.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from retewave.compiler.algebra import Query
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Source, rule, trees_of
from retewave.compiler.languages.sparql.defaults import DEFAULT, told_default
from retewave.compiler.languages.sparql.distinct import distinct_on
from retewave.compiler.languages.sparql.modifiers import note_modifiers
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.query import declare, registered
from retewave.compiler.languages.sparql.results import templated
from retewave.compiler.languages.sparql.subselect import subselect
from retewave.compiler.languages.spaseq.calls import aggregate, run_call
from retewave.compiler.languages.spaseq.clauses import read_clauses
from retewave.compiler.languages.spaseq.context import SequenceContext
from retewave.compiler.languages.spaseq.events import background
from retewave.compiler.languages.spaseq.mistakes import MISTAKES
from retewave.compiler.languages.spaseq.results import shown
from retewave.compiler.languages.spaseq.sequence import sequence

__all__ = ["SPASEQ", "build_spaseq"]


def build_spaseq(tree: ParseTree, source: Source, language: Language) -> Query:
    """Build the query of a whole tree."""
    context = SequenceContext(source, Prologue(source, prefixes={"": DEFAULT}), language)
    (query,) = tree.children
    registration: ParseTree | None = None
    for part in query.children:
        match rule(part):
            case "prologue":
                declare(part, context)
            case "registration":
                registration = part
    form = query.children[-1]
    feeding = {"is_rule": rule(form) == "construct_query"} | registered(registration, form, context)
    built = context.query(**_parts(form, context), **feeding)
    notices = dict.fromkeys((*told_default(tree, source), *built.notices))  # a GPM that stands twice is read twice
    return replace(built, graphs=tuple(context.graphs), notices=tuple(notices))


def _parts(form: ParseTree, context: SequenceContext) -> dict[str, Any]:
    parts = trees_of(form)
    by_rule = {rule(part): part for part in parts}
    note_modifiers(by_rule["solution_modifier"], context)
    clauses = read_clauses(parts, context)
    where = sequence(by_rule["seq"], [part for part in parts if rule(part) == "gpm"], clauses, context)
    read: dict[str, Any] = {"streams": tuple({each.iri: each for each in clauses.streams.values()}.values())}
    read |= {"dataset": tuple(clauses.dataset)}
    if "select_clause" in by_rule:
        return read | shown(by_rule["select_clause"], where, context)
    built = templated(by_rule["construct_template"], where, context)
    return read | built | (distinct_on(by_rule["distinct_on"], where, context) if "distinct_on" in by_rule else {})


SPASEQ = Language(
    name="spaseq",
    suffixes=(".spaseq",),
    grammar=Path(__file__).parent / "spaseq.lark",
    build=build_spaseq,
    recognises=re.compile(r"\bDEFINE\s+GPM\b", re.IGNORECASE),
    words={
        "BUILTIN_RUN": "a function",
        "DURATION": "a duration such as 30 MINUTES or 5m",
        "MARK": "'?', '!'",
        "NAME": "a name",
        "QUERY_NAME": "a name",
        "REGISTERED_QUERY": "QUERY",
        "REPEATED": "'+'",
        "SEPARATOR": "',', ';', ':'",
        "STRAY_DOT": "'.'",
    },
    mistakes=MISTAKES,
    patterns={"graph_graph_pattern": background, "sub_select": subselect},
    expressions={"aggregate": aggregate, "run_call": run_call},
    refused=frozenset(["GROUP", "HAVING", "LIMIT", "NAMED", "OFFSET", "ORDER", "SERVICE"]),
)
