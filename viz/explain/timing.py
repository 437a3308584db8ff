"""When things are told, and which words of a query bound them in time.

Data's way: plan, query -> **words** -> explanations, drawings, the inspector.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, ViewFrame, walk
from retewave.compiler.plan.producers import Join, Probe
from retewave.compiler.plan.walk import Reached
from retewave.compiler.rewrite.branch import Decided
from retewave.compiler.rewrite.durations import longest
from retewave.compiler.rewrite.joining import conjuncts
from retewave.viz.explain.names import spell_window
from retewave.windows import durations

__all__ = ["decided", "reported", "told", "within"]

_SAID = {Decided.AT_ARRIVAL: "at arrival", Decided.AT_CLOSE: "at the close of the instant"}


def decided(probe: Probe) -> str:
    """Say when a probe decides."""
    if probe.decided is Decided.AT_DEADLINE:
        return f"at the deadline, start + {durations.spell(probe.deadline)}"
    return _SAID[probe.decided]


def told(tree: Reached, fed: Container[int]) -> str:
    """Say when a match is told, at the latest; `fed` are the α tests that rules may give something to."""
    when, deadline = _told(tree, fed)
    if when is Decided.AT_DEADLINE:
        return "at the deadline" if deadline is None else f"at the deadline, start + {durations.spell(deadline)}"
    return _SAID[when]


def reported(view: ViewFrame) -> str:
    """Say when a view is reported, and which rows of a report are told."""
    return f"by {view.told} at each {str(view.reporting).lower()}"


def _told(tree: Reached, fed: Container[int]) -> tuple[Decided, int | None]:
    """Return when a tuple is there, and the deadline, if that is the same for all."""
    producer = tree.producer
    if isinstance(producer, Probe):
        if producer.decided is Decided.AT_DEADLINE:
            return producer.decided, producer.deadline
        return max(_told(tree.inputs[0], fed), (producer.decided, None), key=lambda each: each[0])
    if isinstance(producer, Join):
        inputs = tree.inputs if producer.last is None else (tree.inputs[producer.last],)
        when = max((_told(each, fed)[0] for each in inputs), default=Decided.AT_ARRIVAL)
        return when, None
    return Decided.AT_CLOSE if tree.number in fed else Decided.AT_ARRIVAL, None


def within(width: int, where: Algebra) -> str:
    """Return a bound on the length of solutions, and the part of the query that sets it.

    >>> from retewave.compiler.parse import parse
    >>> text = "SELECT * { { { ?x <urn:p> ?y } SEQ { ?x <urn:q> ?z } } WITHIN 5m }"
    >>> within(300_000_000, parse(text).where)
    '5m, from WITHIN'
    """
    sources = sorted({name for each in walk(where) for name in _bounding(each, width)})
    return spell_window(width) + (f", from {' and '.join(sources)}" if sources else "")


def _bounding(each: Algebra, width: int) -> Iterator[str]:
    """Yield the name of an operator that bounds the length of solutions to a width."""
    match each:
        case algebra.Within(width=own) | algebra.Before(width=own) | algebra.After(width=own) if own == width:
            yield "WITHIN"
        case algebra.Filter(expression) if any(longest(part) == width for part in conjuncts(expression)):
            yield "getDURATION()"
