"""Write the benchmark's files: the schema, the offer stream, the static data, as the official generator does.

Where it stands: `dataset` draws the numbers, this module is their N-Triples, byte for byte the official
terms, literals and order.  `python -m retewave.bench.generate --out DIR` writes hierarchy.nt, offers.nt,
static-vendors.nt and static-producers.nt.
An offer is eleven triples: its own ten, then the type of its product, asserted anew with each offer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from retewave.bench.dataset import COUNTRIES, Dataset, draw
from retewave.bench.template import Template, chunks
from retewave.bench.vocabulary import (
    COUNTRY,
    OFFER,
    OFFER_FACTS,
    PARENT,
    PRODUCER,
    PRODUCT,
    RDF_TYPE,
    SUBCLASS,
    TYPE,
    VENDOR,
    word,
)

__all__ = [
    "OFFER_TRIPLES",
    "generate",
    "hierarchy_nt",
    "offers_nt",
    "producers_nt",
    "static_nt",
    "vendors_nt",
    "write",
    "write_whole",
]

OFFER_TRIPLES = len(OFFER_FACTS)  # of its own; the types of its product come behind them


def _offer_template(levels: int) -> Template:
    """Return an offer's ten triples and the types of its product on that many levels."""
    lines = [f"{OFFER} {predicate} {value} .\n" for predicate, value in OFFER_FACTS]
    lines += [f"{PRODUCT} {RDF_TYPE} {TYPE.replace('kind', f'kind{n}')} .\n" for n in range(levels)]
    return Template.parse("".join(lines))


def _calendar(days: np.ndarray) -> np.ndarray:
    """Return days since 1970 as numbers that read as the date: 20080620."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year = months.astype("datetime64[Y]").astype(np.int64) + 1970
    month = months.astype(np.int64) % 12 + 1
    calendar: np.ndarray = year * 10_000 + month * 100 + (dates - months).astype(np.int64) + 1
    return calendar


def offers_nt(dataset: Dataset, levels: tuple[int, ...] | None = None, first: int = 1) -> Iterator[bytes]:
    """Yield the offer stream; `levels` are the levels of types asserted of each product (the leaf's).

    The first offer gets the number `first`.
    """
    levels = levels or (dataset.types.depth,)
    product = dataset.offer_product
    leaf = dataset.product_type[product - 1]
    columns = {
        "offer": np.arange(first, first + dataset.offers),
        "vendor": dataset.offer_vendor,
        "product": product,
        "producer": dataset.product_producer[product - 1],
        "price": dataset.price,
        "valid_from": _calendar(dataset.valid_from),
        "valid_to": _calendar(dataset.valid_to),
        "delivery": dataset.delivery,
        "published": _calendar(dataset.published),
    }
    columns |= {f"kind{n}": dataset.types.ancestors(leaf, level) for n, level in enumerate(levels)}
    yield from chunks(_offer_template(len(levels)), columns)


def hierarchy_nt(dataset: Dataset) -> bytes:
    """Return the schema: each type's parent."""
    kinds = np.arange(2, dataset.types.size + 1)
    template = Template.parse(f"{TYPE} {SUBCLASS} {PARENT} .\n")
    return template.fill({"kind": kinds, "parent": dataset.types.parent[kinds]})


def _countries_nt(subject: str, slot: str, countries: np.ndarray) -> bytes:
    """Return the country of each subject, in order: one template a country, its lines dealt back in order."""
    lines = np.empty(len(countries), dtype=object)
    for code, name in enumerate(COUNTRIES):
        numbers = np.flatnonzero(countries == code) + 1
        if len(numbers):
            template = Template.parse(f"{subject} {word('country')} <{COUNTRY}{name}> .\n")
            lines[numbers - 1] = template.fill({slot: numbers}).splitlines(keepends=True)
    return b"".join(lines)


def vendors_nt(dataset: Dataset) -> bytes:
    """Return each vendor's country."""
    return _countries_nt(VENDOR, "vendor", dataset.vendor_country)


def _product_producers_nt(dataset: Dataset) -> bytes:
    template = Template.parse(f"{PRODUCT} {word('producer')} {PRODUCER} .\n")
    numbers = np.arange(1, dataset.products + 1)
    return template.fill({"product": numbers, "producer": dataset.product_producer})


def producers_nt(dataset: Dataset) -> bytes:
    """Return each product's producer, then each producer's country."""
    return _product_producers_nt(dataset) + _countries_nt(PRODUCER, "producer", dataset.producer_country)


def _padding_nt(dataset: Dataset, triples: int) -> bytes:
    """Return triples of the static vocabulary about products that no offer names."""
    template = Template.parse(f"{PRODUCT} {word('producer')} {PRODUCER} .\n")
    extra = np.arange(triples)
    first = len(dataset.producer_country) + 1
    return template.fill({"product": dataset.products + 1 + extra, "producer": first + extra // 50})


def static_nt(dataset: Dataset, triples: int) -> bytes:
    """Return exactly that many static triples: all countries, then products' producers, then such of no use.

    `expected.Static` counts what a cut of it still lets match.
    """
    countries = vendors_nt(dataset) + _countries_nt(PRODUCER, "producer", dataset.producer_country)
    known = (countries + _product_producers_nt(dataset)).splitlines(keepends=True)[:triples]
    rest = triples - len(known)
    return b"".join(known) + (_padding_nt(dataset, rest) if rest else b"")


def generate(products: int = 10_000, offers: int = 200_000, seed: int = 1, type_scale: int | None = None) -> Dataset:
    """Draw a dataset in memory; the defaults are the paper's: 329 types, 2.2 million triples."""
    return draw(products, offers, seed, type_scale)


def write_whole(path: Path, content: Iterable[bytes]) -> None:
    """Write a file that has its name only when it is whole: an interrupted run leaves the former file."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as out:
            out.writelines(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write(dataset: Dataset, out: Path) -> None:
    """Write the four files of a dataset, with a progress bar when a person watches."""
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "hierarchy.nt", [hierarchy_nt(dataset)])
    write_whole(out / "static-vendors.nt", [vendors_nt(dataset)])
    write_whole(out / "static-producers.nt", [producers_nt(dataset)])
    console = Console(stderr=True)
    with Progress(console=console, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("offers.nt", total=dataset.offers)
        write_whole(out / "offers.nt", _told(offers_nt(dataset), lambda: bar.advance(task, 16_384)))


def _told(chunks: Iterable[bytes], tell: Callable[[], object]) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk
        tell()


def main(
    out: Annotated[Path, typer.Option(help="the folder to write into; 200,000 offers are 490 MB")],
    offers: Annotated[int, typer.Option(help="offers in the stream, 11 triples each", min=1)] = 200_000,
    products: Annotated[int, typer.Option(help="products; the hierarchy's size follows", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="the same seed gives the same files")] = 1,
    type_scale: Annotated[int, typer.Option(help="make the hierarchy for so many products; 0: as given", min=0)] = 0,
) -> None:
    """Write BSBM's product types, offers and static data as N-Triples."""
    dataset = generate(products, offers, seed, type_scale or None)
    write(dataset, out)
    print(f"{out}: {dataset.types.size} types, {dataset.offers:,} offers, {dataset.offers * 11:,} triples")


if __name__ == "__main__":
    typer.run(main)
