"""What the tests of engines share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from helpers.asynchronous import ended

TraceFunction = Callable[[FrameType, str, Any], Any]


@pytest.fixture
def no_thread_stays() -> Iterator[None]:
    """Wait for the threads that a test has left: they end by themselves."""
    yield
    ended()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("retewave")]


@pytest.fixture
def in_each_others_way() -> Iterator[None]:
    """Let every thread give way to the others behind each line that touches what they share."""
    shared = ("matcher.py", "order.py", "telling.py", "match.py")

    def trace(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        if event == "line":
            time.sleep(0)
        return trace if frame.f_code.co_filename.endswith(shared) else None

    threading.settrace(trace)
    yield
    threading.settrace(None)
