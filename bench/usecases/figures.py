"""Figures of the SPAseq paper's evaluation, on streams in the shape of its data.

`python -m retewave.bench.usecases.figures` prints, as the paper numbers them: 16 (and 15, its reverse), windows, for
strict contiguity and skip till next; 17, the number of steps; 18, the background's triples; 20, Kleene+ against a plain
step, with a plot of time against matches; 22, conjunction.
Where it stands: beside the event workloads, whose answers are checked; here shapes are compared: the network alone,
over rows encoded beforehand, in seconds of the processor, runs by turns.
Left out: Figures 19 and 21, of parts that this engine has not.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import retewave as rw
from retewave.bench.events.engine import matches_in
from retewave.bench.usecases.events import AT, BASE, nquads
from retewave.bench.usecases.streams import road, shares
from retewave.windows.intervals import AFTER_ALL

__all__ = ["FigurePoint", "facts", "known", "poured", "sequence", "traffic"]

_STREAM = f"{BASE}stocks"
_BACKGROUNDS = (10_000, 100_000, 1_000_000)  # triples
_STRATEGIES = {"strict": ",", "skip till next": ";"}


@dataclass(frozen=True)
class FigurePoint:
    """One point of a figure."""

    figure: str  # as the paper numbers it
    series: str  # which of its lines
    at: int  # minutes of the window, steps, or triples of the background
    matches: int
    events_a_second: float  # of the processor, the network alone: the median


def sequence(steps: int, mark: str, minutes: int, *, repeated: bool = False) -> str:
    """Return a query for prices of a company that go up and down by turns; perhaps the second step repeats.

    >>> sequence(2, ";", 5).splitlines()[4]
    'WHERE { SEQ (G1; G2)'
    """
    names = [f"G{n + 1}" for n in range(steps)]
    written = [name + ("+" if repeated and n == 1 else "") for n, name in enumerate(names)]
    gpms = [f"DEFINE GPM {names[0]} ON S {{ ?company :price ?p1 ; :volume ?v1 }}"]
    for n in range(2, steps + 1):
        condition = f"FILTER (?p{n} {'<' if n % 2 == 0 else '>'} ?p{n - 1})"
        gpms.append(f"DEFINE GPM G{n} ON S {{ ?company :price ?p{n} ; :volume ?v{n} {condition} }}")
    head = f"PREFIX : <{BASE}>\nSELECT ?company ?p1 ?p{steps} WITHIN {minutes} MINUTES\nPARTITION BY (?company)"
    return f"{head}\nFROM STREAM S <{_STREAM}>\nWHERE {{ SEQ ({f'{mark} '.join(written)})\n" + "\n".join(gpms) + "\n}"


def known(query: str) -> str:
    """Return a query whose first step asks the background for the country of a company, too.

    >>> known("{ ?company :price ?p1 ; :volume ?v1 }")
    '{ ?company :price ?p1 ; :volume ?v1 GRAPH :facts { ?company :country ?country } }'
    """
    return query.replace(" ?v1 }", " ?v1 GRAPH :facts { ?company :country ?country } }")


def facts(triples: int) -> str:
    """Return a background: the countries of the companies that come, and of others."""
    return "".join(f"<{BASE}company{n}> <{BASE}country> <{BASE}country{n % 200}> .\n" for n in range(triples))


def traffic(minutes: int) -> str:
    """Return the query for a congested segment, then two others at once."""
    example = Path(__file__).resolve().parents[2] / "examples" / "spaseq" / "traffic.spaseq"
    return example.read_text().replace("30 MINUTES", f"{minutes} MINUTES")


def poured(query: str, streams: dict[str, bytes], background: Path | None = None) -> tuple[int, float]:
    """Pour streams, encoded beforehand and merged by time, into a network; return the matches and seconds."""
    engine = rw.Engine(datasets={} if background is None else {f"{BASE}facts": background})
    engine.register(query, keep=0)
    engine.flush()
    readers = [rw.read(lines, time_property=AT, stream=iri, name=f"{iri}.nq") for iri, lines in streams.items()]
    batches = list(_rows(engine, readers))
    runtime, values = engine.matcher.current().runtime, engine.terms.values
    started = time.process_time()
    found = sum(matches_in(out) for rows in batches for out in runtime.pour(rows, values))
    found += sum(matches_in(out) for out in runtime.advance(AFTER_ALL, values))
    return found, time.process_time() - started


def _rows(engine: rw.Engine, readers: list[rw.Reader]) -> Iterator[np.ndarray]:
    from retewave.engine.pump import pump

    for arrived in pump(engine.matcher, engine.registry, readers, engine.seconds):
        yield arrived.rows.copy()


def _asked(minutes: list[int]) -> Iterator[tuple[str, str, int, str, str]]:
    """Yield each figure's points: figure, line, where, query, stream; in Figure 18, where is the background's size."""
    for triples in _BACKGROUNDS:
        yield "18", "background", triples, known(sequence(3, ",", minutes[0])), "shares"
    for width in minutes:
        for name, mark in _STRATEGIES.items():
            yield "16", name, width, sequence(3, mark, width), "shares"
        yield "20", "plain", width, sequence(3, ";", width), "shares"
        yield "20", "Kleene+", width, sequence(3, ";", width, repeated=True), "shares"
        yield "22", "conjunction", width, traffic(width), "roads"
    for steps in (3, 5, 7, 9):
        for name, mark in _STRATEGIES.items():
            yield "17", name, steps, sequence(steps, mark, minutes[-1]), "shares"


def plotted(points: list[FigurePoint], path: Path) -> None:
    """Draw Figure 20's time against its matches: what Kleene+ costs is what it finds."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for series in ("plain", "Kleene+"):
        own = [each for each in points if each.figure == "20" and each.series == series]
        axes.plot([each.matches for each in own], [1e9 / each.events_a_second for each in own], "o-", label=series)
    axes.set_xlabel("matches")
    axes.set_ylabel("nanoseconds an event")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(path)
    plt.close(figure)


def main(
    events: Annotated[int, typer.Option(help="of the stream of shares", min=1000)] = 100_000,
    minutes: Annotated[str, typer.Option(help="windows, with commas")] = "5,10,20,30",
    repetitions: Annotated[int, typer.Option(help="runs of each", min=1)] = 3,
    out: Annotated[Path, typer.Option(help="the points as JSON")] = Path("bench/out/usecases.json"),
) -> None:
    """Measure what the figures show."""
    made = {
        "shares": {_STREAM: "".join(nquads(shares(events))).encode()},
        "roads": {f"{BASE}road{n}": "".join(nquads(road(n, events // 3))).encode() for n in (1, 2, 3)},
    }
    counts = {"shares": events, "roads": events // 3 * 3}
    asked = list(_asked([int(each) for each in minutes.split(",")]))
    out.parent.mkdir(parents=True, exist_ok=True)
    backgrounds = {each: out.parent / f"facts-{each}.nt" for each in _BACKGROUNDS}
    for triples, path in backgrounds.items():
        path.write_text(facts(triples))
    taken: list[list[float]] = [[] for _ in asked]
    found = [0] * len(asked)
    for _ in range(repetitions):
        for place, (figure, _, at, query, stream) in enumerate(asked):
            found[place], seconds = poured(query, made[stream], backgrounds[at] if figure == "18" else None)
            taken[place].append(seconds)
    points = [
        FigurePoint(figure, series, at, matches, counts[stream] / statistics.median(seconds))
        for (figure, series, at, _, stream), matches, seconds in zip(asked, found, taken, strict=True)
    ]
    for each in points:
        rate = each.events_a_second / 1e6
        print(f"Figure {each.figure}: {each.series}, {each.at}: {rate:.2f} M events/s, {each.matches:,} matches")
    out.write_text(json.dumps([asdict(each) for each in points], indent=1) + "\n")
    plotted(points, out.with_suffix(".svg"))


if __name__ == "__main__":
    typer.run(main)
