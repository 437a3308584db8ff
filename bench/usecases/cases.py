"""The use cases: which query looks at which streams, over which background.

Where it stands: between the streams and those who play them: tests, benches, and readers, for
whom `python -m retewave.bench.usecases.cases` writes the streams of `examples/spaseq`.
Invariant: the files of `examples/spaseq` are what is made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from retewave.bench.usecases.events import BASE, trig
from retewave.bench.usecases.streams import FEW_CARDS, HOUSES, STREAMS, VESSELS

__all__ = ["CASES", "EXAMPLES", "UseCase", "background"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "spaseq"


@dataclass(frozen=True)
class UseCase:
    """One of the use cases."""

    name: str  # of its query's file
    what: str  # in a few words
    streams: dict[str, str]  # the IRI of a stream -> its name in STREAMS
    count: int  # events of each stream in the example
    background: str = ""  # the name of what its GRAPH is about; empty: it has none

    @property
    def query(self) -> Path:
        """The file of its query."""
        return EXAMPLES / f"{self.name}.spaseq"

    def stream(self, name: str) -> Path:
        """Return the file of one of its streams in the example."""
        return EXAMPLES / f"{name}.trig"


_GRID = {f"{BASE}mainSource": "power", f"{BASE}weather": "weather", f"{BASE}storageSource": "storage"}
_BOATS = {f"{BASE}boats": "boats"}

CASES = {
    each.name: each
    for each in (
        UseCase("smartgrid", "dear fuel, then good weather, then cheaper stored power", _GRID, 40, "homes"),
        UseCase("trajectory", "a vessel leaves, keeps its course, and stops to fish", _BOATS, 120, "harbour"),
        UseCase("fraud", "a large sum, then small ones from the same card", {f"{BASE}cards": "cards"}, 400, "holders"),
        UseCase("vshape", "a price falls, then rises above where it began", {f"{BASE}stocks": "shares"}, 400),
        UseCase("shoulders", "shoulder, head, shoulder", {f"{BASE}stocks": "shares"}, 400),
        UseCase("traffic", "a congested segment, then two of its neighbours at once",
                {f"{BASE}road{n}": f"road{n}" for n in (1, 2, 3)}, 60),
    )
}  # fmt: skip


def background(name: str) -> Iterator[str]:
    """Yield what is known beforehand, as Turtle."""
    yield f"@prefix : <{BASE}> .\n\n"
    if name == "homes":
        for n in range(HOUSES):
            yield f':house{n} :locatedIn :city{n // 4} ; :nearBy :house{(n + 1) % HOUSES} ; :ownerName "owner {n}" .\n'
    elif name == "harbour":
        for n in range(VESSELS):
            yield f':vessel{n} :name "vessel {n}" ; :operatedBy :line{n % 2} .\n'
        yield ':line0 :name "North Line" .\n:line1 :name "South Line" .\n'
    else:
        for n in range(FEW_CARDS):
            yield f':card{n} :cardHolder "holder {n}" ; :holderAddress "street {n % 40}" .\n'


def main() -> None:
    """Write the streams and the backgrounds of the examples."""
    for case in CASES.values():
        for name in case.streams.values():
            case.stream(name).write_text("".join(trig(STREAMS[name](case.count))))
        if case.background:
            (EXAMPLES / f"{case.background}.ttl").write_text("".join(background(case.background)))


if __name__ == "__main__":
    main()
