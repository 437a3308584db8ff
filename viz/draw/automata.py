"""The automata of sequences as Graphviz DOT text: circles are states, edges take events.

Data's way: automata -> **DOT text** -> `render`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from retewave.viz.draw.style import FILLS, FONT, INK, LINES
from retewave.viz.draw.writing import attributes
from retewave.viz.explain.automaton import Automaton

__all__ = ["to_dot"]


def to_dot(automata: Mapping[str, Automaton]) -> str:
    """Return the automata of queries, by their names, as DOT text."""
    return "\n".join(_lines(automata)) + "\n"


def _lines(automata: Mapping[str, Automaton]) -> Iterator[str]:
    yield "digraph retewave {"
    said = {"rankdir": "LR", "bgcolor": "white", "pad": 0.3, "nodesep": 0.4, "ranksep": 0.8}
    yield f"  graph {attributes(said | {'fontname': FONT, 'fontsize': 12, 'fontcolor': INK})}"
    node = {"fontname": FONT, "fontsize": 11, "fontcolor": INK, "shape": "circle", "style": "filled", "width": 0.4}
    yield f"  node {attributes(node | {'fixedsize': 'true'})}"
    yield f"  edge {attributes({'fontname': FONT, 'fontsize': 10, 'fontcolor': '#52606d', 'arrowsize': 0.7})}"
    for number, (name, automaton) in enumerate(automata.items()):
        yield f"  subgraph cluster_{number} {{"
        label = "\n".join((name, *automaton.bounds))
        yield f"    graph {attributes({'label': label, 'labelloc': 'b', 'color': '#d9e0ea', 'style': 'rounded'})}"
        yield from (f"    {line}" for line in _automaton(number, automaton))
        yield "  }"
    yield "}"


def _automaton(number: int, automaton: Automaton) -> Iterator[str]:
    for state in range(automaton.states):
        said: dict[str, Any] = {"label": state, "fillcolor": FILLS["state"], "color": LINES["state"]}
        if state == automaton.states - 1:
            said |= {"shape": "doublecircle", "width": 0.34}
        yield f"a{number}s{state} {attributes(said)}"
    for each in automaton.edges:
        label = f"{each.mark} {each.asks}".strip() or "–"
        style = {} if each.asks else {"style": "dashed"}
        said = {"label": f"{label}\n{each.said}", "color": LINES["step"]} | style
        yield f"a{number}s{each.source} -> a{number}s{each.target} {attributes(said)}"
