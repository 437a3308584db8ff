"""The texts of the benchmark's patterns: the paper's Listing 2, with the target and the window filled in.

Where it stands: `queries/*.rq` hold the texts, `task` gives them to an engine.  Listing 2 as printed has a
misspelt host in the country IRIs and no brackets around them; the files say what the data says.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

from retewave.bench.dataset import Dataset
from retewave.bench.question import FOREVER, Question
from retewave.bench.vocabulary import product_iri

__all__ = ["pattern_text", "watch_text"]

_FOLDER = Path(__file__).parent / "queries"
_YEAR = 365 * 86_400_000_000  # as good as forever, and a range that a query can say


def _range(window: int) -> str:
    """Return a window in the largest unit that is exact."""
    window = _YEAR if window >= FOREVER else window
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000)):
        if window % size == 0:
            return f"{window // size}{unit}"
    if window % 1_000:
        raise ValueError(f"a query cannot say a window of {window} µs: whole milliseconds only")
    return f"{window // 1_000}ms"


def pattern_text(question: Question, name: str = "BSBMOfferDetection") -> str:
    """Return pattern 1, 2 or 3 for a question.

    >>> text = pattern_text(Question(pattern=2, target=9, window=5_000_000))
    >>> [line.strip() for line in text.splitlines() if "RANGE" in line or "Type" in line]
    ['FROM STREAM <http://bsbm.org/stream> [RANGE 5s]', '?product rdf:type bsbm-inst:ProductType9 .']
    """
    text = (_FOLDER / f"pattern{question.pattern}.rq").read_text()
    return Template(text).substitute(
        name=name,
        target=question.target,
        range=_range(question.window),
        distinct="DISTINCT " if question.distinct else "",
    )


def watch_text(dataset: Dataset, product: int, window: int) -> str:
    """Return the query that watches one product's offers."""
    text = (_FOLDER / "watch.rq").read_text()
    iri = product_iri(product, int(dataset.product_producer[product - 1]))
    return Template(text).substitute(name=f"Watch{product}", product=iri, range=_range(window))
