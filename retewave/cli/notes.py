"""Notes on stderr: warnings, the wait for the compiler, progress, and the lines and triples that were left out.

Where it stands: beside data's way; stdout is for matches alone.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from retewave.cli.times import has_times_of_its_own

if TYPE_CHECKING:
    from retewave.cli.times import TimeOptions
    from retewave.engine.engine import Engine
    from retewave.io.reading.reader import Reader

__all__ = ["Notes", "Tick", "progress"]

SHOWN = 10  # at most this many malformed lines are shown

Tick = Callable[[int], None]  # called with the number of bytes read


class Notes:
    """Tells the user something, a line or a few at a time."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def say(self, text: str) -> None:
        """Write a note."""
        print(f"retewave: {text}", file=self._file, flush=True)

    def closing(self, triples: int, seconds: float) -> None:
        """Tell the progress of a schema's closure, by owlrl or by a reasoner."""
        self.say(f"reasoning over the schema: {triples:,} statements, {seconds:.0f} s")

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Write the package's warnings as notes: their text, not their place in the code."""
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: self.say(f"warning: {message}")
            yield

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Say so when kernels are compiled, which takes a while; they are cached on disk."""
        from retewave.rete.words.jit import telling_of_compilation

        with telling_of_compilation(
            lambda: self.say("compiling the kernels that are not cached yet; this takes up to a minute")
        ):
            yield

    @contextmanager
    def logging(self, level: str | None) -> Iterator[None]:
        """Write the package's log as notes, from a level on; without a level, write nothing."""
        if level is None:
            yield
            return
        handler = _Said(self)
        package = logging.getLogger("retewave")
        before = package.level
        package.addHandler(handler)
        package.setLevel(level.upper())
        try:
            yield
        finally:
            package.removeHandler(handler)
            package.setLevel(before)

    def overlooked_times(self, readers: Sequence[Reader], times: TimeOptions) -> None:
        """Warn of files that have times of their own while nobody has asked for these."""
        from retewave.io.reading.reader import GENERATED_AT

        for reader in readers if times.is_left_open() else ():
            if has_times_of_its_own(reader.name):
                self.say(
                    f"warning: {reader.name} has prov:generatedAtTime, but its triples get the time at which they are "
                    f"read: write --time-property {GENERATED_AT}, or --arrival if that is meant"
                )

    def left_out(self, engine: Engine, readers: Sequence[Reader]) -> None:
        """Tell which lines and triples of the stream were left out, and why."""
        for reader in readers:
            if reader.on_error == "count":
                self._malformed(reader)
            if reader.counters.untimed:
                names = ", ".join(reader.counters.first_untimed[:SHOWN])
                self.say(f"{reader.name}: {reader.counters.untimed:,} triples have no time, and are left out: {names}")
        for count, why in (
            (engine.order.late, "came later than --lateness allows"),
            (engine.order.future, "are further ahead than --max-future allows, and what came next was not"),
        ):
            if count:
                most = "; more than were let in: a clock may be wrong" if count > engine.matcher.triples else ""
                self.say(f"{count:,} triples {why}: they are left out{most}")

    def _malformed(self, reader: Reader) -> None:
        counters = reader.counters
        for error in counters.first_malformed[:SHOWN]:
            self.say(f"{error.place}: {error.what}")
        if counters.malformed:
            more = f"; these are the first {SHOWN}" if counters.malformed > SHOWN else ""
            lines = "line is" if counters.malformed == 1 else "lines are"
            self.say(f"{reader.name}: {counters.malformed:,} malformed {lines} left out{more}")


class _Said(logging.Handler):
    """Writes log records as notes."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        self._notes.say(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def progress(file: TextIO | None, total: int | None, described: Callable[[], str]) -> Iterator[Tick]:
    """Show on a terminal how many bytes of the input have been read; show nothing elsewhere."""
    if file is None or not file.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(file=file), transient=True) as shown:
        task = shown.add_task("", total=total)
        yield lambda read: shown.update(task, advance=read, description=described())
