"""retewave on Spark: the same queries over Structured Streaming, sharded by join key.

>>> import retewave.spark

`match` makes a DataFrame of matches out of a DataFrame of triples.  Importing this package imports no pyspark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retewave.spark.driver.job import Job, OneShardWarning
    from retewave.spark.driver.match import match
    from retewave.spark.driver.sessions import configure, session
    from retewave.spark.source.source import register
    from retewave.spark.stats import Stats

__all__ = ["Job", "OneShardWarning", "Stats", "configure", "match", "register", "session"]

# Loaded when first asked for: the driver's command line and the workers need different parts.
_LAZY = {
    "Job": "retewave.spark.driver.job",
    "OneShardWarning": "retewave.spark.driver.job",
    "Stats": "retewave.spark.stats",
    "configure": "retewave.spark.driver.sessions",
    "match": "retewave.spark.driver.match",
    "register": "retewave.spark.source.source",
    "session": "retewave.spark.driver.sessions",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'retewave.spark' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
