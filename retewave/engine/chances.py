"""The values of RAND(), UUID(), BNODE() and NOW() for solutions of rules: the same whenever a solution is looked at.

Data's way: output rows of a rule -> **seeds** -> the steps that Python takes.
A solution of a rule is looked at for what is built, for what is told, and for a flush.  Its seed follows from the
engine's seed, its terms and its interval; the clock of NOW() is read once for all solutions that end together.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np

from retewave.compiler.expressions.tree import IMPURE, mentions
from retewave.compiler.lower import Output
from retewave.compiler.plan.identity import digest
from retewave.query import Query
from retewave.rete.words import layout

__all__ = ["Chances", "Seeds", "fixed"]

_MOST = 1 << 14  # the most instants whose clock is remembered

Seeds = list[tuple[str, datetime]]  # row by row: the seed, and the time of NOW()


@dataclass
class Chances:
    """The chances of one network's rules."""

    seed: int  # the engine's
    text: Callable[[int], bytes]  # the text of a term's id
    _asking: dict[int, bool] = field(default_factory=dict)  # outputs of the network, by identity
    _moments: dict[int, datetime] = field(default_factory=dict)  # the end of solutions -> the time of NOW()

    def seeds(self, query: Query, output: Output, rows: np.ndarray) -> Seeds | None:
        """Return the seeds of output rows; none where chance is asked anew each time, or not at all."""
        if not query.parsed.is_rule or not self._asks(output):
            return None
        found: Seeds = []
        for row in rows.tolist():
            interval = row[layout.O_START], row[layout.O_END]
            ids = row[layout.O_COLUMNS : layout.O_COLUMNS + len(output.names)]
            texts = (self.text(each) if each else None for each in ids)
            name = digest((self.seed, query.name, query.text, row[layout.O_BRANCH], *interval, *texts))
            found.append((name, self._moment(interval[1])))
        return found

    def _asks(self, output: Output) -> bool:
        """Tell whether the steps of an output ask for chance."""
        found = self._asking.get(id(output))
        if found is None:
            found = self._asking[id(output)] = any(mentions(step.expression, IMPURE) for step in output.steps)
        return found

    def _moment(self, end: int) -> datetime:
        if end not in self._moments:
            if len(self._moments) >= _MOST:
                self._moments.clear()
            self._moments[end] = datetime.now(UTC)
        return self._moments[end]


def fixed(seed: tuple[str, datetime], step: int) -> AbstractContextManager[None]:
    """Fix chance while a step is taken; each step has a chance of its own."""
    name, moment = seed
    found: AbstractContextManager[None] = _python().given(f"{name}.{step}", moment)
    return found


@cache
def _python() -> Any:
    """Return the module that draws; it loads rdflib, which most runs never need."""
    from retewave.compiler.expressions import chance

    return chance
