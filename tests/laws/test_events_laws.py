"""OBEP's events cut up, mixed, late, guarded; and what a logical event has in common with SPARQL and with owlrl.

The cases are seeds, as in `test_events.py`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, groupby
from pathlib import Path
from random import Random

import owlrl
import pyoxigraph
import pytest
import rdflib
from cases.many import many
from cases.ontologies import SECOND, EventsCase, N, manchester, random_case, random_composite, random_expression
from helpers.told_events import Told, compare, composite, engine_of, of_match, pushed, texts
from naive.detections import Graph

import retewave as rw
from retewave.epsilon.classes.expression import (
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    ClassExpression,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Some,
)
from retewave.errors import QueryError
from retewave.windows.times import Clock

pytestmark = pytest.mark.filterwarnings("ignore")


def cases(number: int) -> Iterator[tuple[int, Random, EventsCase, str]]:
    """Yield cases with a composite, each with what makes the rest of its test."""
    for seed in range(many(number)):
        random = Random(seed)
        case = random_case(random, complex_axioms=seed % 3 == 0, events=6)
        text = composite(random) + f"\nRETURN <{N}X>, <{N}Z>"
        try:
            engine_of(case, text)
        except QueryError:
            continue
        yield seed, random, case, text


def told(engine: rw.Engine, graphs: list[Graph]) -> Counter[Told]:
    found = [match for graph in graphs for match in engine.push(texts(graph), time=graph.end // SECOND)]
    return Counter(map(of_match, found))


def whole(case: EventsCase, text: str) -> Counter[Told]:
    return Counter(map(of_match, pushed(engine_of(case, text)[0], case)))


def test_the_order_within_an_instant_does_not_matter() -> None:
    for seed, random, case, text in cases(40):
        mixed: list[Graph] = []
        for _, instant in groupby(case.graphs, key=lambda each: each.end):
            events = list(instant)
            mixed += random.sample(events, len(events))
        engine, _ = engine_of(case, text)
        found = []
        for graph in mixed:
            triples = texts(graph)
            found += engine.push(random.sample(triples, len(triples)), time=graph.end // SECOND)
        assert Counter(map(of_match, found + engine.flush())) == whole(case, text), seed


def _quads(graphs: list[Graph], first: int) -> bytes:
    lines = []
    for number, graph in enumerate(graphs, first):
        name = f"<{N}event{number}>"
        lines += [f"{b' '.join(each).decode()} {name} .\n" for each in sorted(graph.triples)]
        lines.append(f'{name} <{N}at> "{graph.end // SECOND}"^^<http://www.w3.org/2001/XMLSchema#integer> {name} .\n')
    return "".join(lines).encode()


def test_any_cut_into_batches_tells_the_same() -> None:
    for seed, random, case, text in cases(60):
        if "NOT" in text:  # it takes away from all that an event says: there, its time stands among that
            continue
        graphs = list(case.graphs)
        cut = random.randint(0, len(graphs))
        engine, _ = engine_of(case, text)
        engine.clock = Clock("int")
        found: list[rw.Match] = []
        for first, part in ((0, graphs[:cut]), (cut, graphs[cut:])):
            if part:
                found += engine.run(rw.read(_quads(part, first), format="nq", time_property=f"{N}at"))
        assert Counter(map(of_match, found + engine.flush())) == whole(case, text), (seed, cut)


def test_more_events_never_take_back_what_was_told() -> None:
    for seed, random, case, text in cases(40):
        cut = random.randint(0, len(case.graphs))
        engine, _ = engine_of(case, text)
        first = told(engine, list(case.graphs[:cut]))
        again, _ = engine_of(case, text)
        assert told(again, list(case.graphs[:cut])) == first, seed
        rest = told(engine, list(case.graphs[cut:])) + Counter(map(of_match, engine.flush()))
        assert first + rest == whole(case, text), seed


def test_a_query_that_is_registered_late_finds_what_comes_from_then_on() -> None:
    for seed, random, case, text in cases(40):
        cut = random.randint(0, len(case.graphs))
        cut = next((at for at in range(cut, len(case.graphs)) if case.graphs[at].end != case.graphs[at - 1].end), cut)
        if 0 < cut < len(case.graphs) and case.graphs[cut].end == case.graphs[cut - 1].end:
            continue
        engine = rw.Engine(schema=[list(case.schema)] if case.schema else (), static=[list(case.static)], seed=1)
        told(engine, list(case.graphs[:cut]))
        engine.register(text, language="obep", keep=None)
        late = told(engine, list(case.graphs[cut:])) + Counter(map(of_match, engine.flush()))
        assert late == whole(replace(case, graphs=case.graphs[cut:]), text), (seed, cut)


# ---- guards, and composites of composites ----
_LOGICAL = {  # expressions that guards may ask about, and the predicates that they name
    f"<{N}p> some Thing": f"<{N}p>",
    f"(<{N}A> or <{N}q> some Thing)": f"<{N}q>",
    f"(<{N}p> some Thing and <{N}B>)": f"<{N}p>",
    f"<{N}q> some <{N}C>": f"<{N}q>",
}


def _guarded(random: Random) -> str:
    """Return definitions with a composite that guards bound, and perhaps one more of it, of intervals."""
    logical = dict(zip("XY", random.choices(list(_LOGICAL), k=2), strict=True))
    lines = [f"EVENT <{N}{name}> AS {expression}" for name, expression in logical.items()]
    relation, kinds = random.choice(("SEQ", "SEQ", "AND", "OR", "MEETS")), random.choices("XY", k=2)
    roles = [random.choice((_LOGICAL[logical[kind]], "a", f"?r{place}")) for place, kind in enumerate(kinds)]
    subject = random.choice(("?a", "?a", "?c"))
    test = random.choice(("", "FILTER (?b != ?d)", "FILTER (?b = ?d)")) if relation != "OR" else ""
    guard = f"IF {{ EVENT P0 {{ ?a {roles[0]} ?b . }} EVENT P1 {{ {subject} {roles[1]} ?d . }} {test} }}"
    within = random.choice(("", " WITHIN 2s", " WITHIN 5s"))
    lines.append(f"EVENT <{N}Z> MATCH <{N}{kinds[0]}> AS P0 {relation} <{N}{kinds[1]}> AS P1{within} {guard}")
    other = random.choice(("DURING", "OVERLAPS", "STARTS", "SEQ", "EQUALS", "CONTAINS"))
    lines.append(f"EVENT <{N}W> MATCH <{N}{random.choice('XZ')}> AS Q0 {other} <{N}Z> AS Q1")
    return "\n".join([*lines, f"RETURN <{N}Z>, <{N}W>"])


def test_guards_and_composites_of_intervals_are_found_as_they_mean() -> None:
    found = 0
    for seed in range(many(150)):
        random = Random(seed)
        case = random_case(random, complex_axioms=False, events=6)
        text = _guarded(random)
        try:
            found += compare(case, text)
        except QueryError as error:
            assert "holds of everything" in error.what, (seed, error)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
    assert found > many(150) / 10


def test_a_composite_of_a_random_composite_is_found() -> None:
    for seed in range(many(100)):
        random = Random(seed)
        case = random_case(random, complex_axioms=False, events=5)
        names = (f"P{number}" for number in count())
        lines = [f"EVENT <{N}{name}> AS {manchester(random_expression(random, 1))}" for name in "XY"]
        lines.append(f"EVENT <{N}Z> MATCH {random_composite(random, names, 1)} WITHIN 3s")
        lines.append(f"EVENT <{N}W> MATCH <{N}Z> AS A {random.choice(('SEQ', 'OVERLAPS', 'OR'))} <{N}X> AS B")
        try:
            compare(case, "\n".join([*lines, f"RETURN <{N}W>"]))
        except QueryError as error:
            assert "holds of everything" in error.what, (seed, error)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


# ---- SPARQL, and owlrl ----
def _spelled(expression: ClassExpression, term: str, fresh: Iterator[int]) -> str:
    """Return the group of SPARQL that an expression spells; without axioms, what holds by none is nothing."""
    match expression:
        case NamedClass(name):
            return "" if expression == THING else f"{term} a {name.decode()} ."
        case AllOf(parts):
            return " ".join(f"{{ {_spelled(each, term, fresh)} }}" for each in parts)
        case AnyOf(parts):
            return " UNION ".join(f"{{ {_spelled(each, term, fresh)} }}" for each in parts)
        case Some(role, filler) | AtLeast(role, 1, filler):
            other = f"?v{next(fresh)}"
            one, two = (other, term) if role.inverse else (term, other)
            return f"{one} {role.name.decode()} {other if one == term else two} . {_spelled(filler, other, fresh)}"
        case HasValue(role, value):
            one, two = (value.decode(), term) if role.inverse else (term, value.decode())
            return f"{one} {role.name.decode()} {two} ."
        case HasSelf(role):
            return f"{term} {role.name.decode()} {term} ."
        case OneOf(members):
            return f"VALUES {term} {{ {b' '.join(members).decode()} }}"
    return "FILTER (false)"


def test_a_logical_event_without_axioms_is_the_sparql_query_that_it_spells() -> None:
    found = 0
    for seed in range(many(150)):
        random = Random(seed)
        case = replace(random_case(random, events=5), schema=(), static=())
        expression = random_expression(random)
        engine, query = engine_of(case, f"EVENT <{N}X> AS {manchester(expression)}")
        asked = f"SELECT DISTINCT ?x {{ {_spelled(expression, '?x', count())} FILTER (!isLiteral(?x)) }}"
        expected = set()
        for graph in case.graphs:
            store = pyoxigraph.Store()
            lines = b"".join(b" ".join(each) + b" .\n" for each in graph.triples)
            store.load(lines, pyoxigraph.RdfFormat.N_TRIPLES)
            expected |= {(graph.end // SECOND, row["x"].value) for row in store.query(asked)}  # type: ignore[union-attr]
        pushed(engine, case)
        assert {(match.start, str(match.individual)) for match in query.matches} == expected, (seed, asked)
        found += bool(expected)
    assert many(150) < 50 or found > many(150) / 50


def test_reasoning_finds_what_materialising_first_finds() -> None:
    for seed in range(many(40)):
        random = Random(seed)
        case = replace(random_case(random, complex_axioms=False, events=3), static=())
        expression = random_expression(random, 1)
        text = f"EVENT <{N}X> AS {manchester(expression)}"
        try:
            engine, query = engine_of(case, text)
        except QueryError:
            continue
        pushed(engine, case)
        closed = tuple(replace(each, triples=_closed(case, each)) for each in case.graphs)
        other, beforehand = engine_of(replace(case, schema=()), text)
        pushed(other, replace(case, graphs=closed))
        found = [{(match.start, str(match.individual)) for match in each.matches} for each in (query, beforehand)]
        assert found[0] == found[1], (seed, text)


def _closed(case: EventsCase, graph: Graph) -> frozenset[tuple[bytes, bytes, bytes]]:
    """Return the triples of an event, and what owlrl adds about its own individuals."""
    text = b"".join(b" ".join(each) + b" .\n" for each in (*case.schema, *graph.triples))
    store = rdflib.Graph().parse(data=text, format="nt")
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(store)
    kept = (each for each in store if str(each[0]) in {f"{N}a", f"{N}b", f"{N}c"} and str(each[1]) not in _SAYS_NOTHING)
    return graph.triples | {tuple(term.n3().encode() for term in each) for each in kept}  # type: ignore[misc]


_SAYS_NOTHING = {"http://www.w3.org/2002/07/owl#sameAs"}


# ---- without the JIT ----
def digest_of_cases() -> str:
    """Return a digest of what some cases tell."""
    said = [
        (seed, sorted((str(each), times) for each, times in _plain(whole(case, text)).items()))
        for seed, _, case, text in cases(12)
    ]
    return hashlib.sha256(repr(said).encode()).hexdigest()


def _plain(found: Counter[Told]) -> Counter[tuple[object, ...]]:
    plain: Counter[tuple[object, ...]] = Counter()
    for (event, who, times, said, parts), many_ in found.items():
        plain[event, who, times, tuple(sorted(said)), parts] += many_  # type: ignore[call-overload]
    return plain


@pytest.mark.jit
def test_without_the_jit_the_same_is_told() -> None:
    script = "import warnings; warnings.simplefilter('ignore'); "
    script += "import laws.test_events_laws as it; print(it.digest_of_cases())"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest_of_cases()
