"""The events of a query in words: the patterns that each logical event became, and the axioms behind them.

Data's way: how events are found -> **lines** -> `explain`.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.compiler.algebra.detections import LogicalEvent
from retewave.epsilon.classes.expression import NamedClass
from retewave.epsilon.classes.unfolding import Part, Proof
from retewave.epsilon.vocabulary import TYPE
from retewave.query import Query

__all__ = ["lines_of_events"]


def lines_of_events(query: Query) -> Iterator[str]:
    """Yield what is looked for of each logical event of a query; nothing for a query that defines none."""
    if query.plan is None:
        return
    yield f"events of {query.name}"
    for each in query.plan.definitions.events:
        if isinstance(each, LogicalEvent):
            proofs = query.plan.proofs[each.name]
            ways = f"{len(proofs)} pattern{'s' * (len(proofs) > 1)}"
            yield f"  {NamedClass(each.name)} AS {each.expression}: {ways} of one event and static data"
            for proof in proofs:
                yield f"    {_pattern(proof)}"
                yield from (f"      by {axiom}" for axiom in proof.axioms)
        else:
            yield f"  {NamedClass(each.name)} MATCH: a relation of detections"
    yield ""


def _pattern(proof: Proof) -> str:
    said = [
        f"{_term(s)} a {_term(o)}" if p == TYPE else f"{_term(s)} {NamedClass(p)} {_term(o)}" for s, p, o in proof.atoms
    ]
    said += [f"{_term(unknown)} in {range_}" for unknown, range_ in proof.data]
    return " . ".join(said)


def _term(part: Part) -> str:
    if isinstance(part, bytes):
        return str(NamedClass(part))
    return "?individual" if part == 0 else f"?x{part}"
