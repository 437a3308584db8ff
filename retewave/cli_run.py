"""`retewave run`: streams in, matches out, counts at the end.

Data's way: options -> engine, readers, sink -> **the loop** -> notes and stats.
Invariant: however the run ends, the matches found so far are written, and so are the stats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from retewave.cli_input import Interrupted, Stoppable, Stopper, open_stream, stream_name
from retewave.cli_notes import Notes, Tick, progress
from retewave.cli_output import check_outputs, naming, open_output
from retewave.engine import Engine
from retewave.errors import UsageError
from retewave.io.reader import Reader, read
from retewave.io.sinks import Sink, open_sink, usual_format

__all__ = ["Output", "Streams", "Times", "run"]


@dataclass(frozen=True)
class Times:
    """How the times of a stream are told."""

    rate: float | None  # triples a second
    property: str | None  # the IRI that tells a named graph's time
    arrival: bool  # the clock


@dataclass(frozen=True)
class Streams:
    """What is read."""

    written: tuple[str, ...]  # [NAME=]FILE or -
    format: str | None  # where the file's name does not tell
    times: Times
    on_error: str  # "count" or "raise"


@dataclass(frozen=True)
class Output:
    """What is written, and where."""

    format: str | None  # of the matches; None: the queries decide
    out: Path | None  # the matches' file; None: stdout
    stats: Path | None  # the stats' file; None: they are not written


def run(queries: Sequence[str], streams: Streams, output: Output, options: dict[str, Any]) -> None:
    """Run queries over streams; raise KeyboardInterrupt at the end of a run that a signal ended."""
    notes, stopper = Notes(sys.stderr), Stopper()
    with stopper.listening(), notes.warnings(), notes.compiling(), ExitStack() as opened:
        engine = Engine(**options, on_closure=notes.closing)
        for query in queries:
            engine.register(query, keep=0)
        files = [(name, path, opened.enter_context(open_stream(path, stopper))) for name, path in _split(streams)]
        readers = _readers(streams, files)
        _check_names(engine, readers, notes)
        check_outputs(_read(engine, streams, options), {"--out": output.out, "--stats": output.stats})
        stats = None if output.stats is None else opened.enter_context(open_output(output.stats))
        out = opened.enter_context(open_output(output.out))
        sink = _sink(engine, output.format, out, seconds=streams.times.rate is not None)
        tick = opened.enter_context(_progress(engine, [file for _, _, file in files], out))
        for _, _, file in files:
            file.tick = tick
        try:
            _loop(engine, readers, sink, output.out)
        finally:
            notes.left_out(engine, readers)
            if stats is not None:
                with naming(output.stats):
                    stats.write(json.dumps(engine.stats(), indent=2, ensure_ascii=False).encode() + b"\n")
    if stopper.asked:
        raise KeyboardInterrupt


def _loop(engine: Engine, readers: Sequence[Reader], sink: Sink, out: Path | None) -> None:
    def close() -> None:
        with naming(out):
            sink.close()

    with ExitStack() as ending, suppress(Interrupted):
        ending.callback(close)
        for batches in engine.run_batches(*readers):
            with naming(out):
                sink.write(batches)


def _sink(engine: Engine, wanted: str | None, out: BinaryIO, *, seconds: bool) -> Sink:
    format = wanted or usual_format(engine.queries)
    if format == "arrow" and out.isatty():
        raise UsageError("arrow is not for a terminal", hint="write it to a file with --out, or to a pipe")
    return open_sink(format, engine.queries, out, seconds=seconds)


def _split(streams: Streams) -> list[tuple[str | None, str]]:
    """Return the name and the path of each stream."""
    found = [stream_name(text) for text in streams.written]
    if sum(path == "-" for _, path in found) > 1:
        raise UsageError("standard input can be read once only", hint="name one --stream -")
    return found


def _read(engine: Engine, streams: Streams, options: dict[str, Any]) -> list[str | Path]:
    """Return all files that are read, those that queries name included."""
    found = [*(query.parsed.source for query in engine.queries), *engine.datasets.named]
    found += [path for _, path in _split(streams)]
    return [*found, *options["schema"], *options["static"], *options["datasets"].values()]


def _readers(streams: Streams, files: Sequence[tuple[str | None, str, Stoppable]]) -> list[Reader]:
    times = streams.times
    return [
        read(
            cast(BinaryIO, file),
            name="<stdin>" if path == "-" else path,
            format=streams.format,
            rate=times.rate,
            time_property=times.property,
            arrival=times.arrival,
            on_error=cast(Literal["count", "raise"], streams.on_error),
            stream=name,
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
    """Return what shows how far the files have been read; nothing where the matches appear on the same terminal."""
    sizes = [file.size for file in files]
    total = sum(size for size in sizes if size is not None) if None not in sizes else None
    return progress(
        None if out.isatty() else sys.stderr,
        total,
        lambda: f"{engine.triples:,} triples, {sum(query.matched for query in engine.queries):,} matches",
    )
