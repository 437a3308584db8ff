"""Solutions of guards and of proofs over a few triples, and over the triples that the schema entails of each.

Data's way: a justification -> **solutions** -> triples that come in again beside the token.
A justification that is partly static data is not minimal if that part alone proves as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from retewave.compiler.algebra import TriplePattern, Variable
from retewave.compiler.rewrite.data_ranges import is_in_range
from retewave.compiler.rewrite.detected import GuardUse
from retewave.epsilon.atoms import Atom
from retewave.epsilon.classes.expression import ClassExpression
from retewave.epsilon.classes.unfolding import Part, Proof
from retewave.epsilon.dispatch import routes
from retewave.epsilon.network import Network
from retewave.provenance.axioms import Texts, seen_as

__all__ = ["Guarding"]

Solution: TypeAlias = tuple[bytes, ...]  # by the variables of the use


class Guarding:
    """Finds the solutions of the guards of one query."""

    def __init__(self, uses: Iterable[GuardUse], proofs: Iterable[Proof], network: Network) -> None:
        self.by_event: dict[int, list[GuardUse]] = {}  # the uses, by the number of the event
        for each in uses:
            self.by_event.setdefault(each.event, []).append(each)
        patterns = (pattern for found in self.by_event.values() for each in found for pattern in each.patterns)
        proved = (TriplePattern(_term(s), p, _term(o)) for proof in proofs for s, p, o in proof.atoms)
        self._dispatch = routes(tuple(dict.fromkeys(Atom.of(*each.terms) for each in (*patterns, *proved))), network)

    def proves(self, proofs: Sequence[Proof], individual: bytes, triples: frozenset[Texts]) -> bool:
        """Tell whether some triples are enough for a proof of an event."""
        facts = self._facts(triples)
        return any(self._is_proof(proof, individual, facts) for proof in proofs)

    def _is_proof(self, proof: Proof, individual: bytes, facts: set[Texts]) -> bool:
        known = {Variable("0"): individual}
        if isinstance(proof.individual, bytes) and proof.individual != individual:
            return False
        patterns = (TriplePattern(_term(s), p, _term(o)) for s, p, o in proof.atoms)
        found: list[dict[Variable, bytes]] = [known]
        for pattern in patterns:
            found = [more for one in found for fact in facts for more in _bound(pattern, fact, one)]
        return any(all(_is_in(one[Variable(str(unknown))], range_) for unknown, range_ in proof.data) for one in found)

    def _facts(self, triples: Iterable[Texts]) -> set[Texts]:
        return {seen for triple in triples for seen in (triple, *seen_as(self._dispatch, triple))}

    def solutions(self, use: GuardUse, justification: Iterable[Texts]) -> set[Solution]:
        """Return the solutions of a guard's pattern over a justification."""
        facts = self._facts(justification)
        found: list[dict[Variable, bytes]] = [{}]
        for pattern in use.patterns:
            found = [more for known in found for fact in facts for more in _bound(pattern, fact, known)]
        return {tuple(each[variable] for variable in use.variables) for each in found}


def _term(part: Part) -> bytes | Variable:
    return Variable(str(part)) if isinstance(part, int) else part


def _is_in(value: bytes, range_: ClassExpression) -> bool:
    """Tell whether a value is in a data range."""
    from retewave.compiler.expressions.evaluate import Evaluator
    from retewave.io.rdf import from_text

    condition = is_in_range(Variable("value"), range_)
    return Evaluator(condition, scope=frozenset((Variable("value"),))).truth({"value": from_text(value)}) is True


def _bound(pattern: TriplePattern, fact: Texts, known: dict[Variable, bytes]) -> Iterator[dict[Variable, bytes]]:
    bindings = dict(known)
    for term, text in zip(pattern.terms, fact, strict=True):
        if isinstance(term, Variable):
            if bindings.setdefault(term, text) != text:
                return
        elif term != text:
            return
    yield bindings
