"""The networks that the golden files of explanations and drawings show, and how to compare with a golden file.

To renew the golden files after a change that is meant:

    RETEWAVE_GOLDEN=renew pytest tests/viz/test_explain.py tests/viz/test_viz.py
"""

from __future__ import annotations

import os
from pathlib import Path
from string import Template
from typing import Any

import retewave as rw

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
EXAMPLE = ROOT / "examples" / "social"


def social_engine(**options: Any) -> rw.Engine:
    """Return an engine with the query of the paper's Figure 4, over its ontology and its static triples."""
    friends = {"http://foaf.example.org/friends.rdf": EXAMPLE / "friends.ttl"}
    engine = rw.Engine(schema=[EXAMPLE / "ontology.ttl"], datasets=friends, **options)
    engine.register(EXAMPLE / "query.rq")
    return engine


def bsbm_query(number: int, target: int = 1, window: str = "5s") -> str:
    text = (ROOT / "bench" / "queries" / f"pattern{number}.rq").read_text()
    return Template(text).substitute(name=f"pattern{number}", distinct="", range=window, target=target)


def bsbm_engine(**options: Any) -> rw.Engine:
    engine = rw.Engine(**options)
    for number in (1, 2, 3):
        engine.register(bsbm_query(number))
    return engine


def agrees_with_golden(text: str, name: str) -> bool:
    """Tell whether a text is what the golden file holds; write the file instead when golden files are renewed."""
    path = GOLDEN / name
    if os.environ.get("RETEWAVE_GOLDEN") == "renew":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.read_text() == text
