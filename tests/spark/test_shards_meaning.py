"""Shards beside the naive meaning itself, for views and for rules: no engine stands between the two."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

from cases.engine import written
from cases.many import many
from cases.rules import RulesCase, rules_case
from cases.sharded import Event, Queries, Told, in_one_batch, job_of, sharded
from cases.views import written as view_and_items
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from naive.detectors import detected_all
from naive.view_graphs import term_text

from retewave.errors import QueryError

SECOND = 1_000_000
Rows = Counter[tuple[int, tuple[tuple[str, str], ...]]]


def found_in(queries: Queries, events: list[Event], seed: int, delay: int, **of: object) -> tuple[Told, Told] | None:
    """Return what shards find in a stream, in micro-batches and at once; nothing if shards refuse the queries."""
    chance = random.Random(seed)
    try:
        job = job_of(queries, chance.choice([1, 2, 3, 8]), **of)
    except QueryError:
        return None
    cuts = [chance.randint(0, 12) for _ in range(chance.randint(0, 3))]
    in_parts = sharded(job, events, cuts, chance, delay=delay, ahead=chance.random() < 0.5)
    return in_parts, in_one_batch(job, events, chance)


def test_views_are_those_of_the_meaning() -> None:
    compared = 0
    for seed in range(many(60)):
        view, numbered = view_and_items(seed)
        items = [replace(item, event=-1) for item in numbered]  # each triple comes alone
        events = [
            Event(each.time * SECOND, [(s.encode(), p.encode(), o.encode())], each.stream)
            for each in items
            for s, p, o in [each.triple]
        ]
        found = found_in({"view": view.text}, events, seed, SECOND, static=[*view.static] or ())
        if found is None:
            continue
        wanted: Rows = Counter()
        for time, rows in view.naive.reports(items, items[-1].time):
            wanted.update({(time * SECOND, row): count for row, count in rows.items()})
        for told in found:
            shown: Rows = Counter()
            for (_, _, end, row), count in told.items():
                assert end is not None
                shown[end, tuple((name, term_text(text)) for name, text in row)] += count
            assert shown == wanted, f"seed {seed}\n{view.text}"
        compared += 1
    assert many(60) < 60 or compared > 40


@settings(max_examples=many(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(case=rules_case(), seed=st.integers(0, 1 << 30))
def test_rules_and_who_reads_them_are_those_of_the_meaning(case: RulesCase, seed: int) -> None:
    stream = [replace(item, start=item.end) for item in case.stream]
    queries: Queries = {f"q{n}": replace(query, text=f"rule {n}") for n, query in enumerate(case.queries)}
    events = [Event(item.end, [item.triple], item.stream) for item in stream]
    static = [[written(triple) for triple in sorted(case.static)]]
    found = found_in(queries, events, seed, 20_000, static=static)
    assume(found is not None)
    assert found is not None
    tokens = detected_all(case.queries, stream, case.static)
    for name, query, its in zip(queries, case.queries, tokens, strict=True):
        if query.form != "SELECT":
            continue
        wanted = Counter(
            (*((None, None) if token.end < token.start else (token.start, token.end)), _without_labels(
                {variable.name: text.decode() for variable, text in token.bindings.items()}
            ))
            for token in its
        )  # fmt: skip
        for told in found:
            assert Counter({key[1:]: count for key, count in told.items() if key[0] == name}) == wanted, name


def _without_labels(bindings: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, re.sub(r"^_:.*", "new", text)) for name, text in bindings.items()))
