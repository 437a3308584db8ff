"""A compiled network as a networkx graph: every node and link, with its properties as attributes.

Data's way: network that runs -> **graph** -> drawings, or a user's own algorithms.

A node is named by kind and number: `stream:…`, `epsilon:…`, `alpha:3`, `memory:5`, `join:2`, `probe:1`, `shape:0`,
`query:name`.
Its attributes: `kind`, `label`, `text` (in full), `layer` (left to right), `shared_by` (queries that use it; 0 for what
is not a query's own), and with `stats` its counts.  A link has a `kind` and, with `stats`, `rows`: how many passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import networkx

from retewave.compiler.expressions.tree import to_sparql
from retewave.compiler.plan.producers import END, START, AlphaTest, End, Join, Probe, RunStep, State, Table
from retewave.compiler.plan.walk import Reached, depths, looks_of, moment_of, reached, users_of
from retewave.compiler.rewrite.branch import Probe as Look
from retewave.epsilon.network import Network, Node
from retewave.epsilon.reduce import goals
from retewave.errors import UsageError
from retewave.rete.counters import holds_static
from retewave.viz.draw.labels import elided, node_label, short_term
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.counts import Counts, count
from retewave.viz.explain.describe import prefixes_of
from retewave.viz.explain.events import EventWords
from retewave.viz.explain.names import MOST_LISTED, Prefixes, listed, pattern_parts, spell_window
from retewave.viz.explain.relations import Time, spoken
from retewave.viz.explain.runs import STRATEGIES, between
from retewave.viz.explain.timing import decided

__all__ = ["LAYERS", "epsilon_full", "epsilon_reduced", "graph", "leading_to"]

LAYERS = {"stream": 0, "input": 1, "goal": 2, "alpha": 3, "table": 3}  # memories and joins alternate from 4 on
_FIRST_MEMORY_LAYER = 4
_IN_WORDS = {"label", "text", "pattern"}  # texts of nodes that name patterns and variables
_LISTED_WORDS = {"relations", "conditions"}  # lists of such texts
_MOST_COLUMNS = 5  # of a memory's row that are named


def graph(compiled: Compiled) -> networkx.MultiDiGraph:
    """Return the whole network: reduced ε, α tests, memories, joins, queries."""
    return _Drawn(compiled).done()


def leading_to(graph: networkx.MultiDiGraph, query: str) -> networkx.MultiDiGraph:
    """Return the part of a graph that leads to a query, by its name; shared parts stay marked."""
    name = f"query:{query}"
    if name not in graph:
        raise UsageError(f"there is no query {query!r} in this network")
    part = graph.copy()  # a subgraph's nodes would come in no certain order
    part.remove_nodes_from(set(graph) - networkx.ancestors(graph, name) - {name})
    return part


def epsilon_full(
    network: Network, prefixes: Prefixes | None = None, asked: Iterable[Node] = ()
) -> networkx.MultiDiGraph:
    """Return a schema's full ε-network (the paper's Figure 5 a); `asked` are the nodes that patterns ask for."""
    return _epsilon(network.nodes, ((*link[:3], str(link.axiom)) for link in network.links), prefixes, frozenset(asked))


def epsilon_reduced(compiled: Compiled) -> networkx.MultiDiGraph:
    """Return the reduced ε-network (the paper's Figure 5 b): inputs linked straight to the goals of patterns."""
    reduction = compiled.dispatch.reduction
    asked = frozenset(Node(*goal) for goal in reduction.answered)
    links = ((link.source, link.target, link.kind, "") for link in reduction.links)
    return _epsilon(reduction.nodes, links, prefixes_of(compiled), asked)


def _epsilon(
    nodes: Iterable[Node],
    links: Iterable[tuple[Node, Node, Any, str]],
    prefixes: Prefixes | None,
    asked: frozenset[Node],
) -> networkx.MultiDiGraph:
    prefixes = prefixes or Prefixes.of(())
    drawn = networkx.MultiDiGraph()
    for node in nodes:
        kind = "class" if node.is_class else "property" if node.is_property else "value"
        role = "goal" if node in asked else "input"
        drawn.add_node(
            _epsilon_name(node),
            kind=kind,
            label=node_label(node, prefixes),
            text=str(node),
            layer=LAYERS[role],
            asked=node in asked,
            shared_by=0,
        )
    for source, target, link_kind, axiom in links:
        said = prefixes.short(axiom)
        drawn.add_edge(_epsilon_name(source), _epsilon_name(target), kind=link_kind.value, axiom=said)
    return drawn


def _epsilon_name(node: Node) -> str:
    return f"epsilon:{node}"


class _Drawn:
    """One pass over the ends; a producer has the name that the first query that uses it gives it."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.lowered, self.plan = compiled, compiled.lowered, compiled.lowered.plan
        self.prefixes = prefixes_of(compiled)
        self.events = EventWords(compiled.outcome.queries)
        counted = count(compiled)
        self.counts: Counts | None = counted if counted.counting else None
        self.graph = epsilon_reduced(compiled)
        self.depths = depths(self.plan)
        self.last = _FIRST_MEMORY_LAYER + 2 * max(self.depths, default=0)
        self.users = users_of(self.plan)
        self.shared_by = self._shared_by()
        self.done_with: set[int] = set()
        self.looks: dict[int, Look] = {}  # of the end that is being drawn

    def done(self) -> networkx.MultiDiGraph:
        for place, end in enumerate(self.plan.ends):
            self.looks = looks_of(end.shape.members[0].steps)
            self._producer(reached(self.plan, end))
            self._end(place, end)
        self._feed()
        self._forget_lonely_goals()
        for _, told in self.graph.nodes(data=True):
            told.update({name: self.events.text(told[name]) for name in _IN_WORDS & told.keys()})
            told.update({name: list(map(self.events.text, told[name])) for name in _LISTED_WORDS & told.keys()})
        return self.graph

    def _shared_by(self) -> list[int]:
        queries = [{member.listener.number for member in end.shape.members} for end in self.plan.ends]
        return [len(set().union(*(queries[end] for end in ends))) for ends in self.users]

    # ---- α ----
    def _producer(self, tree: Reached) -> None:
        if tree.number in self.done_with:
            return
        self.done_with.add(tree.number)
        match tree.producer:
            case AlphaTest():
                self._test(tree.number, tree.producer)
            case Table(count, rows):
                columns = " ".join(tree.names.get(column, "_") for column in range(count))
                self._alpha(tree.number, "table", f"VALUES ({columns}) {len(rows):,}×", "inline data")
            case Join():
                self._join(tree, tree.producer)
            case Probe():
                self._probe(tree, tree.producer)
            case State() | RunStep():
                self._runs(tree, tree.producer)

    def _alpha(self, number: int, kind: str, label: str, text: str) -> str:
        name = f"alpha:{self.lowered.alphas[number]}"
        shared_by = self.shared_by[number]
        self.graph.add_node(name, kind=kind, label=label, text=text, layer=LAYERS[kind], shared_by=shared_by)
        self.graph.nodes[name]["alpha"] = self.lowered.alphas[number]
        return name

    def _test(self, number: int, test: AlphaTest) -> None:
        sets = [test.atom.subject, test.atom.predicate, test.atom.object]
        label = " ".join(self._place(terms) for terms in sets)
        text = " ".join("?" if terms is None else self._listed(terms) for terms in sets)
        if self.events.text(text) != text:
            label = text = self.events.text(text)
        name = self._alpha(number, "alpha", label, text)
        entailed = False
        for goal in goals(test.atom):
            asked = _epsilon_name(Node(*goal))
            if asked in self.graph and self.graph.in_degree(asked):
                self.graph.add_edge(asked, name, kind="asked")
                entailed = True
        self._stream(number, name, entailed)

    def _listed(self, terms: frozenset[bytes]) -> str:
        return listed(sorted(map(self.prefixes.short, terms))[:MOST_LISTED], len(terms))

    def _place(self, terms: frozenset[bytes] | None) -> str:
        if terms is None:
            return "?"
        return short_term(next(iter(terms)), self.prefixes) if len(terms) == 1 else f"({len(terms):,} terms)"

    def _stream(self, number: int, name: str, entailed: bool) -> None:
        """Link an α test with its streams: given triples, which need no entailment."""
        end = self.plan.ends[min(self.users[number])]
        query = self.compiled.outcome.queries[end.shape.members[0].listener.number].parsed
        iris = [elided(stream.iri.decode()[1:-1].split("://", 1)[-1]) for stream in query.streams]
        label = "\n".join(iris) or "every stream"
        stream = f"stream:{' '.join(iris) or '*'}"
        self.graph.add_node(stream, kind="stream", label=label, text=label, layer=LAYERS["stream"], shared_by=0)
        self.graph.add_edge(stream, name, kind="given", entailed=entailed)

    # ---- memories, joins and probes ----
    def _join(self, tree: Reached, join: Join) -> None:
        record = self.lowered.nodes[tree.number]
        node = self.lowered.network.nodes[record]
        name, layer = f"join:{record}", _FIRST_MEMORY_LAYER + 2 * self.depths[tree.number] - 1
        key = " ".join(tree.names.get(column, "_") for column in range(node.keys))
        window = spell_window(node.window)
        relations = list(spoken(join.gaps, lambda which: self._time(tree, node.slots, which)))
        counted = asdict(self.counts.join(record)) if self.counts else {}
        self.graph.add_node(
            name, kind="join", label=key or "×", text=", ".join([f"join on {key}", f"keeps {window}", *relations]),
            layer=layer, window=window, relations=relations, shared_by=self.shared_by[tree.number],
            **(counted or {"join": record}),
        )  # fmt: skip
        for each, slot in zip(tree.inputs, node.slots, strict=True):
            self._producer(each)
            self._memory(name, slot, each, layer)
        if node.passing >= 0:
            self.graph.nodes[f"memory:{node.slots[node.passing]}"]["passing"] = True

    def _probe(self, tree: Reached, probe: Probe) -> None:
        """Draw a probe: the memory that it looks at, and the tuples that it decides on."""
        number = self.lowered.probes[tree.number]
        record = self.lowered.network.probes[number]
        name, layer = f"probe:{number}", _FIRST_MEMORY_LAYER + 2 * self.depths[tree.number] - 1
        decides, looked = tree.inputs
        look = self.looks.get(min((leaf.leaf for leaf in looked.leaves()), default=-1))
        operator = "SEQ !" if look is None else look.operator
        assert decides.above is not None
        key = " ".join(decides.names.get(column, "_") for column in decides.above.keys)
        window = spell_window(self.lowered.network.nodes[self.lowered.network.slots[record.slot].node].window)
        relations = list(spoken(probe.gaps, lambda which: self._time(tree, [-1, record.slot], which)))
        found = between(probe, decides.names, looked.names) if look is None else [e.expression for e in look.conditions]
        conditions = [short_term(to_sparql(each), self.prefixes) for each in found]
        counted = asdict(self.counts.probes[number]) if self.counts else {}
        wants = "exists" if probe.wanted else "absent"
        said = [f"{operator} on {key}" if key else operator, *relations, *conditions, wants, decided(probe)]
        self.graph.add_node(
            name, kind="probe", label=key or "×", text=", ".join(said), layer=layer, operator=operator,
            wants=wants, when=decided(probe), level=record.level, window=window, relations=relations,
            conditions=conditions, shared_by=self.shared_by[tree.number], **(counted or {"probe": number}),
        )  # fmt: skip
        self._producer(looked)
        self._memory(name, record.slot, looked, layer, "looks")
        self._producer(decides)
        filters = len(probe.inputs[0].filters)
        rows = {"rows": self.counts.probes[number].decided + self.counts.probes[number].waiting} if self.counts else {}
        self.graph.add_edge(self._name(decides.number), name, kind="decides", filters=filters, **rows)

    def _runs(self, tree: Reached, made: State | RunStep) -> None:
        """Draw a state of runs, or a step by which they go on, and its inputs."""
        name, layer = self._name(tree.number), _FIRST_MEMORY_LAYER + 2 * self.depths[tree.number] - 1
        kind, text = "step", "runs begin"
        if isinstance(made, State):
            kind, text = "state", "solutions of an event, each once" if made.once else name.replace("state:", "runs ")
        elif made.run is not None:
            text = STRATEGIES[made.way.follows]
        self.graph.add_node(name, kind=kind, label=text, text=text, layer=layer, shared_by=self.shared_by[tree.number])
        for each, read in zip(tree.inputs, made.inputs, strict=True):
            self._producer(each)
            self.graph.add_edge(self._name(each.number), name, kind="runs", filters=len(read.filters))

    def _time(self, tree: Reached, slots: list[int], which: tuple[int, int]) -> Time:
        """Return, in the words of a table, which input's start or end a time is."""
        place, column = which
        if column not in (START, END):
            whose, at_end = moment_of(tree.inputs[place], column)
            return self._name(whose.number).replace(
                ":", " "
            ) if whose.inputs else f"{{ {self._pattern(whose)} }}", at_end
        if slots[place] < 0:
            return "tuple", column == END
        return f"{'β' if tree.inputs[place].inputs else 'α'}M{slots[place]}", column == END

    def _memory(self, user: str, slot: int, fed: Reached, layer: int, link: str = "joins") -> None:
        name, shared_by = f"memory:{slot}", self.graph.nodes[user]["shared_by"]
        plan = self.lowered.slots[slot]
        payload = [fed.names[column] for column in plan.payload if column in fed.names]
        filters = len(plan.filters)
        counted = asdict(self.counts.memories[slot]) if self.counts else {}
        label = _few(payload) + (f" · {filters} filter{'s' * (filters > 1)}" if filters else "")
        self.graph.add_node(
            name, kind="memory", of="beta" if fed.inputs else "alpha", label=label, text=f"memory {slot}: {label}",
            layer=layer - 1, shared_by=shared_by, static=holds_static(self.compiled.runtime.arena, slot),
            **(counted or {"memory": slot}),
        )  # fmt: skip
        above = self._name(fed.number)
        if not fed.inputs:
            self.graph.nodes[name]["pattern"] = self._pattern(fed)
        rows = {"rows": self.counts.memories[slot].rows_in} if self.counts else {}
        self.graph.add_edge(above, name, kind="fills", filters=filters, **rows)
        tried = {"rows": self.counts.memories[slot].hits} if self.counts and link == "joins" else {}
        self.graph.add_edge(name, user, kind=link, **tried)

    def _pattern(self, leaf: Reached) -> str:
        """Return the pattern that an α-memory's triples match, in the query's variables."""
        if not isinstance(leaf.producer, AlphaTest):
            label: str = self.graph.nodes[self._name(leaf.number)]["label"]
            return label
        parts = pattern_parts(leaf.producer, leaf.names, self.prefixes)
        said = self.events.text(" ".join(parts))
        return said if said != " ".join(parts) else " ".join(short_term(part, self.prefixes) for part in parts)

    def _name(self, number: int) -> str:
        if number in self.lowered.nodes:
            return f"join:{self.lowered.nodes[number]}"
        if number in self.lowered.probes:
            return f"probe:{self.lowered.probes[number]}"
        if number in self.lowered.states:
            return f"state:{self.lowered.states[number]}"
        if number in self.lowered.steps:
            return f"step:{self.lowered.steps[number]}"
        return f"alpha:{self.lowered.alphas[number]}"

    # ---- ends ----
    def _end(self, place: int, end: End) -> None:
        source = self._name(end.producer)
        rows = self._rows_out(end.producer)
        if len(end.shape.members) > 1:
            label = f"{len(end.shape.members):,} queries of one shape"
            shape = f"shape:{place}"
            self.graph.add_node(shape, kind="shape", label=label, text=label, layer=self.last, shared_by=0)
            self.graph.add_edge(source, shape, kind="completes", **rows)
            source, rows = shape, {}
        for member in end.shape.members:
            query = self.compiled.outcome.queries[member.listener.number]
            name = f"query:{query.name}"
            matched = {"matches": query.matched} if self.counts else {}
            self.graph.add_node(
                name, kind="query", label=query.name, text=query.name, layer=self.last + 1, shared_by=1, **matched
            )
            self.graph.add_edge(source, name, kind="completes", branch=member.branch, **rows)

    def _feed(self) -> None:
        """Link each rule to the α tests that its triples may pass."""
        for test, rules in self.lowered.fed.items():
            for number in dict.fromkeys(rule for rule, _ in rules):
                query = self.compiled.outcome.queries[number]
                self.graph.add_edge(f"query:{query.name}", self._name(test), kind="feeds")

    def _rows_out(self, number: int) -> dict[str, int]:
        """Return how many tuples a join has made or a probe let pass; tuples of an α test alone are not counted."""
        if self.counts is not None and number in self.lowered.probes:
            return {"rows": self.counts.probes[self.lowered.probes[number]].passed}
        if self.counts is None or number not in self.lowered.nodes:
            return {}
        return {"rows": self.counts.join(self.lowered.nodes[number]).hits}

    def _forget_lonely_goals(self) -> None:
        """Leave out ε nodes that nothing entails: such a triple goes straight to its α test."""
        lonely = [n for n, kind in self.graph.nodes(data="kind") if kind in ("class", "property", "value")]
        self.graph.remove_nodes_from([n for n in lonely if self.graph.degree(n) == 0])


def _few(names: list[str]) -> str:
    """Join the first names of a long row."""
    shown = names if len(names) <= _MOST_COLUMNS else names[: _MOST_COLUMNS - 1]
    return " ".join(shown) + (f" +{len(names) - len(shown)}" if len(names) > len(shown) else "")
