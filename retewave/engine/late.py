"""Items that do not get in, as `on_late` gets them: they came too late, or from too far in the future.

Data's way: rows -> order -> **items that it sets aside** -> `on_late`.
Invariant: the record of an item has all that `push` needs to let it in again.
Left out: which items these are (`retewave.windows.order`), and when `on_late` is called (`retewave.engine.telling`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, START, STREAM
from retewave.windows.times import Clock, Instant

__all__ = ["LateItem", "Why", "described"]

Why = Literal["late", "future"]


@dataclass(frozen=True, slots=True)
class LateItem:
    """An item that was set aside.

    To let it in after all, with a time of your choice: `engine.push(item.triple, time=…, stream=item.stream)`.
    """

    subject: Any  # an rdflib term
    predicate: Any  # an rdflib term
    object: Any  # an rdflib term
    start: Instant  # when it starts, in the form in which times went in
    end: Instant  # when it ends; for an instant the same as its start
    stream: str | None  # the IRI of its stream; None where it has no name
    why: Why  # "late": later than `lateness` allows; "future": further ahead than `max_future` allows

    @property
    def triple(self) -> tuple[Any, Any, Any]:
        """Its three terms, as `push` takes them."""
        return self.subject, self.predicate, self.object


def described(rows: np.ndarray, why: Why, terms: Terms, clock: Clock, streams: Mapping[str, int]) -> list[LateItem]:
    """Return the items of some input rows."""
    from retewave.io.rdf import from_text

    names, found = {number: iri for iri, number in streams.items()}, []
    for row in rows.tolist():
        subject, predicate, object_ = (from_text(terms.text(term)) for term in row[:START])
        start, end = clock.decode(row[START]), clock.decode(row[END])
        found.append(LateItem(subject, predicate, object_, start, end, names.get(row[STREAM]), why))
    return found
