"""ETALIS, the engine behind EP-SPARQL, in SWI-Prolog: its own rules, and what they count.

Where it stands: a peer of the event workloads and of the use cases, for those who have it: the environment variable
RETEWAVE_ETALIS names the folder of its `etalis.P`.  Left out: W3, since its deadlines go by the wall clock; and garbage
collection, since that goes by the wall clock, too: what *unrestricted* waits for is kept.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from retewave.bench.events.task import EventFound, EventPeer, EventTask

__all__ = ["PEERS", "missing", "play", "told"]

VARIABLE = "RETEWAVE_ETALIS"
_PROGRAM = Path(__file__).with_name("prolog")


def _etalis() -> Path | None:
    """Return ETALIS's main file."""
    named = os.environ.get(VARIABLE)
    places = [Path(named) / "etalis.P", Path(named) / "src" / "etalis.P"] if named else []
    return next((place.resolve() for place in places if place.is_file()), None)


def missing() -> str:
    """Return why it cannot run here, or nothing."""
    if _etalis() is None:
        return f"there is no etalis.P: {VARIABLE} names its folder"
    return "" if shutil.which("swipl") else "there is no swipl: SWI-Prolog is needed"


def play(policy: str, stream: Path, *rules: Path) -> EventFound:
    """Play a stream, of rows or of terms, to rules under a consumption policy; what was tallied comes back."""
    words = [_PROGRAM / "play.pl", "--", _etalis(), policy, stream.resolve(), *rules]
    done = subprocess.run(["swipl", *map(str, words)], capture_output=True, text=True)
    return told(done.returncode, done.stdout, done.stderr)


def told(code: int, out: str, errors: str) -> EventFound:
    """Read the answer, one line among what ETALIS prints itself; without it, its last error is raised."""
    lines = [line for line in out.splitlines() if line.startswith('{"matches"')]
    if code or not lines:
        raise RuntimeError(f"etalis: {(errors.strip().splitlines() or ['it told nothing'])[-1]}")
    return EventFound(**json.loads(lines[-1]))


def _run(task: EventTask) -> EventFound:
    return play("unrestricted", task.csv, _PROGRAM / f"{task.workload}.event")


PEERS = {
    "etalis": EventPeer(
        name="ETALIS",
        cannot="no deadlines but the wall clock's; with every combination asked for, nothing is dropped",
        run=_run,
        missing=lambda workload: missing(),
        workloads=("W1", "W2", "W4"),
    )
}
