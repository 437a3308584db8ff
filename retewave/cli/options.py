"""The options of the command line, each with its words; the commands put them together.

Left out: their effect, which is the commands' (`cli`).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

__all__ = [
    "Arrival",
    "AtLimit",
    "BatchBytes",
    "Binding",
    "Bound",
    "Cartesian",
    "Checkpoint",
    "CheckpointEvery",
    "Closer",
    "Counted",
    "Datasets",
    "Derivations",
    "Draw",
    "Drawn",
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
    "OneQuery",
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
    """What matches are written as."""

    ndjson = "ndjson"
    csv = "csv"
    tsv = "tsv"
    nt = "nt"
    arrow = "arrow"
    text = "text"


class OnError(StrEnum):
    """What a malformed line does."""

    COUNT = "count"
    RAISE = "raise"


class LogLevel(StrEnum):
    """What is logged to stderr."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


class AtLimit(StrEnum):
    """What happens when there are too many live rows."""

    error = "error"
    shed = "shed"


class Closer(StrEnum):
    """Who closes the schema."""

    retewave = "retewave"
    owlrl = "owlrl"


class PlanFormat(StrEnum):
    """How a plan is shown."""

    text = "text"
    json = "json"
    dot = "dot"
    svg = "svg"
    png = "png"


class Drawn(StrEnum):
    """What is drawn of a plan."""

    full = "full"
    reduced = "reduced"
    network = "network"
    all = "all"


Draw = Annotated[
    Drawn,
    Option("--draw", help="For dot, svg and png: the schema's whole ε-network, the reduced one, the joins, or all."),
]
Counted = Annotated[bool, Option("--stats", help="Read the streams to their end first, and show what was counted.")]
Queries = Annotated[list[str], Argument(metavar="QUERY", help="Files of queries, or a query's text.")]
OneQuery = Annotated[str, Argument(metavar="QUERY", help="A file of a query, or its text.")]
Binding = Annotated[
    list[str] | None,
    Option(
        "--binding",
        metavar="NAME=TERM",
        help="A variable of the expected match: an N-Triples term, an IRI, a prefixed name of the query, or a number"
        " (repeatable).",
    ),
]
Pace = Annotated[float, Option("--pace", metavar="N", help="Let in N triples a second of the clock on the wall.")]
Host = Annotated[str, Option("--host", metavar="H", help="Listen there; whoever reaches it sees the data.")]
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
    Option("--language", help="The language of all queries (sparql, epsparql, sparkwave); known by file or words."),
]
Policy = Annotated[
    str | None,
    Option("--policy", help="Which partners SEQ takes: unrestricted, naive, chronological [KEEP], recent [KEEP]."),
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
    Option("--stream-format", metavar="F", help="nt, nq, ttl, trig, rdf or jsonld, where a file's name does not tell."),
]
Rate = Annotated[float | None, Option("--rate", metavar="N", help="Times: N triples a second, from 0 on.")]
TimeProperty = Annotated[
    str | None,
    Option(
        "--time-property",
        metavar="IRI",
        help="Times: what this property tells of a named graph, such as http://www.w3.org/ns/prov#generatedAtTime.",
    ),
]
Arrival = Annotated[bool, Option("--arrival", help="Times: the clock at arrival (if nothing else is said).")]
Lateness = Annotated[str, Option("--lateness", metavar="D", help="How late items may come, such as 250ms, 5s or 1m.")]
MaxFuture = Annotated[
    str,
    Option("--max-future", metavar="D", help="An item further ahead waits for the next, which tells."),
]
Tick = Annotated[
    str | None,
    Option(
        "--tick",
        metavar="D",
        help="Let the clock go on so often while nothing arrives, so that deadlines are told (with --arrival).",
    ),
]
Matches = Annotated[
    MatchFormat | None,
    Option(
        "--format", help="How matches are written: usually ndjson for SELECT, nt for CONSTRUCT.", show_default=False
    ),
]
Explained = Annotated[
    bool,
    Option(
        "--explain", help="Say of each match which triples made it, and why: in text, a field of ndjson, a picture."
    ),
]
Out = Annotated[Path | None, Option("--out", "-o", metavar="F", help="Write to a file.")]
Stats = Annotated[Path | None, Option("--stats", metavar="F", help="Write counts and times to a file, as JSON.")]
Every = Annotated[
    str | None,
    Option(
        "--every",
        metavar="D",
        help="Write the counts of --stats so often: to its file, or as a line of JSON to stderr.",
    ),
]
RunCheckpoint = Annotated[
    Path | None,
    Option(
        "--checkpoint", metavar="DIR", help="Keep there how far the run has come; the same command goes on from it."
    ),
]
CheckpointEvery = Annotated[str, Option("--checkpoint-every", metavar="D", help="How often that is written.")]
LogTo = Annotated[LogLevel | None, Option("--log-level", help="Write to stderr what is logged from this level on.")]
OnMalformed = Annotated[OnError, Option("--on-error", help="Malformed lines: count them, or stop at the first.")]
WithClosure = Annotated[Closer, Option("--closure", help="Who closes the schema.")]
Seed = Annotated[int | None, Option("--seed", metavar="N", help="Seed of the hash tables, for reproducible runs.")]
Bound = Annotated[
    int | None, Option("--max-live-rows", metavar="N", min=1, help="A bound on the rows that windows hold.")
]
Derivations = Annotated[
    int, Option("--max-derivations", metavar="N", min=1, help="How many triples rules may build at one instant.")
]
WhenFull = Annotated[AtLimit, Option("--at-limit", help="At that bound: stop, or drop the oldest rows, counted.")]
Inputs = Annotated[
    list[str],
    Option(
        "--input",
        metavar="[NAME=]F|DIR|kafka://HOST:PORT/TOPIC",
        help="Files of the stream, now and to come, or a topic; NAME is the stream's IRI (repeatable).",
    ),
]
Checkpoint = Annotated[
    str, Option("--checkpoint", metavar="DIR", help="Where the job keeps how far it has come; start again with it.")
]
SparkOut = Annotated[
    str, Option("--out", "-o", metavar="DIR|console", help="Write a folder a micro-batch; or to stdout.")
]
Shards = Annotated[
    int | None, Option("--shards", metavar="N", min=1, help="Spread the network so; as many as cores if not said.")
]
Watermark = Annotated[
    str | None,
    Option("--watermark", metavar="D", help="How late triples may come; matches wait as long: 10s, or 0s at a rate."),
]
BatchBytes = Annotated[
    int, Option("--batch-bytes", metavar="N", min=1, help="Take so much of the files in a micro-batch, about.")
]
Once = Annotated[bool, Option("--once", help="Do what is there now, and stop.")]
Master = Annotated[
    str | None, Option("--master", metavar="URL", help="Spark's address; this machine if not said: local[*].")
]
Settings = Annotated[list[str] | None, Option("--conf", metavar="KEY=VALUE", help="A setting of Spark (repeatable).")]
Sample = Annotated[Path | None, Option("--sample", metavar="F", help="Some of the stream, to plan the shards by.")]
SpreadOver = Annotated[
    int | None, Option("--shards", metavar="N", min=1, help="Show how so many shards on Spark would spread it, too.")
]
Plans = Annotated[PlanFormat, Option("--format", help="How the plan is shown.")]
