"""Measure one task in this process, and print its result: what the harness starts for every single run.

`python -m retewave.bench.run NAME < task.json` prints one JSON object: the result, or why there is none.
A process of its own makes the peak of resident memory that of the measured thing.
"""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import asdict, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from retewave.bench.task import Adapter, Result, Task

__all__ = ["ADAPTERS", "SPARK", "adapter", "measure", "peak_rss", "why_missing"]

ADAPTERS = {  # name -> module: only the measured one is imported
    "retewave": "retewave.bench.engine",
    "c": "retewave.bench.peers.limit",
    "python": "retewave.bench.peers.python_loop",
    "polars": "retewave.bench.peers.polars_window",
    "duckdb": "retewave.bench.peers.duckdb_window",
    "bytewax": "retewave.bench.peers.bytewax_flow",
    "pathway": "retewave.bench.peers.pathway_join",
    "oxigraph": "retewave.bench.peers.oxigraph_window",
    "clips": "retewave.bench.peers.clips_rules",
    "spark sessions": "retewave.bench.peers.spark_sessions",
    "spark state": "retewave.bench.peers.spark_state",
    "spark joins": "retewave.bench.peers.spark_joins",
    "spark": "retewave.bench.spark_engine",
}
SPARK = tuple(name for name in ADAPTERS if name.startswith("spark"))  # each of their runs starts a JVM


def adapter(name: str) -> Adapter:
    """Import an adapter; this imports none of the libraries that it measures."""
    made: Adapter = import_module(ADAPTERS[name]).ADAPTER
    return made


def why_missing(measured: Adapter) -> str:
    """Return why an adapter cannot run here, or nothing when it can."""
    for module in measured.requires:
        if find_spec(module) is None:
            return f"{module} is not installed"
    return measured.missing()


def peak_rss() -> int:
    """Return the most memory that this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def measure(measured: Adapter, task: Task) -> Result:
    """Run a task and fill in the memory, unless the adapter has measured another process."""
    result = measured.run(task)
    return result if result.peak_rss is not None else replace(result, peak_rss=peak_rss())


def main() -> None:
    """Read the task from stdin, measure, print."""
    measured = adapter(sys.argv[1])
    reason = why_missing(measured)
    if reason:
        print(json.dumps({"missing": reason}))
        return
    print(json.dumps(asdict(measure(measured, Task.from_json(sys.stdin.read())))))


if __name__ == "__main__":
    main()
