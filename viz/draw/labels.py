"""How drawings name terms: prefixed where a prefix fits, else the end of the IRI; never longer than a line.

Data's way: terms -> **labels** -> graph -> DOT.
"""

from __future__ import annotations

import re

from retewave.epsilon.network import Node
from retewave.viz.explain.names import Prefixes

__all__ = ["LONGEST_LABEL", "elided", "node_label", "short_term"]

LONGEST_LABEL = 44  # characters of a line
_IRI = re.compile(r"<[^<>\s]*>")


def short_term(text: bytes | str, prefixes: Prefixes) -> str:
    """Return a text with its IRIs shortened, to their last part where no prefix fits.

    >>> short_term("<http://example.org/long/way/tea>", Prefixes())
    '…/tea'
    """
    return elided(_IRI.sub(lambda found: _last_part(found[0]), prefixes.short(text)))


def elided(text: str) -> str:
    """Cut a text that is too long for a line, and show unprintable characters as `�`: Graphviz reads XML."""
    shown = "".join(c if c.isprintable() else "�" for c in text[: LONGEST_LABEL + 1])
    return shown if len(shown) <= LONGEST_LABEL else shown[: LONGEST_LABEL - 1] + "…"


def _last_part(iri: str) -> str:
    cut = max(iri.rfind("#"), iri.rfind("/", 0, len(iri) - 2), iri.rfind(":"))
    return f"…{iri[cut:-1]}" if cut > 0 else iri


def node_label(node: Node, prefixes: Prefixes) -> str:
    """Return the label of an ε node: the class, the property, or the property with its value."""
    if node.is_class and node.object is not None:
        return short_term(node.object, prefixes)
    subject, predicate, object_ = ("?" if part is None else short_term(part, prefixes) for part in node)
    if node.subject is None and node.object is None:
        return predicate
    return f"{predicate} {object_}" if node.subject is None else f"{subject} {predicate} {object_}"
