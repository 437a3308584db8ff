"""Simulate 1 to 1,000 shards: what the busiest one gets of the benchmark's own stream, and how much faster that is.

`python -m retewave.bench.spark_scaling` prints a table and writes scaling.csv and scaling.png.
Where it stands: the planner's own schemes (`compiler.shares`) over the drawn numbers of a dataset; what a triple, a
byte and a match cost comes from `scaling_costs`, measured on the spot.  Three ways to spread a pattern are compared:
planned with a sample of the stream, planned without, and all by the product, as one would do by hand.
Left out: Spark's own cost of a micro-batch; it stays the same part of the whole when batches grow with the shards.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from string import Template
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from retewave.bench.dataset import Dataset, draw
from retewave.bench.expected import matches_of_offers
from retewave.bench.generate import OFFER_TRIPLES, hierarchy_nt, offers_nt
from retewave.bench.patterns import pattern_text
from retewave.bench.question import Question
from retewave.bench.scaling_costs import Costs, measured
from retewave.compiler.plan.shape import shapes_of
from retewave.compiler.shares import Scheme
from retewave.spark.driver.job import Job

__all__ = ["PLANS", "Case", "Figure", "Spread", "cut", "figure", "popular", "scheme_of", "spread"]

SHARDS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
PRODUCTS, TARGET, WINDOW, RATE, SEED = 10_000, 2, 5_000_000, 100_000, 1
SAMPLED, UNSAMPLED, BY_PRODUCT = "planned with a sample", "planned without", "by product"
PLANS = (SAMPLED, UNSAMPLED, BY_PRODUCT)
_MEASURED_OFFERS = 40_000
_OF_OFFERS = ("offer_product", "offer_vendor", "price", "published", "valid_from", "valid_to", "delivery")


# ---- streams ----
def cut(dataset: Dataset, offers: int) -> Dataset:
    """Return a dataset with the first `offers` offers."""
    return replace(dataset, **{name: getattr(dataset, name)[:offers] for name in _OF_OFFERS})


def popular(dataset: Dataset, exponent: float, seed: int = SEED) -> Dataset:
    """Return a dataset whose offers are about products by Zipf's law: the n-th most popular has 1 / n**exponent."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, dataset.products + 1) ** exponent
    ranks = rng.choice(dataset.products, dataset.offers, p=weights / weights.sum())
    return replace(dataset, offer_product=rng.permutation(dataset.products)[ranks] + 1)


# ---- the queries that are spread ----
@dataclass(frozen=True)
class Case:
    """A pattern over a stream."""

    name: str  # in tables
    dataset: Dataset  # the stream
    text: str  # the query
    question: Question  # its target and its window

    def job(self, shards: int, sample: int = 0) -> Job:
        """Plan the query; `sample` is the number of offers that the planner sees."""
        seen = b"".join(offers_nt(cut(self.dataset, sample))) if sample else None
        schema = [hierarchy_nt(self.dataset)]
        return Job.of(self.text, schema=schema, shards=shards, rate=self.question.rate, sample=seen)

    def patterns(self) -> list[dict[int, str]]:
        """Return the variables of each pattern: number -> name."""
        engine = self.job(1).engine()
        (shape,) = shapes_of(engine.registry.listeners())
        names = {number: variable.name for variable, number in shape.members[0].numbers.items()}
        return [{part: names[part] for part in each.parts if isinstance(part, int)} for each in shape.patterns]

    def typed(self) -> np.ndarray:
        """Return which offers' products are of the target type."""
        kinds = self.dataset.product_type[self.dataset.offer_product - 1]
        typed: np.ndarray = self.dataset.types.below(self.question.target)[kinds]
        return typed

    def columns(self, variables: Mapping[int, str]) -> dict[int, np.ndarray]:
        """Return the terms, as numbers, of the triples that a pattern takes: variable -> one a triple."""
        data = self.dataset
        known = {
            "offer": np.arange(data.offers),
            "webpage": np.arange(data.offers),
            "product": data.offer_product,
            "vendor": data.offer_vendor,
            "publisher": data.offer_vendor,
            "price": data.price,
            "from": data.valid_from,
            "to": data.valid_to,
            "delivery": data.delivery,
            "date": data.published,
        }
        asserted = set(variables.values()) == {"product"}  # the product's type, said with each offer
        kept = self.typed() if asserted else slice(None)
        return {number: known[name][kept] for number, name in variables.items()}


def scheme_of(case: Case, plan: str, shards: int, sample: int) -> Scheme:
    """Return how a plan spreads a case."""
    if plan != BY_PRODUCT:
        return case.job(shards, sample if plan == SAMPLED else 0).spread[0]
    patterns = case.patterns()
    (product,) = {number for each in patterns for number, name in each.items() if name == "product"}
    copies = tuple(1.0 if product in each else float(shards) for each in patterns)
    return Scheme(((product, shards),) if shards > 1 else (), 0, copies)


# ---- spreading ----
Part: TypeAlias = Callable[[np.ndarray, int, int], np.ndarray]  # terms, their variable, how many parts


@dataclass(frozen=True)
class Spread:
    """The part of a whole stream that each shard gets."""

    rows: np.ndarray  # by shard
    matches: np.ndarray  # by shard
    taken: int  # triples that any pattern takes


def _part(numbers: np.ndarray, variable: int, parts: int) -> np.ndarray:
    """Tell terms into parts by a hash that mixes well (SplitMix64)."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15 * (variable + 1) % (1 << 64))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(parts)).astype(np.int64)


def _cells(
    scheme: Scheme, columns: Mapping[int, np.ndarray], part: Part, weights: np.ndarray | None = None
) -> np.ndarray:
    """Count triples by cell; the share variables that they do not bind stay of size 1."""
    bound = [(variable, parts) for variable, parts in scheme.shares if variable in columns]
    length = len(next(iter(columns.values())))
    cell = np.zeros(length, np.int64)
    for variable, parts in bound:
        cell = cell * parts + part(columns[variable], variable, parts)
    size = int(np.prod([parts for _, parts in bound], initial=1))
    return np.bincount(cell, weights, size).reshape([parts if v in columns else 1 for v, parts in scheme.shares])


def spread(case: Case, scheme: Scheme, shards: int, part: Part = _part) -> Spread:
    """Send a stream to its shards, and give each the matches of its own cell; `part` tells terms into parts."""
    patterns = case.patterns()
    shape = [parts for _, parts in scheme.shares]
    taken = [case.columns(variables) for variables in patterns]
    rows, matches = np.zeros(shape, np.int64), np.zeros(shape)
    for columns in taken:
        rows = rows + _cells(scheme, columns, part)
    every = case.columns({number: name for variables in patterns for number, name in variables.items()})
    matches = matches + _cells(scheme, every, part, matches_of_offers(case.dataset, case.question))
    idle = shards - scheme.cells
    sizes = sum(len(next(iter(columns.values()))) for columns in taken)
    return Spread(np.pad(rows.reshape(-1), (0, idle)), np.pad(matches.reshape(-1), (0, idle)), sizes)


# ---- figures ----
@dataclass(frozen=True)
class Figure:
    """A line of the table."""

    case: str  # the pattern and the stream
    plan: str  # how it is spread
    shards: int  # how many
    shares: str  # the plan's shares
    busiest: float  # rows of the busiest shard, as a part of what the patterns take
    skew: float  # rows of the busiest shard, over the mean of all
    replication: float  # shards that a triple goes to, on average
    match_skew: float  # matches of the busiest shard, over the mean of all
    seconds: float  # that the stream takes, predicted
    speed_up: float  # against one shard


def seconds_of(case: Case, got: Spread, costs: Costs) -> float:
    """Return how long a stream takes when every shard has a core, which does a part of the reading as well."""
    triples, shards = case.dataset.offers * (OFFER_TRIPLES + 1), len(got.rows)
    of_a_row = costs.row + costs.row_bytes * costs.shuffle
    return float(triples / shards * costs.scan + (got.rows * of_a_row + got.matches * costs.match).max())


def figure(case: Case, plan: str, told: str, got: Spread, costs: Costs, one: float) -> Figure:
    """Return the figures of a spread; `one` is the time that one shard takes."""
    seconds = seconds_of(case, got, costs)
    return Figure(
        case.name,
        plan,
        len(got.rows),
        told,
        float(got.rows.max() / got.taken),
        float(got.rows.max() / got.rows.mean()),
        float(got.rows.sum() / got.taken),
        float(got.matches.max() / got.matches.mean()) if got.matches.any() else 1.0,
        seconds,
        one / seconds,
    )


def figures_of(case: Case, costs: Costs, shards: Sequence[int], sample: int) -> list[Figure]:
    """Return the figures of a case by plan and by number of shards."""
    names = {number: name for variables in case.patterns() for number, name in variables.items()}
    one = seconds_of(case, spread(case, Scheme((), 0, ()), 1), costs)
    found = []
    for plan in PLANS:
        for many in shards:
            scheme = scheme_of(case, plan, many, sample)
            told = " × ".join(f"{names[variable]} {parts:,}" for variable, parts in scheme.shares) or "–"
            found.append(figure(case, plan, told, spread(case, scheme, many), costs, one))
    return found


# ---- output ----
def cases(offers: int) -> list[Case]:
    """Return what is simulated: two patterns, each over the benchmark's stream and over one with popular products."""
    question = Question(1, TARGET, WINDOW, RATE)
    popular_rq = (Path(__file__).parent / "queries" / "popular.rq").read_text()
    texts = {
        "pattern 1": pattern_text(question),
        "product-keyed": Template(popular_rq).substitute(name="Popular", target=TARGET, range=f"{WINDOW // 10**6}s"),
    }
    plain = draw(PRODUCTS, offers, SEED)
    streams = {"BSBM": plain, "popular products": popular(plain, 1.0)}
    return [Case(f"{p}, {s}", data, text, question) for p, text in texts.items() for s, data in streams.items()]


def _table(figures: Sequence[Figure]) -> Table:
    table = Table(title="shards against load, skew and replication; speed-up predicted")
    for name in ("stream", "plan", "shards", "shares", "busiest", "skew", "replication", "skew of matches", "speed-up"):
        table.add_column(name, justify="left" if name in ("stream", "plan", "shares") else "right")
    for each in figures:
        ratios = [f"{value:,.2f}" for value in (each.skew, each.replication, each.match_skew)]
        told = [f"{each.shards:,}", each.shares, f"{each.busiest:.2%}", *ratios, f"{each.speed_up:,.1f}"]
        table.add_row(each.case, each.plan, *told)
    return table


def _draw(figures: Sequence[Figure], path: Path) -> None:
    """Draw the speed-up of each case, a line a plan."""
    from retewave.bench.plots import LIMIT, OURS, REST, style

    plt = style()
    names = list(dict.fromkeys(each.case for each in figures))
    canvas, grid = plt.subplots(2, 2, figsize=(12, 9), squeeze=False)
    colours = dict(zip(PLANS, (OURS, *REST[:2]), strict=True))
    for name, axes in zip(names, grid.flat, strict=False):
        _lines([each for each in figures if each.case == name], axes, colours, LIMIT)
        axes.set(title=name, xlabel="shards, a core each", ylabel="speed-up, predicted")
    canvas.tight_layout()
    canvas.savefig(path, dpi=160)
    plt.close(canvas)


def _lines(figures: Sequence[Figure], axes: Any, colours: Mapping[str, str], limit: str) -> None:
    shards = sorted({each.shards for each in figures})
    axes.plot(shards, shards, "--", color=limit, lw=1, label="as many times as shards")
    for plan, colour in colours.items():
        mine = [each for each in figures if each.plan == plan]
        if mine:
            x, y = [each.shards for each in mine], [each.speed_up for each in mine]
            axes.plot(x, y, "o-", color=colour, lw=2.6 if plan == SAMPLED else 1.6, ms=4, label=plan)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend()


def main(
    offers: Annotated[int, typer.Option(help="offers in the simulated stream, 11 triples each", min=1)] = 200_000,
    sample: Annotated[int, typer.Option(help="of them, those that the planner sees", min=1)] = 10_000,
    out: Annotated[Path, typer.Option(help="where the table and the plot go")] = Path("bench/out"),
) -> None:
    """Simulate 1 to 1,000 shards."""
    costs = measured(draw(PRODUCTS, _MEASURED_OFFERS, SEED), TARGET)
    print(
        f"measured, of a core: {costs.scan * 1e9:,.0f} ns a triple read and routed, {costs.row * 1e9:,.0f} ns a row "
        f"joined, {costs.match * 1e9:,.0f} ns a match, {costs.row_bytes:.1f} bytes a row, "
        f"{costs.shuffle * 1e9:.2f} ns a byte shuffled"
    )
    figures = [each for case in cases(offers) for each in figures_of(case, costs, SHARDS, sample)]
    Console(width=170).print(_table(figures))
    out.mkdir(parents=True, exist_ok=True)
    with (out / "scaling.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[field.name for field in fields(Figure)], *map(astuple, figures)])
    _draw(figures, out / "scaling.png")
    print(out / "scaling.csv", out / "scaling.png")


if __name__ == "__main__":
    typer.run(main)
