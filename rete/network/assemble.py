"""Lay the records of a network out as the one int64 array that the kernel reads.

Data's way: plan -> records -> **the network's array** -> the kernel.
What each word is stands in `rete/words/layout.py`.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.network.dispatch_words import put_dispatch
from retewave.rete.network.join_words import node_words, slot_words
from retewave.rete.network.laying import Laying, stream_width
from retewave.rete.network.pairs import pairs_of
from retewave.rete.network.probe_words import probe_words
from retewave.rete.network.records import Network
from retewave.rete.network.run_words import state_words, step_words
from retewave.rete.network.terminal_words import put_terminals
from retewave.rete.words import layout

__all__ = ["assemble"]


def assemble(network: Network, seed: int, *, counting: bool = False) -> np.ndarray:
    """Lay a network out as the kernel's `net` array.

    A network that counts tries all combinations, so that what each filter refuses is counted at the filter.
    """
    return _array(Laying(network, seed, counting))


def _array(laid: Laying) -> np.ndarray:
    """Return the array, section by section."""
    network, header = laid.network, laid.header
    times = laid.times
    header[layout.N_SEED], header[layout.N_TIMES], header[layout.N_END] = int(laid.seed), times, min(times, 2)
    header[layout.N_START] = times if times == 3 else layout.R_WINDOW_START
    header[layout.N_INSTANTS] = not network.intervals
    looks = network.built != frozenset() or any(node.comparisons for node in network.nodes)
    header[layout.N_LOOKS] = looks or any(edge.kind > layout.TO_TERMINAL for edge in network.edges())
    put_dispatch(laid)
    _put_records(laid)
    _put_streams(laid)
    gathering = [laid.place_of(layout.N_NODES, node, layout.NODE_WIDTH) for node in laid.aside]
    header[layout.N_GATHERING], header[layout.N_GATHERING_COUNT] = laid.listed(gathering), len(gathering)
    kept = [laid.place_of(layout.N_STATES, state, layout.STATE_WIDTH) for state in laid.kept]
    header[layout.N_KEPT], header[layout.N_KEPT_COUNT] = laid.listed(kept), len(kept)
    pairs = any(pairs_of(step.program) for step in network.steps)
    header[layout.N_STARS] = len(laid.stars)
    header[layout.N_NUMBERS] = pairs or any(node.comparisons for node in network.nodes)
    header[layout.N_BUILT] = -1 if network.built is None else len(network.built)
    header[layout.N_BUILT_LIST] = laid.listed(sorted(network.built or ()))
    header[layout.N_STRIDE] = laid.wide
    header[layout.N_MOST_ROUTES] = 4 * max((len(found) for found in network.keys.values()), default=0)
    return np.array(header + laid.records + laid.lists, dtype=np.int64)


def _put_records(laid: Laying) -> None:
    network = laid.network
    edges: list[int] = []
    alphas: list[int] = []
    for alpha in network.alphas:
        alphas += [alpha.streams, alpha.equal, *laid.edges(alpha.edges, edges)]
    nodes = [word for i, node in enumerate(network.nodes) for word in node_words(laid, i, node, edges)]
    probes = [word for probe in network.probes for word in probe_words(laid, probe, edges)]
    states = [word for i, state in enumerate(network.states) for word in state_words(laid, i, state, edges)]
    steps = [word for step in network.steps for word in step_words(laid, step, edges)]
    laid.put(layout.N_ALPHAS, alphas)
    laid.put(layout.N_EDGES, edges)
    laid.put(layout.N_SLOTS, [word for i, slot in enumerate(network.slots) for word in slot_words(laid, i, slot)])
    laid.put(layout.N_NODES, nodes)
    laid.put(layout.N_PROBES, probes)
    laid.put(layout.N_STATES, states)
    laid.put(layout.N_STEPS, steps)
    laid.header[layout.N_SLOT_COUNT], laid.header[layout.N_NODE_COUNT] = len(network.slots), len(network.nodes)
    laid.header[layout.N_PROBE_COUNT], laid.header[layout.N_STATE_COUNT] = len(network.probes), len(network.states)
    put_terminals(laid)


def _put_streams(laid: Laying) -> None:
    width = stream_width(laid.network)
    words = [shifts.get(i, layout.REFUSED) for shifts in laid.network.streams for i in range(width)]
    laid.put(layout.N_STREAMS, words)
    laid.header[layout.N_STREAM_WIDTH] = width
