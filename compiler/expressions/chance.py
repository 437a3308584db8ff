"""The values of RAND(), UUID(), STRUUID(), BNODE() and NOW(), which are no functions of their arguments.

Mostly they say something new each time.  The solution of a rule is looked at twice: for what is built, and for what is
told.  `given` fixes what they say meanwhile, so that both see one value.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from rdflib import BNode

__all__ = ["given", "new_blank", "new_uuid", "now", "number"]

_DRAWN: ContextVar[tuple[random.Random, datetime] | None] = ContextVar("drawn", default=None)


@contextmanager
def given(seed: str, moment: datetime) -> Iterator[None]:
    """Let chance follow from a seed, and the clock stand at a moment."""
    token = _DRAWN.set((random.Random(seed), moment))
    try:
        yield
    finally:
        _DRAWN.reset(token)


def number() -> float:
    """Return a number from 0 on, below 1."""
    fixed = _DRAWN.get()
    return random.random() if fixed is None else fixed[0].random()


def new_uuid() -> str:
    """Return a UUID of version 4."""
    fixed = _DRAWN.get()
    return str(uuid.uuid4() if fixed is None else uuid.UUID(int=fixed[0].getrandbits(128), version=4))


def new_blank() -> BNode:
    """Return a blank node that is no other one."""
    fixed = _DRAWN.get()
    return BNode() if fixed is None else BNode(f"N{fixed[0].getrandbits(128):032x}")


def now() -> datetime:
    """Return the time of the clock on the wall."""
    fixed = _DRAWN.get()
    return datetime.now(UTC) if fixed is None else fixed[1]
