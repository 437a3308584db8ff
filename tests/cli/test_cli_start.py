"""What a start loads: told by names of modules, not by the clock."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

_RUN = """
import json, sys
from retewave.cli.app import main
sys.argv = ["retewave", "run", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
print(json.dumps(sorted(sys.modules)))
"""
# What a run that writes lines has no use for: rdflib's terms, Arrow, other commands, what draws.
NOT_NEEDED = {
    "rdflib",
    "owlrl",
    "pyarrow",
    "pandas",
    "networkx",
    "graphviz",
    "pyspark",
    "rich",
    "matplotlib",
    "retewave.cli.inspect",
    "retewave.compiler.expressions.evaluate",
    "retewave.inspector",
    "retewave.viz.draw",
    "retewave.viz.explain.text",
    "retewave.why_not.ask",
}
COMPILING = "numba.typed.typeddict"  # one of those that numba loads before it compiles


@cache
def loaded(folder: Path, *options: str) -> tuple[list[str], bytes]:
    """Return what a run has loaded at its end, whose kernels a run before it has compiled."""
    (folder / "schema.ttl").write_bytes(
        b"<http://e/q> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://e/p> ."
    )
    (folder / "stream.nt").write_bytes(b"<http://e/a> <http://e/q> <http://e/b> .\n" * 3)
    query = "SELECT ?x ?y { ?x <http://e/p> ?y }"
    command = [sys.executable, "-c", _RUN, query, "--stream", "stream.nt", "--schema", "schema.ttl", "--rate", "1"]
    for _ in range(2):
        done = subprocess.run([*command, "--out", "out", *options], check=True, capture_output=True, cwd=folder)
    return json.loads(done.stdout), (folder / "out").read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start")


def test_a_run_loads_nothing_that_it_does_not_use(folder: Path) -> None:
    modules, out = loaded(folder)
    assert out.count(b'"query1"') == 3
    assert NOT_NEEDED & set(modules) == set()


def test_kernels_from_the_cache_load_nothing_that_compiles(folder: Path) -> None:
    modules, _ = loaded(folder)
    assert "numba" in modules
    assert COMPILING not in modules


def test_arrow_is_loaded_by_who_writes_it(folder: Path) -> None:
    modules, _ = loaded(folder, "--format", "arrow")
    assert "pyarrow" in modules
    assert "rdflib" not in modules
