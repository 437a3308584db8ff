"""What queries mean, by sets and nested loops, and nothing of the engine's speed.

`meaning` and `temporal` follow the algebra, node by node; `detectors` says what a detector tells, and when.
`flat` is the older matcher of plain conjunctions, which the laws of the kernel use; `tests/laws/test_naive_law.py`
holds the two equal.
"""

from naive.flat import (
    Binding,
    Branch,
    Entail,
    Fact,
    Found,
    Item,
    Match,
    Pattern,
    Query,
    Relation,
    Term,
    Triple,
    Window,
    choices_of,
    facts_of,
    naive_matches,
    relation_holds,
    young_enough,
)

__all__ = [
    "Binding",
    "Branch",
    "Entail",
    "Fact",
    "Found",
    "Item",
    "Match",
    "Pattern",
    "Query",
    "Relation",
    "Term",
    "Triple",
    "Window",
    "choices_of",
    "facts_of",
    "naive_matches",
    "relation_holds",
    "young_enough",
]
