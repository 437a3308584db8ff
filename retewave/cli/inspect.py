"""`retewave inspect`: serve the inspector of queries over streams on this machine."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from typing import Any

from retewave.cli.notes import Notes
from retewave.cli.queries import Queries
from retewave.engine.engine import Engine
from retewave.errors import UsageError
from retewave.inspector.controller import Controller
from retewave.io.reading.reader import Reader

__all__ = ["inspect"]

_ANYWHERE = ("", "0.0.0.0", "::")  # a server on all addresses cannot know its own name


def inspect(
    queries: Queries, readers: Sequence[Reader], host: str, port: int, pace: float | None, options: dict[str, Any]
) -> None:
    """Serve the inspector until a signal ends it; port 0 takes a free port."""
    try:
        from retewave.inspector.serving import own_hosts, serve
    except ModuleNotFoundError as error:
        raise UsageError(f"the inspector needs {error.name}", hint="pip install 'retewave[inspect]'") from error
    if host in _ANYWHERE:
        raise UsageError(f"--host {host!r} has no name that a browser could call", hint="give the address to listen on")
    with Notes(sys.stderr).warnings():
        engine = Engine(**options)
        queries.register(engine, keep=10_000)
        controller = Controller(engine, readers, pace)
    try:
        with _listening(host, port) as listening:
            port = listening.getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            print(f"retewave: the inspector is at http://{shown}:{port}/", file=sys.stderr)
            serve(controller, listening, own_hosts(host, port))
    finally:
        controller.close()


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host} port {port}: {error}", hint="choose another with --port") from error
