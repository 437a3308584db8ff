"""The files of the W3C's tests: graphs of manifests and results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph

SUITE = Path(__file__).parents[2].parent / "shared" / "w3c"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
NUMBERS = ("integer", "decimal", "double", "float")
Graph = dict[tuple[Any, str], list[Any]]


def graph_of(path: Path) -> Graph:
    found: Graph = {}
    for quad in pyoxigraph.parse(path=str(path), base_iri=path.as_uri()):
        found.setdefault((quad.subject, quad.predicate.value), []).append(quad.object)
    return found


def path_of(node: Any) -> Path:
    return Path(node.value.removeprefix("file://"))


def read(text: str | bytes) -> Any:
    """Return Oxigraph's term of a canonical text."""
    line = f"<a:> <a:> {text if isinstance(text, str) else text.decode()} ."
    return next(iter(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_TRIPLES))).object
