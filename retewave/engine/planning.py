"""How the events of a query are found: what triples prove them, over an engine's ontology and static data.

Data's way: definitions + schema + static data -> **proofs -> branches** -> listener -> network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from retewave.compiler.algebra import Query
from retewave.compiler.algebra.detections import LogicalEvent
from retewave.compiler.plan.identity import digest
from retewave.compiler.rewrite.detections import Detecting, detecting
from retewave.engine.compiled import fed_atoms
from retewave.engine.datasets import Datasets
from retewave.epsilon.atoms import Atom
from retewave.epsilon.classes.expression import NamedClass
from retewave.epsilon.classes.ontology import Inclusion, Ontology, ontology_of
from retewave.epsilon.classes.subsumption import Subsumption
from retewave.epsilon.classes.unfolding import Atom as ProofAtom
from retewave.epsilon.classes.unfolding import CannotUnfold, Proof, Unfolding
from retewave.epsilon.dispatch import routes
from retewave.errors import QueryError

__all__ = ["planned"]


def planned(query: Query, datasets: Datasets) -> Detecting:
    """Return how the events of a query are found."""
    assert query.events is not None
    logical = [each for each in query.events.events if isinstance(each, LogicalEvent)]
    ontology = _with_events(ontology_of(datasets.schema.ontology), logical)
    unfolding = Unfolding(Subsumption(ontology, (each.expression for each in logical)))
    proofs = {each.name: _proofs(each, unfolding) for each in logical}
    base = f"urn:retewave:events:{digest((query.text,))}"
    return detecting(query, base, proofs, _in_background(proofs, datasets))


def _with_events(ontology: Ontology, logical: list[LogicalEvent]) -> Ontology:
    """Return an ontology that knows what the events are: what is proved of an event's class."""
    own = (
        Inclusion(each.expression, NamedClass(each.name), f"{NamedClass(each.name)} AS {each.expression}")
        for each in logical
    )
    return replace(ontology, inclusions=(*ontology.inclusions, *own))


def _proofs(event: LogicalEvent, unfolding: Unfolding) -> tuple[Proof, ...]:
    try:
        return unfolding.proofs(event.expression)
    except CannotUnfold as error:
        raise QueryError(error.what, place=event.place, hint=error.hint) from None


def _in_background(proofs: dict[bytes, tuple[Proof, ...]], datasets: Datasets) -> Callable[[ProofAtom], bool]:
    """Return what tells whether static data, or the schema itself, has triples for a pattern."""
    asked = {each: _atom(each) for found in proofs.values() for proof in found for each in proof.atoms}
    dispatch = routes(tuple(dict.fromkeys(asked.values())), datasets.schema.network)
    fed = fed_atoms(datasets.static, dispatch, datasets.terms)
    return lambda each: asked[each] in fed


def _atom(atom: ProofAtom) -> Atom:
    subject, predicate, object_ = atom
    constants = (frozenset((each,)) if isinstance(each, bytes) else None for each in (subject, object_))
    return Atom(next(constants), predicate, next(constants))
