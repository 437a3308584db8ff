"""Event workloads over and over: resident memory after the first tenth must stay flat.

`python -m retewave.bench.events.soak` plays 50 million events of each workload from bytes, a stream of the generator
lap by lap.  What names an event, a request or a value is new in each lap; companies, keys and prices are the same.
Invariant: every run is checked: the matches of all laps follow from those of the first two.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Annotated, BinaryIO, cast

import numpy as np
import typer

from retewave.bench.events.engine import engine_of, reader_of
from retewave.bench.events.expected import expected
from retewave.bench.events.streams import EventColumns, absent, columns, make
from retewave.bench.events.task import WORKLOADS, EventTask
from retewave.bench.soak import growth, resident

__all__ = ["MOST", "Laps", "matches_of", "renamed", "risen"]

_PIECE = 1 << 16  # bytes that are renamed at once: larger ones leave holes of their sizes in the C library's heap
_SAMPLES = 2_000  # at most, so that they are no memory to speak of
MOST = 0.01  # memory may rise by so much after the first tenth
_LAPS = 1440  # of W3, whose laps are the minutes of a day


def renamed(workload: str, lines: bytes, lap: int) -> bytes:
    """Return some lines of the generator's as they are in a lap.

    >>> renamed("W4", b'<http://e/k1> <http://e/A> "17"^^<http://e/int> .', 3)
    b'<http://e/k1> <http://e/A> "100317"^^<http://e/int> .'
    """
    number = b"%d" % (1000 + lap)
    if workload == "W4":
        return lines.replace(b'> "', b'> "' + number)
    if workload == "W3":
        for word in (b"request> <http://example.org/cep#", b"response> <http://example.org/cep#"):
            lines = lines.replace(word, word + number)
        lines = lines.replace(b"<http://example.org/cep#e", b"<http://example.org/cep#e" + number)
        return lines.replace(b'"2024-01-01T00:00:', b'"2024-01-01T%02d:%02d:' % divmod(lap, 60))
    if workload == "W2":
        day = str(np.datetime64("2024-01-01") + lap).encode()
        lines = lines.replace(b"<http://example.org/cep#e", b"<http://example.org/cep#e" + number)
        return lines.replace(b'"2024-01-01T', b'"' + day + b"T")
    return lines


def risen(samples: list[tuple[int, int]]) -> float:
    """Return by which part memory has risen after the first tenth: the highest mean of a tenth against the second's.

    Some arrays of a megabyte or two are there at one moment and not at the next; a mean does not see them.

    >>> risen([(0, 50), (10, 90), (19, 110), (20, 101), (29, 101), (90, 100), (100, 100)])
    0.01
    """
    tenths: dict[int, list[int]] = {}
    for events, held in samples:
        tenths.setdefault(min(10 * events // samples[-1][0], 9), []).append(held)
    means = [mean(held) for tenth, held in sorted(tenths.items()) if tenth > 0]
    return round(max(means) / means[0] - 1, 6)


def matches_of(workload: str, stream: EventColumns, step: int, laps: int) -> int:
    """Return how many matches there are in so many laps, each longer than a window: what the second adds, each does."""
    once = expected(workload, stream).matches
    if workload in ("W2", "W3") or laps == 1:  # its windows end with a lap: a day, or with ids that are new in each
        return laps * once
    both = EventColumns(
        np.concatenate([stream.time, stream.time + len(stream.time) * step]),
        *(np.tile(column, 2) for column in (stream.key, stream.value, stream.kind)),
    )
    return once + (laps - 1) * (expected(workload, both).matches - once)


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file, which is read in blocks of any size."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        filled = 0
        while filled < len(room):
            self._rest = self._rest or memoryview(next(self._pieces, b""))
            if not self._rest:
                break
            size = min(len(room) - filled, len(self._rest))
            room[filled : filled + size] = self._rest[:size]
            filled, self._rest = filled + size, self._rest[size:]
        return filled


@dataclass
class Laps:
    """A stream that comes again and again, and the memory seen while it was read."""

    task: EventTask  # one lap
    laps: int
    samples: list[tuple[int, int]] = field(default_factory=list)  # (events handed out, bytes resident)

    def file(self) -> BinaryIO:
        """Return the stream as a file."""
        return cast(BinaryIO, _Pieces(self._lines()))

    def _lines(self) -> Iterator[bytes]:
        """Yield whole lines, taking down the memory now and then."""
        assert self.task.rdf is not None
        size = self.task.rdf.stat().st_size
        for lap in range(self.laps):
            with self.task.rdf.open("rb") as lines:
                while block := lines.read(_PIECE):
                    handed = lap * self.task.rows + self.task.rows * lines.tell() // size
                    if handed * _SAMPLES >= len(self.samples) * self.laps * self.task.rows:
                        self.samples.append((handed, resident()))
                    yield renamed(self.task.workload, block + lines.readline(), lap)
            print(f"{self.task.workload}: lap {lap + 1} of {self.laps}, {resident() / 1e6:.0f} MB", file=sys.stderr)
        self.samples.append((self.laps * self.task.rows, resident()))


def _play(workload: str, events: int, size: int, data: Path) -> str:
    """Play a workload; return what is wrong, or nothing."""
    task = make(workload, size, data, rdf=True)
    laps = Laps(task, -(-events // task.rows))
    if workload == "W3" and laps.laps > _LAPS:
        raise typer.BadParameter(f"W3 has {_LAPS} laps at most: a longer lap, please")
    engine, started = engine_of(WORKLOADS[workload].query()), time.perf_counter()
    batches = engine.run_batches(reader_of(task, laps.file()))
    found = sum(len(matches) for batch in batches for matches in batch)
    seconds, more = time.perf_counter() - started, risen(laps.samples)
    played, held = laps.samples[-1]
    print(f"{workload}: {played:,} events, {found:,} matches, {seconds:.0f} s, {held / 1e6:.0f} MB resident,", end=" ")
    print(f"{more:+.2%} since the first tenth in the means of tenths ({growth(laps.samples):+.2%} at most)", flush=True)
    right = matches_of(workload, columns(task.csv), task.step, laps.laps)
    if found != right:
        return f"{workload}: WRONG: {found:,} matches instead of {right:,}"
    return f"{workload}: memory is not flat: more than {MOST:.0%}" if more > MOST else ""


def main(
    events: Annotated[int, typer.Option(help="how many to play of each", min=1)] = 50_000_000,
    workloads: Annotated[str, typer.Option(help=f"of {', '.join(WORKLOADS)}")] = ",".join(WORKLOADS),
    size: Annotated[int, typer.Option(help="events of a lap (in W3 requests)", min=1000)] = 1_000_000,
    data: Annotated[Path, typer.Option(help="where the streams are made")] = Path("bench/data/events"),
) -> None:
    """Play the event workloads lap by lap and watch the memory; a workload a process says the most."""
    if why := absent():
        print(f"skipped: {why}", file=sys.stderr)
        return
    wrong = [_play(workload.strip(), events, size, data) for workload in workloads.split(",")]
    if any(wrong):
        raise SystemExit("\n".join(filter(None, wrong)))


if __name__ == "__main__":
    typer.run(main)
