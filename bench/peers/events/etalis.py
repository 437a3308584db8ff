"""ETALIS, the engine behind EP-SPARQL, in SWI-Prolog: its own rules, and every combination reported.

Where it stands: a peer of the event workloads, for those who have it: the environment variable RETEWAVE_ETALIS names
the folder of its `etalis.P`.  Left out: W3, since its deadlines go by the wall clock; and garbage collection, since its
policy *unrestricted* drops nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from retewave.bench.events.task import EventFound, EventPeer, EventTask

__all__ = ["PEERS"]

VARIABLE = "RETEWAVE_ETALIS"
_PROGRAM = Path(__file__).with_name("prolog")


def _etalis() -> Path | None:
    """Return ETALIS's main file."""
    named = os.environ.get(VARIABLE)
    places = [Path(named) / "etalis.P", Path(named) / "src" / "etalis.P"] if named else []
    return next((place.resolve() for place in places if place.is_file()), None)


def _missing(workload: str) -> str:
    if _etalis() is None:
        return f"there is no etalis.P: {VARIABLE} names its folder"
    return "" if shutil.which("swipl") else "there is no swipl: SWI-Prolog is needed"


def _run(task: EventTask) -> EventFound:
    words = [_PROGRAM / "play.pl", "--", _etalis(), _PROGRAM / f"{task.workload}.event", task.csv.resolve()]
    done = subprocess.run(["swipl", *map(str, words)], capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if line.startswith('{"matches"')]
    if done.returncode or not told:
        raise RuntimeError(f"etalis: {(done.stderr.strip().splitlines() or ['it told nothing'])[-1]}")
    return EventFound(**json.loads(told[-1]))


PEERS = {
    "etalis": EventPeer(
        name="ETALIS",
        cannot="no deadlines but the wall clock's; with every combination asked for, nothing is dropped",
        run=_run,
        missing=_missing,
        workloads=("W1", "W4"),
    )
}
