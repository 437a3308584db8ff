"""`retewave run` as a process that tests kill, start again, and compare with one that was left in peace."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PATIENCE", "Run", "orders", "until"]

PATIENCE = 600.0  # seconds after which something that should happen never will; kernels may have to be compiled first


class Run:
    """A command with its files, in a folder; what it says goes to a log there."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._folder = folder
        self._arguments = arguments

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Start it."""
        command = [sys.executable, "-m", "retewave", "run", *self._arguments, *more]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def finish(self, *more: str) -> None:
        """Run it to its end."""
        assert self.start(*more).wait(PATIENCE) == 0, self.told()

    def killed_when(self, path: Path, changes: int, chance: random.Random) -> bool:
        """Kill it some moments after a file has changed so often; tell whether it was still at work."""
        process = self.start()
        try:
            seen = _stamp(path)
            for _ in until("the run neither writes its state nor ends", pause=0.001):
                now = _stamp(path)
                changes, seen = changes - (now != seen), now
                if changes <= 0 or process.poll() is not None:
                    break
            time.sleep(chance.random() * 0.02)  # the moment is random: no test waits for it
            return process.poll() is None
        finally:
            process.kill()
            process.wait()

    def told(self) -> str:
        """Return the end of what it has said."""
        return (self._folder / "log").read_text(errors="replace")[-4000:]


def until(never: str, pause: float = 0.01) -> Iterator[None]:
    """Iterate until the caller has seen what it waits for; fail if it never comes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield
        time.sleep(pause)
    raise TimeoutError(f"waited {PATIENCE:.0f} s: {never}")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns


def orders(folder: Path, count: int, *, seed: int) -> None:
    """Write streams of orders and payments, in two files of lines, one of them packed, and one of graphs with times."""
    chance, due = random.Random(seed), []
    for order in range(count):
        buyer, card = chance.randrange(40), chance.randrange(30)
        due.append((order, f"<http://e/o{order}> <http://e/placed> <http://e/c{buyer}> ."))
        due.append((order + chance.randint(1, 400), f"<http://e/o{order}> <http://e/byCard> <http://e/k{card}> ."))
        if order % 97 == 0:
            due.append((order, "no line of N-Triples"))
    lines = [line for _, line in sorted(due)]
    placed = [line for line in lines if "byCard" not in line]
    paid = [line for line in lines if "byCard" in line]
    (folder / "all.nt").write_text("\n".join(lines) + "\n")
    (folder / "placed.nt").write_text("\n".join(placed) + "\n")
    (folder / "paid.nt.gz").write_bytes(gzip.compress("\n".join(paid).encode() + b"\n", 1))
    (folder / "late.nq").write_text(_late(lines, chance))
    (folder / "schema.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <http://e/byCard> rdfs:subPropertyOf <http://e/paid> ."
    )


def _late(lines: list[str], chance: random.Random) -> str:
    """Return the lines as graphs with their times, which come up to two seconds late."""
    graphs = []
    for number, line in enumerate(lines):
        if not line.endswith(" ."):
            continue
        seconds, millis = divmod(number, 1000)
        time = f'"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}Z"'
        told = f"<http://e/g{number}> <http://e/at> {time}^^<http://www.w3.org/2001/XMLSchema#dateTime>"
        graph = f"{line[:-2]} <http://e/g{number}> .\n{told} <http://e/g{number}> .\n"
        graphs.append((number + chance.randint(0, 1900), graph))
    return "".join(graph for _, graph in sorted(graphs))
