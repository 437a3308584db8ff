"""The options of the command line, each with its help text; the commands put them together.

Left out: their effect, which is in the modules of the commands.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

__all__ = [
    "Arrival",
    "AskedAbout",
    "AtLimit",
    "BatchBytes",
    "Binding",
    "Bound",
    "Cartesian",
    "Checkpoint",
    "CheckpointEvery",
    "Closer",
    "Complete",
    "Counted",
    "Datasets",
    "Derivations",
    "Draw",
    "Drawn",
    "EventBy",
    "Every",
    "Explained",
    "Host",
    "Inputs",
    "Lateness",
    "LogLevel",
    "LogTo",
    "Master",
    "MatchFormat",
    "Matches",
    "MaxFuture",
    "OnError",
    "OnMalformed",
    "Once",
    "Out",
    "Pace",
    "PlanFormat",
    "Plans",
    "Port",
    "Queries",
    "Rate",
    "RunCheckpoint",
    "Sample",
    "Schemas",
    "Seed",
    "Settings",
    "Shards",
    "SomeStreams",
    "SparkOut",
    "SpreadOver",
    "Statics",
    "Stats",
    "StreamFormat",
    "Streams",
    "Tick",
    "TimeProperty",
    "Watermark",
    "WhenFull",
    "WithClosure",
    "WrittenIn",
]


class MatchFormat(StrEnum):
    """The formats of matches."""

    ndjson = "ndjson"
    csv = "csv"
    tsv = "tsv"
    nt = "nt"
    arrow = "arrow"
    text = "text"


class OnError(StrEnum):
    """The effect of a malformed line."""

    COUNT = "count"
    RAISE = "raise"


class LogLevel(StrEnum):
    """The lowest level that is logged to stderr."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


class AtLimit(StrEnum):
    """The effect of too many live rows."""

    error = "error"
    shed = "shed"


class Closer(StrEnum):
    """The reasoner that closes the schema."""

    retewave = "retewave"
    owlrl = "owlrl"


class PlanFormat(StrEnum):
    """The formats of a plan."""

    text = "text"
    json = "json"
    dot = "dot"
    svg = "svg"
    png = "png"


class Drawn(StrEnum):
    """The parts of a plan that are drawn."""

    full = "full"
    reduced = "reduced"
    network = "network"
    all = "all"
    sequences = "sequences"


Draw = Annotated[
    Drawn,
    Option(
        "--draw",
        help="For dot, svg and png: the whole ε-network, the reduced one, the joins, all, or sequences' automata.",
    ),
]
Counted = Annotated[bool, Option("--stats", help="Read the streams to their end first, and show the counts.")]
Queries = Annotated[list[str], Argument(metavar="QUERY", help="Files of queries, or a query's text.")]
AskedAbout = Annotated[
    list[str],
    Argument(
        metavar="QUERY",
        help="The query to ask about, as a file or a text; then queries that run beside it, such as rules.",
    ),
]
Binding = Annotated[
    list[str] | None,
    Option(
        "--binding",
        metavar="NAME=TERM",
        help="A variable of the expected match: an N-Triples term, an IRI, a prefixed name of the query, or a number"
        " (repeatable).",
    ),
]
Pace = Annotated[float, Option("--pace", metavar="N", help="Read N triples a second of wall time.")]
Host = Annotated[
    str, Option("--host", metavar="H", help="Listen on this address. Everybody who can reach it sees the data.")
]
Port = Annotated[int, Option("--port", metavar="P", min=0, max=65535, help="Listen on this port; 0 for a free one.")]
Schemas = Annotated[
    list[Path] | None, Option("--schema", metavar="F", help="A file of RDFS and OWL axioms (repeatable).")
]
Statics = Annotated[list[Path] | None, Option("--static", metavar="F", help="A file of static triples (repeatable).")]
Datasets = Annotated[
    list[str] | None,
    Option("--dataset", metavar="IRI=F", help="The file behind an IRI that FROM or owl:imports names (repeatable)."),
]
WrittenIn = Annotated[
    str | None,
    Option(
        "--language",
        help="The language of all queries: sparql, epsparql, spaseq, obep or sparkwave. By default each query's own.",
    ),
]
Policy = Annotated[
    str | None,
    Option("--policy", help="Which partners SEQ takes: unrestricted, naive, chronological [KEEP], recent [KEEP]."),
]
Report = Annotated[
    str | None,
    Option("--report", help="When views are reported: WINDOW CLOSE, CONTENT CHANGE, PERIODIC 10s [NON EMPTY]."),
]
Cartesian = Annotated[bool, Option("--allow-cartesian", help="Take patterns whose parts share no variable.")]

SomeStreams = Annotated[
    list[str] | None,
    Option("--stream", metavar="[NAME=]F|-", help="A file of the stream, for --stats (repeatable; merged by time)."),
]
Streams = Annotated[
    list[str],
    Option(
        "--stream",
        metavar="[NAME=]F|-",
        help="A file of the stream; - is standard input; NAME is the stream's IRI (repeatable; merged by time).",
    ),
]
StreamFormat = Annotated[
    str | None,
    Option(
        "--stream-format", metavar="F", help="nt, nq, ttl, trig, rdf or jsonld. By default the file's name decides."
    ),
]
Rate = Annotated[
    float | None, Option("--rate", metavar="N", help="Time of an item: its place in the stream, at N triples a second.")
]
TimeProperty = Annotated[
    str | None,
    Option(
        "--time-property",
        metavar="IRI",
        help="Time of an item: the value of this property, such as http://www.w3.org/ns/prov#generatedAtTime.",
    ),
]
EventBy = Annotated[
    list[str] | None,
    Option(
        "--event-by",
        metavar="[NAME=]BY",
        help="What makes one event: neighbours in the file of one named graph (graph, the default) or of one subject"
        " (subject), every N statements (a number), or all of one time (time). NAME is a stream's IRI (repeatable).",
    ),
]
Arrival = Annotated[bool, Option("--arrival", help="Time of an item: the clock when it arrives (the default).")]
Lateness = Annotated[str, Option("--lateness", metavar="D", help="How late items may come, such as 250ms, 5s or 1m.")]
MaxFuture = Annotated[
    str,
    Option(
        "--max-future",
        metavar="D",
        help="An item further ahead than D waits: the next item shows whether its time is right.",
    ),
]
Tick = Annotated[
    str | None,
    Option(
        "--tick",
        metavar="D",
        help="Move the clock once in every D while nothing arrives, so that deadlines are told (with --arrival).",
    ),
]
Matches = Annotated[
    MatchFormat | None,
    Option("--format", help="The format of matches: usually ndjson for SELECT, nt for CONSTRUCT.", show_default=False),
]
Explained = Annotated[
    bool,
    Option("--explain", help="Tell for each match which triples made it, and why: as text, or as a field of ndjson."),
]
Out = Annotated[Path | None, Option("--out", "-o", metavar="F", help="Write to a file.")]
Stats = Annotated[Path | None, Option("--stats", metavar="F", help="Write counts and times to a file, as JSON.")]
Every = Annotated[
    str | None,
    Option(
        "--every",
        metavar="D",
        help="Write the counts of --stats once in every D: to its file, or as a line of JSON to stderr.",
    ),
]
RunCheckpoint = Annotated[
    Path | None,
    Option(
        "--checkpoint",
        metavar="DIR",
        help="Keep the state of the run in this folder; the same command goes on from it.",
    ),
]
CheckpointEvery = Annotated[str, Option("--checkpoint-every", metavar="D", help="How often the checkpoint is written.")]
LogTo = Annotated[LogLevel | None, Option("--log-level", help="Write the log to stderr, from this level on.")]
OnMalformed = Annotated[OnError, Option("--on-error", help="Malformed lines: count them, or stop at the first.")]
WithClosure = Annotated[Closer, Option("--closure", help="The reasoner that closes the schema.")]
ClosureSeconds = Annotated[
    float,
    Option(
        "--closure-seconds",
        metavar="N",
        min=0,
        help="How long owlrl or a description logic reasoner may take; 0 asks no reasoner.",
    ),
]
ClosureMegabytes = Annotated[
    int,
    Option("--closure-megabytes", metavar="N", min=1, help="How much memory a description logic reasoner may take."),
]
Seed = Annotated[int | None, Option("--seed", metavar="N", help="Seed of the hash tables, for reproducible runs.")]
Bound = Annotated[
    int | None, Option("--max-live-rows", metavar="N", min=1, help="The most rows that windows may hold.")
]
MostRuns = Annotated[
    int | None, Option("--max-runs", metavar="N", min=1, help="The most runs that sequences of events may have.")
]
Derivations = Annotated[
    int, Option("--max-derivations", metavar="N", min=1, help="The most triples that rules may build at one instant.")
]
WhenFull = Annotated[
    AtLimit, Option("--at-limit", help="At --max-live-rows: stop, or drop the oldest rows and count them.")
]
Inputs = Annotated[
    list[str],
    Option(
        "--input",
        metavar="[NAME=]F|DIR|kafka://HOST:PORT/TOPIC",
        help="Files of the stream (new ones in a folder, too), or a topic; NAME is the stream's IRI (repeatable).",
    ),
]
Checkpoint = Annotated[
    str,
    Option(
        "--checkpoint", metavar="DIR", help="The folder for the state of the job; the same command goes on from it."
    ),
]
SparkOut = Annotated[
    str, Option("--out", "-o", metavar="DIR|console", help="Write a folder for each micro-batch; or to stdout.")
]
Shards = Annotated[
    int | None,
    Option("--shards", metavar="N", min=1, help="Spread the network over N shards; by default as many as cores."),
]
Watermark = Annotated[
    str | None,
    Option(
        "--watermark",
        metavar="D",
        help="How late triples may come; a match waits as long. By default 10s, with --rate 0s.",
    ),
]
BatchBytes = Annotated[
    int, Option("--batch-bytes", metavar="N", min=1, help="Read about N bytes of the files in each micro-batch.")
]
Once = Annotated[bool, Option("--once", help="Read the input that is there now, and stop.")]
Complete = Annotated[
    bool, Option("--complete", help="With --once: the files are all there is, so no match waits for later triples.")
]
Master = Annotated[
    str | None, Option("--master", metavar="URL", help="Spark's address; by default this machine: local[*].")
]
Settings = Annotated[list[str] | None, Option("--conf", metavar="KEY=VALUE", help="A setting of Spark (repeatable).")]
Sample = Annotated[
    Path | None, Option("--sample", metavar="F", help="A part of the stream, by which the shards are planned.")
]
SpreadOver = Annotated[
    int | None, Option("--shards", metavar="N", min=1, help="Show also how N shards on Spark would share the work.")
]
Plans = Annotated[PlanFormat, Option("--format", help="The format of the plan.")]
