"""Logical events over ontologies beyond Horn: an individual of a class is told exactly if HermiT puts the class below.

Unions, existentials, universals, disjointness and cardinalities are drawn; each class alone is told of one individual.
Things with links are trees, so that the judge can say what holds of one: what is below the expression that spells it.
The names of each ontology are its own, so that a batch is one: Java is started once for the engine, and once for
the judge, which reads another text of the same axioms.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cases.many import many

import retewave as rw
from retewave.epsilon.classes import reasoner

BATCH, QUERIES = 12, 3  # ontologies at once (the judge's time grows by their square); expressions of each
LINKED, TOLD = 3, 4  # likewise, where things have links; things of each ontology
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
        case ("back", role, part):
            return f"ObjectSomeValuesFrom(ObjectInverseOf(<{role}>) {functional(part)})"
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
def judged(cases: list[Drawn], folder: Path, named: list[tuple[Expression, ...]]) -> dict[str, set[str]]:
    """Return by name what is below it, of classes and of expressions by case and number; all in one run of HermiT."""
    lines = ["Ontology("]
    for number, case in enumerate(cases):
        lines += [f"Declaration(Class(<{each}>))" for each in case.classes]
        lines += [f"Declaration(ObjectProperty(<{each}>))" for each in case.roles]
        lines += [f"SubClassOf({functional(sub)} {functional(above)})" for sub, above in case.axioms]
        lines += [f"EquivalentClasses(<{N}{number}/{j}> {functional(each)})" for j, each in enumerate(named[number])]
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


def schema_of(cases: list[Drawn]) -> bytes:
    lines = [HEAD]
    for case in cases:
        lines += [f"<{each}> a owl:Class ." for each in case.classes]
        lines += [f"<{each}> a owl:ObjectProperty ." for each in case.roles]
        lines += [f"{turtle(sub)} rdfs:subClassOf {turtle(above)} ." for sub, above in case.axioms]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("batch", range(many(1)))
def test_what_is_told_of_a_class_is_what_the_reasoner_puts_above_it(batch: int, tmp_path: Path) -> None:
    cases = [drawn(seed) for seed in range(BATCH * batch, BATCH * (batch + 1))]
    below = judged(cases, tmp_path, [case.asked for case in cases])
    impossible = reached(below, NOTHING)
    events, wanted = [], set()
    for number, case in enumerate(cases):
        for j, each in enumerate(case.asked):
            mine = reached(below, f"{N}{number}/{j}")
            if THING in mine:
                continue  # what holds of everything is refused
            events.append(f"EVENT <{N}event{number}-{j}> AS {manchester(each)}")
            told = (name for name in case.classes if name in mine and name not in impossible)
            wanted |= {(f"{N}event{number}-{j}", f"{name}-it") for name in told}
    engine = rw.Engine(schema=schema_of(cases))
    query = engine.register("\n".join([*events, "RETURN ALL AS EVENT STREAM"]), language="obep", keep=None)
    classes = [name for case in cases for name in case.classes if name not in impossible]
    for time, name in enumerate(classes):
        engine.push((f"{name}-it", TYPE, name), time=time)
    engine.flush()
    found = {(str(match.event), str(match.individual)) for match in query.matches}
    assert found == wanted
    assert len(wanted) > len(cases)


# ---- links ----
def parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    for each in expression[1:]:
        if isinstance(each, tuple):
            yield from parts(each)


def linked(r: Random, case: Drawn, depth: int = 2) -> Expression:
    """Return what is told of a thing: its class, and what it is linked to."""
    own = ("name", r.choice(case.classes))
    links = [("some", r.choice(case.roles), linked(r, case, depth - 1)) for _ in range(r.randint(1, 2)) if depth]
    return reduce(lambda one, other: ("and", one, other), links, own)


def triples(told: Expression, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the triples that tell it of a thing of this name."""
    for place, each in enumerate(said_of(told)):
        if each[0] == "name":
            yield name, TYPE, each[1]
        else:
            other = f"{name}.{place}"
            yield name, each[1], other
            yield from triples(each[2], other)


@dataclass(frozen=True)
class Thing:
    """A thing in an event."""

    told: Expression  # of it
    by: str = ""  # the role by which another thing is linked to it
    back: Thing | None = None  # the other thing

    def linked(self, role: str) -> Iterator[Thing]:
        """Yield the things that it is linked to."""
        yield from (Thing(each[2], role, self) for each in said_of(self.told) if each[:2] == ("some", role))


@dataclass(frozen=True)
class Meaning:
    """What holds of things: by the form of expressions, and by what the judge puts below them."""

    below: Mapping[Expression, frozenset[Expression]]  # of what the ontology's axioms speak of
    universal: frozenset[Expression]  # what holds of everything

    def holds(self, thing: Thing, asked: Expression, seen: tuple[tuple[Thing, Expression], ...] = ()) -> bool:
        if asked in self.universal:
            return True
        if (thing, asked) in seen:
            return False
        inside = (*seen, (thing, asked))
        below = (self.holds(thing, one, inside) for one in self.below[asked])
        return self._by_form(thing, asked, inside) or any(below)

    def _by_form(self, thing: Thing, asked: Expression, seen: tuple[tuple[Thing, Expression], ...]) -> bool:
        match asked:
            case ("name", _):
                return asked in said_of(thing.told)
            case ("and", one, other):
                return self.holds(thing, one, seen) and self.holds(thing, other, seen)
            case ("or", one, other):
                return self.holds(thing, one, seen) or self.holds(thing, other, seen)
            case ("some", role, filler):
                return any(self.holds(each, filler, seen) for each in thing.linked(role))
            case ("back", role, filler):
                return thing.back is not None and thing.by == role and self.holds(thing.back, filler, seen)
            case ("min", role, 1):
                return any(True for _ in thing.linked(role))
        return False


def spoken_of(case: Drawn) -> list[Expression]:
    """Return what the axioms say something of: classes, left sides, and what stands behind a role that has `only`."""
    found = [*(("name", each) for each in case.classes), *(sub for sub, _ in case.axioms)]
    return found + [("back", above[1], sub) for sub, above in case.axioms if above[0] == "only"]


def said_of(told: Expression) -> list[Expression]:
    """Return what is told of a thing, one by one."""
    return [*said_of(told[1]), *said_of(told[2])] if told[0] == "and" else [told]


@pytest.mark.parametrize("batch", range(many(3)))
def test_what_is_told_of_things_with_links_follows_from_them(batch: int, tmp_path: Path) -> None:
    """Nothing is told that the reasoner does not find; all is told that holds by form and by what lies below."""
    r = Random(batch)
    cases = [drawn(seed) for seed in range(LINKED * batch, LINKED * (batch + 1))]
    told = [[linked(r, case) for _ in range(TOLD)] for case in cases]
    lefts = [spoken_of(case) for case in cases]
    named = [
        tuple(dict.fromkeys([*(part for each in case.asked for part in parts(each)), *lefts[n], *told[n]]))
        for n, case in enumerate(cases)
    ]
    below = judged(cases, tmp_path, named)
    impossible = reached(below, NOTHING)
    events, entailed, wanted, graphs = [], set(), set(), {}
    for n, case in enumerate(cases):
        names = {each: f"{N}{n}/{j}" for j, each in enumerate(named[n])}
        found = {each: reached(below, name) for each, name in names.items()}
        possible = [each for each in lefts[n] if names[each] not in impossible]
        meaning = Meaning(
            {
                each: frozenset(one for one in possible if names[one] in found[each] and one != each)
                for each in named[n]
            },
            frozenset(each for each in named[n] if THING in found[each]),
        )
        for j, one in enumerate(told[n]):
            if names[one] not in impossible:
                graphs[f"{N}thing{n}-{j}"] = one
        for j, asked in enumerate(case.asked):
            if asked in meaning.universal:
                continue
            events.append(f"EVENT <{N}event{n}-{j}> AS {manchester(asked)}")
            for i, one in enumerate(told[n]):
                if f"{N}thing{n}-{i}" in graphs:
                    said = f"{N}event{n}-{j}", f"{N}thing{n}-{i}"
                    entailed |= {said} if names[one] in found[asked] else set()
                    wanted |= {said} if meaning.holds(Thing(one), asked) else set()
    engine = rw.Engine(schema=schema_of(cases))
    query = engine.register("\n".join([*events, "RETURN ALL AS EVENT STREAM"]), language="obep", keep=None)
    for time, (name, one) in enumerate(graphs.items()):
        engine.push(list(triples(one, name)), time=time)
    engine.flush()
    found_ = {(str(match.event), str(match.individual)) for match in query.matches}
    found_ = {each for each in found_ if each[1] in graphs}
    assert wanted <= entailed
    assert found_ <= entailed, found_ - entailed
    assert found_ == wanted
    assert wanted


def test_what_only_says_of_a_link_leads_back_to_the_thing_that_has_it() -> None:
    a, b, f = (("name", f"{N}{each}") for each in "ABF")
    p = f"{N}p"
    case = Drawn((a[1], b[1], f[1]), (p,), ((a, ("only", p, b)), (("some", p, b), f)), (f,))
    engine = rw.Engine(schema=schema_of([case]))
    query = engine.register(f"EVENT <{N}X> AS {manchester(f)}", language="obep", keep=None)
    engine.push([(f"{N}x", TYPE, a[1]), (f"{N}x", p, f"{N}y")], time=0)
    engine.push([(f"{N}x", p, f"{N}y")], time=1)
    engine.flush()
    assert [(str(match.individual), match.start) for match in query.matches] == [(f"{N}x", 0)]
