"""The image of an engine's state, as arrays and counts: all that a network of the same queries needs to go on from it.

Data's way: an engine between two pours -> **image** -> a snapshot's file, Spark's store -> an engine that goes on.
Left out: queries, schema and readers; the keeper of the image has these itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from retewave.compiler.plan.identity import digest
from retewave.engine.compiled import CompiledNetwork
from retewave.engine.loading import keep_constants
from retewave.engine.states import arrays_of, put_arrays
from retewave.rete.counters import used
from retewave.rete.terms.dictionary import Terms

if TYPE_CHECKING:
    from retewave.engine.engine import Engine

__all__ = ["arrays", "counts", "fingerprint", "part_of", "put_network", "put_terms"]


def arrays(engine: Engine) -> dict[str, np.ndarray]:
    """Return the arrays; the caller holds the engine's lock."""
    compiled = engine.matcher.current()
    compiled.runtime.collect()
    found = {
        "arena": used(compiled.runtime.arena),
        "static": engine.datasets.static,
        "waiting": engine.matcher.waiting,
        "found": engine.matcher.found,
        "stated": engine.matcher.stated,
    }
    found |= {f"terms.{name}": array for name, array in engine.terms.state().items()}
    compiled.advance()
    return found | {f"state.{name}": array for name, array in arrays_of(compiled.states).items()}


def counts(engine: Engine) -> dict[str, Any]:
    """Return how far the engine has come."""
    matcher = engine.matcher
    return {
        "triples": engine.triples, "poured": matcher.triples, "events": matcher.events,
        "event_blocks": matcher.event_blocks,
        "collected": matcher.collected, "shed": matcher.shed,
        "started": matcher.started, "intervals": matcher.intervals,
        "until": matcher.until, "heard": matcher.heard, "now": matcher.now, "flushing": matcher.flushing,
    }  # fmt: skip


def put_terms(engine: Engine, of: Mapping[str, np.ndarray]) -> None:
    """Let an engine that has no queries yet have the terms of an image."""
    terms = Terms.from_state(part_of(of, "terms."))
    engine.terms = engine.matcher.terms = engine.datasets.terms = terms


def put_network(engine: Engine, of: Mapping[str, np.ndarray], counted: Mapping[str, Any], wanted: str) -> bool:
    """Let an engine that has the queries go on where the image was taken; tell whether its network can.

    `wanted` is the fingerprint of the image's network.
    """
    compiled = engine.matcher.take_over(of["waiting"], of["found"], of["stated"], counted)
    engine.triples = counted["triples"]
    if fingerprint(compiled) != wanted:
        return False
    compiled.runtime.put_arena(of["arena"])
    keep_constants(compiled)
    put_arrays(compiled.states, part_of(of, "state."))
    return True


def part_of(of: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in of.items() if name.startswith(prefix)}


def fingerprint(compiled: CompiledNetwork) -> str:
    """Return a digest of the meaning of a network's arena: networks with the same digest can exchange arenas.

    It is made of the identities of the producers, and of the words of their rows.
    """
    network = compiled.lowered.network
    nodes = [(node.slots, node.keys, node.window, node.out, node.relations, node.passing) for node in network.nodes]
    probes = [(each.slot, each.columns, each.keys, each.decided, each.level, each.taken) for each in network.probes]
    producers = [each.digest for each in compiled.identities]
    parts = [producers, network.times, network.slots, nodes, probes, len(network.edges())]
    compared = [node.comparisons for node in network.nodes]
    return digest([*parts, compared] if any(compared) else parts)
