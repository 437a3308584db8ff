"""The parts of a compiled network that explanations need: its plan, its records, its tables, its state, its queries.

`retewave.engine.compiled.CompiledNetwork` has all this.  It stands above this part, so it is known here by its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from retewave.compiler import algebra
from retewave.compiler.lower import Lowered
from retewave.compiler.rewrite.detected import Detecting
from retewave.epsilon.dispatch import Dispatch

__all__ = ["Answering", "Arrays", "Compiled", "Registered"]


class Registered(Protocol):
    """A registered query."""

    @property
    def name(self) -> str:
        """Its name, unique in the engine."""

    @property
    def parsed(self) -> algebra.Query:
        """The query's algebra."""

    @property
    def matched(self) -> int:
        """How many matches there were."""

    @property
    def plan(self) -> Detecting | None:
        """How its rows are read, if it defines events."""


class Answering(Protocol):
    """The part that makes matches of the network's output."""

    @property
    def queries(self) -> Mapping[int, Any]:
        """The queries by number; each is a `Registered`."""


class Arrays(Protocol):
    """The network's state."""

    @property
    def net(self) -> np.ndarray:
        """The records as words (`rete/words/layout.py`)."""

    @property
    def arena(self) -> np.ndarray:
        """The memories, likewise."""


class Compiled(Protocol):
    """A compiled network."""

    @property
    def lowered(self) -> Lowered:
        """The plan and its records."""

    @property
    def dispatch(self) -> Dispatch:
        """The tables that ε led to."""

    @property
    def runtime(self) -> Arrays:
        """The state."""

    @property
    def outcome(self) -> Answering:
        """The end of a match's way."""
