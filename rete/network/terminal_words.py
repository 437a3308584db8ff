"""The words of terminals: the instances of queries, and the table in which their constants find them.

Data's way: terminals of a network -> **words** -> the network's array; `rete/terminal.py` reads them.
"""

from __future__ import annotations

import numpy as np

from retewave.rete.memory.arena import mix
from retewave.rete.network.laying import Laying, enter, open_size
from retewave.rete.network.records import Instance
from retewave.rete.words import layout

__all__ = ["put_terminals"]


def put_terminals(laid: Laying) -> None:
    """Add the sections of terminals and instances."""
    terminals: list[int] = []
    instances: list[int] = []
    keyed: list[list[int]] = []
    most_out = max((state.columns for state in laid.network.states), default=0) if _tells_runs(laid) else 0
    most_built = 0
    for terminal in laid.network.terminals:
        ordered = sorted(terminal.instances, key=lambda i: i.parameters)
        place, begin = (
            laid.header[layout.N_TERMINALS] + len(terminals),
            laid.header[layout.N_INSTANCES] + len(instances),
        )
        former: tuple[int, ...] = ()
        for instance in ordered:
            most_out, most_built = max(most_out, len(instance.out)), max(most_built, len(instance.template))
            if instance.parameters != former:
                here = laid.header[layout.N_INSTANCES] + len(instances)
                keyed.append([_parameter_hash(laid, place, instance.parameters), here, 0])
            if terminal.parameters:
                keyed[-1][layout.INSTANCE_KEY_COUNT] += 1
            former = instance.parameters
            instances += _instance(laid, place, instance)
        terminals += [laid.listed(terminal.parameters), len(terminal.parameters), begin, len(ordered)]
    laid.put(layout.N_TERMINALS, terminals)
    laid.put(layout.N_INSTANCES, instances)
    laid.header[layout.N_OUT_WIDTH], laid.header[layout.N_MOST_BUILT] = layout.O_COLUMNS + most_out, most_built
    _instance_keys(laid, keyed)


def _tells_runs(laid: Laying) -> bool:
    return any(instance.link >= 0 for terminal in laid.network.terminals for instance in terminal.instances)


def _parameter_hash(laid: Laying, terminal: int, parameters: tuple[int, ...]) -> int:
    h = mix(laid.seed, np.int64(terminal))
    for parameter in parameters:
        h = mix(h, np.int64(parameter))
    return int(h)


def _instance(laid: Laying, terminal: int, instance: Instance) -> list[int]:
    return [
        instance.query, instance.branch, instance.window, *laid.program(instance.program),
        laid.listed(instance.out), len(instance.out), laid.listed((terminal, *instance.parameters)),
        instance.builds, laid.listed([part for triple in instance.template for part in triple]),
        len(instance.template), instance.stream, instance.link, *_told(laid, instance),
    ]  # fmt: skip


def _told(laid: Laying, instance: Instance) -> list[int]:
    """Return the words by which an instance is told once in each stretch of time."""
    return [0, 0, 0] if instance.cells is None else [laid.take(1), *instance.cells]


def _instance_keys(laid: Laying, keyed: list[list[int]]) -> None:
    size = open_size(len(keyed))
    table, mask = [0] * (size * layout.INSTANCE_KEY_WIDTH), size - 1
    for record in keyed:
        home = record[layout.INSTANCE_KEY_HASH] & mask
        enter(table, home, record, layout.INSTANCE_KEY_WIDTH, layout.INSTANCE_KEY_COUNT)
    laid.put(layout.N_INSTANCE_KEYS, table)
    laid.header[layout.N_INSTANCE_KEY_MASK] = mask
