"""The endless stream has ever-new subjects, and its memory is judged after the first tenth."""

from __future__ import annotations

import pytest

from retewave.bench.dataset import draw
from retewave.bench.expected import expected_matches
from retewave.bench.generate import offers_nt
from retewave.bench.question import Question
from retewave.bench.soak import Soak, growth, resident, several


def test_no_subject_of_an_offer_comes_twice() -> None:
    dataset = draw(products=100, offers=30, seed=2)
    soak = Soak(dataset, rounds=4)
    lines = b"".join(soak.chunks()).splitlines()
    offers = [line.split()[0] for line in lines if line.endswith(b"/Offer> .")]
    assert len(offers) == len(set(offers)) == 120
    assert [triples for triples, _ in soak.samples] == [0, 330, 660, 990, 1_320]
    assert all(held > 1_000_000 for _, held in soak.samples)


def test_rounds_make_the_stream_that_matches_are_expected_of() -> None:
    dataset = draw(products=100, offers=30, seed=2)
    once, thrice = expected_matches(dataset, Question(1, 1)), expected_matches(several(dataset, 3), Question(1, 1))
    assert thrice == 9 * once
    stream = b"".join(Soak(dataset, rounds=3).chunks()).splitlines()
    again = b"".join(offers_nt(several(dataset, 3))).splitlines()
    assert stream == again


@pytest.mark.parametrize(
    ("samples", "risen"),
    [
        ([(0, 10), (10, 100), (100, 100)], 0),
        ([(0, 10), (9, 10), (10, 100), (50, 120), (100, 100)], 0.2),
        ([(0, 100), (10, 100), (100, 90)], 0),
    ],
)
def test_memory_is_compared_with_that_after_the_first_tenth(samples: list[tuple[int, int]], risen: float) -> None:
    assert growth(samples) == pytest.approx(risen)


def test_resident_memory_follows_what_is_held() -> None:
    before = resident()
    held = bytearray(b"x") * 50_000_000
    assert resident() - before > 40_000_000
    del held
