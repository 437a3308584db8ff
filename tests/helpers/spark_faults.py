"""Jobs of `retewave spark` as processes of their own, which tests kill, and what their output must be.

A job is a session of processes: the command, its JVM, and the Python workers.  Everything that a test starts is ended
by its process id, whatever becomes of the test.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import cast

import psutil

import retewave as rw
from helpers.run_faults import PATIENCE, until

__all__ = [
    "Found",
    "Job",
    "Life",
    "Workload",
    "changes",
    "found_in",
    "key",
    "killed",
    "life",
    "moment",
    "until",
    "workload",
]

_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a JVM that is killed soon has no use for its best code
RATE = 1000  # triples a second: Spark's watermarks have milliseconds, and so have the times
STREAM = "http://e/s"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # when the stream begins where times are no numbers

_E = "PREFIX e: <http://e/>\n"
_WHERE = "{ ?o e:placed ?c . ?o e:paid ?k }"
_QUERIES = {
    "paid": f"SELECT ?o ?c ?k FROM STREAM <{STREAM}> [RANGE 2s] WHERE {_WHERE}",
    "buyers": f"SELECT DISTINCT ?c FROM STREAM <{STREAM}> [RANGE 1s] WHERE {_WHERE}",
    "uses": f"CONSTRUCT {{ ?c e:uses ?k }} FROM STREAM <{STREAM}> [RANGE 500ms] "
    "WHERE { ?o e:placed ?c . ?o e:paid ?k . ?k e:checked ?n }",
}
_OF_EACH_KIND = {  # what does not follow from the rows of a window
    "unpaid": f"SELECT ?o FROM STREAM <{STREAM}> [RANGE 1s] "
    "{ { ?o e:placed ?c } SEQ NOT { ?o e:paid ?k } WITHIN 300ms }",
    "unchecked": f"SELECT ?o ?n FROM STREAM <{STREAM}> [RANGE 1s] {{ ?o e:paid ?k OPTIONAL {{ ?k e:checked ?n }} }}",
    "next": f"SELECT ?k ?n FROM STREAM <{STREAM}> [RANGE 1s] POLICY recent "
    "{ { ?o e:paid ?k } SEQ { ?k e:checked ?n } }",
    "busy": f"SELECT ?c FROM STREAM <{STREAM}> [RANGE 500ms STEP 200ms] "
    "{ ?o e:placed ?c } GROUP BY ?c HAVING (COUNT(*) > 5)",
    "runs": f"SELECT ?k ?n WITHIN 1 SECONDS FROM STREAM S <{STREAM}> WHERE {{ SEQ (A; B) "
    "DEFINE GPM A ON S { ?o e:byCard ?k } DEFINE GPM B ON S { ?k e:checked ?n } }",
    "again": f"REGISTER STREAM e:twice AS CONSTRUCT {{ ?c e:twice ?k }} FROM STREAM <{STREAM}> [RANGE 200ms] "
    "WHERE { { ?o e:placed ?c } SEQ { ?o e:paid ?k } }",
    "built": "SELECT ?c ?k FROM STREAM e:twice [RANGE 200ms] WHERE { ?c e:twice ?k }",
}
_IN_TWO_STAGES = {  # views over all that comes: a last task puts together what the shards send
    "placed": f"SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?last) FROM STREAM <{STREAM}> [RANGE 500ms STEP 100ms] "
    "{ ?o e:placed ?c }",
    "first": f"SELECT ?o ?k FROM STREAM <{STREAM}> [RANGE 300ms STEP 100ms] {{ ?o e:paid ?k }} ORDER BY ?o LIMIT 3",
    "named": f"SELECT DISTINCT ?c FROM STREAM <{STREAM}> [RANGE 400ms STEP 200ms] "
    "{ ?o e:placed ?c . ?o e:paid ?k } ORDER BY ?c LIMIT 5",
}
_KINDS = {"joins": _QUERIES, "of each kind": _OF_EACH_KIND, "in two stages": _IN_TWO_STAGES}
_SCHEMA = """@prefix e: <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:byCard rdfs:subPropertyOf e:paid ."""
_DISTINCT = "buyers"

Found = Counter[tuple[str, float | None, float, frozenset[tuple[str, str]]]]  # (query, start, end, bindings)


@dataclass(frozen=True)
class Workload:
    """A stream and queries, in a folder."""

    folder: Path  # with the folder `stream` and the files of the queries
    triples: int  # of the stream
    asked: Mapping[str, str]  # the queries by name

    @property
    def stream(self) -> Path:
        """The file of the stream."""
        return self.folder / "stream" / "orders.nt"

    @property
    def queries(self) -> list[str]:
        """The files of the queries."""
        return [str(self.folder / f"{name}.{'spaseq' if name == 'runs' else 'rq'}") for name in self.asked]

    @property
    def schema(self) -> str:
        """The file of the schema."""
        return str(self.folder / "schema.ttl")

    @property
    def arguments(self) -> list[str]:
        """The command's arguments that tell what is asked."""
        complete = [] if self.asked is _QUERIES else ["--complete"]  # a topic has no end
        return [*self.queries, "--schema", self.schema, "--watermark", "0s", "--shards", "2", "--once", *complete]

    def files(self, batches: int) -> list[str]:
        """Return the arguments that let it read the stream's file in about so many micro-batches."""
        size = -(-self.stream.stat().st_size // batches)
        return ["--input", f"{STREAM}={self.stream.parent}", "--rate", str(RATE), "--batch-bytes", str(size)]

    @cached_property
    def expected(self) -> Found:
        """What the embedded engine finds."""
        engine, found = rw.Engine(self.schema), Found()
        for query in self.queries:
            engine.register(query, keep=0)
        for match in engine.run(rw.read(self.stream, rate=RATE, stream=STREAM)):
            name = match.query.name
            builds = name in ("uses", "again")
            built = [dict(zip("spo", triple, strict=True)) for triple in match.triples] if builds else [match]
            for each in built:
                bound = {variable: each[variable].n3() for variable in each}
                found[key(name, cast(float, match.start), cast(float, match.end), bound)] += 1
        return found


def workload(folder: Path, orders: int, kind: str = "joins") -> Workload:
    """Write a stream of orders, their payments, and checks of cards, with the queries about them."""
    chance, due = random.Random(6), []
    for order in range(orders):
        buyer, card, other = chance.randrange(40), chance.randrange(30), chance.randrange(30)
        due.append((order, f"<http://e/o{order}> <http://e/placed> <http://e/c{buyer}> ."))
        due.append((order + chance.randint(1, 400), f"<http://e/o{order}> <http://e/byCard> <http://e/k{card}> ."))
        due.append((order + chance.randint(1, 400), f'<http://e/k{other}> <http://e/checked> "{order}" .'))
    lines = [line for _, line in sorted(due)]
    made = Workload(folder, len(lines), _KINDS[kind])
    made.stream.parent.mkdir(parents=True)
    made.stream.write_text("\n".join(lines) + "\n")
    Path(made.schema).write_text(_SCHEMA)
    for (name, text), path in zip(made.asked.items(), made.queries, strict=True):
        said = f"REGISTER QUERY {name} AS " if kind == "joins" else ""
        Path(path).write_text(f"{_E}{said}{text}")
    return made


def found_in(out: Path) -> Found:
    """Return what a job has written, as a reader of its folder sees it."""
    found = Found()
    for part in out.glob("batch-*/part-*"):
        for line in part.read_text().splitlines():
            row = json.loads(line)
            bound = {name: _n3(term) for name, term in row["bindings"].items()}
            found[key(row["query"], _seconds(row["start"]), _seconds(row["end"]), bound)] += 1
    return found


def moment(place: int) -> datetime:
    """Return the time of a triple of the stream where times are no numbers."""
    return EPOCH + place * timedelta(seconds=1) / RATE


def _seconds(time: float | str) -> float:
    """Return a time as the rate alone would tell it."""
    return time if isinstance(time, float) else (datetime.fromisoformat(time) - EPOCH) / timedelta(seconds=1)


def key(query: str, start: float, end: float, bound: Mapping[str, str]) -> tuple:
    """Return what identifies a match; DISTINCT may report any of several equal ones, so their start does not count."""
    return query, None if query == _DISTINCT else start, end, frozenset(bound.items())


def _n3(term: Mapping[str, str]) -> str:
    if term["type"] == "uri":
        return f"<{term['value']}>"
    return json.dumps(term["value"]) + (f"^^<{term['datatype']}>" if "datatype" in term else "")


# ---- processes ----
class Life:
    """One run of a command: its process and all that descend from it."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=out, start_new_session=True, env=dict(os.environ) | dict(environment)
            )

    @property
    def ended(self) -> int | None:
        """Its exit code, if it has ended."""
        return self._process.poll()

    def processes(self) -> list[psutil.Process]:
        """Return its processes that live: they stay in its session, whatever groups they make."""
        return [process for process in psutil.process_iter() if _session(process) == self._process.pid]

    def wait(self, seconds: float = PATIENCE) -> int | None:
        """Return its exit code when it ends by itself; None if it has not, after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End all its processes at once."""
        for _ in until("processes that do not die"):
            living = self.processes()
            for process in living:
                killed(process)
            if self._process.poll() is not None and not living:
                return

    def told(self) -> str:
        """Return the end of what it has said."""
        return self.log.read_text(errors="replace")[-4000:]


def _session(process: psutil.Process) -> int | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else os.getsid(process.pid)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return None


def killed(process: psutil.Process) -> bool:
    """Kill a process; tell whether it was still there."""
    try:
        process.send_signal(signal.SIGKILL)
    except psutil.NoSuchProcess:
        return False
    return True


@contextmanager
def life(command: Sequence[str], log: Path, **environment: str) -> Iterator[Life]:
    """Run a command; whatever happens, nothing of it is left behind."""
    run = Life(command, log, {"JAVA_TOOL_OPTIONS": _SHORT_LIVED} | environment)
    try:
        yield run
    finally:
        run.kill()


# ---- jobs ----
@dataclass(frozen=True)
class Job:
    """A job with its checkpoint and its output, which may live many times."""

    work: Workload  # what it does
    folder: Path  # of its checkpoint, its output and its log
    batches: int  # about how many micro-batches it takes
    master: str = "local[2]"  # Spark's address
    topic: str | None = None  # where the stream comes from, if not from its file
    settings: tuple[str, ...] = ()  # of Spark

    @property
    def checkpoint(self) -> Path:
        """Where Spark keeps what it needs to go on."""
        return self.folder / "checkpoint"

    @property
    def out(self) -> Path:
        """Where the matches go."""
        return self.folder / "out"

    def arguments(self) -> list[str]:
        """Return the arguments of the command."""
        stream = self.work.files(self.batches) if self.topic is None else ["--input", self.topic]
        where = ["--checkpoint", str(self.checkpoint), "--out", str(self.out), "--master", self.master]
        return [*self.work.arguments, *stream, *where, *(part for each in self.settings for part in ("--conf", each))]

    @contextmanager
    def life(self) -> Iterator[Life]:
        """Run it, from where it was left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "retewave", "spark", *self.arguments()]
        with life(command, self.folder / "log", SPARK_LOCAL_IP="127.0.0.1") as run:
            yield run

    def finish(self) -> None:
        """Run it to its end."""
        with self.life() as run:
            assert run.wait() == 0, run.told()

    # ---- what is on the disk ----
    def committed(self) -> int:
        """Return how many micro-batches are done for good."""
        return sum(1 for _ in (self.checkpoint / "commits").glob("[0-9]*"))

    def written(self) -> float:
        """Return when the output of a micro-batch was last complete."""
        return _latest(self.out.glob("batch-*/_SUCCESS"))

    def saved(self) -> float:
        """Return when a shard's state was last saved."""
        return _latest(self.checkpoint.glob("state/0/*/**/*.changelog"))

    def touched(self) -> float:
        """Return when anything was last begun or done."""
        return _latest([*self.checkpoint.glob("*"), *self.out.glob("*")])

    def standing(self) -> str:
        """Return how the last micro-batch stands, for people."""
        begun = sum(1 for _ in (self.checkpoint / "offsets").glob("[0-9]*"))
        if begun == self.committed():
            return f"{begun} batches committed"
        out = self.out / f"batch-{begun - 1:09d}"
        stage = "written" if (out / "_SUCCESS").exists() else "half written" if out.exists() else "not written"
        return f"{begun - 1} batches committed, and one {stage}"

    def pace(self) -> float:
        """Return the usual seconds from a commit to the next."""
        times = sorted(_changed(file) for file in (self.checkpoint / "commits").glob("[0-9]*"))
        gaps = sorted(b - a for a, b in pairwise(times))
        return gaps[len(gaps) // 2]


def _latest(files: Iterable[Path]) -> float:
    return max((_changed(file) for file in files), default=0.0)


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def changes(seen: Callable[[], float], run: Life, what: str) -> None:
    """Wait until what is seen is more than now; fail if the run ends before."""
    before = seen()
    for _ in until(f"nothing was {what}"):
        if seen() > before:
            return
        assert run.ended is None, f"the job ended before anything was {what}:\n{run.told()}"
