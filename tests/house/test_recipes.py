"""The lines of docs/recipes.md, run as they stand (but for ports) against servers of the test's own."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.run_faults import PATIENCE, until

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()
QUERY = re.search(r"`rise\.rq`:\n\n((?:    .*\n)+)", PAGE)[1]  # type: ignore[index]


def _recipe(section: str) -> str:
    return re.search(rf"## {section}\n.*?```sh\n(.*?)```", PAGE, flags=re.DOTALL)[1]  # type: ignore[index]


def _needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program, path=_path()) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"])


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def _started(line: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a line of the shell in a session of its own, and end all of that by its id."""
    log = (folder / "log").open("ab")
    with (
        log,
        subprocess.Popen(
            line,
            shell=True,
            cwd=folder,
            env=os.environ | {"PATH": _path()},
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as run,
    ):
        try:
            yield run
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)


def _rows(folder: Path) -> list[str]:
    path = folder / "matches.csv"
    return (
        [line.partition(",")[2].split(",", 2)[2] for line in path.read_text().splitlines()[1:]] if path.exists() else []
    )


@_needs("mosquitto", "mosquitto_sub", "mosquitto_pub")
def test_mqtt_goes_on_after_a_kill_with_what_was_published_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "rise.rq").write_text(QUERY)
    port = _free_port()
    (tmp_path / "broker.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    line = _recipe("MQTT").replace("localhost", "127.0.0.1").replace("-p 1883", f"-p {port}")

    def publish(value: str) -> bool:
        command = ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(port), "-q", "1", "-t", "sensors/t1", "-m", value]
        return subprocess.run(command, capture_output=True).returncode == 0

    with _started("exec mosquitto -c broker.conf", tmp_path):
        for _ in until("the broker takes no message"):
            if publish("nothing yet"):
                break
        with _started(line, tmp_path):
            for _ in until("there is no checkpoint"):
                if publish("21") and (tmp_path / "kept" / "state").exists():
                    break
        assert publish("33")
        with _started(line, tmp_path):
            for _ in until("there is no match"):
                if _rows(tmp_path):
                    break
    assert set(_rows(tmp_path)) == {"http://example.org/sensors/t1,21,33"}


class _Events(http.server.BaseHTTPRequestHandler):
    """Server-sent events."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        number = "^^<http://www.w3.org/2001/XMLSchema#decimal>"
        for event, value in enumerate(("21", "33")):
            triple = f'<http://example.org/t1> <http://example.org/sensors#celsius> "{value}"{number} .'
            self.wfile.write(f"id: {event}\ndata: {triple}\n\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@_needs("curl", "sed")
def test_http_brings_server_sent_events(tmp_path: Path) -> None:
    (tmp_path / "rise.rq").write_text(QUERY)
    with http.server.HTTPServer(("127.0.0.1", 0), _Events) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        line = _recipe("HTTP").replace("localhost:8000", f"127.0.0.1:{server.server_port}")
        with _started(line, tmp_path) as run:
            assert run.wait(PATIENCE) == 0, (tmp_path / "log").read_text()
        server.shutdown()
    assert _rows(tmp_path) == ["http://example.org/t1,21,33"]
