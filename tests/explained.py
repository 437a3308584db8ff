"""The networks that the golden files of explanations and drawings show, and how to compare with a golden file.

To renew the golden files after a change that is meant:

    RETEWAVE_GOLDEN=renew pytest tests/test_explain.py tests/test_viz.py
"""

from __future__ import annotations

import os
from pathlib import Path
from string import Template

import retewave as rw

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
ONTOLOGY = ROOT / "examples" / "social" / "ontology.ttl"

SOCIAL = """
# A user who talks about one place on both channels: the paper's Figure 4 (b).
REGISTER QUERY OnBothChannels AS
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX twd: <http://twitter.example.org/ns#>
PREFIX sma: <http://socialmedia.example.org/ns#>
PREFIX sioc: <http://rdfs.org/sioc/ns#>
PREFIX fb: <http://facebook.example.org/ns#>
SELECT ?user ?place
FROM STREAM <http://twitter.example.org/stream> [RANGE 30m]
FROM STREAM <http://facebook.example.org/stream> [RANGE 30m]
WHERE {
  ?tweet rdf:type twd:Tweet .
  ?tweet sma:talksAbout ?place .
  ?twitteraccount sioc:creator_of ?tweet .
  ?twitteraccount sioc:account_of ?user .
  ?fbpost rdf:type fb:StatusUpdate .
  ?fbpost sma:talksAbout ?place .
  ?fbaccount sioc:creator_of ?fbpost .
  ?fbaccount sioc:account_of ?user .
}
"""


def social_engine(**options: object) -> rw.Engine:
    engine = rw.Engine(schema=[ONTOLOGY], **options)  # type: ignore[arg-type]
    engine.register(SOCIAL)
    return engine


def bsbm_query(number: int, target: int = 1, window: str = "5s") -> str:
    text = (ROOT / "bench" / "queries" / f"pattern{number}.rq").read_text()
    return Template(text).substitute(name=f"pattern{number}", distinct="", range=window, target=target)


def bsbm_engine(**options: object) -> rw.Engine:
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    for number in (1, 2, 3):
        engine.register(bsbm_query(number))
    return engine


def agrees_with_golden(text: str, name: str) -> bool:
    """Say whether a text is what the golden file holds; write the file instead when golden files are renewed."""
    path = GOLDEN / name
    if os.environ.get("RETEWAVE_GOLDEN") == "renew":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.read_text() == text
