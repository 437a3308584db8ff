"""A schema: what its sources say that one triple can be reasoned with, and what they say beyond that.

Data's way: sources -> **schema** -> network -> reduction -> dispatch tables.  A schema is fixed: to change
it, load another one and build the engine anew.  What it does not support it names, as data and as a warning.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from retewave.epsilon.axioms import Axiom
from retewave.epsilon.collect import Unsupported, collect
from retewave.epsilon.network import CONTAINER_MEMBERS, Network, Node
from retewave.epsilon.owlrl_closure import Budget, Progress, owlrl_axioms
from retewave.epsilon.sources import Source, read_source
from retewave.epsilon.vocabulary import TYPE, Triple, owl
from retewave.errors import SchemaError

__all__ = ["Budget", "Progress", "Schema", "SchemaWarning", "Unsupported"]

_IMPORTS, _ONTOLOGY = owl("imports"), owl("Ontology")


class SchemaWarning(UserWarning):
    """A schema says something that the ε-network does not support."""


@dataclass(frozen=True)
class Schema:
    """The supported axioms of some sources, and all that was found beside them."""

    axioms: tuple[Axiom, ...]  # in normal form, each once
    declared: tuple[Node, ...] = ()  # nodes of declared classes and properties
    unsupported: tuple[Unsupported, ...] = ()  # one for each sort of axiom that is not supported
    data: tuple[Triple, ...] = ()  # triples that are not about the schema: static data, if the user wants
    containers: int = CONTAINER_MEMBERS  # rdf:_1 to this one are sub-properties of rdfs:member, undeclared
    ontology: tuple[Triple, ...] = ()  # the triples that say something about classes and properties, as they stand

    @classmethod
    def load(
        cls,
        sources: Source | Sequence[Source],
        *,
        imports: Mapping[str, str | Path] | None = None,
        format: str | None = None,
        closure: Literal["retewave", "owlrl"] = "retewave",
        containers: int = CONTAINER_MEMBERS,
        budget: Budget | None = None,
        progress: Progress | None = None,
    ) -> Schema:
        """Read and merge sources: paths, bytes, rdflib graphs, iterables of triples.

        `imports` maps the IRI of an owl:imports to a local file; nothing is fetched.  `closure="owlrl"` adds
        the schema-level consequences of OWL 2 RL first, within the budget.

        >>> said = b"<http://e/C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/D> ."
        >>> [str(axiom) for axiom in Schema.load([said]).axioms]
        ['<http://e/C> rdfs:subClassOf <http://e/D>']
        """
        if closure not in ("retewave", "owlrl"):
            raise SchemaError(f"unknown closure {closure!r}", hint="known closures: retewave, owlrl")
        triples, unmapped = _read_all(_as_list(sources), imports or {}, format)
        collected = collect(triples)
        axioms = collected.axioms
        if closure == "owlrl":
            axioms = tuple(dict.fromkeys(axioms + owlrl_axioms(triples, budget or Budget(), progress)))
        unsupported = collected.unsupported + _unmapped(unmapped)
        for each in unsupported:
            warnings.warn(f"the schema holds what retewave does not support: {each}", SchemaWarning, stacklevel=2)
        data = frozenset(collected.data)
        said = tuple(dict.fromkeys(each for each in triples if each not in data))
        return cls(axioms, collected.declared, unsupported, collected.data, containers, said)

    @cached_property
    def network(self) -> Network:
        """Return the full ε-network, built when first asked for."""
        return Network.of(self.axioms, self.declared, self.containers)

    @cached_property
    def digest(self) -> str:
        """Return a name of the schema's meaning: equal for the same axioms in another order."""
        said = sorted(repr((a.kind.name, a.subject, a.object, a.property)) for a in self.axioms)
        return hashlib.sha256("\n".join(said).encode()).hexdigest()


def _as_list(sources: Source | Sequence[Source]) -> list[Source]:
    """Take a single source for a list of it; a list of triples is one source."""
    if isinstance(sources, str | Path | bytes) or _is_graph(sources):
        return [sources]  # type: ignore[list-item]
    found: list[Any] = list(sources)
    if found and all(isinstance(each, tuple) for each in found):
        return [found]
    return found


def _is_graph(source: object) -> bool:
    """Tell whether a source is a graph of rdflib, without loading it."""
    return any(base.__module__ == "rdflib.graph" for base in type(source).__mro__)


def _read_all(
    sources: Iterable[Source], imports: Mapping[str, str | Path], format: str | None
) -> tuple[list[Triple], list[Triple]]:
    """Return the triples of the sources and of their imports, and the imports that lead nowhere."""
    triples: list[Triple] = []
    number = 0
    waiting = [(source, format) for source in sources]
    seen: set[str] = set()
    while waiting:
        source, chosen = waiting.pop(0)
        found, _ = read_source(source, number, chosen)
        number += 1
        triples += found
        for _, predicate, target in found:
            name = target.decode().strip("<>") if predicate == _IMPORTS else ""
            if name in imports and name not in seen:
                seen.add(name)
                waiting.append((imports[name], None))
    here = {subject for subject, predicate, object_ in triples if (predicate, object_) == (TYPE, _ONTOLOGY)}
    lost = [t for t in triples if t[1] == _IMPORTS and t[2].decode().strip("<>") not in seen]
    return triples, [triple for triple in lost if triple[2] not in here]


def _unmapped(imports: Sequence[Triple]) -> tuple[Unsupported, ...]:
    if not imports:
        return ()
    first = " ".join(("", "owl:imports", imports[0][2].decode())).strip()
    kind = "owl:imports of what is not mapped to a local file (imports={iri: path})"
    return (Unsupported(kind, len(imports), f"{imports[0][0].decode()} {first} ."),)
