"""Engines for events that run on the JVM: Esper, Siddhi, Flink CEP, each driven by a small Java program of our own.

Where it stands: peers of the event workloads.  At first use Maven fetches an engine's jars, as its `pom.xml` says,
and javac compiles its program, into `build/peers`; later runs find both there.  Invariant: a program has its events
as the engine's own objects, and has played the stream's beginning to engines that were thrown away, before its clock
starts.
Left out: clusters and brokers; an engine is called by the program, in one thread.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

from retewave.bench.events.task import EventFound, EventPeer, EventTask

__all__ = ["PEERS", "build", "built"]

BUILD = Path("build/peers")  # below the folder where the bench is started
WARM_UP = 4.0  # seconds
_SOURCES = Path(__file__).with_name("java")
_JAVA = ("-XX:+UseSerialGC", "-Xms2g", "-Xmx4g")  # one thread collects, in the events' own
_PROGRAMS = {"esper": "EsperPeer", "siddhi": "SiddhiPeer", "flink": "FlinkPeer"}


def _sources(engine: str) -> list[Path]:
    return [*sorted((_SOURCES / "common").glob("*.java")), *sorted((_SOURCES / engine).glob("*.java"))]


def _stamp(*paths: Path) -> str:
    """Return a digest of files, which tells whether what was made of them is still right."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def _version(engine: str) -> str:
    found: list[str] = re.findall("<version>(.+?)</version>", (_SOURCES / engine / "pom.xml").read_text())
    return found[1]  # the first is our own


def _is_made(folder: Path, *sources: Path) -> bool:
    made = folder / "made"
    return made.exists() and made.read_text() == _stamp(*sources)


def _make(folder: Path, sources: list[Path], command: list[str]) -> str:
    """Let a command fill a folder; return why it could not, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        return f"{Path(command[0]).name} failed: {(lines or ['in silence'])[0][:300]}"
    (folder / "made").write_text(_stamp(*sources))
    return ""


def built(engine: str) -> bool:
    """Tell whether an engine's jars and its program are there."""
    folder = BUILD / engine
    return _is_made(folder / "jars", _SOURCES / engine / "pom.xml") and _is_made(folder / "classes", *_sources(engine))


def build(engine: str) -> str:
    """Fetch an engine and compile its program, unless they are there; return why that cannot be, or nothing."""
    for tool, what in (("java", "Java"), ("javac", "a compiler of Java (a JDK)")):
        if not shutil.which(tool):
            return f"there is no {tool}: {what} is needed"
    folder, pom, sources = BUILD / engine, _SOURCES / engine / "pom.xml", _sources(engine)
    jars, classes = folder / "jars", folder / "classes"
    if not _is_made(jars, pom):
        if not shutil.which("mvn"):
            return f"there is no mvn: Maven fetches {engine}'s jars"
        words = [
            "-q",
            "-B",
            "-Dstyle.color=never",
            "-f",
            str(pom),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
        ]
        if why := _make(jars, [pom], ["mvn", *words, f"-DoutputDirectory={jars.resolve()}"]):
            return why
    if not _is_made(classes, *sources):
        words = ["-proc:none", "-cp", f"{jars}/*", "-d", str(classes), *map(str, sources)]
        return _make(classes, sources, ["javac", *words])
    return ""


def _query(engine: str, form: str, workload: str) -> str:
    """Return the text of an engine's query; Flink's patterns are in its program."""
    found = list((_SOURCES / engine).glob(f"{workload}{form}.[!j]*"))
    return found[0].read_text() if found else ""


def _run(task: EventTask, engine: str, form: str) -> EventFound:
    folder = BUILD / engine
    words = [task.workload, _query(engine, form, task.workload), task.csv, WARM_UP]
    command = ["java", *_JAVA, "-cp", f"{folder}/classes:{folder}/jars/*", _PROGRAMS[engine], *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"{engine}: {next((line for line in done.stderr.splitlines() if 'xception' in line), 'failed')}"
        )
    return EventFound(**json.loads(done.stdout.splitlines()[-1]))


_ALL = ("W1", "W2", "W3", "W4")
_NO_REPETITION = ("W1", "W3", "W4")


def _peer(engine: str, name: str, cannot: str, form: str = "", workloads: tuple[str, ...] = _ALL) -> EventPeer:
    return EventPeer(
        name=name,
        cannot=cannot,
        run=partial(_run, engine=engine, form=form),
        missing=lambda workload: build(engine),
        workloads=workloads,
    )


PEERS = {
    "esper": _peer("esper", f"Esper {_version('esper')}", "no RDF, no inference; windows and indexes laid out by hand"),
    "esper pattern": _peer(
        "esper", f"Esper {_version('esper')}, as a pattern", "no RDF, no inference", "-pattern", _NO_REPETITION
    ),
    "siddhi": _peer(
        "siddhi",
        f"Siddhi {_version('siddhi')}",
        "no RDF, no inference; windows and tables laid out by hand",
        workloads=_NO_REPETITION,
    ),
    "flink": _peer(
        "flink",
        f"Flink CEP {_version('flink')}, the automaton alone",
        "no RDF, no inference; without Flink around it: no state backend, no watermarks, no network",
    ),
}
