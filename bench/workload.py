"""Make the files of a measurement and the count of matches that it must find.

Where it stands: between the drawn dataset and the harness; every task of every sweep is made here.
Invariant: equal workloads share their files, so a sweep writes the stream once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from retewave.bench.dataset import Dataset, draw
from retewave.bench.expected import expected_matches
from retewave.bench.generate import OFFER_TRIPLES, hierarchy_nt, offers_nt, static_nt, write_whole
from retewave.bench.patterns import pattern_text, watch_text
from retewave.bench.question import Question
from retewave.bench.task import Task
from retewave.bench.vocabulary import type_iri

__all__ = ["Workload", "prepare", "sleepers", "watchers"]

SEED = 1
PRODUCTS = 10_000
WARM_UP_OFFERS = 500


@dataclass(frozen=True)
class Workload:
    """What a run is about: a question over a stream, and what surrounds it."""

    question: Question
    offers: int = 200_000
    type_scale: int = 10_000  # the number of products that the hierarchy is made for
    others: tuple[str, ...] = field(default=(), repr=False)  # texts of further registered patterns
    other_matches: int = 0  # what the further patterns match
    mode: str = "run"  # as in Task
    batch: int = 1  # as in Task
    stats: bool = False  # as in Task


@cache
def _dataset(offers: int, type_scale: int) -> Dataset:
    return draw(PRODUCTS, offers, SEED, type_scale)


def sleepers(question: Question, count: int) -> tuple[str, ...]:
    """Return patterns like the question's for types that never come."""
    unborn = range(1_000_000, 1_000_000 + count)
    shift = [Question(question.pattern, kind, question.window, question.rate) for kind in unborn]
    return tuple(pattern_text(one, f"Sleeper{one.target}") for one in shift)


def watchers(offers: int, window: int, count: int) -> tuple[tuple[str, ...], int]:
    """Return patterns that watch a product each, and how often they match together."""
    dataset = _dataset(offers, PRODUCTS)
    texts = tuple(watch_text(dataset, product, window) for product in range(1, count + 1))
    return texts, int((dataset.offer_product <= count).sum())


def _once(path: Path, content: Callable[[], Iterable[bytes]]) -> Path:
    """Write a file unless it is there."""
    if not path.exists():
        write_whole(path, content())
    return path


def _classes(dataset: Dataset, question: Question) -> list[bytes]:
    below = np.flatnonzero(dataset.types.below(question.target)) if question.reasoning else [question.target]
    return [f"<{type_iri(int(kind))}>\n".encode() for kind in below]


def _stream(folder: Path, offers: int, workload: Workload) -> Path:
    levels = workload.question.levels
    name = f"offers-{offers}-{workload.type_scale}-{'leaf' if levels is None else '.'.join(map(str, levels))}.nt"
    return _once(folder / name, lambda: offers_nt(_dataset(offers, workload.type_scale), levels))


def prepare(workload: Workload, folder: Path) -> tuple[Task, int]:
    """Write what the workload needs into a folder; return its task and its expected matches."""
    question = workload.question
    dataset = _dataset(workload.offers, workload.type_scale)
    total = len(dataset.vendor_country) + len(dataset.producer_country) + dataset.products
    static = total if question.static is None else question.static
    schema = folder / f"hierarchy-{workload.type_scale}.nt"
    kinds = _classes(dataset, question)
    task = Task(
        offers=_stream(folder, workload.offers, workload),
        warm_up=_stream(folder, WARM_UP_OFFERS, workload),
        schema=_once(schema, lambda: [hierarchy_nt(dataset)]) if question.reasoning else None,
        static=_once(folder / f"static-{workload.offers}-{static}.nt", lambda: [static_nt(dataset, static)])
        if question.pattern > 1
        else None,
        classes=_once(folder / f"classes-{workload.type_scale}-{question.target}-{len(kinds)}", lambda: kinds),
        queries=(pattern_text(question), *workload.others),
        question=question,
        triples=workload.offers * (OFFER_TRIPLES + len(question.levels or (0,))),
        mode=workload.mode,
        batch=workload.batch,
        stats=workload.stats,
    )
    return task, expected_matches(dataset, question) + workload.other_matches
