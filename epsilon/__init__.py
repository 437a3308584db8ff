"""The ε-network: schema reasoning that costs nothing at run time.

Data's way: schema -> axioms -> full network -> reduction for the registered atoms -> dispatch tables, which
the kernel holds.  No numba here, and terms are texts (docs/architecture.md).
"""

from retewave.epsilon.atoms import Atom
from retewave.epsilon.dispatch import INPUT, OBJECT, SUBJECT, Dispatch, Fact, Key, Part, Route, routes, why
from retewave.epsilon.network import Link, LinkKind, Network, Node
from retewave.epsilon.reduce import Reduction, reduce
from retewave.epsilon.schema import Budget, Schema, SchemaWarning, Unsupported

__all__ = [
    "INPUT",
    "OBJECT",
    "SUBJECT",
    "Atom",
    "Budget",
    "Dispatch",
    "Fact",
    "Key",
    "Link",
    "LinkKind",
    "Network",
    "Node",
    "Part",
    "Reduction",
    "Route",
    "Schema",
    "SchemaWarning",
    "Unsupported",
    "reduce",
    "routes",
    "why",
]
