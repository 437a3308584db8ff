"""An inspector that serves, for tests of its server and its page."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import retewave as rw
from retewave.inspector.controller import Controller
from retewave.inspector.serving import own_hosts, serve

QUERY = """PREFIX e: <http://e/>
SELECT ?x ?z FROM STREAM <http://e/s> [RANGE 5s] WHERE { ?x e:p ?y . ?y e:q ?z }"""
SCRIPT = "<script>document.title = 'run'</script>"
LINES = f"""<http://e/a> <http://e/p> <http://e/b> .
<http://e/b> <http://e/q> "{SCRIPT}" .
<http://e/c> <http://e/p> <http://e/b> .
"""


def new_controller(lines: str = LINES, query: str = QUERY, *, explain: bool = False) -> Controller:
    engine = rw.Engine(stats=True)
    engine.register(query, name=f"pair {SCRIPT}", explain=explain)
    return Controller(engine, [rw.read(lines.encode(), rate=1, format="nt", stream="http://e/s")], pace=10)


@contextmanager
def serving(controller: Controller) -> Iterator[str]:
    """Serve a controller on a free port of this machine; yield its address."""
    servers: list = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        hosts = own_hosts("127.0.0.1", port)
        thread = threading.Thread(target=serve, args=(controller, listening, hosts, servers.append), daemon=True)
        thread.start()
        while not servers or not servers[0].started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            servers[0].should_exit = True
            thread.join(timeout=10)
            controller.close()
