"""The command line: its commands and exit codes.

Where it stands: above everything.  Each command imports what it needs when it runs, so that `--help` and `--version`
load neither numpy nor numba.
Left out: the texts of the options (`options`), the run (`run`), and notes on stderr (`notes`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from retewave import __version__
from retewave.cli import options as options
from retewave.errors import LimitError, MalformedInput, MalformedStatic, RetewaveError, StoppedError, UsageError

__all__ = ["INTERRUPTED", "OK", "STOPPED", "WRONG", "app", "main"]

OK, STOPPED, WRONG, INTERRUPTED = 0, 1, 2, 130

_EXIT_CODES = (
    "Exit codes: 0 done (also when the reader of the output went away); 1 the run was stopped: a malformed line with "
    "--on-error raise, the bound with --at-limit error, a full disk, the end of Spark; 2 a query, schema, file or "
    "option is wrong; 130 interrupted (Ctrl-C, SIGTERM), and all that was found is written."
)

app = typer.Typer(
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout is not None and sys.stdout.isatty() else None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"retewave {__version__}")
        raise typer.Exit


_Version = Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)]


@app.callback()
def _app(version: _Version = False) -> None:
    """Find patterns in streams of RDF."""


@app.command(epilog=_EXIT_CODES)
def run(
    queries: options.Queries,
    stream: options.Streams,
    schema: options.Schemas = None,
    static: options.Statics = None,
    dataset: options.Datasets = None,
    rate: options.Rate = None,
    time_property: options.TimeProperty = None,
    event_by: options.EventBy = None,
    arrival: options.Arrival = False,
    lateness: options.Lateness = "0s",
    max_future: options.MaxFuture = "1d",
    stream_format: options.StreamFormat = None,
    format: options.Matches = None,
    explain: options.Explained = False,
    out: options.Out = None,
    stats: options.Stats = None,
    on_error: options.OnMalformed = options.OnError.COUNT,
    closure: options.WithClosure = options.Closer.retewave,
    closure_seconds: options.ClosureSeconds = 600,
    closure_megabytes: options.ClosureMegabytes = 2_000,
    seed: options.Seed = None,
    max_live_rows: options.Bound = None,
    at_limit: options.WhenFull = options.AtLimit.error,
    max_derivations: options.Derivations = 1_000_000,
    max_runs: options.MostRuns = None,
    allow_cartesian: options.Cartesian = False,
    language: options.WrittenIn = None,
    policy: options.Policy = None,
    report: options.Report = None,
    tick: options.Tick = None,
    every: options.Every = None,
    checkpoint: options.RunCheckpoint = None,
    checkpoint_every: options.CheckpointEvery = "30s",
    log_level: options.LogTo = None,
) -> None:
    """Run queries over streams, and write every match as soon as it is complete."""
    with _exit_codes():
        from retewave.cli import run as cli_run
        from retewave.cli.queries import Queries
        from retewave.cli.times import TimeOptions

        times = TimeOptions(rate, time_property, arrival, tick, tuple(event_by or ()))
        streams = cli_run.Streams(tuple(stream), stream_format, times, on_error.value)
        output = cli_run.Writing(format.value if format else None, out, stats)
        engine = _knowledge(schema, static, dataset) | {
            **_closing(closure_seconds, closure_megabytes),
            **{"closure": closure.value, "lateness": lateness, "max_future": max_future},
            "max_live_rows": max_live_rows,
            "at_limit": at_limit.value,
            "max_derivations": max_derivations,
            "max_runs": max_runs,
            "allow_cartesian": allow_cartesian,
            "seed": seed,
        }
        course = cli_run.Course(every, checkpoint, checkpoint_every, log_level.value if log_level else None)
        cli_run.run(Queries(tuple(queries), language, policy, report, explain), streams, output, engine, course)


@app.command(epilog=_EXIT_CODES)
def check(
    queries: options.Queries, allow_cartesian: options.Cartesian = False, language: options.WrittenIn = None
) -> None:
    """Read queries and show their mistakes; nothing is run."""
    with _exit_codes():
        from retewave.cli.check import check as check_all

        if not check_all(queries, language, allow_cartesian=allow_cartesian):
            raise typer.Exit(WRONG)


@app.command(epilog=_EXIT_CODES)
def explain(
    queries: options.Queries,
    schema: options.Schemas = None,
    static: options.Statics = None,
    dataset: options.Datasets = None,
    format: options.Plans = options.PlanFormat.text,
    draw: options.Draw = options.Drawn.all,
    out: options.Out = None,
    stats: options.Counted = False,
    stream: options.SomeStreams = None,
    rate: options.Rate = None,
    time_property: options.TimeProperty = None,
    event_by: options.EventBy = None,
    lateness: options.Lateness = "0s",
    stream_format: options.StreamFormat = None,
    closure_seconds: options.ClosureSeconds = 600,
    closure_megabytes: options.ClosureMegabytes = 2_000,
    allow_cartesian: options.Cartesian = False,
    language: options.WrittenIn = None,
    policy: options.Policy = None,
    report: options.Report = None,
    shards: options.SpreadOver = None,
) -> None:
    """Show how queries are run: entailments of the schema, tests, joins, and the parts that queries share."""
    with _exit_codes():
        from retewave.cli import explain as cli_explain
        from retewave.cli import why_not as cli_why_not
        from retewave.cli.output import check_outputs
        from retewave.cli.queries import Queries
        from retewave.cli.times import TimeOptions

        if stats != bool(stream):
            raise UsageError("--stats counts over streams", hint="give --stats and --stream F together, or neither")
        readers = cli_why_not.readers_of(
            stream or (), TimeOptions(rate, time_property, events=tuple(event_by or ())), stream_format
        )
        engine = _knowledge(schema, static, dataset) | {
            **_closing(closure_seconds, closure_megabytes),
            **{"allow_cartesian": allow_cartesian, "lateness": lateness, "stats": stats},
        }
        read = [*queries, *(str(reader.source) for reader in readers), *(schema or ()), *(static or ())]
        check_outputs([*read, *engine["datasets"].values()], {"--out": out})
        asked = Queries(tuple(queries), language, policy, report)
        shown = cli_explain.explain(asked, readers, format.value, draw.value, shards, engine)
        cli_explain.write(shown, out)


@app.command("why-not", epilog=_EXIT_CODES)
def why_not(
    queries: options.AskedAbout,
    stream: options.Streams,
    binding: options.Binding = None,
    schema: options.Schemas = None,
    static: options.Statics = None,
    dataset: options.Datasets = None,
    rate: options.Rate = None,
    time_property: options.TimeProperty = None,
    event_by: options.EventBy = None,
    lateness: options.Lateness = "0s",
    stream_format: options.StreamFormat = None,
    format: options.Plans = options.PlanFormat.text,
    language: options.WrittenIn = None,
    policy: options.Policy = None,
    report: options.Report = None,
) -> None:
    """Say why an expected match did not come: which triples were found, and what refused the others."""
    with _exit_codes():
        from retewave.cli import why_not as cli_why_not
        from retewave.cli.queries import Queries
        from retewave.cli.times import TimeOptions

        times = TimeOptions(rate, time_property, events=tuple(event_by or ()))
        engine = _knowledge(schema, static, dataset) | {"allow_cartesian": True, "lateness": lateness, "stats": True}
        asked = Queries(tuple(queries), language, policy, report)
        found = cli_why_not.answer(asked, stream, times, stream_format, binding or (), format.value, engine)
        typer.echo(found, nl=False)


@app.command(epilog=_EXIT_CODES)
def inspect(
    queries: options.Queries,
    stream: options.Streams,
    schema: options.Schemas = None,
    static: options.Statics = None,
    dataset: options.Datasets = None,
    rate: options.Rate = None,
    time_property: options.TimeProperty = None,
    event_by: options.EventBy = None,
    lateness: options.Lateness = "0s",
    stream_format: options.StreamFormat = None,
    pace: options.Pace = 10.0,
    explain: options.Explained = False,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8765,
    allow_cartesian: options.Cartesian = False,
    language: options.WrittenIn = None,
    policy: options.Policy = None,
    report: options.Report = None,
) -> None:
    """Serve a page that shows the network at work: run, pause, step a triple, look into memories."""
    with _exit_codes():
        from retewave.cli import inspect as cli_inspect
        from retewave.cli import why_not as cli_why_not
        from retewave.cli.queries import Queries
        from retewave.cli.times import TimeOptions

        readers = cli_why_not.readers_of(
            stream, TimeOptions(rate, time_property, events=tuple(event_by or ())), stream_format
        )
        engine = _knowledge(schema, static, dataset) | {
            "allow_cartesian": allow_cartesian,
            "lateness": lateness,
            "stats": True,
        }
        cli_inspect.inspect(
            Queries(tuple(queries), language, policy, report, explain), readers, host, port, pace, engine
        )


@app.command(epilog=_EXIT_CODES)
def spark(
    queries: options.Queries,
    input: options.Inputs,
    checkpoint: options.Checkpoint,
    out: options.SparkOut,
    schema: options.Schemas = None,
    static: options.Statics = None,
    dataset: options.Datasets = None,
    rate: options.Rate = None,
    time_property: options.TimeProperty = None,
    arrival: options.Arrival = False,
    stream_format: options.StreamFormat = None,
    watermark: options.Watermark = None,
    shards: options.Shards = None,
    batch_bytes: options.BatchBytes = 1 << 30,
    once: options.Once = False,
    complete: options.Complete = False,
    master: options.Master = None,
    conf: options.Settings = None,
    sample: options.Sample = None,
    on_error: options.OnMalformed = options.OnError.COUNT,
    allow_cartesian: options.Cartesian = False,
    language: options.WrittenIn = None,
    policy: options.Policy = None,
    report: options.Report = None,
    explain: options.Explained = False,
) -> None:
    """Run queries as a job of Spark Structured Streaming, sharded by join key."""
    with _exit_codes():
        from retewave.cli import spark as cli_spark
        from retewave.cli.times import TimeOptions

        TimeOptions(rate, time_property, arrival)  # refuses more than one kind of times
        late = watermark or ("10s" if rate is None else "0s")  # at a rate, triples come in order
        settings = tuple(conf or ())
        deployment = cli_spark.Deployment(master, settings, shards, checkpoint, out, late, batch_bytes, once, complete)
        job = _knowledge(schema, static, dataset) | {
            "rate": rate,
            "time_property": time_property,
            "allow_cartesian": allow_cartesian,
            "language": language,
            "policy": policy,
            "report": report,
            "explain": explain,
            "on_error": on_error.value,
            "sample": sample,
        }
        cli_spark.run(queries, input, deployment, stream_format, job)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    epilog="Parts: city, events, generate, ontology, profile, report, roads, soak, spark-events, spark-scaling, sums, "
    "tsunami, views; without one, the sweeps. `retewave bench PART --help` tells more.",
)
def bench(context: typer.Context) -> None:
    """Measure: the paper's evaluation and more, beside other engines and libraries."""
    with _exit_codes():
        from retewave.cli.bench import bench as run_bench

        run_bench(context.args)


def _knowledge(
    schema: Sequence[Path] | None, static: Sequence[Path] | None, dataset: Sequence[str] | None
) -> dict[str, Any]:
    """Return an engine's arguments for schema and static data."""
    mapping = _mapping(dataset)
    return {"schema": schema or (), "static": static or (), "datasets": mapping, "imports": mapping}


def _closing(seconds: float, megabytes: int) -> dict[str, Any]:
    """Return an engine's arguments for the bounds of a reasoner."""
    from retewave.epsilon.schema import Budget

    return {"closure_budget": Budget(seconds=seconds, megabytes=megabytes)}


def _mapping(datasets: Sequence[str] | None) -> dict[str, str]:
    """Return the files behind IRIs; an IRI may hold an equals sign, so the last one counts."""
    from retewave.epsilon.prefixes import expanded

    found = {}
    for text in datasets or ():
        iri, equals, path = text.rpartition("=")
        if not equals:
            raise UsageError(f"--dataset {text}: no = in it", hint="write --dataset IRI=FILE")
        found[expanded(iri)] = path
    return found


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn the end of a command into its exit code: errors are told in a few lines, never as a traceback."""
    try:
        yield
    except RetewaveError as error:
        typer.echo(f"retewave: {error}", err=True)
        stopped = isinstance(error, MalformedInput | LimitError | StoppedError)
        raise typer.Exit(STOPPED if stopped and not isinstance(error, MalformedStatic) else WRONG) from error
    except KeyboardInterrupt as interrupt:
        raise typer.Exit(INTERRUPTED) from interrupt
    except BrokenPipeError:
        # Python flushes stdout once more at its end, but nobody reads it any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        typer.echo(f"retewave: {error}", err=True)
        raise typer.Exit(STOPPED) from error


def _keep_descriptors() -> None:
    """Let no file that we open become standard output or error, if one of them was closed before we began (`>&-`)."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - print(file=None) would use stdout


def main() -> None:
    """Run the command line.

    SIGINT and SIGTERM interrupt, also in a process whose parent ignores them (as a shell's `&` does), and in commands
    that have no better way to end.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    _keep_descriptors()
    app(prog_name="retewave")
