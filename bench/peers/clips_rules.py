"""CLIPS, the Rete engine of production systems, through clipspy: pattern 1 as one rule."""

from __future__ import annotations

import time
from collections import deque
from importlib import import_module
from typing import Any

from retewave.bench.task import Adapter, Result, Task
from retewave.bench.vocabulary import PREDICATES

__all__ = ["ADAPTER"]

_NAMES = {predicate.encode(): f"p{n}" for n, predicate in enumerate(PREDICATES)}
_TEMPLATE = "(deftemplate triple (slot p) (slot s) (slot o) (slot n))"
_RULE = """(defrule pattern1
  (triple (p p0) (s ?offer) (o Offer))
  (triple (p p1) (s ?offer) (o ?product))
  {others}
  (triple (p kind) (s ?product))
  => (bind ?*matches* (+ ?*matches* 1)))"""


def _run(task: Task) -> Result:
    clips = import_module("clips")

    environment = clips.Environment()
    environment.build("(defglobal ?*matches* = 0)")
    environment.build(_TEMPLATE)
    others = "\n  ".join(f"(triple (p p{n}) (s ?offer))" for n in range(2, len(PREDICATES)))
    environment.build(_RULE.format(others=others))
    triple, symbol = environment.find_template("triple"), clips.Symbol
    classes, window, rate = task.target_classes(), task.question.window, task.question.rate
    live: deque[tuple[int, Any]] = deque()
    started = time.perf_counter()
    with task.offers.open("rb") as lines:
        for i, line in enumerate(lines):
            now = i * 1_000_000 // rate
            while live and live[0][0] < now - window:
                live.popleft()[1].retract()
            s, p, o = line[:-3].split(b" ", 2)
            name, value = _NAMES[p], symbol(o.decode())
            if name == "p0" and o.endswith(b"/Offer>"):
                value = symbol("Offer")
            elif name == "p0":
                if o not in classes:
                    continue
                name = "kind"
            fact = triple.assert_fact(p=symbol(name), s=symbol(s.decode()), o=value, n=i)
            live.append((now, fact))
            environment.run()
    return Result(environment.find_global("matches").value, time.perf_counter() - started)


ADAPTER = Adapter(
    name="CLIPS",
    cannot="no RDF, no inference but by more rules, no windows: facts are retracted from outside, which takes so long "
    "that only a stream shorter than the window is measured",
    run=_run,
    requires=("clips",),
    most_offers=20_000,
)
