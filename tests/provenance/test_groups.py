"""The terms of groups are told at once, for whole batches: the same as match by match."""

from __future__ import annotations

from collections.abc import Iterator

import retewave as rw
from retewave.match import Matches
from retewave.provenance.groups import Groups

_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
EITHER = """SELECT ?w ?z WITHIN 30 SECONDS FROM STREAM S <urn:S>
    WHERE { SEQ (A; (B | C)+, D)
      DEFINE GPM A ON S { ?a <urn:a> ?w }  DEFINE GPM B ON S { ?b <urn:b> ?x }
      DEFINE GPM C ON S { ?c <urn:c> ?y }  DEFINE GPM D ON S { ?d <urn:d> ?z } }"""


def batches(query: str) -> Iterator[Matches]:
    """Yield what a query finds in a stream of events of four kinds, one a second."""
    engine = rw.Engine()
    engine.register(query, keep=0)
    kinds = "acbdabcbdacdabd" * 4
    lines = (
        f'<urn:e{n}> <urn:at> "{n}"^^<{_INTEGER}> .\n<urn:s{n}> <urn:{kind}> "{n}" <urn:e{n}> .\n'
        for n, kind in enumerate(kinds)
    )
    reader = rw.read("".join(lines).encode(), name="q.nq", stream="urn:S", time_property="urn:at")
    for found in engine.run_batches(reader):
        yield from found


def one_by_one(groups: Groups, count: int) -> set[int]:
    """Return the ids of all that the repetitions of matches have bound."""
    repetitions = (each for row in range(count) for of in groups.of(row).values() for each in of)
    return {term for _, bound in repetitions for term in bound.values()}


def test_the_terms_of_groups_are_those_that_repetitions_bind() -> None:
    looked = 0
    for batch in batches(EITHER):
        assert batch.groups is not None
        assert set(batch.groups.terms.tolist()) - {0} == one_by_one(batch.groups, len(batch)) != set()
        rest = batch.groups.after(len(batch) // 2)
        assert set(rest.terms.tolist()) - {0} == one_by_one(rest, len(batch) - len(batch) // 2)
        looked += len(batch)
    assert looked > 10
