"""How the events of a query are found: what triples prove them, over an engine's ontology and static data.

Data's way: definitions + schema + static data -> **proofs -> branches** -> listener -> network.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from retewave.compiler.algebra import Query
from retewave.compiler.algebra.detections import LogicalEvent
from retewave.compiler.plan.identity import digest
from retewave.compiler.rewrite.detected import Detecting
from retewave.compiler.rewrite.detections import detecting
from retewave.engine.compiled import fed_atoms
from retewave.engine.datasets import Closure, Datasets
from retewave.epsilon.atoms import Atom
from retewave.epsilon.classes.contradictions import contradictions
from retewave.epsilon.classes.expression import NOTHING, THING, NamedClass, within
from retewave.epsilon.classes.ontology import Inclusion, Ontology, ontology_of
from retewave.epsilon.classes.reasoner import classified, missing
from retewave.epsilon.classes.subsumption import Subsumption
from retewave.epsilon.classes.unfolding import Atom as ProofAtom
from retewave.epsilon.classes.unfolding import CannotUnfold, Proof, Unfolding
from retewave.epsilon.dispatch import routes
from retewave.epsilon.schema import Budget
from retewave.errors import QueryError, SchemaError

__all__ = ["planned"]

_AXIOMS_SHOWN = 3  # the most that a message names


def planned(query: Query, datasets: Datasets) -> Detecting:
    """Return how the events of a query are found."""
    assert query.events is not None
    logical = [each for each in query.events.events if isinstance(each, LogicalEvent)]
    ontology = _with_events(ontology_of(datasets.schema.ontology), logical)
    unfolding = Unfolding(Subsumption(ontology, (each.expression for each in logical)))
    notices = [notice for each in logical for notice in _unknown(each, ontology)]
    notices += _beyond(logical, unfolding.subsumption, datasets.closure)
    proofs = {each.name: _proofs(each, unfolding) for each in logical}
    base = f"urn:retewave:events:{digest((query.text,))}"
    apart = contradictions(ontology, unfolding)
    if apart.left_out:
        notices.append(f"events are not counted that contradict {'; '.join(apart.left_out[:_AXIOMS_SHOWN])}")
    in_background = _in_background([*chain.from_iterable(proofs.values()), *apart.proofs], datasets)
    found = detecting(query, base, proofs, apart.proofs, in_background)
    found.notices += notices
    return found


def _beyond(logical: list[LogicalEvent], subsumption: Subsumption, closure: Closure) -> list[str]:
    """Ask a reasoner if more may be below an expression than the closure finds; return what users should know."""
    open_ = {each: axioms for each in logical if (axioms := subsumption.open_axioms(each.expression))}
    if not open_:
        return []
    budget = closure.budget or Budget()
    if budget.seconds == 0:
        return [_not_looked_for(each, axioms) for each, axioms in open_.items()]
    first = next(iter(open_))
    if lacking := missing():
        raise QueryError(
            f"({first.expression}) needs a reasoner: {_beyond_the_closure(open_[first])}",
            place=first.place,
            hint=f"{lacking}; or take what the closure finds by itself: Budget(seconds=0), --closure-seconds 0",
        )
    try:
        said = classified(
            subsumption.ontology, subsumption.expressions(), subsumption.bridges, budget, closure.progress
        )
    except SchemaError as error:
        what = f"({first.expression}) needs a reasoner: {error.what}"
        raise QueryError(what, place=first.place, hint=error.hint) from None
    subsumption.told, subsumption.told_of_all = said.below, said.universal
    return [f"the reasoner was not told what OWL 2 DL does not have: {each}" for each in said.left_out[:_AXIOMS_SHOWN]]


def _not_looked_for(event: LogicalEvent, axioms: tuple[str, ...]) -> str:
    return (
        f"{event.place}: more may follow of ({event.expression}) than is looked for: {_beyond_the_closure(axioms)}, "
        "and the budget asks no reasoner"
    )


def _beyond_the_closure(axioms: tuple[str, ...]) -> str:
    more = " …" if len(axioms) > _AXIOMS_SHOWN else ""
    return f"these axioms are beyond the closure: {'; '.join(axioms[:_AXIOMS_SHOWN])}{more}"


def _unknown(event: LogicalEvent, ontology: Ontology) -> Iterator[str]:
    """Yield a notice for each class or property that the ontology does not name, if it names any."""
    if not ontology.classes - {event.name} and not ontology.properties:
        return
    for each in within(event.expression):
        if isinstance(each, NamedClass) and each not in (THING, NOTHING) and each.name not in ontology.classes:
            yield _not_known("class", each.name, ontology.classes, event)
        role = getattr(each, "role", None)
        if role is not None and role.name not in ontology.properties:
            yield _not_known("property", role.name, ontology.properties, event)


def _not_known(kind: str, name: bytes, known: frozenset[bytes], event: LogicalEvent) -> str:
    near = difflib.get_close_matches(name.decode(), [each.decode() for each in known], 1, 0.8)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{event.place}: the ontology has no {kind} {name.decode()}{hint}"


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


def _in_background(proofs: Iterable[Proof], datasets: Datasets) -> Callable[[ProofAtom], bool]:
    """Return what tells whether static data, or the schema itself, has triples for a pattern."""
    asked = {each: Atom.of(*each) for proof in proofs for each in proof.atoms}
    dispatch = routes(tuple(dict.fromkeys(asked.values())), datasets.schema.network)
    fed = fed_atoms(datasets.static, dispatch, datasets.terms)
    return lambda each: asked[each] in fed
