"""`retewave spark` as a process: it is interrupted, goes on, and writes what `retewave run` writes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from retewave.errors import UsageError

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

QUERY = """REGISTER QUERY Chain AS SELECT ?x ?y ?z FROM STREAM <http://e/s> [RANGE 3s]
WHERE { ?x <http://e/p> ?y . ?y <http://e/q> ?z }"""
SPOKEN = '"a \\"b\\"\\n\\tc"@en'
PATIENCE = 500  # seconds until the first matches must be there


def lines(first: int, count: int) -> str:
    """Triples that match, with a literal that has to be escaped among their objects."""
    return "".join(
        f"<http://e/n{i % 5}> <http://e/{'pq'[i % 3 == 0]}> "
        + (SPOKEN if i % 9 == 0 else f"<http://e/n{i * 7 % 5}>")
        + " .\n"
        for i in range(first, first + count)
    )


def silence(count: int) -> str:
    """Triples that no pattern takes: they only tell the time."""
    return "<http://e/a> <http://e/unheard> <http://e/b> .\n" * count


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "retewave", *arguments]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"SPARK_LOCAL_DIRS": str(folder / "local")}


def job(folder: Path, *more: str) -> list[str]:
    told = {"--input": "http://e/s=in", "--rate": "10", "--watermark": "1s", "--shards": "2", "--master": "local[2]"}
    places = {"--checkpoint": "checkpoint", "--out": "out"}
    options = [word for pair in (told | places).items() for word in pair]
    return command("spark", QUERY, *options, *more)


def written(folder: Path) -> list[str]:
    return sorted(line for path in (folder / "out").glob("*/part-*") for line in path.read_text().splitlines())


def without_events(lines: Iterable[str]) -> list[str]:
    """Return explained matches without the numbers of their events, which each shard counts for itself."""
    return sorted(re.sub(r'"event": "#\d+"', '"event": "#"', line) for line in lines)


def wait_for_matches(process: subprocess.Popen[str], folder: Path) -> None:
    """Wait until a micro-batch with matches is written."""
    deadline = time.monotonic() + PATIENCE
    while not written(folder):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, "no match was written"
        time.sleep(0.2)


def test_interrupted_job_goes_on_and_writes_and_explains_what_run_does(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.nt").write_text(lines(0, 100))
    process = subprocess.Popen(
        job(tmp_path, "--explain"), cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for_matches(process, tmp_path)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "Traceback" not in told
    (tmp_path / "in" / "b.nt").write_text(lines(100, 50) + silence(40))
    ended = subprocess.run(
        job(tmp_path, "--once", "--explain"),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "90 triples" in ended.stderr
    (tmp_path / "all.nt").write_text(lines(0, 150) + silence(40))
    wanted = subprocess.run(
        command("run", QUERY, "--stream", "http://e/s=all.nt", "--rate", "10", "--explain", "--format", "ndjson"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert without_events(written(tmp_path)) == without_events(wanted.stdout.splitlines()) != []


E = "http://e/"
OF_EACH_KIND = {  # as many kinds as there are of what does not follow from the rows of a window
    "order.rq": "SELECT * FROM STREAM <http://e/s> [RANGE 3s] { { ?x e:p ?y } SEQ { ?x e:q ?z } }",
    "absence.rq": "SELECT * FROM STREAM <http://e/s> [RANGE 3s] { { ?x e:p ?y } SEQ NOT { ?x e:q ?z } WITHIN 2s }",
    "optional.rq": "SELECT * FROM STREAM <http://e/s> [RANGE 3s] { ?x e:p ?y OPTIONAL { ?y e:q ?z } }",
    "policy.rq": "SELECT ?x FROM STREAM <http://e/s> [RANGE 3s] POLICY recent { { ?x e:p ?y } SEQ { ?x e:q ?z } }",
    "view.rq": "SELECT ?x (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 3s STEP 1s] { ?x e:p ?y } GROUP BY ?x",
    "ask.rq": "ASK FROM STREAM <http://e/s> [RANGE 1s STEP 1s] { e:n1 e:p e:n2 }",
    "runs.spaseq": "SELECT ?x WITHIN 2 SECONDS FROM STREAM S <http://e/s> WHERE { SEQ (A; B+) "
    "DEFINE GPM A ON S { ?x e:p ?y } DEFINE GPM B ON S { ?x e:q ?z } }",
}


def run_beside(folder: Path, queries: list[str], *options: str) -> list[str]:
    """Return what `retewave run` writes of all that is in the folder `in`."""
    whole = folder / "whole.nt"
    whole.write_bytes(b"".join(path.read_bytes() for path in sorted((folder / "in").iterdir())))
    asked = command("run", *queries, "--stream", "http://e/s=whole.nt", "--rate", "10", *options)
    ended = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True)
    return sorted(ended.stdout.splitlines())


def test_complete_stream_brings_what_run_writes_of_a_query_of_each_kind(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in OF_EACH_KIND.items():
        (tmp_path / name).write_text(f"PREFIX e: <{E}>\n{text}")
    for place in range(3):
        (tmp_path / "in" / f"{place}.nt").write_text(lines(60 * place, 60))
    asked = [*job(tmp_path, "--once", "--complete", "--batch-bytes", "2500")]
    asked[asked.index(QUERY) : asked.index(QUERY) + 1] = list(OF_EACH_KIND)
    ended = subprocess.run(asked, env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert written(tmp_path) == run_beside(tmp_path, list(OF_EACH_KIND))
    assert {f'"query":"{name.partition(".")[0]}"' in "".join(written(tmp_path)) for name in OF_EACH_KIND} == {True}


def test_what_waits_is_counted_in_the_last_line(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.nt").write_text(lines(0, 60))
    asked = job(tmp_path, "--once")
    asked[asked.index(QUERY)] = f"PREFIX e: <{E}> {OF_EACH_KIND['absence.rq']}"
    ended = subprocess.run(asked, env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    last = ended.stderr.splitlines()[-1]
    waits = r"retewave: for what comes later wait \d+ triples and \d+ decisions \(--watermark\); "
    assert re.fullmatch(waits + "if nothing comes: --complete", last)


# ---- without a JVM ----
def test_complete_belongs_to_once_and_to_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    ended = subprocess.run(job(tmp_path, "--complete"), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "give it with --once" in ended.stderr


def test_missing_java_is_told_with_what_to_install(tmp_path: Path) -> None:
    ended = subprocess.run(
        job(tmp_path), env={"PATH": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "Spark needs Java" in ended.stderr
    assert "install Java 17" in ended.stderr


def test_pandas_that_spark_cannot_use_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from retewave.spark.driver import sessions

    monkeypatch.setattr(sessions, "version", lambda package: "3.0.1" if package == "pandas" else "99")
    with pytest.raises(UsageError, match="pandas below 3"):
        sessions.check_installed()


@pytest.mark.parametrize("package", ["protobuf", "pyarrow"])
def test_packages_that_are_too_old_for_spark_are_told(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    from retewave.spark.driver import sessions

    monkeypatch.setattr(sessions, "version", lambda each: "5.26.0" if each == package else sessions.OLDEST[each])
    with pytest.raises(UsageError, match=f"Spark works with {package} from .* on, and 5.26.0 is installed"):
        sessions.check_installed()


def test_the_oldest_packages_are_those_that_the_extra_allows() -> None:
    from retewave.spark.driver.sessions import OLDEST

    extra = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]["spark"]
    allowed = {name: found[1] for name in OLDEST for each in extra if (found := re.match(rf"{name}>=([\d.]+)", each))}
    assert allowed == OLDEST


def test_importing_retewave_and_its_spark_package_imports_no_pyspark() -> None:
    code = "import sys, retewave, retewave.spark; print('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_only_one_way_to_tell_the_time(tmp_path: Path) -> None:
    ended = subprocess.run(job(tmp_path, "--arrival"), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "only one of" in ended.stderr
