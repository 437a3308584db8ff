"""Find rows that a query would keep for ever: those in memories that no window, width or deadline bounds.

Where it stands: beside data's way.  When a query is registered, it is planned by itself for this question.
Left out: plain joins, where no window means "for ever"; static data, which does not grow.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.compiler.algebra import TriplePattern
from retewave.compiler.lower.needs import Needs, length_of
from retewave.compiler.plan.plan import make_plan
from retewave.compiler.plan.producers import AlphaTest, Join, Plan, Probe, Table
from retewave.compiler.plan.shape import Listener, shapes_of
from retewave.compiler.plan.walk import Reached, inputs_of, reached
from retewave.windows.intervals import UNBOUNDED

__all__ = ["kept_for_ever"]


def kept_for_ever(listener: Listener) -> tuple[TriplePattern, ...]:
    """Return the patterns whose rows a query keeps for ever, each once; none if the query is plain."""
    if listener.width < UNBOUNDED or all(branch.is_plain for branch in listener.branches):
        return ()
    plan = make_plan(shapes_of([listener]), lambda _: False)
    needs = Needs(plan)
    found: dict[TriplePattern, None] = {}
    for end in plan.ends:
        leaves = end.shape.members[0].steps.leaves
        for each in reached(plan, end).walk() if end.shape.branch is not None else ():
            for below in _kept(each, needs):
                if not _falls_out(plan, below.number):
                    kept = (leaves[leaf.leaf] for leaf in _made_of(below))
                    found.update((leaf, None) for leaf in kept if isinstance(leaf, TriplePattern))
    return tuple(found)


def _kept(above: Reached, needs: Needs) -> Iterator[Reached]:
    """Yield the inputs of a producer whose rows it keeps for ever."""
    producer = above.producer
    for place, below in enumerate(above.inputs):
        match producer:
            case Join(last=last) if place != last and _is_endless(needs.windows, needs.lengths, above.number):
                yield below
            case Probe(rank=()) if place == 1 and min(needs.kept(producer), length_of(producer)) >= UNBOUNDED:
                yield below


def _is_endless(windows: list[int], lengths: list[int], number: int) -> bool:
    """Tell whether neither a window nor a length bounds the rows that a producer combines."""
    return min(windows[number], lengths[number]) >= UNBOUNDED


def _made_of(tree: Reached) -> Iterator[Reached]:
    """Yield the leaves whose rows are parts of a producer's tuples: not those that a probe only looks at."""
    below = tree.inputs[:1] if isinstance(tree.producer, Probe) else tree.inputs
    for each in below:
        yield from _made_of(each)
    if not below:
        yield tree


def _falls_out(plan: Plan, number: int) -> bool:
    """Tell whether a producer's rows leave a window of their own, as the rows of a stream with RANGE do."""
    match producer := plan.producers[number]:
        case Table():
            return True
        case AlphaTest(streams=streams):
            return streams is not None and all(shift > 0 for _, shift in streams)
        case Probe(inputs=(decided, _)):
            return _falls_out(plan, decided.producer)
    return any(_falls_out(plan, each.producer) for each in inputs_of(producer))
