"""The figures of the SPAseq paper: their queries find the same poured as read, and more where they ask for less."""

from __future__ import annotations

from pathlib import Path

import pytest

import retewave as rw
from retewave.bench.usecases.events import AT, BASE, nquads
from retewave.bench.usecases.figures import facts, known, poured, sequence, traffic
from retewave.bench.usecases.streams import road, shares

STOCKS = f"{BASE}stocks"
SHARES = {STOCKS: "".join(nquads(shares(3000))).encode()}
ROADS = {f"{BASE}road{n}": "".join(nquads(road(n, 200))).encode() for n in (1, 2, 3)}


def read(query: str, streams: dict[str, bytes]) -> int:
    engine = rw.Engine()
    engine.register(query, keep=0)
    readers = [rw.read(lines, name="s.nq", time_property=AT, stream=iri) for iri, lines in streams.items()]
    return len(list(engine.run(*readers)))


@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize("repeated", [False, True])
def test_what_is_poured_finds_what_is_read(mark: str, repeated: bool) -> None:
    query = sequence(3, mark, 1, repeated=repeated)
    assert poured(query, SHARES)[0] == read(query, SHARES) > 0


def test_conjunction_over_three_streams_finds_the_same_poured() -> None:
    assert poured(traffic(60), ROADS)[0] == read(traffic(60), ROADS) > 0


def test_a_looser_question_finds_no_less() -> None:
    strict, next_, more = (
        poured(sequence(3, mark, 1, repeated=repeated), SHARES)[0]
        for mark, repeated in ((",", False), (";", False), (";", True))
    )
    assert strict <= next_ <= more
    assert poured(sequence(5, ";", 1), SHARES)[0] <= next_


def test_a_background_that_knows_each_company_changes_no_match(tmp_path: Path) -> None:
    (tmp_path / "facts.nt").write_text(facts(1000))
    query = sequence(3, ",", 1)
    assert poured(known(query), SHARES, tmp_path / "facts.nt")[0] == poured(query, SHARES)[0] > 0
