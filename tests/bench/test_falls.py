"""The fall of prices (W2) in its other definitions, as far as the language can say them: exact counts.

The definitions maximal and toC look at what is before A, or go on at C: no sequence says that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from retewave.bench.events import streams
from retewave.bench.events.engine import counted
from retewave.bench.events.streams import generator, make
from retewave.bench.events.task import WORKLOADS

made_here = pytest.mark.skipif(bool(streams.absent()), reason=streams.absent())


def in_table(definition: str, size: int) -> int:
    """Return how many matches stand beside the generator."""
    said = (generator().parent / "README.md").read_text()
    (found,) = re.findall(rf"\| W2-{size} \| {definition} \| (\d+) \|", said)
    return int(found)


def skipping(query: str) -> str:
    return re.sub(r"(PARTITION BY \(?\?\w+\)?)", r"\1 AFTER MATCH SKIP PAST LAST", query)


def to_a_later_rise(query: str) -> str:
    return query.replace("A, B+, C", "A, B+; C")


DEFINITIONS: dict[str, Callable[[str], str]] = {"all": str, "pastLast": skipping, "prefixes": to_a_later_rise}


@made_here
@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("size", [1000, 10_000])
def test_a_definition_of_falls_finds_what_the_generators_table_says(definition: str, size: int, tmp_path: Path) -> None:
    written = WORKLOADS["W2"].query()
    query = DEFINITIONS[definition](written)
    assert (query == written) == (definition == "all")
    assert counted(make("W2", size, tmp_path, rdf=True), query).matches == in_table(definition, size)
