"""What the tests of engines share."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from helpers.asynchronous import ended


@pytest.fixture
def no_thread_stays() -> Iterator[None]:
    """Wait for the threads that a test has left: they end by themselves."""
    yield
    ended()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("retewave")]
