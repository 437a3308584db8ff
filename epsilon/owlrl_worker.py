"""The other process of `owlrl_closure`: close the N-Triples on stdin under OWL 2 RL, to stdout.

Data's way: triples -> **worker** -> triples.  On stderr it tells now and then how many triples there are.
It ends with status 3 when they become more than its argument says.
"""

from __future__ import annotations

import sys
from typing import Any

import owlrl
from rdflib import Graph
from rdflib.term import BNode, Literal, URIRef

from retewave.epsilon.texts import text_of

_STEP = 10_000  # triples between two reports
_OVER_BUDGET = 3


class _TooLargeError(Exception):
    """The closure has more triples than the budget."""


class _Counted(Graph):
    """A graph that tells its size, and refuses to grow beyond a limit."""

    limit: int  # how many triples it may have

    def add(self, triple: Any) -> _Counted:
        """Add a triple."""
        super().add(triple)
        if len(self) % _STEP == 0:
            print(len(self), file=sys.stderr, flush=True)
        if len(self) > self.limit:
            raise _TooLargeError
        return self


def main(limit: int) -> int:
    """Read, close, write; return the exit status."""
    graph = _Counted()
    graph.limit = limit
    try:
        graph.parse(data=sys.stdin.buffer.read(), format="nt")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    except _TooLargeError:
        return _OVER_BUDGET
    print(len(graph), file=sys.stderr, flush=True)
    for triple in graph:
        terms = [term for term in triple if isinstance(term, URIRef | BNode | Literal)]
        if len(terms) == 3 and not isinstance(terms[0], Literal):
            sys.stdout.buffer.write(b" ".join(map(text_of, terms)) + b" .\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
