"""What the report stages of a shard remember and its rows do not tell: kept in the store, step by step.

Data's way: report stages -> **packed, with the texts of their terms** -> the store -> report stages of another process.
A network that is made anew sees the rows of the window again, which is all that DISTINCT needs (`Report.follows`).
What a cool-down has reported depends on all that was before, so it is written down whole with each step.
Left out: when a step is written, and when it is read (`retewave/spark/shard.py`).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping

import numpy as np

from retewave.engine import Engine
from retewave.rete.counters import totals
from retewave.rete.pack import pack, unpack

__all__ = ["Reported", "kept", "put"]

Reported = dict[str, str]  # the name of a stage -> what it remembers: keys and times, packed


def kept(engine: Engine) -> Reported:
    """Return what the stages of an engine remember."""
    running, found = engine.live.current(), {}
    for name, stage in running.outcome.each():
        if not stage.report.follows:
            stage.report.advance(totals(running.runtime.arena).now)
            state = stage.report.state()
            ids = np.ascontiguousarray(state["keys"].T)
            found[name] = b64encode(pack(engine.terms, ids, list(state["reports"].T))).decode()
    return found


def put(engine: Engine, reported: Mapping[str, str]) -> None:
    """Let the stages of an engine remember this, and nothing else."""
    for name, stage in engine.live.current().outcome.each():
        if name in reported:
            ids, numbers = unpack(engine.terms, b64decode(reported[name]))
            stage.report.put({"keys": ids.T, "reports": numbers.T})
