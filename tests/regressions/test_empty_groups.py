"""Groups without a triple pattern below operators that look: they have one solution, which binds nothing."""

from __future__ import annotations

import pytest

import retewave as rw


def found(pattern: str) -> list[tuple[str, ...]]:
    engine = rw.Engine(allow_cartesian=True)
    query = engine.register(f"SELECT * FROM STREAM <urn:s> [RANGE 1h] WHERE {{ {pattern} }}")
    engine.push(("urn:a", "urn:p", 1), time=1)
    engine.push(("urn:b", "urn:p", 5), time=2)
    engine.flush()
    return sorted(tuple(sorted((match.text(name) or b"").decode() for name in match)) for match in query.matches)


@pytest.mark.parametrize(
    ("pattern", "subjects"),
    [
        ("?x <urn:p> ?y OPTIONAL { }", ["<urn:a>", "<urn:b>"]),
        ("?x <urn:p> ?y FILTER NOT EXISTS { }", []),
        ("?x <urn:p> ?y FILTER EXISTS { }", ["<urn:a>", "<urn:b>"]),
        ("?x <urn:p> ?y FILTER EXISTS { FILTER (?y > 2) }", ["<urn:b>"]),
        ("?x <urn:p> ?y FILTER NOT EXISTS { FILTER (?y > 2) }", ["<urn:a>"]),
        ("?x <urn:p> ?y MINUS { }", ["<urn:a>", "<urn:b>"]),
    ],
)
def test_an_empty_group_is_one_solution(pattern: str, subjects: list[str]) -> None:
    assert [next(text for text in each if text.startswith("<")) for each in found(pattern)] == subjects


def test_the_last_of_three_in_sequence_keeps_no_rows() -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT * FROM STREAM <urn:s> [RANGE 1h] WHERE "
        "{ { ?x <urn:p> ?a } SEQ { ?x <urn:q> ?b } SEQ { ?x <urn:r> ?c } }"
    )
    for time, name in enumerate("pqr", 1):
        matches = engine.push(("urn:x", f"urn:{name}", time), time=time)
    assert len(matches) == 1
    assert engine.stats()["live_rows"] == 2
