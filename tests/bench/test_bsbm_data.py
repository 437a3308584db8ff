"""The generator writes what the official one does: the same lines, and numbers of the same statistics."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from retewave.bench.dataset import Dataset, draw
from retewave.bench.generate import hierarchy_nt, main, offers_nt, producers_nt, static_nt, vendors_nt, write_whole
from retewave.bench.hierarchy import branching, hierarchy
from retewave.bench.template import Template

SAMPLE = Path(__file__).parents[2].parent / "shared" / "bsbm"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return draw(products=10_000, offers=200_000, seed=7)


def official(name: str) -> bytes:
    if not SAMPLE.is_dir():
        pytest.skip(f"the official sample is not here: {SAMPLE}")
    return gzip.decompress((SAMPLE / name).read_bytes())


def shape(line: bytes) -> bytes:
    """A line with its drawn numbers and its country left out."""
    return re.sub(rb"countries#..", b"countries#", re.sub(rb"(?<![v#/])\d+(?!/bsbm)", b"0", line))


def numbers(text: bytes, pattern: bytes) -> np.ndarray:
    return np.array([float(x) for x in re.findall(pattern, text)])


def test_the_rules_give_the_papers_hierarchies() -> None:
    assert hierarchy(branching(10_000)).size == 329
    largest = hierarchy(branching(10_000_000))
    assert (largest.size, largest.depth) == (22_527, 5)
    assert largest.below(2).sum() - 1 == 1_608


def test_the_hierarchy_is_the_official_one_byte_for_byte(dataset: Dataset) -> None:
    assert hierarchy_nt(dataset) == official("hierarchy.nt.gz")


def test_offers_have_the_official_lines_but_for_the_drawn_numbers(dataset: Dataset) -> None:
    theirs = official("offers-1k.nt.gz").splitlines()
    ours = next(offers_nt(dataset)).splitlines()[: len(theirs)]
    assert [shape(line) for line in ours] == [shape(line) for line in theirs]


def test_static_data_has_the_official_lines_but_for_the_drawn_numbers(dataset: Dataset) -> None:
    for name, text in [("vendors", vendors_nt(dataset)), ("producers", producers_nt(dataset))]:
        theirs = {shape(line) for line in official(f"static-{name}.nt.gz").splitlines()}
        assert {shape(line) for line in text.splitlines()} == theirs


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("price", rb'/price> "([\d.]+)"'),
        ("delivery days", rb'deliveryDays> "(\d+)"'),
        ("product", rb"product> <\S+/Product(\d+)>"),
        ("leaf type", rb"ProductType(\d+)> \."),
        ("day of month published", rb'1.1/date> "2008-..-(\d\d)"'),
        ("month valid from", rb'validFrom> "....-(\d\d)'),
        ("month valid to", rb'validTo> "....-(\d\d)'),
    ],
)
def test_offers_are_drawn_from_the_official_distribution(dataset: Dataset, what: str, pattern: bytes) -> None:
    theirs = np.sort(numbers(official("offers-1k.nt.gz"), pattern))
    ours = np.sort(numbers(next(offers_nt(dataset)), pattern))
    points = np.unique(np.concatenate([theirs, ours]))
    cumulated = [np.searchsorted(drawn, points, "right") / len(drawn) for drawn in (theirs, ours)]
    distance = np.abs(cumulated[0] - cumulated[1]).max()
    # Kolmogorov and Smirnov's bound for one chance in 10,000 that equal distributions differ so much.
    bound = 2.23 * np.sqrt(1 / len(theirs) + 1 / len(ours))
    assert distance < bound, f"{what}: {distance:.3f} > {bound:.3f}"


def test_products_are_dealt_to_producers_as_officially(dataset: Dataset) -> None:
    counts = []
    for text in (official("static-producers.nt.gz"), producers_nt(dataset)):
        owners = re.findall(rb"/producer> <\S+/Producer(\d+)>", text)
        counts.append(np.array(list(Counter(owners).values())[:-1]))
    (theirs, ours) = counts
    assert abs(theirs.mean() - ours.mean()) < 4
    assert abs(theirs.std() - ours.std()) < 4


def test_offers_fall_under_the_types_as_officially(dataset: Dataset) -> None:
    leaf = dataset.product_type[dataset.offer_product - 1]
    shares = [dataset.types.below(target)[leaf].mean() for target in (2, 9)]
    assert shares[0] == pytest.approx(0.21, abs=0.02)
    assert shares[1] == pytest.approx(0.039, abs=0.01)


def test_dates_lie_in_the_official_ranges(dataset: Dataset) -> None:
    days = np.array(["2008-03-15", "2008-06-19"], dtype="datetime64[D]").astype(int)
    assert (dataset.published.min(), dataset.published.max()) == tuple(days)
    before, after = dataset.published - dataset.valid_from, dataset.valid_to - dataset.published
    assert (before.min(), before.max(), after.min(), after.max()) == (0, 90, 7, 90)


def test_an_offers_product_has_one_producer_and_one_type_throughout(dataset: Dataset) -> None:
    text = next(offers_nt(dataset))
    told = dict(re.findall(rb"<(\S+/Product\d+)> <\S+producer> <\S+/(Producer\d+)>", producers_nt(dataset)))
    for product, producer in re.findall(rb"product> <(\S+/dataFrom(Producer\d+)/Product\d+)>", text):
        assert told[product] == producer
    types: dict[bytes, set[bytes]] = {}
    for product, kind in re.findall(rb"<(\S+/Product\d+)> <\S+#type> <\S+/(ProductType\d+)>", text):
        types.setdefault(product, set()).add(kind)
    assert {len(kinds) for kinds in types.values()} == {1}


def test_the_second_stream_asserts_every_ancestor_of_the_leaf() -> None:
    small = draw(products=10_000, offers=5, seed=3)
    lines = b"".join(offers_nt(small, levels=(3, 2, 1, 0))).splitlines()
    kinds = [int(x) for x in re.findall(rb"ProductType(\d+)> \.", b"\n".join(lines[10:14]))]
    assert kinds[3] == 1
    assert [int(small.types.parent[kind]) for kind in kinds] == [*kinds[1:], 0]
    assert len(lines) == 5 * 14


@pytest.mark.parametrize("triples", [1, 100, 200, 5_000, 20_000])
def test_static_data_is_cut_and_padded_to_the_triple(dataset: Dataset, triples: int) -> None:
    lines = static_nt(dataset, triples).splitlines()
    assert len(set(lines)) == len(lines) == triples


def test_the_same_seed_gives_the_same_files_and_another_gives_others(tmp_path: Path) -> None:
    for name, seed in [("a", 5), ("b", 5), ("c", 6)]:
        main(out=tmp_path / name, offers=300, products=1_000, seed=seed, type_scale=0)
    a, b, c = ({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in "abc")
    assert sorted(a) == ["hierarchy.nt", "offers.nt", "static-producers.nt", "static-vendors.nt"]
    assert a == b
    assert a["offers.nt"] != c["offers.nt"]


def test_a_template_writes_each_kind_of_number() -> None:
    template = Template.parse("{n}|{m:cents}|{d:date};")
    columns = {
        "n": np.array([0, 10, 12345]),
        "m": np.array([5, 100, 99999]),
        "d": np.array([20080101, 10101, 1]),
    }
    assert template.fill(columns) == b"0|0.05|2008-01-01;10|1.00|0001-01-01;12345|999.99|0000-00-01;"


def test_who_is_interrupted_leaves_no_half_file(tmp_path: Path) -> None:
    def interrupted() -> Iterator[bytes]:
        yield b"<a> <b> <c> .\n"
        raise KeyboardInterrupt

    path = tmp_path / "offers.nt"
    path.write_bytes(b"of before")
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, interrupted())
    assert [each.name for each in tmp_path.iterdir()] == ["offers.nt"] and path.read_bytes() == b"of before"
    write_whole(path, [b"new", b"er"])
    assert [each.name for each in tmp_path.iterdir()] == ["offers.nt"] and path.read_bytes() == b"newer"
