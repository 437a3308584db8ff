"""Temporal relations for plans, which no language writes yet: put into the records of a network when it is lowered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from retewave.compiler.lower import Lowered, lower
from retewave.compiler.plan.producers import AlphaTest, Join
from retewave.engine import compiled
from retewave.rete.network.records import Relation
from retewave.rete.words.layout import OF_END, OF_START
from retewave.windows.relations import bounds

Named = tuple[bytes, int, bytes]  # a predicate, a code of retewave.windows.relations, a predicate


def with_relations(related: list[Named]) -> Callable[..., Lowered]:
    """Return `lower`, but the join in which two predicates meet relates the inputs that they come in by."""

    def lowered_with(*arguments: Any) -> Lowered:
        lowered = lower(*arguments)
        for number, node in lowered.nodes.items():
            inputs = [_predicates(lowered, each) for each in _join(lowered, number)]
            node_record = lowered.network.nodes[node]
            node_record.relations = tuple(_of_node(inputs, related))
            lowered.network.apart = True
        return lowered

    return lowered_with


def _join(lowered: Lowered, number: int) -> list[int]:
    join = lowered.plan.producers[number]
    assert isinstance(join, Join)
    return [each.producer for each in join.inputs]


def _predicates(lowered: Lowered, number: int) -> set[bytes]:
    """Return the predicates that a producer's tuples are made of."""
    producer = lowered.plan.producers[number]
    if isinstance(producer, AlphaTest):
        return {producer.atom.predicate} if isinstance(producer.atom.predicate, bytes) else set()
    return set().union(*(_predicates(lowered, each) for each in _join(lowered, number)))


def _of_node(inputs: list[set[bytes]], related: list[Named]) -> Iterator[Relation]:
    for left, code, right in related:
        ones = [place for place, found in enumerate(inputs) if left in found]
        others = [place for place, found in enumerate(inputs) if right in found]
        assert len(ones) < 2 and len(others) < 2
        if ones and others and ones != others:
            yield from relations_of(ones[0], code, others[0])


def relations_of(left: int, code: int, right: int) -> Iterator[Relation]:
    """Yield what an Allen relation of the rows of two slots says of their times."""
    slots, times = (left, right), (OF_START, OF_END)
    for (one, end), gap, (other, other_end) in bounds(code):
        yield Relation((slots[one], times[end]), gap, (slots[other], times[other_end]))


@contextmanager
def relating(*related: Named) -> Iterator[None]:
    """Give the networks that are made meanwhile these relations."""
    with patch.object(compiled, "lower", with_relations(list(related))):
        yield
