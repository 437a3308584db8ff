"""Logical events over ontologies beyond Horn: an individual of a class is told exactly if HermiT puts the class below.

Unions, existentials, universals, disjointness and cardinalities are drawn; each class alone is told of one individual.
The names of each ontology are its own, so that a batch is one: Java is started once for the engine, and once for
the judge, which reads another text of the same axioms.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cases.many import many

import retewave as rw
from retewave.epsilon.classes import reasoner

BATCH, QUERIES = 12, 3  # ontologies at once (the judge's time grows by their square); expressions of each
N = "http://e/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NOTHING, THING = "http://www.w3.org/2002/07/owl#Nothing", "http://www.w3.org/2002/07/owl#Thing"
HEAD = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
Expression = tuple[Any, ...]  # its kind, then its parts; a name is ("name", IRI)

pytestmark = [
    pytest.mark.skipif(bool(reasoner.missing()), reason=reasoner.missing()),
    pytest.mark.filterwarnings("ignore"),
]


@dataclass(frozen=True)
class Drawn:
    """An ontology, and what is asked of it."""

    classes: tuple[str, ...]  # later ones are never below earlier ones by their axioms alone
    roles: tuple[str, ...]
    axioms: tuple[tuple[Expression, Expression], ...]  # the first is below the second
    asked: tuple[Expression, ...]


def drawn(seed: int) -> Drawn:
    r = Random(seed)
    classes = tuple(f"{N}k{seed}{name}" for name in "ABCDEF")
    roles = (f"{N}k{seed}p", f"{N}k{seed}q")
    axioms = tuple(axiom for _ in range(r.randint(3, 6)) for axiom in _axiom(r, classes, roles))
    return Drawn(classes, roles, axioms, tuple(_asked(r, classes, roles) for _ in range(QUERIES)))


def _axiom(r: Random, classes: tuple[str, ...], roles: tuple[str, ...]) -> Iterator[tuple[Expression, Expression]]:
    one, two, three = (("name", classes[place]) for place in sorted(r.sample(range(len(classes)), 3)))
    role = r.choice(roles)
    match r.randrange(10):
        case 0:
            yield one, r.choice([two, three])
        case 1:
            yield one, ("or", two, three)
        case 2:
            yield ("and", one, two), three
        case 3 | 4:
            yield one, ("some", role, two)
        case 5:
            yield one, ("only", role, two)
        case 6:
            yield one, ("not", two)
        case 7:
            yield one, (r.choice(["max", "min"]), role, r.randint(1, 2))
        case 8:
            yield one, three
            yield two, three
            yield three, ("or", one, two)
        case _:
            yield ("some", role, one), three


def _asked(r: Random, classes: tuple[str, ...], roles: tuple[str, ...], depth: int = 2) -> Expression:
    role = r.choice(roles)
    if not depth or r.random() < 0.2:
        return "name", r.choice(classes)
    inside = _asked(r, classes, roles, depth - 1)
    match r.randrange(7):
        case 0:
            return "and", inside, _asked(r, classes, roles, depth - 1)
        case 1:
            return "or", inside, _asked(r, classes, roles, depth - 1)
        case 2:
            return "not", inside
        case 3 | 4:
            return r.choice(["some", "only"]), role, inside
        case 5:
            return "max", role, r.randint(1, 2)
    return "min", role, r.randint(1, 2)


# ---- three ways to write it ----
def turtle(expression: Expression) -> str:
    def restriction(said: str) -> str:
        return f"[ a owl:Restriction ; owl:onProperty <{expression[1]}> ; owl:{said} ]"

    match expression:
        case ("name", name):
            return f"<{name}>"
        case ("and" | "or" as kind, one, two):
            listed = "intersectionOf" if kind == "and" else "unionOf"
            return f"[ a owl:Class ; owl:{listed} ( {turtle(one)} {turtle(two)} ) ]"
        case ("not", part):
            return f"[ a owl:Class ; owl:complementOf {turtle(part)} ]"
        case ("some" | "only" as kind, _, part):
            return restriction(f"{'some' if kind == 'some' else 'all'}ValuesFrom {turtle(part)}")
    return restriction(f"{expression[0]}Cardinality {expression[2]}")


def functional(expression: Expression) -> str:
    match expression:
        case ("name", name):
            return f"<{name}>"
        case ("and" | "or" as kind, one, two):
            called = "ObjectIntersectionOf" if kind == "and" else "ObjectUnionOf"
            return f"{called}({functional(one)} {functional(two)})"
        case ("not", part):
            return f"ObjectComplementOf({functional(part)})"
        case ("some" | "only" as kind, role, part):
            return f"Object{'Some' if kind == 'some' else 'All'}ValuesFrom(<{role}> {functional(part)})"
    return f"Object{expression[0].capitalize()}Cardinality({expression[2]} <{expression[1]}>)"


def manchester(expression: Expression) -> str:
    match expression:
        case ("name", name):
            return f"<{name}>"
        case ("and" | "or" as kind, one, two):
            return f"({manchester(one)} {kind} {manchester(two)})"
        case ("not", part):
            return f"(not {manchester(part)})"
        case ("some" | "only" as kind, role, part):
            return f"(<{role}> {kind} {manchester(part)})"
    return f"(<{expression[1]}> {expression[0]} {expression[2]} Thing)"


# ---- the judge ----
def judged(cases: list[Drawn], folder: Path) -> dict[str, set[str]]:
    """Return by name what is below it, of classes and of what is asked; all in one run of HermiT."""
    lines = ["Ontology("]
    for number, case in enumerate(cases):
        lines += [f"Declaration(Class(<{each}>))" for each in case.classes]
        lines += [f"Declaration(ObjectProperty(<{each}>))" for each in case.roles]
        lines += [f"SubClassOf({functional(sub)} {functional(above)})" for sub, above in case.axioms]
        lines += [f"EquivalentClasses(<{N}{number}/{j}> {functional(each)})" for j, each in enumerate(case.asked)]
    given, said = folder / "all.ofn", folder / "said.txt"
    given.write_text("\n".join([*lines, ")"]))
    run = [*reasoner.command(1000), "-c", "-o", str(said), given.as_uri()]
    subprocess.run(run, check=True, capture_output=True, timeout=120)
    below: dict[str, set[str]] = {}
    plain = said.read_text().replace("owl:Thing", f"<{THING}>").replace("owl:Nothing", f"<{NOTHING}>")
    for kind, listed in re.findall(r"(SubClassOf|EquivalentClasses)\((.*)\)", plain):
        names = re.findall(r"<([^>]*)>", listed)
        for other in names[1:] if kind == "SubClassOf" else names:
            below.setdefault(other, set()).update(names[:1] if kind == "SubClassOf" else names)
    return below


def reached(below: dict[str, set[str]], name: str) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        for each in below.get(waiting.pop(), set()) - found:
            found.add(each)
            waiting.append(each)
    return found


@pytest.mark.parametrize("batch", range(many(1)))
def test_what_is_told_of_a_class_is_what_the_reasoner_puts_above_it(batch: int, tmp_path: Path) -> None:
    cases = [drawn(seed) for seed in range(BATCH * batch, BATCH * (batch + 1))]
    below = judged(cases, tmp_path)
    impossible = reached(below, NOTHING)
    schema, events, wanted = [HEAD], [], set()
    for number, case in enumerate(cases):
        schema += [f"<{each}> a owl:Class ." for each in case.classes]
        schema += [f"<{each}> a owl:ObjectProperty ." for each in case.roles]
        for sub, above in case.axioms:
            schema.append(f"{turtle(sub)} rdfs:subClassOf {turtle(above)} .")
        for j, each in enumerate(case.asked):
            mine = reached(below, f"{N}{number}/{j}")
            if THING in mine:
                continue  # what holds of everything is refused
            events.append(f"EVENT <{N}event{number}-{j}> AS {manchester(each)}")
            told = (name for name in case.classes if name in mine and name not in impossible)
            wanted |= {(f"{N}event{number}-{j}", f"{name}-it") for name in told}
    engine = rw.Engine(schema="\n".join(schema).encode())
    query = engine.register("\n".join([*events, "RETURN ALL AS EVENT STREAM"]), language="obep", keep=None)
    classes = [name for case in cases for name in case.classes if name not in impossible]
    for time, name in enumerate(classes):
        engine.push((f"{name}-it", TYPE, name), time=time)
    engine.flush()
    found = {(str(match.event), str(match.individual)) for match in query.matches}
    assert found == wanted
    assert len(wanted) > len(cases)
