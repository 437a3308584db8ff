"""Serve an inspector on a socket, until a signal ends it.

Data's way: controller -> application -> **server** -> browsers.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from uvicorn import Config, Server

from retewave.inspector.controller import Controller
from retewave.inspector.server import application, own_hosts

__all__ = ["own_hosts", "serve"]

GRACE = 2  # seconds that open answers get at the end


def serve(
    controller: Controller, listening: socket.socket, hosts: frozenset[str], started: Callable[[Server], object] = id
) -> None:
    """Serve a controller; `started` is given the server, which ends once its `should_exit` is set."""
    app = application(controller, hosts, ending=lambda: server.should_exit)
    server = Server(Config(app, log_level="warning", timeout_graceful_shutdown=GRACE, server_header=False))
    started(server)
    server.run(sockets=[listening])
