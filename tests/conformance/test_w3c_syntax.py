"""The W3C's syntax suites for N-Triples and N-Quads: every positive and every negative case, strictly."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from rdflib.namespace import RDF

from retewave.errors import MalformedInput
from retewave.io import read
from retewave.rete.terms.dictionary import Terms

SUITES = Path(__file__).parents[2].parent / "shared" / "w3c"
MF = rdflib.Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
RDFT = rdflib.Namespace("http://www.w3.org/ns/rdftest#")


def cases(folder: str, positive: rdflib.URIRef, negative: rdflib.URIRef) -> list:
    manifest = SUITES / folder / "manifest.ttl"
    if not manifest.exists():
        return [pytest.param(None, False, marks=pytest.mark.skip(reason=f"no W3C suite at {manifest}"))]
    graph = rdflib.Graph().parse(manifest, publicID="http://w3c.example/")
    found = []
    for kind, good in ((positive, True), (negative, False)):
        for case in graph.subjects(RDF.type, kind):
            file = SUITES / folder / str(graph.value(case, MF.action)).rsplit("/", 1)[1]
            found.append(pytest.param(file, good, id=f"{folder}/{file.name}"))
    return found


ALL = cases("rdf-n-triples", RDFT.TestNTriplesPositiveSyntax, RDFT.TestNTriplesNegativeSyntax) + cases(
    "rdf-n-quads", RDFT.TestNQuadsPositiveSyntax, RDFT.TestNQuadsNegativeSyntax
)


def test_the_suites_are_complete() -> None:
    if not SUITES.exists():
        pytest.skip("no W3C suites")
    files = {file for kind in ("nt", "nq") for file in SUITES.glob(f"*/*.{kind}")}
    unlisted = {file.stem for file in files - {case.values[0] for case in ALL}}
    assert unlisted == {"literal_true", "literal_false"}  # no manifest names them
    assert len(ALL) == len(files) - 4


@pytest.mark.parametrize(("file", "good"), ALL)
def test_a_case_is_accepted_or_refused_as_the_manifest_says(file: Path, good: bool) -> None:
    reader = read(file, rate=1, on_error="raise")
    if not good:
        with pytest.raises(MalformedInput) as refusal:
            list(reader.chunks(Terms(seed=1)))
        assert refusal.value.place is not None and refusal.value.place.source == str(file)
        return
    rows = sum(len(chunk.rows) for chunk in reader.chunks(Terms(seed=1)))
    kind = pyoxigraph.RdfFormat.from_extension(file.suffix[1:])
    assert rows == reader.counters.triples == len(list(pyoxigraph.parse(path=file, format=kind)))
