"""A time is read like the one before it where only the seconds differ: that it is the same as if it came alone."""

from __future__ import annotations

import numpy as np
from cases.many import many
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retewave.io.lines.job import KEEP_GRAPHS, TOLD
from retewave.io.lines.lines import LineReading, Wanted
from retewave.io.reading.sources import open_bytes
from retewave.rete.terms.acceptance import Acceptance
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import OBJECT

TIME = "<http://e/at>"
DATE = "http://www.w3.org/2001/XMLSchema#dateTime"
OTHERS = ("http://www.w3.org/2001/XMLSchema#dateTimf", "http://www.w3.org/2001/XMLSchema#date")

literals = st.builds(
    lambda minute, second, fraction, zone, kind: f'"{minute}{second}{fraction}{zone}"^^<{kind}>',
    st.sampled_from(
        ["2024-01-01T00:00:", "2024-01-01T00:01:", "2023-02-29T00:00:", "2024-01-01T24:00:", "3999-01-01T00:00:"]
    ),
    st.sampled_from(["00", "07", "59", "60", "6x", ":1", "0/"]),
    st.sampled_from([".000000", ".000001", ".999999", ".00000/", ".0000009", ",000000", ".12", ""]),
    st.sampled_from(["Z", "+02:00", "-02:00", ""]),
    st.sampled_from([DATE, DATE, DATE, *OTHERS]),
)


def told(document: list[str], terms: Terms) -> list[int]:
    """Return what raw rows hold in place of the objects of a document's times."""
    time = terms.intern(TIME.encode())
    lines = [f"<http://e/e> {TIME} {literal} .\n".encode() for literal in document]
    wanted = Wanted("test", KEEP_GRAPHS, 7, 0, 0, time, raising=True, reports=1, chunk_rows=1000)
    reading = LineReading(open_bytes([b"".join(lines)], compressed=False), terms, wanted)
    nothing = np.zeros(1, np.uint8)
    chunks = reading.chunks(lambda: Acceptance(0, nothing, nothing))
    return [int(told) for chunk in chunks for told in chunk[:, OBJECT]]


@settings(max_examples=many(200), deadline=None)
@given(st.lists(literals, min_size=2, max_size=12))
@example([f'"2024-01-01T24:00:00.000000Z"^^<{DATE}>', f'"2024-01-01T24:00:07.000000Z"^^<{DATE}>'])
@example([f'"2024-01-01T00:00:59.999999Z"^^<{DATE}>', f'"2024-01-01T00:00:60.000000Z"^^<{DATE}>'])
def test_a_time_is_what_it_is_alone(document: list[str]) -> None:
    terms = Terms(1)
    assert told(document, terms) == [told([literal], terms)[0] for literal in document]


def test_times_of_a_minute_are_told_to_the_microsecond() -> None:
    texts = [
        f'"2024-01-01T00:00:{second:02}.{micros:06}Z"^^<{DATE}>' for second, micros in ((0, 0), (7, 1), (59, 999_999))
    ]
    start = 1_704_067_200_000_000
    assert [told + TOLD - start for told in told(texts, Terms(1))] == [0, 7_000_001, 59_999_999]
