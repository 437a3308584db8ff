"""Queries about events in their users' words: events by their names, in place of the predicates that stand for them.

Data's way: description of a plan, labels of a drawing -> **the same in words** -> text, data, pictures.
The network knows detections as triples of predicates and variables of our own (`retewave.compiler.rewrite.detections`).
Left out: what the logical events became, which `retewave explain` tells by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from retewave.compiler.algebra.detections import local_name
from retewave.compiler.rewrite.detected import OWN, Detecting
from retewave.viz.explain.compiled import Registered

__all__ = ["EventWords", "title_of_event"]

Told = TypeVar("Told")

_TRIPLE = re.compile(rf"(\S+(?: \d+)?) {OWN.decode()}([0-9a-f]+)#([a-z]+)(\d+)(?:\.(\w+))?> (\S+(?: \d+)?)")
_VARIABLES = (
    (re.compile(r"_:\.x0\b"), "?individual"),
    (re.compile(r"_:\.(?:token|individual|solution)\.([\w.-]+)"), r"?\1"),
    (re.compile(r"_:\.(x\d+|event|used|[spo]\b)"), r"?\1"),
)
_SAID = {
    "token": "a detection of {event}",
    "used": "what NOT takes away",
    "rest": "what NOT leaves of an event",
}


class EventWords:
    """Says in words what stands in the predicates and variables of queries about events."""

    def __init__(self, queries: Mapping[int, Registered]) -> None:
        plans = [query.plan for query in queries.values() if query.plan is not None]
        self._plans = {plan.base.rpartition(":")[2]: plan for plan in plans}

    def text(self, text: str) -> str:
        """Return a pattern, a key or a condition in words."""
        if not self._plans:
            return text
        said = _TRIPLE.sub(self._triple, text)
        for found, word in _VARIABLES:
            said = found.sub(word, said)
        return said

    def all_of(self, told: Told) -> Told:
        """Return a record with all texts in it, and in the records below it, in words."""
        if isinstance(told, str):
            return self.text(told)  # type: ignore[return-value]
        if isinstance(told, tuple):
            return tuple(map(self.all_of, told))  # type: ignore[return-value]
        if is_dataclass(told) and not isinstance(told, type):
            return replace(told, **{each.name: self.all_of(getattr(told, each.name)) for each in fields(told)})
        return told

    def _triple(self, found: re.Match[str]) -> str:
        subject, base, kind, number, variable, _ = found.groups()
        plan = self._plans.get(base)
        if plan is None:
            return found[0]
        if kind == "guard":
            use = plan.uses[int(number)]
            of = _event(plan, use.event)
            return f"a solution of the guard on {of}" if variable == "of" else f"?{variable} of the guard on {of}"
        event = _event(plan, int(number)) if kind == "token" else ""
        alias = subject.rpartition(".")[2] if subject.startswith("_:.individual.") else event
        return _SAID[kind].format(event=event) + ("" if alias in (event, "") else f", as {alias}")


def title_of_event(plan: Detecting, branch: int) -> str:
    """Return what a branch of a query about events finds."""
    found = plan.found[branch]
    match found.kind:
        case "came":
            return "what an event brings"
        case "used":
            return f"what NOT {found.event + 1} takes away"
        case "rest":
            return f"what NOT {found.event + 1} leaves of an event"
        case "told":
            return f"{_event(plan, found.event)}, told"
        case "contradiction":
            return f"contradiction {found.event + 1}"
    ways = [place for place, each in enumerate(plan.found) if (each.kind, each.event) == (found.kind, found.event)]
    way = f", way {ways.index(branch) + 1} of {len(ways)}" if len(ways) > 1 else ""
    return f"{_event(plan, found.event)}{way}"


def _event(plan: Detecting, number: int) -> str:
    return local_name(plan.definitions.events[number].name)
