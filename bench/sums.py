"""Test 1 of the EP-SPARQL paper: sums and averages of prices by its rule (5) and query (6), in growing windows.

`python -m retewave.bench.sums` pushes prices one by one.  Each window begins with a point, from which the rule counts
and sums up, price by price; its average is told with its last price.  So every price makes a sum, and none is wasted.
The window is a time, as in the paper's text, or a number of prices, as in its Figure 1 (b).  Both are asked in the
paper's words, EQUALSOPTIONAL with !BOUND, and in shorter ones, SEQ NOT … SEQ, that mean the same.
Where it stands: beside the sweeps.  Invariant: counts, sums and averages of every run are those of plain Python.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

import retewave as rw
from retewave.bench.peers.events import etalis

__all__ = ["FORMS", "WINDOWS", "ToldSum", "by_etalis", "by_hand", "prices", "told", "words"]

_S = "http://example.org/stocks#"
_HEAD = f"PREFIX : <{_S}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
_POINT, _PRICE = "{ ?point :hasCount ?count ; :hasSum ?sum }", "{ :ACME :hasStockPrice ?price }"
_BETWEEN = "{ :ACME :hasStockPrice ?between }"
_SUMS = "CONSTRUCT { _:aaa :hasCount ?more ; :hasSum ?total } %s WHERE { "
_SUMS += "SELECT (?count + 1 AS ?more) (?sum + ?price AS ?total) WHERE { %s FILTER ( %s ) } }"
_AVERAGE = "SELECT (?sum / ?count AS ?average) %s WHERE { %s FILTER ( %s ) }"
FORMS = {
    "EQUALSOPTIONAL": "{{ {0} SEQ {1} }} EQUALSOPTIONAL {{ {0} SEQ {2} SEQ {1} }}",
    "SEQ NOT": "{0} SEQ NOT {2} SEQ {1}",
}  # how a form says that nothing comes between two groups
WINDOWS = ("time", "count")
_RULES = Path(etalis.__file__).parent / "prolog" / "sums.event"


def words(form: str, window: str, size: int) -> tuple[str, str]:
    """Return the rule and the query for windows of so many prices, one a second."""
    absent = "!BOUND(?between) && " if form == "EQUALSOPTIONAL" else ""
    sums = FORMS[form].format(_POINT, _PRICE, _BETWEEN)
    if window == "count":
        stream = f"FROM STREAM :stocks [RANGE {2 * size}s]"
        last = f"SELECT (?sum / {size} AS ?average) {stream} WHERE {{ ?point :hasCount {size} ; :hasSum ?sum }}"
        return _HEAD + _SUMS % (stream, sums, f"{absent}?count < {size}"), _HEAD + last
    width = f'"PT{size}.5S"^^xsd:duration'  # of a point's prices; the price before it is one second farther away
    average = FORMS[form].format(_PRICE, _POINT, _BETWEEN)
    return (
        _HEAD + _SUMS % ("", sums, f"{absent}getDURATION() < {width}"),
        _HEAD + _AVERAGE % (f"FROM STREAM :stocks [RANGE {size + 2}s]", average, f"{absent}getDURATION() > {width}"),
    )


@dataclass
class ToldSum:
    """What was told."""

    sums: list[tuple[int, int]]  # counts and sums, in their order
    averages: list[Fraction]


def prices(size: int, windows: int, seed: int = 1) -> list[list[int]]:
    """Return the prices of each window."""
    draw = random.Random(seed)
    return [[draw.randrange(1, 100) for _ in range(size)] for _ in range(windows)]


def by_hand(windows: Sequence[Sequence[int]]) -> ToldSum:
    """Sum up by a loop.

    >>> by_hand([[20, 30]])
    ToldSum(sums=[(1, 20), (2, 50)], averages=[Fraction(25, 1)])
    """
    found = ToldSum([], [])
    for window in windows:
        total = 0
        for count, price in enumerate(window, 1):
            total += price
            found.sums.append((count, total))
        found.averages.append(Fraction(total, len(window)))
    return found


def told(form: str, window: str, windows: Sequence[Sequence[int]]) -> tuple[ToldSum, float]:
    """Return what the engine tells of the prices of all windows, and the processor's seconds."""
    engine, found = rw.Engine(allow_cartesian=True), ToldSum([], [])
    for name, text in zip(("sums", "average"), words(form, window, len(windows[0])), strict=True):
        engine.register(text, language="epsparql", name=name, keep=0)
    engine.push((f"{_S}ACME", f"{_S}hasStockPrice", 0), time=0, stream=f"{_S}stocks")
    at, started = 1, time.process_time()
    for number, each in enumerate(windows):
        point = f"{_S}point{number}"
        begins = [(point, f"{_S}hasCount", 0), (point, f"{_S}hasSum", 0)]
        for triples in (begins, *([(f"{_S}ACME", f"{_S}hasStockPrice", price)] for price in each)):
            _note(found, engine.push(triples, time=at, stream=f"{_S}stocks"))
            at += 1
    _note(found, engine.advance(at))
    return found, time.process_time() - started


def _note(found: ToldSum, matches: Sequence[Any]) -> None:
    for match in matches:
        if match.query.name == "sums":
            found.sums.append((int(match["more"]), int(match["total"])))
        else:
            found.averages.append(Fraction(str(match["average"])))


def by_etalis(windows: Sequence[Sequence[int]], folder: Path) -> tuple[bool, float]:
    """Tell whether ETALIS's rules sum up each window of a number right, and its seconds of the processor."""
    size, events = len(windows[0]), []
    for number, each in enumerate(windows):
        events += [f"point({number})", *(f"price({price})" for price in each)]
    lines = [f"at({at}, {event}).\n" for at, event in enumerate(events, 1)]
    stream = folder / "sums.pl"
    stream.write_text(f"size({size}).\nwidth({2 * size}).\n{''.join(lines)}")
    found = etalis.play("recent", stream, _RULES)
    return (found.matches, found.sum) == (len(windows), sum(map(sum, windows))), found.busy


def same(one: ToldSum, other: ToldSum) -> bool:
    """Tell whether the same was told, where averages may be rounded."""
    if one.sums != other.sums or len(one.averages) != len(other.averages):
        return False
    return all(abs(a - b) < Fraction(1, 10**12) for a, b in zip(one.averages, other.averages, strict=True))


def _row(form: str, window: str, size: int, events: int, repetitions: int) -> None:
    windows = prices(size, max(2, events // size))
    right, taken = by_hand(windows), []
    for _ in range(repetitions):
        found, seconds = told(form, window, windows)
        if not same(found, right):
            raise SystemExit(f"WRONG: {form}, {window} window of {size}")
        taken.append(seconds)
    rates = [size * len(windows) / seconds for seconds in taken]
    print(f"{window} window of {size:,} prices, {form}: {statistics.median(rates):,.0f} prices ", end="")
    print(f"({min(rates):,.0f} to {max(rates):,.0f}) for a second of the processor", flush=True)


def _row_of_etalis(size: int, events: int, repetitions: int) -> None:
    windows, taken = prices(size, max(2, events // size)), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repetitions):
            right, seconds = by_etalis(windows, Path(folder))
            if not right:
                raise SystemExit(f"WRONG: ETALIS, window of {size}")
            taken.append(size * len(windows) / seconds)
    print(f"count window of {size:,} prices, ETALIS (recent): {statistics.median(taken):,.0f} prices ", end="")
    print(f"({min(taken):,.0f} to {max(taken):,.0f}) for a second of the processor", flush=True)


def main(
    sizes: Annotated[str, typer.Option(help="of the windows, with commas")] = "10,30,100,300",
    events: Annotated[int, typer.Option(help="prices, at the least two windows of them", min=10)] = 2_000,
    repetitions: Annotated[int, typer.Option(help="runs of each", min=1)] = 3,
) -> None:
    """Sum up prices in windows of time and of number."""
    for window in WINDOWS:
        for form in FORMS:
            told(form, window, prices(10, 2))
            for size in sizes.split(","):
                _row(form, window, int(size), events, repetitions)
    if why := etalis.missing():
        print(f"ETALIS: skipped: {why}")
    else:
        for size in sizes.split(","):
            _row_of_etalis(int(size), events, repetitions)
    windows = prices(100, 10_000)
    started = time.process_time()
    by_hand(windows)
    print(f"Python by hand: {1e6 / (time.process_time() - started):,.0f} prices for a second of the processor")


if __name__ == "__main__":
    typer.run(main)
