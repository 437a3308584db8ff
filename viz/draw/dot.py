"""The drawings of a network as Graphviz DOT: full ε, reduced ε, α/β, and all of it connected; and those of sequences.

Data's way: graph -> fold -> **DOT text** -> `render`.  The writer is our own and deterministic: equal networks give
equal text.  Left to right; a join is a table whose rows are its memories; a probe is a table with a row for the tuples
that it decides on and a row for the memory that it looks at (`join_table`); a number beside a line counts the rows that
passed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import networkx

from retewave.epsilon.network import Network, Node
from retewave.errors import UsageError
from retewave.viz.draw import automata
from retewave.viz.draw.fold import fold_alike, fold_far, fold_shortcuts, fold_tests
from retewave.viz.draw.graph import epsilon_full, epsilon_reduced, graph, leading_to
from retewave.viz.draw.join_table import join_table, probe_table
from retewave.viz.draw.style import (
    EDGES,
    FILLS,
    FONT,
    INK,
    LINES,
    SHAPES,
    heat,
    short_number,
)
from retewave.viz.draw.writing import attributes, quoted
from retewave.viz.explain.automaton import Automaton, automaton_of
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.describe import prefixes_of

__all__ = ["DRAWINGS", "Drawing", "PartDrawing", "draw", "to_dot"]

Drawing = Literal["full", "reduced", "network", "all", "sequences"]
PartDrawing = Literal["network", "all", "sequences"]  # the drawings that can show one query's part
DRAWINGS: Mapping[str, str] = {
    "full": "the full ε-network",
    "reduced": "the reduced ε-network",
    "network": "α tests, memories and joins",
    "all": "from the stream to the queries",
}
_EPSILON = frozenset(("class", "property", "value", "rest"))
_TABLES = frozenset(("join", "probe"))  # drawn with their memories in them
_MOST_COLUMNS = 4  # columns in which parts stand that nothing connects


def draw(
    compiled: Compiled, drawing: Drawing = "all", *, network: Network | None = None, query: str | None = None
) -> str:
    """Return a drawing as DOT text: of all queries, or of the part that leads to the query of a name.

    `network` is the schema's, where it is not the dispatch's own.
    """
    if drawing == "sequences":
        return automata.to_dot(_automata(compiled, query))
    if drawing not in DRAWINGS:
        raise UsageError(f"unknown drawing {drawing!r}", hint=f"known: {', '.join(DRAWINGS)}, sequences")
    if query is not None and drawing in ("full", "reduced"):
        raise UsageError(f"the drawing {drawing!r} is of the schema, not of a query", hint="give network or all")
    reduction = compiled.dispatch.reduction
    if drawing == "full":
        asked = [Node(*goal) for goal in reduction.answered]
        drawn = epsilon_full(network or reduction.network, prefixes_of(compiled), asked)
    elif drawing == "reduced":
        drawn = epsilon_reduced(compiled)
    else:
        drawn = graph(compiled)
    part = _part(drawn if query is None else leading_to(drawn, query), drawing)
    return to_dot(_folded(part), DRAWINGS[drawing])


def _automata(compiled: Compiled, query: str | None) -> dict[str, Automaton]:
    """Return the automata of the queries that have a sequence of events, or of the query of a name."""
    asked = [each for each in compiled.outcome.queries.values() if query in (None, each.name)]
    found = {each.name: made for each in asked if (made := automaton_of(each.parsed)) is not None}
    if not found:
        hint = "a query in SPAseq has one: engine.draw() draws the network of all queries"
        raise UsageError("there is no sequence of events to draw", hint=hint)
    return found


def _part(drawn: networkx.MultiDiGraph, drawing: Drawing) -> networkx.MultiDiGraph:
    part = drawn.copy()
    if drawing == "network":
        part.remove_nodes_from([name for name, kind in drawn.nodes(data="kind") if kind in _EPSILON])
    elif drawing == "all":
        entailed = [(s, t, k) for s, t, k, given in part.edges(keys=True, data="entailed", default=False) if given]
        part.remove_edges_from(entailed)
    return part


def _folded(drawn: networkx.MultiDiGraph) -> networkx.MultiDiGraph:
    drawn = fold_alike(fold_shortcuts(fold_tests(drawn)))
    if all(kind in _EPSILON for _, kind in drawn.nodes(data="kind")):
        return fold_alike(fold_far(drawn))
    return drawn


def to_dot(drawn: networkx.MultiDiGraph, title: str = "") -> str:
    """Return a graph, such as `graph` gives, as DOT text."""
    return "\n".join(_Writer(drawn, title).lines()) + "\n"


class _Writer:
    """Writes one drawing: nodes by layer, then links."""

    def __init__(self, drawn: networkx.MultiDiGraph, title: str) -> None:
        self.drawn, self.title = drawn, title
        self.ids: dict[str, str] = {}
        for number, name in enumerate(self._in_order()):
            self.ids[name] = f"n{number}"
        counted = [rows for *_, rows in drawn.edges(data="rows", default=None) if rows is not None]
        self.most = max(counted, default=0)

    def lines(self) -> Iterator[str]:
        yield "digraph retewave {"
        yield f"  graph {attributes(self._graph_attributes())}"
        node = {"fontname": FONT, "fontsize": 11, "fontcolor": INK, "style": "rounded,filled", "margin": "0.12,0.06"}
        yield f"  node {attributes(node)}"
        yield f"  edge {attributes({'fontname': FONT, 'fontsize': 9, 'fontcolor': '#52606d', 'arrowsize': 0.7})}"
        epsilon = [name for name in self.ids if self._kind(name) in _EPSILON]
        mixed = 0 < len(epsilon) < len(self.ids)
        if mixed:
            yield "  subgraph cluster_epsilon {"
            said = {
                "label": "ε",
                "style": "rounded,filled",
                "color": "#f0d9a8",
                "fillcolor": "#fffcf2",
                "labelloc": "t",
            }
            yield f"    graph {attributes(said | {'fontcolor': '#b08a1c', 'fontsize': 14, 'margin': 14})}"
            yield from (f"  {line}" for name in epsilon for line in self._node(name))
            yield "  }"
        for name in self.ids:
            if not mixed or self._kind(name) not in _EPSILON:
                yield from self._node(name)
        yield from self._links()
        yield from self._columns()
        if mixed:
            yield from self._stream_to_epsilon(epsilon)
        yield "}"

    def _graph_attributes(self) -> dict[str, Any]:
        return {
            "rankdir": "LR", "compound": "true", "bgcolor": "white", "pad": 0.3, "nodesep": 0.2, "ranksep": 0.7,
            "fontname": FONT, "fontsize": 13, "fontcolor": "#7b8794", "labelloc": "b", "label": self.title,
            "outputorder": "edgesfirst",
        }  # fmt: skip

    def _in_order(self) -> list[str]:
        """Return the nodes by layer, then as they were found."""
        return sorted(self.drawn, key=lambda name: self.drawn.nodes[name]["layer"])

    def _kind(self, name: str) -> str:
        kind: str = self.drawn.nodes[name]["kind"]
        return kind

    # ---- nodes ----
    def _node(self, name: str) -> Iterator[str]:
        data = self.drawn.nodes[name]
        kind = data["kind"]
        if kind == "memory":
            return
        if kind in _TABLES:
            before = [self.drawn.nodes[each] for each in self.drawn.predecessors(name)]
            memories = sorted((each for each in before if each["kind"] == "memory"), key=lambda each: each["memory"])
            table = join_table(data, memories) if kind == "join" else probe_table(data, memories[0], _waiting(data))
            yield f"  {self.ids[name]} [shape=plain, label=<{table}>, tooltip={quoted(data['text'])}]"
            return
        said: dict[str, Any] = {
            "label": "\n".join(_label_lines(data)),
            "shape": "box3d" if "count" in data and kind != "rest" else SHAPES[kind],
            "fillcolor": FILLS[kind],
            "color": LINES[kind],
            "tooltip": data["text"],
        }
        if SHAPES[kind] != "box" or kind == "stream" or "count" in data:
            said["style"] = "filled"
        if kind == "query":
            said |= {"fontcolor": "white"}
        if kind == "rest":
            said |= {"style": "", "fontcolor": "#7b8794"}
        if data.get("asked") or data["shared_by"] > 1:
            said |= {"penwidth": 2.2}
        if data["shared_by"] > 1:
            said |= {"peripheries": 2}
        yield f"  {self.ids[name]} {attributes(said)}"

    # ---- links ----
    def _links(self) -> Iterator[str]:
        for source, target, data in self.drawn.edges(data=True):
            if data["kind"] in ("joins", "looks"):
                continue
            yield f"  {self._end(source, 'e')} -> {self._end(target, 'w')} {attributes(self._link(source, data))}"

    def _end(self, name: str, side: str) -> str:
        kind = self._kind(name)
        if kind in _TABLES:
            return f"{self.ids[name]}:{'in' if kind == 'probe' and side == 'w' else 'out'}:{side}"
        if kind == "memory":
            (user,) = self.drawn.successors(name)
            return f"{self.ids[user]}:m{self.drawn.nodes[name]['memory']}:{side}"
        return self.ids[name]

    def _link(self, source: str, data: Mapping[str, Any]) -> dict[str, Any]:
        colour, style = EDGES[data["kind"]]
        said: dict[str, Any] = {"color": colour}
        if style != "solid":
            said["style"] = style
        if data["kind"] in ("S", "O", "SO", "OS", "-"):
            said["label"] = data["kind"]
        if data["kind"] == "feeds":
            said |= {"constraint": False, "tooltip": "what a rule builds comes in again"}
        if data.get("axiom"):
            said["tooltip"] = data["axiom"]
        if data.get("rows") is not None:
            said["color"], said["penwidth"] = heat(data["rows"], self.most)
            said["label"] = short_number(data["rows"])
        return said

    def _columns(self) -> Iterator[str]:
        """Put parts that nothing connects side by side, by lines that are not drawn."""
        parts = [self._in_part(part) for part in networkx.weakly_connected_components(self.drawn)]
        parts.sort(key=lambda part: (len(part), self._number(part[0])))
        if len(parts) <= _MOST_COLUMNS or any(self._kind(part[0]) in _EPSILON for part in parts):
            return
        for place, part in enumerate(parts[1:], 1):
            if place % _MOST_COLUMNS:
                yield f"  {self.ids[parts[place - 1][-1]]} -> {self.ids[part[0]]} [style=invis, weight=0]"

    def _in_part(self, part: set[str]) -> list[str]:
        return sorted((name for name in part if self._kind(name) != "memory"), key=self._number)

    def _number(self, name: str) -> int:
        return int(self.ids[name][1:])

    def _stream_to_epsilon(self, epsilon: list[str]) -> Iterator[str]:
        """Link each stream with the ε part as a whole."""
        entries = [name for name in epsilon if self.drawn.in_degree(name) == 0] or epsilon
        middle = entries[len(entries) // 2]
        for name in self.ids:
            if self._kind(name) == "stream":
                said = {"lhead": "cluster_epsilon", "color": EDGES["given"][0], "penwidth": 1.6}
                yield f"  {self.ids[name]} -> {self.ids[middle]} {attributes(said)}"


def _waiting(data: Mapping[str, Any]) -> str:
    """Return how many tuples of a probe wait, and how many it has decided, if that is counted."""
    if "waiting" not in data:
        return ""
    waiting, passed, all_ = (short_number(data[name]) for name in ("waiting", "passed", "decided"))
    return f"{waiting} waiting · {passed} of {all_} passed"


def _label_lines(data: Mapping[str, Any]) -> Iterable[str]:
    yield data["label"]
    if data["shared_by"] > 1:
        yield f"shared by {data['shared_by']:,}"
    if "matches" in data:
        yield f"{short_number(data['matches'])} match{'es' * (data['matches'] != 1)}"
