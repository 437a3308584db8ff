"""The state of building a query in SPAseq: what the GPM that is being read may see of those around it.

Data's way: parse tree -> (**context** + the builders) -> algebra.
Invariant: an expression inside a GPM's pattern sees the GPM's own event alone; a variable that only earlier GPMs bind
is refused there.  Filters at the top of a GPM, and SELECT, see more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from retewave.compiler.expressions.tree import Variable
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.reading import Node

__all__ = ["SequenceContext", "earlier_hint"]


@dataclass
class SequenceContext(Context):
    """The state of building one query."""

    graphs: dict[str, None] = field(default_factory=dict)  # the background graphs, as written, in order
    before: dict[Variable, str] = field(default_factory=dict)  # variables that only earlier GPMs bind -> such a GPM
    groups: dict[Variable, str] = field(default_factory=dict)  # group variables of which all values are seen -> GPM
    repeated: frozenset[Variable] = frozenset()  # variables of the step that is being read, which PREV sees

    def unseen(self, missing: Variable, hint: str, node: Node) -> None:
        """Refuse a variable of an earlier GPM; tell of one that has no value at all."""
        if missing in self.before:
            what = f"{missing} of {self.before[missing]} is not seen here: a pattern looks at its own event alone"
            raise self.error(what, node, earlier_hint(missing))
        super().unseen(missing, hint, node)


def earlier_hint(variable: Variable) -> str:
    """Return how to compare with an earlier event.

    >>> earlier_hint(Variable("price"))
    'compare ?price in a FILTER that stands directly in the braces of the GPM, without EXISTS around it'
    """
    return f"compare {variable} in a FILTER that stands directly in the braces of the GPM, without EXISTS around it"
