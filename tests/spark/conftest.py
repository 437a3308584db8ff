"""What the tests of shards share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def restless() -> Iterator[None]:
    """Let the dictionaries be swept, and what waits be poured, as often as can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retewave.rete.terms.dictionary._SWEEP_FROM", 4)
        patch.setattr("retewave.spark.worker.shard._ENOUGH", 1)
        yield
