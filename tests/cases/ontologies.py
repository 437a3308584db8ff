"""Random ontologies, class expressions, events and composites, and the triples and texts that say them.

Classes have an order, and inclusions lead from earlier ones to later ones: so no definition needs itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from naive.classes import Ontology
from naive.detections import Graph

from retewave.epsilon.classes.expression import (
    NOTHING,
    THING,
    AllOf,
    AnyOf,
    AtLeast,
    ClassExpression,
    Complement,
    HasSelf,
    HasValue,
    NamedClass,
    OneOf,
    Only,
    Property,
    Some,
)
from retewave.epsilon.collect import collect
from retewave.epsilon.vocabulary import TYPE, Triple, owl, rdf, rdfs

N = "http://e/"
CLASSES = [f"<{N}{name}>".encode() for name in "ABCDEF"]
ROLES = [f"<{N}{name}>".encode() for name in "pqr"]
INDIVIDUALS = [f"<{N}{name}>".encode() for name in "abc"]
SECOND = 1_000_000  # microseconds
NUMBER = b'"%d"^^<http://www.w3.org/2001/XMLSchema#integer>'


@dataclass(frozen=True)
class EventsCase:
    """An ontology, static data, and a stream of events."""

    schema: tuple[Triple, ...]
    ontology: Ontology
    static: tuple[Triple, ...]
    graphs: tuple[Graph, ...]


def owl_of(expression: ClassExpression, names: Iterator[int]) -> tuple[bytes, list[Triple]]:
    """Return the node of an expression, and the triples that spell it."""
    if isinstance(expression, NamedClass):
        return expression.name, []
    node = b"_:e%d" % next(names)
    match expression:
        case AllOf(parts) | AnyOf(parts):
            spelled = [owl_of(part, names) for part in parts]
            cells = [b"_:e%d" % next(names) for _ in parts]
            predicate = owl("intersectionOf") if isinstance(expression, AllOf) else owl("unionOf")
            said = [(node, predicate, cells[0]), (node, TYPE, owl("Class"))]
            for cell, (part, more), rest in zip(cells, spelled, [*cells[1:], rdf("nil")], strict=True):
                said += [(cell, rdf("first"), part), (cell, rdf("rest"), rest), *more]
            return node, said
        case Some(role, filler) | Only(role, filler):
            part, more = owl_of(filler, names)
            kind = owl("someValuesFrom") if isinstance(expression, Some) else owl("allValuesFrom")
            return node, [(node, owl("onProperty"), role.name), (node, kind, part), *more]
    raise AssertionError(expression)


def random_case(random: Random, *, complex_axioms: bool = True, events: int = 4) -> EventsCase:
    """Return an ontology, static data, and a stream."""
    schema, inclusions = _axioms(random, complex_axioms)
    collected = collect(schema)
    lefts = (THING, *(NamedClass(name) for name in CLASSES), *(sub for sub, above in inclusions if above != NOTHING))
    ontology = Ontology(collected.axioms, tuple(inclusions), lefts)
    static = tuple({_triple(random) for _ in range(random.choice((0, 0, 1, 2)))})
    graphs, time = [], 0
    for _ in range(random.randint(1, events)):
        time += random.choice((0, 1, 1, 2, 5))
        triples = frozenset(_triple(random) for _ in range(random.randint(1, 3 + (events > 4))))
        graphs.append(Graph(triples, time * SECOND, time * SECOND))
    return EventsCase(tuple(schema), ontology, static, tuple(graphs))


def _axioms(random: Random, complex_axioms: bool) -> tuple[list[Triple], list[tuple[ClassExpression, ClassExpression]]]:
    schema: list[Triple] = [(each, TYPE, owl("Class")) for each in CLASSES]
    for _ in range(random.randint(0, 3)):
        low, high = sorted(random.sample(range(len(CLASSES)), 2))
        schema.append(random.choice((
            (CLASSES[low], rdfs("subClassOf"), CLASSES[high]),
            (ROLES[0], rdfs("subPropertyOf"), ROLES[1]),
            (ROLES[2], owl("inverseOf"), ROLES[1]),
            (random.choice(ROLES), rdfs("domain"), CLASSES[high]),
            (random.choice(ROLES), rdfs("range"), CLASSES[high]),
        )))  # fmt: skip
    inclusions: list[tuple[ClassExpression, ClassExpression]] = []
    names = count(1)
    for _ in range(random.choice((0, 1, 1, 2)) if complex_axioms else 0):
        sub, above = _inclusion(random)
        inclusions.append((sub, above))
        (left, more), (right, others) = owl_of(sub, names), owl_of(above, names)
        schema += [(left, rdfs("subClassOf"), right), *more, *others]
    if complex_axioms and random.random() < 0.3:
        one, other = random.sample(CLASSES[:4], 2)
        inclusions.append((AllOf((NamedClass(one), NamedClass(other))), NOTHING))
        schema.append((one, owl("disjointWith"), other))
    return schema, inclusions


def _inclusion(random: Random) -> tuple[ClassExpression, ClassExpression]:
    low, middle, high = (NamedClass(CLASSES[place]) for place in sorted(random.sample(range(len(CLASSES)), 3)))
    role = Property(random.choice(ROLES))
    match random.randrange(4):
        case 0:
            return AllOf((low, middle)), high
        case 1:
            return Some(role, low), high
        case 2:
            return low, Some(role, random.choice((THING, high)))
    return AllOf((low, Some(role, middle))), high


def _triple(random: Random) -> Triple:
    if random.random() < 0.45:
        return random.choice(INDIVIDUALS), TYPE, random.choice(CLASSES)
    ends = [*INDIVIDUALS, NUMBER % random.randint(1, 5)]
    return random.choice(INDIVIDUALS), random.choice(ROLES), random.choice(ends)


def random_expression(random: Random, depth: int = 2) -> ClassExpression:
    """Return a class expression that says something."""
    role = Property(random.choice(ROLES), random.random() < 0.15)
    if depth == 0 or random.random() < 0.25:
        return random.choice((
            NamedClass(random.choice(CLASSES)),
            NamedClass(random.choice(CLASSES)),
            Some(role, THING),
            HasValue(role, random.choice(INDIVIDUALS)),
            HasSelf(Property(role.name)),
            Complement(NamedClass(random.choice(CLASSES))),
            Only(Property(role.name), NamedClass(random.choice(CLASSES))),
            Some(role, OneOf((INDIVIDUALS[0], INDIVIDUALS[1]))),
        ))  # fmt: skip
    parts = tuple(random_expression(random, depth - 1) for _ in range(2))
    return random.choice((
        AllOf(parts), AnyOf(parts), Some(role, parts[0]), Some(role, parts[1]), AtLeast(role, 1, parts[0]),
    ))  # fmt: skip


def manchester(expression: ClassExpression) -> str:
    """Return an expression as a query writes it, with whole IRIs."""
    match expression:
        case NamedClass(name):
            return "Thing" if expression == THING else name.decode()
        case AllOf(parts):
            return f"({' and '.join(map(manchester, parts))})"
        case AnyOf(parts):
            return f"({' or '.join(map(manchester, parts))})"
        case Complement(part):
            return f"(not {manchester(part)})"
        case OneOf(members):
            return "{" + ", ".join(map(bytes.decode, members)) + "}"
        case Some(role, filler):
            return f"({_role(role)} some {manchester(filler)})"
        case Only(role, filler):
            return f"({_role(role)} only {manchester(filler)})"
    return _restricted(expression)


def _restricted(expression: ClassExpression) -> str:
    match expression:
        case HasValue(role, value):
            return f"({_role(role)} value {value.decode()})"
        case HasSelf(role):
            return f"({_role(role)} Self)"
        case AtLeast(role, number, filler):
            return f"({_role(role)} min {number} {manchester(filler)})"
    raise AssertionError(expression)


def _role(role: Property) -> str:
    return f"inverse {role.name.decode()}" if role.inverse else role.name.decode()


RELATIONS = ("SEQ", "SEQ", "SEQ", "MEETS", "OVERLAPS", "STARTS", "DURING", "FINISHES", "AFTER", "CONTAINS", "BEFORE")


def random_composite(random: Random, names: Iterator[str], depth: int = 2) -> str:
    """Return an expression over X and Y, with aliases of its own; FIRST and LAST stand where one side is chosen."""
    kind = random.randrange(9) if depth else 0
    inside = (random_composite(random, names, depth - 1) for _ in range(2))
    match kind:
        case 0 | 1:
            return f"<http://e/{random.choice('XY')}> AS {next(names)}"
        case 2 | 3:
            return f"({next(inside)} {random.choice(RELATIONS)} {next(inside)})"
        case 4:
            return f"({next(inside)} AND {next(inside)})"
        case 5:
            return f"({next(inside)} OR {next(inside)})"
        case 6:
            return f"({random.choice(('FIRST', 'LAST'))} {_named(random, names)} SEQ {_named(random, names)})"
        case 7:
            return f"({next(inside)} WITHIN {random.choice((1, 2, 5))}s)"
    return f"(NOT {_named(random, names)})"


def _named(random: Random, names: Iterator[str]) -> str:
    return f"<http://e/{random.choice('XY')}> AS {next(names)}"
