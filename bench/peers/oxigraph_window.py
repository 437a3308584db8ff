"""Oxigraph, a SPARQL store filled with the window and asked anew every slide, as C-SPARQL does."""

from __future__ import annotations

import re
import time
from importlib import import_module

from retewave.bench.task import Adapter, Result, Task

__all__ = ["ADAPTER"]


def _sparql(text: str) -> str:
    """Return the pattern in plain SPARQL, the target's subclasses through a property path."""
    text = re.sub(r"^(#|REGISTER|FROM STREAM).*$", "", text, flags=re.MULTILINE)
    path = "rdf:type/<http://www.w3.org/2000/01/rdf-schema#subClassOf>*"
    return re.sub(r"rdf:type (bsbm-inst:)", rf"{path} \1", text)


def _run(task: Task) -> Result:
    oxigraph = import_module("pyoxigraph")
    query = _sparql(task.queries[0])
    schema = task.schema.read_bytes() if task.schema else b""
    started = time.perf_counter()
    lines = task.offers.read_bytes().splitlines(keepends=True)
    rate = task.question.rate
    found: set[str] = set()
    step, width = task.slide * rate // 1_000_000, task.question.window * rate // 1_000_000
    for start in range(0, len(lines), step):
        store = oxigraph.Store()
        window = b"".join(lines[max(0, start - width) : start + step])
        store.load(schema + window, format=oxigraph.RdfFormat.N_TRIPLES)
        found.update(solution["offer"].value for solution in store.query(query))
    return Result(len(found), time.perf_counter() - started)


ADAPTER = Adapter(
    name="Oxigraph, window anew",
    cannot="no stream, set semantics: a store filled and asked again each second, an offer counts once",
    run=_run,
    requires=("pyoxigraph",),
    most_offers=60_000,
    distinct=True,
)
