"""Copies: how the row of a run is made of the run that it grew from and of the tuple that it took, word by word.

Data's way: a step's record -> **what is copied from where** -> `rete/network/assemble.py`; `rete/operators/runs.py`
copies.  Where the new run is under the same key in the same node, its group is that of the run: nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from retewave.rete.network.records import Edge, Network, State, Step
from retewave.rete.words import layout
from retewave.windows.intervals import AFTER_ALL

__all__ = ["Copies", "copies_of", "keys_of", "number_of_run", "number_of_tuple", "only_edge"]


@dataclass(frozen=True)
class Copies:
    """What the columns and times of a new row are, each pair begins with the column; of times in one word, the last."""

    of_run: tuple[tuple[int, int], ...]  # a column or a time of the run's row
    of_tuple: tuple[tuple[int, int], ...]  # a column or a time of the tuple
    constants: tuple[tuple[int, int], ...]  # a constant
    numbers: tuple[tuple[int, int], ...]  # the number of the term in another column of the new row
    link: int  # the column that has the link to the run; -1: none


def only_edge(network: Network, step: Step) -> Edge | None:
    """Return the edge by which what comes of a step becomes a run at once: nobody else wants to know it."""
    if len(step.edges) != 1 or step.edges[0].kind != layout.TO_STATE or step.edges[0].program:
        return None
    state = network.states[step.edges[0].target]
    return step.edges[0] if state.slot >= 0 and not state.edges and not state.once else None


def number_of_run(state: State, column: int) -> int:
    """Return the column of a run's row that has the number of the term in another one."""
    return state.columns + state.marks + state.numbers.index(column)


def number_of_tuple(state: State, column: int) -> int:
    """Return the column of a state's tuple that has the number of the term in another one."""
    return state.columns + state.own + state.tells.index(column)


def copies_of(network: Network, step: Step) -> Copies | None:
    """Return how a step makes rows of runs; None: it makes tuples first, as it must look where they belong."""
    edge = only_edge(network, step)
    if edge is None or step.tumbling is not None:
        return None
    target = network.states[edge.target]
    out = [step.out[column] for column in edge.payload]
    if any(of > 1 for of, _ in out) or not _stays(network, step, edge):
        return None
    numbers = list(_numbers(network, step, target, out))
    of_run = 1 if step.state < 0 else 0
    times = [
        (layout.OF_START, (of_run, layout.OF_START)),
        (layout.OF_END, (1, layout.OF_END)),
        (layout.OF_WINDOW, (of_run, layout.OF_WINDOW)),
    ]
    made = [*times, *enumerate(out), *numbers]
    marks = [(target.columns + mark, AFTER_ALL) for mark in range(target.marks)]
    return Copies(
        tuple((into, of) for into, (kind, of) in made if kind == 0),
        tuple((into, of) for into, (kind, of) in made if kind == 1),
        (*((into, value) for into, (kind, value) in enumerate(out) if kind == layout.OF_NOTHING), *marks),
        tuple((into, of) for into, (kind, of) in numbers if kind < 0),
        next((into for into, (kind, _) in enumerate(out) if kind == layout.OF_ROW), -1),
    )


def keys_of(network: Network, step: Step) -> tuple[int, ...]:
    """Return the columns of the tuple that make the key: of the run that goes on, or of the one that begins."""
    if step.state >= 0 or copies_of(network, step) is None:
        return step.keys
    return tuple(step.out[column][1] for column in step.edges[0].keys)


def _stays(network: Network, step: Step, edge: Edge) -> bool:
    """Tell whether a run has the same key, in the same node, as the run that it grew from; or is the first one."""
    made = [step.out[column] for column in edge.keys]
    if step.state < 0:
        return all(kind == 1 and of >= 0 for kind, of in made)
    source, target = network.states[step.state], network.states[edge.target]
    same = network.slots[source.slot].node == network.slots[target.slot].node
    keys = zip(made, source.keys, step.keys, strict=True) if same else ()
    return same and all(of in ((0, own), (1, taken)) for of, own, taken in keys)


def _numbers(
    network: Network, step: Step, target: State, out: list[tuple[int, int]]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield where a new row has numbers, and what they are: of the run (0), of the tuple (1), or to be looked up."""
    source = network.states[step.state] if step.state >= 0 else None
    event = network.states[step.event] if step.event >= 0 else None
    for column in target.numbers:
        kind, of = out[column]
        into = number_of_run(target, column)
        if kind == 0 and source is not None and of in source.numbers:
            yield into, (0, number_of_run(source, of))
        elif kind == 1 and event is not None and of in event.tells:
            yield into, (1, number_of_tuple(event, of))
        else:
            yield into, (-1, column)
