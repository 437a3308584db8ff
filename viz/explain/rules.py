"""Rules in a description: what they build, in which order, who reads it.

Data's way: the records of rules, the α tests that they feed -> **words** -> explanations, drawings, the inspector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from retewave.compiler import algebra
from retewave.compiler.lower import Lowered
from retewave.compiler.plan.producers import End
from retewave.compiler.plan.shape import Member
from retewave.rete.words import layout
from retewave.viz.explain.names import MOST_LISTED, Prefixes

__all__ = ["BuildPlan", "built_by", "of_rule"]


Readers: TypeAlias = Mapping[int, Sequence[str]]  # producer -> the names of the queries that read it


@dataclass(frozen=True)
class BuildPlan:
    """The triples that a rule builds of each solution, and the queries that read them."""

    triples: tuple[str, ...]  # of its template
    stream: str  # on which they come in again; empty: they are every stream's
    stratum: int  # of the rules that build at one instant, the lower strata come first
    by: str  # the builder: the kernel, or Python
    read_by: tuple[str, ...]  # the first queries that may read its triples
    readers: int  # how many there are


def of_rule(
    lowered: Lowered, end: End, member: Member, query: algebra.Query, readers: Readers, prefixes: Prefixes
) -> BuildPlan | None:
    """Return what a member of an end, a branch of a query, builds."""
    rule = member.rule
    if rule is None:
        return None
    number = member.listener.number
    tests = [test for test, rules in lowered.fed.items() if any(each == number for each, _ in rules)]
    names = tuple(dict.fromkeys(name for test in sorted(tests) for name in readers[test]))
    read = query.streams[0].iri if len(query.streams) == 1 else b""
    instances = [each for terminal in lowered.network.terminals for each in terminal.instances]
    own = next(each for each in instances if (each.query, each.branch) == (number, member.branch))
    return BuildPlan(
        tuple(" ".join(_part(part, prefixes) for part in (t.subject, t.predicate, t.object)) for t in rule.template),
        prefixes.short(query.feeds or read),
        lowered.levels[end.producer],
        "the kernel" if own.builds == layout.BUILDS else "Python",
        names[:MOST_LISTED],
        len(names),
    )


def _part(part: algebra.Term | algebra.BlankNode, prefixes: Prefixes) -> str:
    if isinstance(part, algebra.BlankNode):
        return f"_:{part.label}"
    return prefixes.short(part) if isinstance(part, bytes) else str(part)


def built_by(lowered: Lowered, test: int, names: Mapping[int, str]) -> tuple[str, ...]:
    """Return the rules that may give an α test something, by their names."""
    return tuple(dict.fromkeys(names[rule] for rule, _ in lowered.fed.get(test, ())))
