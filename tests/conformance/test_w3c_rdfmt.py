"""The W3C's RDF semantics suite: each case that concerns the supported rules, the others with their reason.

A case's action is read as a schema; its data goes through the dispatch tables of what the result asks.  A
statement about the schema itself is entailed when it is stated: the schema is no part of the stream.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from helpers.epsilon_kernel import fire
from rdflib import RDF, Graph, Namespace
from rdflib.collection import Collection

from retewave.epsilon import Atom, Schema, routes
from retewave.epsilon.sources import read_source
from retewave.epsilon.vocabulary import Triple, is_blank

SUITE = Path(__file__).parents[2].parent / "shared" / "w3c" / "rdf-mt"
MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")

INCONSISTENT = "that a graph is inconsistent is not looked for: a stream is taken as it comes"
VALUES = "terms are compared by their texts, as RDF 1.1 says two terms are equal, not by their values"
OF_THE_SCHEMA = "a statement about the schema itself, which is no part of the stream"
DATATYPE = "the type of a literal would be a statement with a literal as its subject"

SKIPPED = {
    "datatypes-intensional-xsd-integer-decimal-compatible": INCONSISTENT,
    "datatypes-non-well-formed-literal-1": INCONSISTENT,
    "datatypes-non-well-formed-literal-2": INCONSISTENT,
    "datatypes-range-clash": INCONSISTENT,
    "datatypes-test010": INCONSISTENT,
    "rdfs-entailment-test001": INCONSISTENT,
    "rdfs-entailment-test002": INCONSISTENT,
    "xmlsch-02-whitespace-facet-2": INCONSISTENT,
    "xmlsch-02-whitespace-facet-4": INCONSISTENT,
    "datatypes-semantic-equivalence-within-type-1": VALUES,
    "datatypes-semantic-equivalence-within-type-2": VALUES,
    "datatypes-semantic-equivalence-between-datatypes": VALUES,
    "float-round-same": VALUES,
    "float-infinity": VALUES,
    "double-round-same": VALUES,
    "double-infinity": VALUES,
    "rdfms-seq-representation-test002": OF_THE_SCHEMA,
    "rdfms-seq-representation-test004": OF_THE_SCHEMA,
    "literal-type": DATATYPE,
}


@dataclass(frozen=True)
class Entailment:
    """One case of the manifest."""

    name: str
    positive: bool  # the result is entailed
    action: Path
    result: Path | None  # None: the action is inconsistent (or, when negative, it is not)


def suite() -> list[Entailment]:
    if not SUITE.is_dir():
        return []
    manifest = SUITE / "manifest.ttl"
    graph = Graph().parse(manifest, format="turtle", publicID=manifest.as_uri())
    (entries,) = graph.objects(None, MF.entries)
    found = []
    for case in Collection(graph, entries):
        action, result = graph.value(case, MF.action), graph.value(case, MF.result)
        found.append(
            Entailment(
                str(graph.value(case, MF.name)),
                graph.value(case, RDF.type) == MF.PositiveEntailmentTest,
                Path(str(action).removeprefix("file://")),
                Path(str(result).removeprefix("file://")) if str(result).startswith("file:") else None,
            )
        )
    return found


CASES = suite()


def entails(action: Path, result: Path) -> bool:
    """Tell whether some naming of the result's blank nodes makes each of its triples stated or entailed."""
    stated, _ = read_source(action, 0)
    asked, _ = read_source(result, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = Schema.load(action)
    dispatch = routes([atom_of(triple) for triple in asked], schema.network)
    got: list[set[Triple]] = [{each for each in stated if fits(each, triple)} for triple in asked]
    for triple in schema.data:
        for atom, each in fire(dispatch, triple):
            got[atom].add(each)
    return any(is_one_naming(asked, choice) for choice in product(*got))


def atom_of(triple: Triple) -> Atom:
    return Atom.of(*(None if is_blank(term) else term for term in triple))


def fits(triple: Triple, asked: Triple) -> bool:
    return all(is_blank(want) or want == term for want, term in zip(asked, triple, strict=True))


def is_one_naming(asked: list[Triple], choice: tuple[Triple, ...]) -> bool:
    names: dict[bytes, bytes] = {}
    pairs = (pair for want, found in zip(asked, choice, strict=True) for pair in zip(want, found, strict=True))
    return all(names.setdefault(want, term) == term for want, term in pairs if is_blank(want))


@pytest.mark.skipif(not CASES, reason="the W3C suite is not at ../shared/w3c")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_entailment_case_is_decided_as_the_w3c_decides_it(case: Entailment) -> None:
    if case.name in SKIPPED:
        pytest.skip(SKIPPED[case.name])
    if case.result is None:
        assert not case.positive, "an inconsistent case needs a reason to be skipped"
        Schema.load(case.action)  # a consistent schema is read
        return
    assert entails(case.action, case.result) == case.positive


@pytest.mark.skipif(not CASES, reason="the W3C suite is not at ../shared/w3c")
def test_every_skipped_case_is_one_of_the_suite() -> None:
    assert set(SKIPPED) <= {case.name for case in CASES}
