"""Levels: the order of decisions at one time, and the rules that would wait for each other in a ring.

Data's way: plan + what rules build -> **levels** -> the records of probes.
A probe may look at rows that end at its own instant.  It decides after all that may still bring such rows: other
probes, and rules.  Rows that are strictly earlier are there already.
Laws: a producer's level is at least the level of each input and of each rule that feeds it.  It is greater than the
level of an input whose rows it looks at in its own instant.  An input that must have ended before sets no bound.  If no
levels obey these laws, a decision would wait for itself: `Unstratified`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from retewave.compiler.expressions.programs import Programs
from retewave.compiler.lower.lowered import Lowered
from retewave.compiler.lower.rules import template_ids
from retewave.compiler.plan.producers import END, AlphaTest, Gap, Instants, Join, Plan, Probe, RunStep, State
from retewave.compiler.plan.shape import Rule
from retewave.compiler.plan.walk import inputs_of
from retewave.compiler.rewrite.branch import Decided

__all__ = ["Fed", "Unstratified", "fed", "fed_queries", "levels", "readers", "rings"]

Fed: TypeAlias = Mapping[int, tuple[tuple[int, int], ...]]  # α test -> rules that feed it: number, producer


class Unstratified(Exception):
    """Rules decide about an instant by triples that depend on that decision."""

    def __init__(self, rules: tuple[int, ...]) -> None:
        super().__init__(" -> ".join(map(str, rules)))
        self.rules = rules  # their numbers, in a ring: the last is the first again


def fed(lowered: Lowered, programs: Programs) -> Fed:
    """Return which α tests may take triples that rules build, and of which rules."""
    producers = {record: number for number, record in lowered.alphas.items()}
    found: dict[int, dict[tuple[int, int], None]] = {}
    for end in lowered.plan.ends:
        for member in end.shape.members:
            rule = member.rule
            if rule is not None:
                for alpha in _reached_by(lowered, rule, programs):
                    found.setdefault(producers[alpha], {})[member.listener.number, end.producer] = None
    return {number: tuple(rules) for number, rules in found.items()}


def _reached_by(lowered: Lowered, rule: Rule, programs: Programs) -> Iterator[int]:
    """Yield the numbers of the α records that may take triples of a rule."""
    network = lowered.network
    for s, p, o in template_ids(rule, programs):
        looked_up = p if p in network.known else 0
        for (subject, predicate, object_), routes in network.keys.items():
            if p and predicate != looked_up:
                continue
            if (s and subject and subject != s) or (o and object_ and object_ != o):
                continue
            for route in routes:
                streams = network.alphas[route.alpha].streams
                if streams < 0 or rule.stream == 0 or rule.stream in network.streams[streams]:
                    yield route.alpha


def levels(plan: Plan, feeding: Fed) -> list[int]:
    """Return the level of each producer."""
    found, most = [0] * len(plan.producers), sum(isinstance(each, Probe) for each in plan.producers)
    changed = True
    while changed:
        changed = False
        for number in range(len(found)):
            level = max((found[below] + later for below, later in _below(plan, feeding, number)), default=0)
            if level > most:
                raise Unstratified(_ring(plan, feeding))
            changed, found[number] = changed or level != found[number], level
    return found


def _below(plan: Plan, feeding: Fed, number: int) -> Iterator[tuple[int, bool]]:
    """Yield the producers that a producer's tuples depend on, and whether they must be complete first."""
    producer = plan.producers[number]
    if isinstance(producer, AlphaTest):
        yield from ((end, False) for _, end in feeding.get(number, ()))
    elif isinstance(producer, Probe):
        decided, looked = producer.inputs
        yield decided.producer, False
        if not _is_earlier(plan, producer):
            yield looked.producer, True
    elif isinstance(producer, RunStep):
        yield producer.way.event.producer, False  # the run ended before
    elif isinstance(producer, State | Instants):
        yield from ((each.producer, False) for each in producer.inputs)
    elif isinstance(producer, Join):
        for place, each in enumerate(producer.inputs):
            if not _ends_before(plan, producer.gaps, place, each.producer):
                yield each.producer, False


def _is_earlier(plan: Plan, probe: Probe) -> bool:
    """Tell whether a probe looks only at rows that ended before its own instant."""
    return probe.decided is Decided.AT_ARRIVAL or _ends_before(plan, probe.gaps, 1, probe.inputs[1].producer)


def _ends_before(plan: Plan, gaps: Iterable[Gap], place: int, number: int) -> bool:
    """Tell whether gaps say that the input at a place ends before a time of another input."""
    earlier = (gap.earlier[1] for gap in gaps if gap.earlier[0] == place != gap.later[0] and gap.gap > 0)
    return _hold_the_end(plan, number, frozenset(earlier))


def _hold_the_end(plan: Plan, number: int, columns: frozenset[int]) -> bool:
    """Tell whether the end of a producer's tuples is in these columns, or is the latest of the times in them."""
    producer = plan.producers[number]
    if END in columns:
        return True
    if not isinstance(producer, Join) or not columns:
        return False
    origins = [producer.origins[column] for column in columns if column >= 0]
    return all(
        _hold_the_end(plan, each.producer, frozenset(source for slot, source in origins if slot == place))
        for place, each in enumerate(producer.inputs)
    )


def _ring(plan: Plan, feeding: Fed) -> tuple[int, ...]:
    """Return the rules of a shortest ring of producers that wait for each other."""
    import networkx

    graph = networkx.DiGraph()
    for number in range(len(plan.producers)):
        graph.add_edges_from((below, number) for below, _ in _below(plan, feeding, number))
    found: list[list[int]] = []
    for number in range(len(plan.producers)):
        for below, later in _below(plan, feeding, number):
            if later and networkx.has_path(graph, number, below):
                found.append([*networkx.shortest_path(graph, number, below), number])
    shortest: list[int] = min(found, key=len)
    steps = list(pairwise(shortest))
    rules = tuple(
        next(rule for rule, end in feeding[above] if end == below) for below, above in steps if above in feeding
    )
    return _turned(rules)


def rings(lowered: Lowered) -> list[tuple[int, ...]]:
    """Return the groups of rules that build from their own triples: the numbers of each, and the first one again."""
    import networkx

    graph = networkx.DiGraph(readers(lowered))
    groups = [sorted(group) for group in networkx.strongly_connected_components(graph)]
    return sorted((*group, group[0]) for group in groups if len(group) > 1 or graph.has_edge(group[0], group[0]))


def readers(lowered: Lowered) -> dict[int, tuple[int, ...]]:
    """Return, by its number, the rules that read the triples of a rule."""
    found: dict[int, set[int]] = {}
    for end in lowered.plan.ends:
        below = _all_below(lowered.plan, end.producer)
        feeding = {rule for number in below for rule, _ in lowered.fed.get(number, ())}
        for member in end.shape.members:
            if member.rule is not None:
                for rule in feeding:
                    found.setdefault(rule, set()).add(member.listener.number)
    return {rule: tuple(sorted(numbers)) for rule, numbers in found.items()}


def fed_queries(lowered: Lowered) -> frozenset[int]:
    """Return the numbers of the rules, and of the queries that may read what some rule builds."""
    found: set[int] = set()
    for end in lowered.plan.ends:
        reads = any(lowered.fed.get(number) for number in _all_below(lowered.plan, end.producer))
        found |= {each.listener.number for each in end.shape.members if reads or each.rule is not None}
    return frozenset(found)


def _all_below(plan: Plan, number: int) -> set[int]:
    """Return a producer and all producers that its tuples depend on."""
    found, left = set(), [number]
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left += [each.producer for each in inputs_of(plan.producers[number])]
    return found


def _turned(rules: Sequence[int]) -> tuple[int, ...]:
    """Return a ring that begins and ends with the rule that was registered first."""
    first = rules.index(min(rules))
    return (*rules[first:], *rules[:first], rules[first])
