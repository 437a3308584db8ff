"""Measure one event task in this process, and print what was found: what `measure` starts for every single run.

`python -m retewave.bench.events.run NAME < task.json` prints one JSON object.  A process of its own means that no
peer finds another one's memory, machine code or garbage.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from importlib import import_module

from retewave.bench.events.task import EventPeer, EventTask

__all__ = ["PEERS", "peer", "why_missing"]

_MODULES = {  # name -> module: only the measured one is imported
    "retewave": "retewave.bench.events.engine",
    "retewave network": "retewave.bench.events.engine",
    "numba": "retewave.bench.peers.events.numba_arrays",
    "python": "retewave.bench.peers.events.python_dicts",
    "esper": "retewave.bench.peers.events.jvm",
    "esper pattern": "retewave.bench.peers.events.jvm",
    "siddhi": "retewave.bench.peers.events.jvm",
    "flink": "retewave.bench.peers.events.jvm",
    "etalis": "retewave.bench.peers.events.etalis",
}
PEERS = tuple(_MODULES)


def peer(name: str) -> EventPeer:
    """Import a peer."""
    found: EventPeer = import_module(_MODULES[name]).PEERS[name]
    return found


def why_missing(measured: EventPeer, workload: str) -> str:
    """Return why a peer cannot run a workload here, or nothing when it can; what it needs is built."""
    if workload not in measured.workloads:
        return f"has no formulation of {workload}"
    return measured.missing(workload)


def main() -> None:
    """Read the task from stdin, measure, print."""
    print(json.dumps(asdict(peer(sys.argv[1]).run(EventTask.from_json(sys.stdin.read())))))


if __name__ == "__main__":
    main()
