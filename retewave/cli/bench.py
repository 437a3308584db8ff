"""`retewave bench`: run the benches, each as a module.

Nothing here imports them: they stand above all other packages.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
from collections.abc import Sequence

from retewave.errors import UsageError

__all__ = ["bench"]

_PARTS = (
    "city",
    "events",
    "generate",
    "ontology",
    "profile",
    "report",
    "roads",
    "shard-threads",
    "soak",
    "spark-events",
    "spark-scaling",
    "sums",
    "tsunami",
    "usecases",
    "views",
)  # modules of retewave.bench that run by themselves
_WITHOUT_PLOTS = (
    "city",
    "events",
    "generate",
    "ontology",
    "roads",
    "shard-threads",
    "spark-events",
    "sums",
    "tsunami",
    "usecases",
    "views",
)


def bench(arguments: Sequence[str]) -> None:
    """Run `retewave.bench`, or one of its parts when the first argument names one."""
    part = arguments[0] if arguments and arguments[0] in _PARTS else ""
    if importlib.util.find_spec("matplotlib") is None and part not in _WITHOUT_PLOTS:
        raise UsageError("the benches draw with matplotlib, which is missing", hint="pip install 'retewave[bench]'")
    sys.argv = [f"retewave bench {part}".strip(), *arguments[1 if part else 0 :]]
    module = f"retewave.bench.{part.replace('-', '_')}" if part else "retewave.bench"
    runpy.run_module(module, run_name="__main__", alter_sys=False)
