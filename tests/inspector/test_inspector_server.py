"""The inspector's server: what it serves, and whom it refuses."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra `inspect` is not installed")
pytest.importorskip("uvicorn", reason="the extra `inspect` is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

from helpers.inspected import LINES, QUERY, SCRIPT, new_controller, serving  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from retewave.inspector.server import application, own_hosts  # noqa: E402

HOST = "127.0.0.1:8765"


@pytest.fixture
def client() -> Iterator[TestClient]:
    controller = new_controller()
    with TestClient(application(controller, own_hosts("127.0.0.1", 8765)), base_url=f"http://{HOST}") as made:
        yield made
    controller.close()


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js", "/network"])
def test_page_and_network_are_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js"])
def test_page_asks_for_nothing_from_outside(client: TestClient, path: str) -> None:
    text = client.get(path).text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text and "https://" not in text and "innerHTML" not in text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", ""])
def test_request_for_another_host_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/network", "/memory/0"):
        assert client.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", f"https://{HOST}", ""])
def test_request_of_another_page_is_refused_and_does_nothing(client: TestClient, origin: str) -> None:
    assert client.post("/step", headers={"origin": origin}).status_code == 403
    assert client.get("/network", headers={"origin": origin}).status_code == 403
    assert client.post("/pause", headers={"origin": f"http://{HOST}"}).json()["poured"] == 0


def test_own_page_may_call_it_localhost(client: TestClient) -> None:
    headers = {"host": "localhost:8765", "origin": "http://localhost:8765"}
    assert client.post("/step", headers=headers).json()["poured"] == 1


def test_commands_want_a_post(client: TestClient) -> None:
    assert [client.get(f"/{name}").status_code for name in ("run", "step", "pause", "pace")] == [405] * 4


def test_no_script_but_the_page_s_own_may_run(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy
    assert client.get("/memory/0").headers["content-type"] == "application/json"


def test_step_tells_what_was_touched_and_memories_tell_their_rows(client: TestClient) -> None:
    snapshot = client.post("/step").json()
    (memory,) = (name for name in snapshot["last"]["touched"] if name.startswith("memory:"))
    assert snapshot["nodes"][memory]["live"] == 1
    page = client.get(f"/memory/{memory.removeprefix('memory:')}").json()
    assert page["rows"] == [["0.0", "0.0", "e:b", "e:a"]]


def test_query_of_any_name_tells_its_matches(client: TestClient) -> None:
    client.post("/step")
    client.post("/step")
    (name,) = (node["name"] for node in client.get("/network").json()["nodes"] if node["kind"] == "query")
    found = client.get("/query/pair%20%3Cscript%3Edocument.title%20=%20'run'%3C%2Fscript%3E").json()
    assert (found["title"], found["rows"][0][3]) == (name.removeprefix("query:"), f'"{SCRIPT}"')


@pytest.mark.parametrize("path", ["/memory/99", "/query/nothing", "/memory/0?offset=-1", "/memory/0?offset=x"])
def test_question_that_cannot_be_answered_is_refused_with_its_reason(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 400 and answer.json()["error"]


@pytest.mark.parametrize("pace", ["", "x", "true", "-1", "[1]", "NaN"])
def test_pace_that_is_none_is_refused(client: TestClient, pace: str) -> None:
    assert client.post("/pace", content=pace).status_code == 400


def test_pace_is_set(client: TestClient) -> None:
    assert client.post("/pace", content="250").json()["pace"] == 250
    assert client.post("/pace", content="null").json()["pace"] is None


def test_counts_come_as_events_when_they_change() -> None:
    with serving(new_controller()) as address, httpx.stream("GET", f"{address}/events", timeout=60) as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        seen: list[int] = []
        for line in events.iter_lines():
            if line.startswith("data: "):
                poured = json.loads(line[6:])["poured"]
                if poured in seen:
                    continue  # another count has changed: readers go ahead, and meet terms
                seen.append(poured)
                if poured == 2:
                    break
                httpx.post(f"{address}/step", timeout=60)
        assert seen == [0, 1, 2]


@pytest.mark.parametrize(("number", "ignored"), [(signal.SIGINT, ""), (signal.SIGINT, "INT"), (signal.SIGTERM, "")])
def test_command_line_serves_until_it_is_interrupted(number: int, ignored: str, tmp_path: Path) -> None:
    """Signals that the parent ignores are ignored by its children, and so by what a script starts with `&`."""
    stream = tmp_path / "stream.nt"
    stream.write_text(LINES)
    shell = ["sh", "-c", f'trap \'\' {ignored}; exec "$0" "$@"'] if ignored else []
    command = [sys.executable, "-m", "retewave", "inspect", QUERY, "--stream", f"http://e/s={stream}", "--rate", "1"]
    server = subprocess.Popen([*shell, *command, "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        line = next(line for line in server.stderr if "http://127.0.0.1:" in line)
        address = line.split()[-1].rstrip("/")
        assert httpx.post(f"{address}/step", timeout=60).json()["poured"] == 1
    finally:
        server.send_signal(number)
        server.communicate(timeout=30)
    assert server.returncode == 130


def test_missing_packages_are_named_with_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from retewave.cli.app import WRONG, app

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "retewave.inspector.serving")
    result = CliRunner().invoke(app, ["inspect", QUERY, "--stream", "-"])
    assert result.exit_code == WRONG
    assert "pip install 'retewave[inspect]'" in result.stderr


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "no.such.host.invalid"])
def test_host_that_cannot_be_listened_on_by_name_is_refused(host: str) -> None:
    from typer.testing import CliRunner

    from retewave.cli.app import WRONG, app

    result = CliRunner().invoke(app, ["inspect", QUERY, "--stream", "-", "--host", host])
    assert result.exit_code == WRONG
    assert "--host" in result.stderr or "cannot listen" in result.stderr
