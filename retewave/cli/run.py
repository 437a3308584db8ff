"""`retewave run`: streams in, matches out, counts at the end.

Data's way: options -> engine, readers, sink -> **the loop** -> notes and stats.
Invariant: however the run ends, the matches found so far are written, and so are the stats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from retewave.cli.checkpoint import Checkpoint, asked, check_formats
from retewave.cli.every import begin_stats, every, tell
from retewave.cli.inputs import Interrupted, Stoppable, Stopper, open_stream, stream_name
from retewave.cli.notes import Notes, Tick, progress
from retewave.cli.output import check_outputs, naming, open_output, stdout
from retewave.cli.queries import Queries
from retewave.cli.times import TimeOptions
from retewave.engine.engine import Engine
from retewave.engine.stats import stats
from retewave.errors import UsageError
from retewave.io.reading.reader import Reader, read
from retewave.io.sinks.explained import ExplainedSink
from retewave.io.sinks.resumed import go_on
from retewave.io.sinks.sinks import Sink, open_sink, usual_format
from retewave.match import Matches
from retewave.windows import durations

__all__ = ["Course", "Streams", "Writing", "run"]


@dataclass(frozen=True)
class Streams:
    """The inputs of a run."""

    written: tuple[str, ...]  # [NAME=]FILE or -
    format: str | None  # None: the file's name tells
    times: TimeOptions
    on_error: str  # "count" or "raise"


@dataclass(frozen=True)
class Writing:
    """The outputs of a run."""

    format: str | None  # of the matches; None: the queries decide
    out: Path | None  # the matches' file; None: stdout
    stats: Path | None  # the stats' file; None: they are not written


@dataclass(frozen=True)
class Course:
    """The options of a run that lasts."""

    every: str | None = None  # how often counts are written
    checkpoint: Path | None = None  # the folder from which it goes on
    checkpoint_every: str = "30s"  # how often the checkpoint is written
    log_level: str | None = None  # the lowest level that is logged to stderr; None: nothing is


def run(
    queries: Queries, streams: Streams, output: Writing, options: dict[str, Any], course: Course | None = None
) -> None:
    """Run queries over streams; raise KeyboardInterrupt at the end of a run that a signal ended."""
    course = course or Course()
    notes, stopper = Notes(sys.stderr), Stopper()
    telling = _seconds("--every", course.every) if course.every is not None else None
    with (
        stopper.listening(),
        notes.warnings(),
        notes.compiling(),
        notes.logging(course.log_level),
        ExitStack() as opened,
    ):
        kept = _checkpoint(queries, streams, output, options, course)
        if kept is not None:
            opened.enter_context(kept.held())
            if kept.ended:
                _tell_ended(kept, output, notes)
                return
        engine = _engine(queries, options, kept, notes)
        files = [(name, path, opened.enter_context(open_stream(path, stopper))) for name, path in _split(streams)]
        readers = _readers(streams, files)
        _check_names(engine, readers, notes)
        notes.overlooked_times(readers, streams.times)
        engine.matcher.current()  # reads schema and static data, to find mistakes before files are opened
        check_outputs(_read(engine, streams, options), {"--out": output.out, "--stats": output.stats})
        if kept is not None:
            readers = _gone_on(kept, engine, readers, notes)
        if output.stats is not None:
            begin_stats(engine.stats(), output.stats)
        out = opened.enter_context(open_output(output.out, kept.output if kept is not None else None))
        sink = _sink(engine, queries, output.format, out, streams.times, resumed=kept is not None)
        tick = opened.enter_context(_progress(engine, [file for _, _, file in files], out))
        for _, _, file in files:
            file.tick = tick
        keep = None if kept is None else partial(kept.write, engine, out)
        try:
            with nullcontext() if telling is None else every(telling, lambda: tell(stats(engine), output.stats)):
                found = engine.run_batches(*readers, between=keep, tick=streams.times.tick)
                _loop(found, len(readers), sink, output.out, keep, stopper)
        finally:
            notes.left_out(engine, readers)
            if telling is not None or output.stats is not None:
                tell(engine.stats(), output.stats)
    if stopper.asked:
        raise KeyboardInterrupt


def _engine(queries: Queries, options: dict[str, Any], kept: Checkpoint | None, notes: Notes) -> Engine:
    """Return the engine as a checkpoint has kept it, or a new one."""
    restored = None if kept is None else kept.engine()
    if restored is not None:
        return restored
    engine = Engine(**options, on_closure=notes.closing)
    queries.register(engine)
    return engine


def _loop(
    found: Iterator[list[Matches]],
    readers: int,
    sink: Sink,
    out: Path | None,
    keep: Callable[..., object] | None,
    stopper: Stopper,
) -> None:
    """Write the matches until the streams end or a signal comes; `keep` writes the checkpoint, if there is one."""

    def close() -> None:
        with naming(out):
            sink.close()

    with ExitStack() as ending:
        ending.callback(close)
        try:
            for batches in found:
                with naming(out), stopper.writing():
                    sink.write(batches)
        except Interrupted:
            # Rows that several readers had read ahead have all been merged by now, so no checkpoint can stand here.
            if keep is not None and readers == 1:
                keep(now=True)
            return
    if keep is not None:
        keep(now=True, ended=True)


# ---- a run with a checkpoint ----
def _checkpoint(
    queries: Queries, streams: Streams, output: Writing, options: dict[str, Any], course: Course
) -> Checkpoint | None:
    if course.checkpoint is None:
        return None
    times = streams.times
    given = {
        "--language": queries.language,
        "--policy": queries.policy,
        "--report": queries.report,
        "--explain": queries.explained,
        "--stream": list(streams.written),
        "--rate": times.rate,
        "--time-property": times.property,
        "--event-by": list(times.events),
        "--stream-format": streams.format,
        "--on-error": streams.on_error,
        "--format": output.format,
        "--out": None if output.out is None else str(output.out.absolute()),
    }
    files: dict[str, Sequence[str | Path]] = {
        "query": queries.written,
        "--schema": options["schema"],
        "--static": options["static"],
        "--dataset": list(options["datasets"].values()),
    }
    others = {name: value for name, value in options.items() if name not in ("schema", "static", "datasets", "imports")}
    budget = others.pop("closure_budget")
    others |= {"closure_seconds": budget.seconds, "closure_megabytes": budget.megabytes}
    given |= {f"--{name.replace('_', '-')}": value for name, value in others.items()}
    paths = [path for _, path in _split(streams)]
    seconds = _seconds("--checkpoint-every", course.checkpoint_every)
    return Checkpoint(course.checkpoint, seconds, asked(given, files), paths)


def _gone_on(kept: Checkpoint, engine: Engine, readers: Sequence[Reader], notes: Notes) -> list[Reader]:
    """Return the readers at the positions of the checkpoint, and tell what a pipe cannot do."""
    check_formats(readers)
    if any(path == "-" for path in kept.streams):
        notes.say("standard input cannot be read again: what came since the last checkpoint is lost at a kill")
    if kept.note is None:
        return list(readers)
    twice = "" if kept.note["length"] is not None else "; matches that were written since come again"
    notes.say(f"going on from {kept.folder}, at {engine.triples:,} triples{twice}")
    return [reader.at(position) for reader, position in zip(readers, engine.positions, strict=True)]


def _tell_ended(kept: Checkpoint, output: Writing, notes: Notes) -> None:
    """Bring the files of a run that has ended to what they were at its end."""
    assert kept.note is not None
    notes.say(f"the run in {kept.folder} has ended; remove the folder to run it anew")
    if output.out is not None:
        with kept.output(output.out):
            pass  # this cuts it to its length then
    if output.stats is not None:
        tell(kept.note["stats"], output.stats)


def _seconds(option: str, text: str) -> float:
    try:
        return durations.parse(text) / 1e6
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


def _sink(
    engine: Engine, queries: Queries, wanted: str | None, out: BinaryIO, times: TimeOptions, *, resumed: bool
) -> Sink:
    if queries.explained:
        return ExplainedSink(wanted or "text", out)
    format, seconds = wanted or usual_format(engine.queries), times.rate is not None
    if format == "text":
        raise UsageError("text is for matches that are explained", hint="add --explain, or choose another format")
    if format == "arrow" and out.isatty():
        raise UsageError("arrow is not for a terminal", hint="write it to a file with --out, or to a pipe")
    if resumed and out is not stdout():
        return go_on(format, engine.queries, out, seconds=seconds)
    return open_sink(format, engine.queries, out, seconds=seconds)


def _split(streams: Streams) -> list[tuple[str | None, str]]:
    """Return the name and the path of each stream."""
    found = [stream_name(text) for text in streams.written]
    if sum(path == "-" for _, path in found) > 1:
        raise UsageError("standard input can be read once only", hint="name one --stream -")
    return found


def _read(engine: Engine, streams: Streams, options: dict[str, Any]) -> list[str | Path]:
    """Return all files that are read, those that queries name included."""
    found = [*(query.parsed.source for query in engine.queries), *engine.datasets.files]
    found += [path for _, path in _split(streams)]
    return [*found, *options["schema"], *options["static"], *options["datasets"].values()]


def _readers(streams: Streams, files: Sequence[tuple[str | None, str, Stoppable]]) -> list[Reader]:
    streams.times.check_names(name for name, _, _ in files)
    return [
        read(
            cast(BinaryIO, file),
            name="<stdin>" if path == "-" else path,
            format=streams.format,
            on_error=cast(Literal["count", "raise"], streams.on_error),
            stream=name,
            **streams.times.reading(name),
        )
        for name, path, file in files
    ]


def _check_names(engine: Engine, readers: Sequence[Reader], notes: Notes) -> None:
    """Tell of a stream that no query listens to, which is most likely a misspelt name."""
    named = [{stream.iri[1:-1].decode() for stream in query.parsed.streams} for query in engine.queries]
    if not all(named):
        return  # a query that names no stream listens to all
    known = set().union(*named)
    for reader in readers:
        if reader.stream is not None and reader.stream not in known:
            listed = ", ".join(sorted(known))
            notes.say(f"warning: no query listens to the stream {reader.stream}; they name {listed}")


def _progress(engine: Engine, files: Sequence[Stoppable], out: BinaryIO) -> AbstractContextManager[Tick]:
    """Return the display of progress in the files; it shows nothing where the matches go to the same terminal."""
    sizes = [file.size for file in files]
    total = sum(size for size in sizes if size is not None) if None not in sizes else None
    return progress(
        None if out.isatty() else sys.stderr,
        total,
        lambda: f"{engine.triples:,} triples, {sum(query.matched for query in engine.queries):,} matches",
    )
