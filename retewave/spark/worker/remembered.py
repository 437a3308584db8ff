"""The memory of a shard that does not follow from its rows: kept in the store, step by step, by identity.

Data's way: states -> **packed, with the texts of their terms** -> the store -> states of another process.
A network made anew sees the rows of the window again.  State that follows from these (`State.follows`: DISTINCT)
is remembered by that.  The rest depends on all that was before: it is written down whole with each step.  Most memories
follow from these rows, too; where they do not, the store has an image of the network instead (`imaged`).
Left out: when a step is written, and when it is read (`retewave/spark/worker/shard.py`).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping

import numpy as np

from retewave.engine.engine import Engine
from retewave.rete.counters import totals
from retewave.rete.pack import pack, unpack
from retewave.rete.terms.dictionary import Terms

__all__ = ["Remembered", "kept", "put"]

Packed = tuple[int, str]  # the dimensions of an array; its rows, packed
Remembered = dict[str, dict[str, Packed]]  # a state's identity -> its arrays, by name


def kept(engine: Engine) -> Remembered:
    """Return the remembered data of an engine's states."""
    compiled, found = engine.matcher.current(), {}
    for name, each in compiled.outcome.states(compiled.outcome.queries).items():
        if not each.follows:
            each.advance(totals(compiled.runtime.arena).now)
            state = each.state().items()
            found[name] = {part: _packed(engine.terms, array, part in each.terms) for part, array in state}
    return found


def put(engine: Engine, remembered: Mapping[str, Mapping[str, Packed]]) -> None:
    """Let the states of an engine remember this, and nothing else."""
    compiled = engine.matcher.current()
    states = compiled.outcome.states(compiled.outcome.queries)
    for name in states.keys() & remembered.keys():
        states[name].put({part: _array(engine.terms, *packed) for part, packed in remembered[name].items()})


def _packed(terms: Terms, array: np.ndarray, of_terms: bool) -> Packed:
    rows = array[:, None] if array.ndim == 1 else array
    none = np.empty((0, len(rows)), np.int64)
    packed = pack(terms, np.ascontiguousarray(rows.T), []) if of_terms else pack(terms, none, list(rows.T))
    return array.ndim, b64encode(packed).decode()


def _array(terms: Terms, dimensions: int, packed: str) -> np.ndarray:
    ids, numbers = unpack(terms, b64decode(packed))
    rows = (ids if len(ids) else numbers).T
    return rows[:, 0] if dimensions == 1 else np.ascontiguousarray(rows)
