"""retewave finds patterns in streams of RDF: a Rete network with schema reasoning.

>>> import retewave as rw
>>> engine = rw.Engine()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from retewave.errors import (
    LimitError,
    MalformedInput,
    Place,
    QueryError,
    RetewaveError,
    SchemaError,
    SnapshotError,
    UsageError,
)

if TYPE_CHECKING:
    from retewave.engine.engine import Engine
    from retewave.engine.late import LateItem
    from retewave.epsilon.schema import Budget
    from retewave.io.reading.reader import Reader, read
    from retewave.match import Match, Matches
    from retewave.provenance.report_line import draw_reports
    from retewave.query import Query
    from retewave.report import Report

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Engine",
    "LateItem",
    "LimitError",
    "MalformedInput",
    "Match",
    "Matches",
    "Place",
    "Query",
    "QueryError",
    "Reader",
    "Report",
    "RetewaveError",
    "SchemaError",
    "SnapshotError",
    "UsageError",
    "__version__",
    "draw_reports",
    "read",
]

# Loaded when first asked for: importing retewave imports no numba and compiles nothing.
_LAZY = {
    "Budget": "retewave.epsilon.schema",
    "Engine": "retewave.engine.engine",
    "LateItem": "retewave.engine.late",
    "Match": "retewave.match",
    "Matches": "retewave.match",
    "Query": "retewave.query",
    "Report": "retewave.report",
    "draw_reports": "retewave.provenance.report_line",
    "Reader": "retewave.io.reading.reader",
    "read": "retewave.io.reading.reader",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'retewave' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
