"""The rows of memories and queries, decoded page by page, and a network's counts, node by node.

Data's way: arrays of a network that runs -> **plain data** -> the page.
Nodes are named as `retewave.viz.draw.graph` names them: `memory:3`, `join:1`, `probe:0`, `query:name`.
A memory lists its streamed rows only; its static ones are asked of the static data anew, once for a network.
Left out: static rows of memories that a join fills, or that a filter guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from retewave.compiler.plan.producers import AlphaTest, Join, Probe, State
from retewave.compiler.plan.walk import reached, times_of, told_of
from retewave.engine.compiled import CompiledNetwork
from retewave.engine.engine import Engine
from retewave.engine.loading import static_facts
from retewave.errors import UsageError
from retewave.inspector.viewing import view_on_page
from retewave.rete.counters import holds_static
from retewave.rete.facts import (
    FACT_ALPHA,
    FACT_COLUMNS,
    FACT_END,
    FACT_START,
    FACT_WIDTH,
    FACT_WINDOW_START,
)
from retewave.rete.memory.due import WAITING_TIMES
from retewave.viz.explain.counts import count
from retewave.viz.explain.names import Prefixes
from retewave.windows.intervals import EARLIEST, LATEST, is_static
from retewave.windows.times import Instant, spell_instant

__all__ = ["PAGE_ROWS", "StaticRows", "counts_by_node", "matches_of_query", "rows_of_memory", "waiting_at_probe"]

PAGE_ROWS = 50
_COLUMNS_BEFORE = 3  # end, window start, start


def counts_by_node(compiled: CompiledNetwork) -> dict[str, dict[str, int]]:
    """Return the counts of every memory, join, probe and query, by the name of its node."""
    counted = count(compiled)
    found = {f"memory:{each.memory}": _numbers(asdict(each)) for each in counted.memories}
    found.update({f"join:{each.join}": _numbers(asdict(each)) for each in counted.joins})
    found.update({f"probe:{each.probe}": _numbers(asdict(each)) for each in counted.probes})
    outcome = compiled.outcome
    reported = {number: {"reports": view.reported} for number, view in outcome.views.items()}
    found.update(
        {
            f"query:{query.name}": {
                "matches": query.matched,
                **reported.get(query.number, {}),
                **outcome.counts(query.number),
            }
            for query in outcome.queries.values()
        }
    )
    return found


def _numbers(counts: dict[str, Any]) -> dict[str, int]:
    return {name: value for name, value in counts.items() if name not in ("memory", "join", "probe", "due")}


class StaticRows:
    """The static rows of an engine's memories."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._compiled: CompiledNetwork | None = None  # the network that the facts are of
        self._facts = np.empty((0, FACT_WIDTH), dtype=np.int64)

    def of(self, slot: int) -> np.ndarray:
        """Return a memory's static rows in the form of the runtime's streamed rows: three times, then the columns."""
        compiled, engine = self.engine.matcher.current(), self.engine
        if compiled is not self._compiled:
            self._compiled, self._facts = compiled, static_facts(compiled, engine.terms, engine.datasets.static)
        plan = compiled.lowered.slots[slot]
        columns = [*plan.keys, *plan.payload]
        if plan.filters or not isinstance(compiled.plan.producers[plan.producer], AlphaTest):
            return np.empty((0, _COLUMNS_BEFORE + len(columns)), dtype=np.int64)
        facts = self._facts[self._facts[:, FACT_ALPHA] == compiled.lowered.alphas[plan.producer]]
        of_slot: np.ndarray = facts[:, [FACT_END, FACT_WINDOW_START, FACT_START, *(FACT_COLUMNS + n for n in columns)]]
        return of_slot


def rows_of_memory(engine: Engine, slot: int, offset: int = 0, static: StaticRows | None = None) -> dict[str, Any]:
    """Return a page of a memory's rows, decoded and with their intervals: the latest first, static rows last."""
    compiled = engine.matcher.current()
    plans = compiled.lowered.slots
    if not 0 <= slot < len(plans):
        raise UsageError(f"there is no memory {slot}", hint=f"there are {len(plans)}, from 0 on")
    prefixes, names = _prefixes(engine), _names_of_slots(compiled).get(slot, {})
    still = (static or StaticRows(engine)).of(slot)
    live = compiled.runtime.rows_of(slot)[::-1]
    rows = np.concatenate([live, still]) if len(still) else live  # runs are never static, and their rows have marks
    told = told_of(compiled.plan)[plans[slot].producer]
    made = compiled.plan.producers[plans[slot].producer]
    of_runs, link = isinstance(made, State), getattr(made, "link", None)  # events and links are no terms
    kept = {
        place: column
        for place, column in enumerate((*plans[slot].keys, *plans[slot].payload))
        if column not in told and (not of_runs or (column != link and names.get(column, "").startswith("?")))
    }
    columns = [names.get(column, "_") for column in kept.values()]
    times = times_of(compiled.plan)[plans[slot].producer]
    joined = not isinstance(compiled.plan.producers[plans[slot].producer], AlphaTest)
    endless = joined and compiled.lowered.network.times == 1
    shown = [
        [
            *_interval(engine, int(row[2]), int(row[0]))[: 1 if endless else 2],
            *(["–"] if endless else []),
            *_cells(engine, prefixes, kept.values(), times, (row[_COLUMNS_BEFORE + place] for place in kept)),
        ]
        for row in rows[offset : offset + PAGE_ROWS].tolist()
    ]
    head = ["start", "end", *columns]
    note = "; static rows are not listed" if holds_static(compiled.runtime.arena, slot) and not len(still) else ""
    note += "; rows of joins keep no end while all items are instants" if endless else ""
    return {"title": f"memory {slot}", "columns": head, "rows": shown, "total": len(rows), "note": note}


def waiting_at_probe(engine: Engine, probe: int, offset: int = 0) -> dict[str, Any]:
    """Return a page of the tuples that wait at a probe, decoded: those that are decided first come first."""
    compiled = engine.matcher.current()
    producers = {number: producer for producer, number in compiled.lowered.probes.items()}
    if probe not in producers:
        raise UsageError(f"there is no probe {probe}", hint=f"there are {len(producers)}, from 0 on")
    prefixes, names, producer = _prefixes(engine), _names_of_probes(compiled)[probe], producers[probe]
    told, times = told_of(compiled.plan)[producer], times_of(compiled.plan)[producer]
    columns = [each for each in range(compiled.lowered.network.probes[probe].columns) if each not in told]
    (since, _), rows = compiled.runtime.waiting_of(probe)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    shown = [
        [
            _moment(engine, row[0]),
            *_interval(engine, row[3], row[1]),
            *_cells(engine, prefixes, columns, times, (row[WAITING_TIMES + column] for column in columns)),
        ]
        for row in rows[offset : offset + PAGE_ROWS].tolist()
    ]
    head = ["decided at", "start", "end", *(names.get(column, "_") for column in columns)]
    note = f"; it knows what came from {_moment(engine, since)} on" if EARLIEST < since < LATEST else ""
    return {"title": f"probe {probe}", "columns": head, "rows": shown, "total": len(rows), "note": note}


def matches_of_query(engine: Engine, name: str, offset: int = 0) -> dict[str, Any]:
    """Return a page of a query's kept matches, latest first; with pictures of why each is one, if it is explained."""
    query = next((each for each in engine.queries if each.name == name), None)
    if query is None:
        raise UsageError(f"there is no query {name}")
    prefixes, matches = _prefixes(engine), query.matches[::-1]
    page = matches[offset : offset + PAGE_ROWS]
    shown = [
        [_told(match.start), _told(match.end), *(_short(prefixes, match.text(each)) for each in query.variables)]
        for match in page
    ]
    head = ["start", "end", *(f"?{each}" for each in query.variables)]
    found = {"title": name, "columns": head, "rows": shown, "total": len(matches), "text": query.text}
    found |= view_on_page(engine, query, prefixes)
    return found | ({"why": [match.to_svg() for match in page]} if query.explained else {})


def _prefixes(engine: Engine) -> Prefixes:
    return Prefixes.of([prefix for query in engine.queries for prefix in query.parsed.prefixes])


def _interval(engine: Engine, start: int, end: int) -> tuple[str, str]:
    if is_static(start, end):
        return "static", ""
    return _told(engine.shown_clock.decode(start)), _told(engine.shown_clock.decode(end))


def _cells(
    engine: Engine, prefixes: Prefixes, columns: Iterable[int], times: frozenset[int], row: Iterable[int]
) -> Iterator[str]:
    """Yield the columns of a row, decoded: terms, and here and there a time."""
    for column, word in zip(columns, row, strict=True):
        yield _moment(engine, word) if column in times else _term(engine, prefixes, word)


def _moment(engine: Engine, time: int) -> str:
    return _told(engine.shown_clock.decode(time) if EARLIEST <= time <= LATEST else None)


def _told(time: Instant | None) -> str:
    return "static" if time is None else spell_instant(time)


def _term(engine: Engine, prefixes: Prefixes, term: int) -> str:
    return _short(prefixes, engine.terms.text(term) if term > 0 else None)


def _short(prefixes: Prefixes, text: bytes | None) -> str:
    return "" if text is None else prefixes.short(text)


def _names_of_slots(compiled: CompiledNetwork) -> dict[int, Mapping[int, str]]:
    """Return the names that the first query that uses a memory gives to the columns of the memory's producer."""
    found: dict[int, Mapping[int, str]] = {}
    network = compiled.lowered.network
    for end in compiled.plan.ends:
        for step in reached(compiled.plan, end).walk():
            if isinstance(step.producer, Probe):
                slot = network.probes[compiled.lowered.probes[step.number]].slot
                found.setdefault(slot, step.inputs[1].names)
            elif isinstance(step.producer, State):
                found.setdefault(network.states[compiled.lowered.states[step.number]].slot, step.names)
            elif isinstance(step.producer, Join):
                for slot, fed in zip(
                    network.nodes[compiled.lowered.nodes[step.number]].slots, step.inputs, strict=True
                ):
                    found.setdefault(slot, fed.names)
    return found


def _names_of_probes(compiled: CompiledNetwork) -> dict[int, Mapping[int, str]]:
    """Return what the first query that uses a probe calls its columns."""
    found: dict[int, Mapping[int, str]] = {}
    for end in compiled.plan.ends:
        for step in reached(compiled.plan, end).walk():
            if isinstance(step.producer, Probe):
                found.setdefault(compiled.lowered.probes[step.number], step.names)
    return found
