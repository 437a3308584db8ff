"""Streams in the shape that the SPAseq paper describes (section 8.1), made from a seed.

* SMD, transactions of a stock exchange: 10 companies of a sector, 11 sectors, some 52 transactions a second; each has
  a company, its sector, a transaction, volume, price and type.
* SHD, a smart home: the power stream, the storage stream and the weather stream of some houses.
* CCD, transactions of credit cards: card, amount, place.
* TD, traffic of a city: for each of three segments of road a stream of its congestion, speed and vehicles.
* boats, for the trajectories, of which the paper has no data: speed, direction and place of vessels.

Invariant: integers and `Random.random` alone, so the same bytes on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from random import Random

from retewave.bench.usecases.events import Happening, Triple, nquads

__all__ = [
    "FEW_CARDS", "HOUSES", "STREAMS", "VESSELS", "boats", "cards", "grid_power", "grid_storage", "grid_weather", "road",
    "shares",
]  # fmt: skip

SECTORS, COMPANIES = 11, 10  # companies of a sector
HOUSES = 8
VESSELS = 6
FEW_CARDS = 40


def _cents(amount: int) -> Decimal:
    return Decimal(amount).scaleb(-2)


def _below(random: Random, bound: int) -> int:
    return int(random.random() * bound)


def shares(count: int, seed: int = 7, sectors: int = SECTORS) -> Iterator[Happening]:
    """SMD: transactions; a price falls for a while, then jumps, about a base."""
    random = Random(f"shares {seed}")
    known = sectors * COMPANIES
    base = [2000 + _below(random, 30000) for _ in range(known)]
    price, left, falling = list(base), [0] * known, [False] * known
    for n in range(count):
        c = _below(random, known)
        if left[c] == 0:
            falling[c], left[c] = random.random() < 0.5, 1 + _below(random, 5)
        left[c] -= 1
        step = 1 + _below(random, price[c] // 50 + 1)
        price[c] += (base[c] - price[c]) // 24 + (-step if falling[c] else step)
        price[c] = max(price[c], 100)
        company = f"company{c}"
        said: tuple[Triple, ...] = (
            (company, "price", _cents(price[c])),
            (company, "volume", 1 + _below(random, 5000)),
            (company, "sector", f"sector{c // COMPANIES}"),
            (company, "transaction", f"transaction{n}"),
            (company, "type", '"buy"' if random.random() < 0.5 else '"sell"'),
        )
        yield Happening(f"t{n}", n * 1000 // 52, said)


def _grid(count: int, seed: int, what: str, say: Callable[[Random, int], tuple[Triple, ...]]) -> Iterator[Happening]:
    """Yield the events of a stream of a smart grid: one a house in turn, 15 seconds apart; with a phase."""
    random = Random(f"{what} {seed}")
    phase = {"power": 0, "weather": 5000, "storage": 10000}[what]
    for n in range(count):
        yield Happening(f"{what}{n}", n * 15000 + phase, say(random, n % HOUSES))


def grid_power(count: int, seed: int = 7) -> Iterator[Happening]:
    """SHD, first stream: what a fuel-based source asks for its power."""

    def say(random: Random, house: int) -> tuple[Triple, ...]:
        fare, source = 10 + _below(random, 15), f"source{house}"
        return (
            (f"house{house}", "loc", f"street{house // 4}"), (f"house{house}", "pow", source),
            (source, "source", '"fuel"'), (source, "fare", fare), (source, "watt", 400 + _below(random, 3000)),
        )  # fmt: skip

    return _grid(count, seed, "power", say)


def grid_weather(count: int, seed: int = 7) -> Iterator[Happening]:
    """SHD, second stream: light and wind."""

    def say(random: Random, house: int) -> tuple[Triple, ...]:
        value = f"value{house}"
        return (
            (f"station{house // 4}", "loc", f"street{house // 4}"), (f"station{house // 4}", "value", value),
            (value, "light", 20 + _below(random, 60)), (value, "windsp", _below(random, 12)),
            (value, "heat", 5 + _below(random, 25)),
        )  # fmt: skip

    return _grid(count, seed, "weather", say)


def grid_storage(count: int, seed: int = 7) -> Iterator[Happening]:
    """SHD, third stream: what the storage beside a renewable source asks."""

    def say(random: Random, house: int) -> tuple[Triple, ...]:
        cell = f"cell{house}"
        return (
            (f"storage{house}", "loc", f"street{house // 4}"), (f"storage{house}", "pow", cell),
            (cell, "source", '"solar"'), (cell, "fare", 5 + _below(random, 20)),
            (cell, "watt", 100 + _below(random, 900)),
        )  # fmt: skip

    return _grid(count, seed, "storage", say)


def cards(count: int, seed: int = 7, known: int = 500) -> Iterator[Happening]:
    """CCD: transactions; a card takes small sums for a while after a large one."""
    random = Random(f"cards {seed}")
    small = [0] * known  # how many small ones follow
    for n in range(count):
        c = _below(random, known)
        if small[c] == 0 and random.random() < 0.04:
            amount, small[c] = 40000 + _below(random, 60000), 1 + _below(random, 3)
        elif small[c] > 0:
            amount, small[c] = 100 + _below(random, 3000), small[c] - 1
        else:
            amount = 1000 + _below(random, 20000)
        card = f"card{c}"
        said: tuple[Triple, ...] = (
            (card, "id", f'"{c:08d}"'), (card, "amount", _cents(amount)), (card, "loc", f"city{_below(random, 30)}"),
        )  # fmt: skip
        yield Happening(f"w{n}", n * 700, said)


def road(segment: int, count: int, seed: int = 7) -> Iterator[Happening]:
    """TD: the reports of one segment, one in five minutes; congestion goes up and down, from 0 to 9."""
    random = Random(f"road {segment} {seed}")
    level = 2
    for n in range(count):
        level = min(9, max(0, level + _below(random, 5) - 2))
        report, sensor = f"observation{segment}.{n}", f"sensor{segment}"
        said: tuple[Triple, ...] = (
            (report, "observedProperty", "congestionLevel"), (report, "observedBy", sensor),
            (report, "hasValue", level), (report, "avgSpeed", 90 - 8 * level + _below(random, 8)),
            (report, "vehicleCount", 3 * level + _below(random, 6)),
        )  # fmt: skip
        yield Happening(f"r{segment}.{n}", n * 300_000, said)


_LEGS = ("harbour", "sea", "sea", "sea", "fishingarea", "sea")  # the places of a journey, two reports or more each


def boats(count: int, seed: int = 7, vessels: int = VESSELS) -> Iterator[Happening]:
    """Reports of vessels, which leave a harbour, travel, and stop at a fishing area or elsewhere."""
    random = Random(f"boats {seed}")
    leg, left = [0] * vessels, [1] * vessels
    speed, course = [0] * vessels, [10 * v for v in range(vessels)]
    for n in range(count):
        v = n % vessels
        if left[v] == 0:
            leg[v], left[v] = (leg[v] + 1) % len(_LEGS), 1 + _below(random, 3)
            if _LEGS[leg[v]] == "harbour":
                course[v] = 10 * _below(random, 36)
        left[v] -= 1
        place = _LEGS[leg[v]]
        if place == "fishingarea":
            speed[v] = 0 if random.random() < 0.7 else 2
        else:
            speed[v] = 3 + _below(random, 3) if place == "harbour" else 9 + _below(random, 3)
        turns = place == "sea" and random.random() < 0.1
        vessel = f"vessel{v}"
        said: tuple[Triple, ...] = (
            (vessel, "speed", speed[v]), (vessel, "location", f'"{place}"'),
            (vessel, "direction", course[v] + (30 if turns else 0)),
        )  # fmt: skip
        yield Happening(f"b{n}", n * 20_000, said)


# A stream's name -> what makes so many events of it, of few companies and cards, so that a few hundred have matches.
STREAMS: dict[str, Callable[[int], Iterator[Happening]]] = {
    "shares": lambda count: shares(count, sectors=1),
    "cards": lambda count: cards(count, known=FEW_CARDS),
    "boats": boats,
    "power": grid_power,
    "weather": grid_weather,
    "storage": grid_storage,
    "road1": lambda count: road(1, count),
    "road2": lambda count: road(2, count),
    "road3": lambda count: road(3, count),
}


def main() -> None:
    """Write a stream as N-Quads: NAME COUNT FILE."""
    name, count, path = sys.argv[1:]
    with Path(path).open("w") as out:
        out.writelines(nquads(STREAMS[name](int(count))))


if __name__ == "__main__":
    main()
