"""Queries with operators of time that explanations, pictures, the inspector and why-not are tested with."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

import retewave as rw

PREFIX = "PREFIX e: <http://e/>\n"
SEQ = "SELECT * { { ?x e:a ?a } SEQ { ?x e:b ?b } SEQ { ?x e:c ?c } }"
OPTIONALSEQ = "SELECT * { { ?x e:a ?a FILTER(?a < ?b) } OPTIONALSEQ { ?x e:b ?b } }"
MINUTES = '"PT5M"^^<http://www.w3.org/2001/XMLSchema#duration>'
BETWEEN = (
    f"SELECT * {{ {{ ?x e:a ?a }} SEQ NOT {{ ?x e:n ?n }} SEQ {{ ?x e:b ?b }} FILTER(getDURATION() < {MINUTES}) }}"
)
NEVER = "SELECT * { { ?x e:a ?a } SEQ NOT { ?x e:b ?b } WITHIN 5m }"
OPTIONAL = "SELECT * { ?x e:a ?a . ?x e:d ?d OPTIONAL { ?x e:b ?b . ?b e:c ?c } }"
NESTED = "SELECT * { { ?x e:a ?a } SEQ NOT { { ?x e:b ?b } SEQ NOT { ?x e:c ?c } WITHIN 1m } WITHIN 5m }"

needs_renderer = pytest.mark.skipif(
    not (shutil.which("dot") and find_spec("graphviz")) and not find_spec("pygraphviz"),
    reason="neither Graphviz with the package graphviz nor pygraphviz is installed",
)


def engine_of(query: str, **options: bool) -> rw.Engine:
    """Return an engine with one query, q."""
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    engine.register(PREFIX + query, name="q")
    return engine
