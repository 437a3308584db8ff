"""What a triple pattern asks of a triple once its variables are forgotten: the demand on the ε-network.

Data's way: pattern -> plan -> **atoms** -> reduction -> dispatch tables.  Atoms hold texts, not ids, and no
variables: that two positions be equal is checked behind the dispatch.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Atom"]


@dataclass(frozen=True)
class Atom:
    """One demand: the triples, given or entailed, that an α-memory keeps.

    >>> Atom(None, b"<http://e/p>", frozenset({b"<http://e/a>", b"<http://e/b>"})).object is None
    False
    """

    subject: frozenset[bytes] | None  # the texts, of which the triple must have one; None: any text
    predicate: bytes | None  # this text; None: anything
    object: frozenset[bytes] | None  # the texts, of which the triple must have one; None: any text
