"""Spare Python's garbage collector in Spark's workers.

A worker process collects all garbage after each task, and what retewave has loaded (compilers, parsers) is some hundred
thousand objects that will never be garbage: a quarter of a second a task.  They are taken out of the collector's sight.
"""

from __future__ import annotations

import gc
import sys

__all__ = ["settle"]

_seen = 0  # modules that were loaded when the process last settled


def settle() -> None:
    """Take everything that is loaded out of the collector's sight, if more is loaded than the last time."""
    global _seen
    if len(sys.modules) > _seen:
        gc.collect()
        gc.freeze()
        _seen = len(sys.modules)
