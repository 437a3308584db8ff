"""The automaton of a sequence: states and edges, as users of event languages know them.

Data's way: sequence of a query -> **automaton** -> explanations, drawings.
A state is a number of steps that a run has taken.  An edge takes an event of a step; a step that may be left out has an
edge without an event.  A step that must not be there is named at the edge that it bars, or at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from retewave.compiler import algebra
from retewave.compiler.algebra import Both, EventPattern, Follows, Occurs, Operand, SequenceStep
from retewave.windows import durations

__all__ = ["Automaton", "AutomatonEdge", "automaton_of", "lines"]

_WORDS = {
    Follows.ANY: "any later one that fits",
    Follows.NEXT: "the next one that fits",
    Follows.STRICT: "the very next event, if it fits",
}


@dataclass(frozen=True)
class AutomatonEdge:
    """How a run comes from one state to another."""

    source: int  # the state that it leaves
    target: int  # the state to which it comes
    asks: str  # the event pattern, or patterns that & and | connect; empty: no event is taken
    mark: str  # the strategy as it is written: , ; or : ; empty where runs begin
    said: str  # which event is taken, in words


@dataclass(frozen=True)
class Automaton:
    """A sequence as an automaton."""

    states: int  # they are numbered from 0, where runs begin; the last one is where they are complete
    edges: tuple[AutomatonEdge, ...]  # in the order written
    bounds: tuple[str, ...]  # the bounds on all runs, in words


def automaton_of(query: algebra.Query) -> Automaton | None:
    """Return the automaton of a query; none, if it has no sequence."""
    found = (each for each in algebra.walk(query.where) if isinstance(each, algebra.Sequence))
    sequence = next(found, None)
    if sequence is None:
        return None
    edges, absent, state = list[AutomatonEdge](), list[str](), 0
    for step in sequence.steps:
        if step.occurs is Occurs.NEVER:
            absent.append(_asked(step.operand))
            continue
        edges += _edges(step, state, absent)
        absent, state = [], state + 1
    return Automaton(state + 1, tuple(edges), tuple(_bounds(sequence, absent)))


def _edges(step: SequenceStep, state: int, absent: list[str]) -> Iterator[AutomatonEdge]:
    """Yield the edges of a step from a state to the next one, and from that to itself."""
    asks, mark = _asked(step.operand), step.follows.value if state else ""
    said = [_WORDS[step.follows] if state else "runs begin", *(f"no {each} before it" for each in absent)]
    yield AutomatonEdge(state, state + 1, asks, mark, ", ".join(said))
    if step.occurs is Occurs.MAYBE:
        yield AutomatonEdge(state, state + 1, "", "", f"no {asks}")
    if step.occurs in (Occurs.SOME, Occurs.MOST):
        often = ", as often as can be" if step.occurs is Occurs.MOST else ""
        yield AutomatonEdge(state + 1, state + 1, asks, step.between.value, f"again: {_WORDS[step.between]}{often}")


def _bounds(sequence: algebra.Sequence, absent: list[str]) -> Iterator[str]:
    yield from (f"no {each} comes until the window is over" for each in absent)
    if sequence.partition:
        yield f"each {' '.join(map(str, sequence.partition))} by itself"
    if sequence.width is not None:
        cut = ", in windows that follow each other" if sequence.tumbling is not None else ""
        yield f"within {durations.spell(sequence.width)}{cut}"
    if sequence.past_last:
        yield "what began before the end of a match is skipped"


def _asked(operand: Operand) -> str:
    if isinstance(operand, EventPattern):
        return operand.name
    sign = "&" if isinstance(operand, Both) else "|"
    return f"({_asked(operand.left)} {sign} {_asked(operand.right)})"


def lines(automaton: Automaton) -> Iterator[str]:
    """Yield an automaton as text: an edge a line."""
    shown = [f"{each.mark} {each.asks}".strip() or "–" for each in automaton.edges]
    wide = max(map(len, shown))
    for each, label in zip(automaton.edges, shown, strict=True):
        target = f"({each.target})" if each.target == automaton.states - 1 else f" {each.target} "
        yield f"{each.source} ─ {label:{wide}} → {target}  {each.said}"
    yield from automaton.bounds
