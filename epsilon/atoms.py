"""What a triple pattern asks of a triple once its variables are forgotten: the demand on the ε-network.

Data's way: pattern -> plan -> **atoms** -> reduction -> dispatch tables.  Atoms hold texts, not ids, and no
variables: that two positions be equal is checked behind the dispatch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Atom"]


@dataclass(frozen=True)
class Atom:
    """One demand: the triples, given or entailed, that an α-memory keeps.

    >>> Atom(None, frozenset({b"<http://e/p>"}), frozenset({b"<http://e/a>", b"<http://e/b>"})).object is None
    False
    """

    subject: frozenset[bytes] | None  # the texts, of which the triple must have one; None: any text
    predicate: frozenset[bytes] | None  # likewise
    object: frozenset[bytes] | None  # likewise

    @classmethod
    def of(cls, *terms: Any) -> Atom:
        """Return what a pattern asks: each of its texts, and anything where it has none.

        >>> Atom.of(None, b"<http://e/p>", 3)
        Atom(subject=None, predicate=frozenset({b'<http://e/p>'}), object=None)
        """
        return cls(*(frozenset((term,)) if isinstance(term, bytes) else None for term in terms))
