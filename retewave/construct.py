"""CONSTRUCT: the triples that the template of a query builds of each match.

Data's way: a batch of matches -> **instances of the template** -> `match.triples`, Spark's columns.
Invariants: a triple with an unbound variable, a literal as its subject or a predicate that is no IRI is left out, the
others of its match are built all the same; what one match builds stands together, in the order of the template; a blank
node of the template is new for every match.
Left out: N-Triples, which a kernel writes straight from the template (rete/written/lines.py); a law in
tests/io/test_sink_laws.py holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retewave.compiler.algebra import BlankNode, TemplateTriple, Variable
from retewave.rete.terms.kinds import BLANK, IRI

if TYPE_CHECKING:
    from retewave.match import Matches

__all__ = ["Built", "Texts", "built", "triples"]

Texts = tuple[bytes, bytes, bytes]  # subject, predicate, object, as canonical texts
Numbers = Callable[[Sequence[bytes]], np.ndarray]  # texts -> a number for each, by which they can be told
_SUBJECT, _PREDICATE = 0, 1
_MAY_BEGIN = (b"<_", b"<", b'<_"')  # how the text of a subject, a predicate, an object begins


@dataclass(frozen=True)
class Built:
    """What a batch of matches builds."""

    ids: np.ndarray  # int64[3, n]: subjects, predicates, objects
    matches: np.ndarray  # int64[n]: the match that each triple is of, as its place in the batch


def built(batch: Matches, numbers: Numbers, scope: bytes = b"", scopes: Sequence[bytes] = ()) -> Built:
    """Return what a batch builds, with the batch's ids for what is bound and `numbers` for the rest.

    `scope` sets the blank nodes that are made here apart from those of other processes; `scopes`, one for each match,
    sets those of the matches apart, where the batch's number is not to do that.
    """
    found = [_instances(batch, triple, numbers, scope, scopes) for triple in batch.query.parsed.template]
    if len(found) == 1:
        return found[0]
    if not found:
        return Built(np.empty((3, 0), dtype=np.int64), np.empty(0, dtype=np.int64))
    matches = np.concatenate([each.matches for each in found])
    order = np.argsort(matches, kind="stable")
    return Built(np.concatenate([each.ids for each in found], axis=1)[:, order], matches[order])


def _instances(
    batch: Matches, triple: TemplateTriple, numbers: Numbers, scope: bytes, scopes: Sequence[bytes]
) -> Built:
    """Return the instances of a triple of the template, without those that are no RDF."""
    parts = (triple.subject, triple.predicate, triple.object)
    ids = np.empty((3, len(batch)), dtype=np.int64)
    proper = np.ones(len(batch), dtype=np.bool_)
    for place, part in enumerate(parts):
        if isinstance(part, Variable):
            ids[place] = batch.ids[:, batch.query.place(part.name)]
            proper &= _fits(batch, ids[place], place)
        elif isinstance(part, BlankNode):
            label = part.label.encode()
            apart = scopes or [batch.blank_scope(row) for row in range(len(batch))]
            made = [b"_:%s%s.%s" % (scope, each, label) for each in apart]
            ids[place] = numbers(made)
            proper &= place != _PREDICATE
        else:
            ids[place] = numbers([part])[0]
            proper &= part[:1] in _MAY_BEGIN[place]
    places = np.flatnonzero(proper)
    return Built(ids if len(places) == len(batch) else ids[:, proper], places)


def _fits(batch: Matches, ids: np.ndarray, place: int) -> np.ndarray:
    """Return which of a batch's terms can stand in a place of a triple."""
    fits: np.ndarray
    if place == _PREDICATE:
        fits = batch.kinds(ids) == IRI
    elif place == _SUBJECT:
        kinds = batch.kinds(ids)
        fits = (kinds == IRI) | (kinds == BLANK)
    else:
        fits = ids != 0
    return fits


def triples(batch: Matches) -> list[list[Texts]]:
    """Return what each match of a batch builds, as canonical texts; the dictionary learns nothing of it."""
    made: list[bytes] = []  # texts that are no terms of the batch; the first one is -1, the next one -2

    def numbers(texts: Sequence[bytes]) -> np.ndarray:
        made.extend(texts)
        return np.arange(len(texts) - len(made) - 1, -len(made) - 1, -1)

    of_batch = built(batch, numbers)
    found: list[list[Texts]] = [[] for _ in range(len(batch))]
    subjects, predicates, objects = (of_place.tolist() for of_place in of_batch.ids)
    used = {*subjects, *predicates, *objects}
    texts = {each: made[-1 - each] if each < 0 else batch.text(each) or b"" for each in used}  # all are bound
    for match, s, p, o in zip(of_batch.matches.tolist(), subjects, predicates, objects, strict=True):
        found[match].append((texts[s], texts[p], texts[o]))
    return found
