"""`retewave spark`: the same queries as a job of Spark Structured Streaming.

Data's way: options -> session, inputs, job -> **wait for the end** -> notes.
Invariant: a signal ends the run between the commits of two micro-batches, and the next run goes on there.
Left out: the work on Spark itself (`retewave.spark`), which is imported when the command runs.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from retewave.cli.inputs import stream_name
from retewave.cli.notes import SHOWN, Notes
from retewave.cli.output import check_folders
from retewave.errors import UsageError
from retewave.windows.durations import parse

if TYPE_CHECKING:
    from retewave.spark.driver.running import RunningQuery, StreamInput, Where

__all__ = ["Deployment", "run"]


@dataclass(frozen=True)
class Deployment:
    """Where and how a job runs."""

    master: str | None  # Spark's address; None: this machine, or that of spark-submit
    settings: tuple[str, ...]  # of Spark, KEY=VALUE
    shards: int | None  # None: as many as there are cores
    checkpoint: str  # a folder
    out: str  # a folder, or "console"
    watermark: str  # a duration
    batch_bytes: int  # about as many of files in a micro-batch
    once: bool  # stop when all input that is there has been read
    complete: bool = False  # nothing comes behind that


def run(
    queries: Sequence[str], inputs: Sequence[str], deployment: Deployment, format: str | None, options: dict[str, Any]
) -> None:
    """Run queries as a job, until it ends or a signal comes."""
    from retewave.spark.driver.sessions import check_installed

    check_installed()
    notes = Notes(sys.stderr)
    with notes.warnings():
        streams, where = [_input(text, format) for text in inputs], _where(deployment)
        folders = {"--checkpoint": where.checkpoint} | ({} if where.out == "console" else {"--out": where.out})
        check_folders([each.where for each in streams], folders)
        from retewave.engine.registry import read_query
        from retewave.spark.driver.job import Job
        from retewave.spark.driver.running import open_session, start

        for query in queries:  # before Spark is started, which takes seconds
            read_query(query)
        spark = open_session(deployment.master, deployment.shards, streams, _settings(deployment))
        try:
            shards = deployment.shards or spark.sparkContext.defaultParallelism
            job = Job.of(list(queries), shards=shards, **options)
            notes.say(job.explain().rstrip())
            signals = _Signals()
            with signals.listening(), _shown(deployment.out) as show:
                running = start(spark, job, streams, where)
                _wait(running, signals, show, notes)
            if deployment.once and not deployment.complete:
                notes.say(_waiting(*running.stats.waiting))
        finally:
            spark.stop()


def _input(text: str, format: str | None) -> StreamInput:
    from retewave.spark.driver.running import StreamInput

    if text.startswith("kafka://"):
        return StreamInput(text, None)
    name, path = stream_name(text)
    return StreamInput(path, name, format)


def _settings(deployment: Deployment) -> dict[str, str]:
    found = {}
    for text in deployment.settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--conf {text}: no = in it", hint="write --conf KEY=VALUE")
        found[key] = value
    return found


def _where(deployment: Deployment) -> Where:
    from retewave.spark.driver.running import Where

    try:
        micros = parse(deployment.watermark)
    except ValueError as error:
        raise UsageError(f"--watermark {deployment.watermark}: {error}") from error
    spelled = f"{micros} microseconds"
    if deployment.complete and not deployment.once:
        raise UsageError("--complete says that nothing comes any more", hint="give it with --once")
    out, once = deployment.out, deployment.once
    return Where(deployment.checkpoint, out, spelled, deployment.batch_bytes, once, deployment.complete)


def _waiting(rows: int, decisions: int) -> str:
    """Say what a run with --once has not decided yet.

    >>> _waiting(1200, 1)
    'for what comes later wait 1,200 triples and 1 decision (--watermark); if nothing comes: --complete'
    >>> _waiting(0, 0)
    'nothing waits for what comes later'
    """
    counts = ((rows, "triple"), (decisions, "decision"))
    said = [f"{count:,} {what}{'s' * (count != 1)}" for count, what in counts if count]
    if not said:
        return "nothing waits for what comes later"
    return f"for what comes later wait {' and '.join(said)} (--watermark); if nothing comes: --complete"


def _wait(running: RunningQuery, signals: _Signals, show: Callable[[RunningQuery], None], notes: Notes) -> None:
    def tick(running: RunningQuery) -> None:
        signals.check()
        show(running)

    try:
        running.wait(tick)
    except KeyboardInterrupt:
        running.hush()
        raise
    finally:
        running.stop()
        _tell(running, notes)


def _tell(running: RunningQuery, notes: Notes) -> None:
    """Tell the counts of triples read and left out, and of matches."""
    stats = running.stats
    for error in stats.first_malformed[:SHOWN]:
        notes.say(error)
    notes.say(f"{stats.triples:,} triples, {stats.matches:,} matches")
    for count, what in (
        (stats.malformed, "malformed lines are left out"),
        (stats.untimed, "triples have no time, and are left out"),
        (stats.late, "triples came later than --watermark allows, and are left out"),
    ):
        if count:
            notes.say(f"{count:,} {what}")


class _Signals:
    """Handles the signals that ask for the end; a second signal ends the run at once."""

    def __init__(self) -> None:
        self._asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals, which else would end the process in the middle of its talk with the JVM."""
        before = {number: signal.signal(number, self._take) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if the end is asked for."""
        if self._asked:
            raise KeyboardInterrupt


@contextmanager
def _shown(out: str) -> Iterator[Callable[[RunningQuery], None]]:
    """Show progress on a terminal; show nothing where the matches go to the same terminal."""
    if not sys.stderr.isatty() or (out == "console" and sys.stdout.isatty()):
        yield lambda _: None
        return
    from rich.console import Console

    with Console(file=sys.stderr).status("starting") as status:
        yield lambda running: status.update(_progress(running))


def _progress(running: RunningQuery) -> str:
    last = running.query.lastProgress
    done = "" if last is None else f"batch {last.batchId}, {last.processedRowsPerSecond:,.0f} rows/s, "
    return f"{done}{running.stats.triples:,} triples, {running.stats.matches:,} matches"
