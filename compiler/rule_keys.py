"""The keys of rules, and of the queries that read what they build: what is built stays in its shard.

Data's way: rules' templates + dispatch tables -> **pairs of keys that go together** -> one key a query -> schemes.
A triple that a rule builds comes in again where it was built, in the shard of the rule's key.  Each pattern that may
take it, inferences included, must have the reader's key where the triple has the rule's.  Else the reader's shard would
be another one.
Left out: a second way through the shuffle for triples that would have to go to other shards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from retewave.compiler.algebra import TemplateTriple, Variable
from retewave.compiler.plan.plan import tested
from retewave.compiler.plan.shape import Member, Shape
from retewave.epsilon.dispatch import Dispatch, From, Route

__all__ = ["keys_of_rules"]


@dataclass(frozen=True)
class _Link:
    """What a triple of a rule's template is to a pattern that may take it."""

    rule: int  # the number of the query that builds it
    reader: int  # the number of the query that may take it
    pairs: frozenset[tuple[str, str]]  # the rule's variable, and the reader's that has the same term then


def keys_of_rules(
    shapes: Sequence[Shape], dispatch: Dispatch, allowed: Mapping[int, Collection[str]]
) -> dict[int, str] | None:
    """Return a key for each query that builds triples or may take these; None: there are no keys that go together.

    `allowed` has, by the numbers of these queries, the names of the variables that each may be spread by.
    """
    links = [link for link in _links(shapes, dispatch) if link.reader in allowed]
    return _chosen({query: tuple(sorted(names)) for query, names in allowed.items()}, links)


def _chosen(open_: Mapping[int, tuple[str, ...]], links: Collection[_Link]) -> dict[int, str] | None:
    """Return one name a query so that all links hold."""
    left = _narrowed(dict(open_), links)
    if not all(left.values()):
        return None
    query = next((query for query, names in left.items() if len(names) > 1), None)
    if query is None:
        return {query: names[0] for query, names in left.items()}
    tried = (_chosen({**left, query: (name,)}, links) for name in left[query])
    return next((found for found in tried if found is not None), None)


def _narrowed(left: dict[int, tuple[str, ...]], links: Collection[_Link]) -> dict[int, tuple[str, ...]]:
    """Leave out the names that no name of a linked query goes with."""
    before: dict[int, tuple[str, ...]] = {}
    while before != left:
        before = dict(left)
        for link in links:
            there = {(one, other) for one, other in link.pairs if one in left[link.rule] and other in left[link.reader]}
            if link.rule == link.reader:
                there = {(one, other) for one, other in there if one == other}
            left[link.rule] = tuple(name for name in left[link.rule] if any(name == one for one, _ in there))
            left[link.reader] = tuple(name for name in left[link.reader] if any(name == each for _, each in there))
    return left


def _links(shapes: Sequence[Shape], dispatch: Dispatch) -> Iterator[_Link]:
    """Yield a link for each way in which a pattern may take a triple of a template."""
    atoms = dispatch.reduction.atoms
    for builder, triple in _templates(shapes):
        for route in _routes(triple, dispatch):
            for shape in shapes:
                for pattern in shape.patterns:
                    of = tested(pattern)
                    if of.test.atom == atoms[route.atom] and not of.test.background:
                        for reader in shape.members:
                            yield _link(builder, triple, route, reader, of.columns)


def _templates(shapes: Iterable[Shape]) -> Iterator[tuple[Member, TemplateTriple]]:
    for shape in shapes:
        for member in shape.members:
            if member.rule is not None:
                yield from ((member, triple) for triple in member.rule.template)


def _routes(triple: TemplateTriple, dispatch: Dispatch) -> Iterator[Route]:
    """Yield the ways that a triple of a template may take, whatever its variables are bound to."""
    predicate = triple.predicate if isinstance(triple.predicate, bytes) else None
    looked_up = predicate if predicate in dispatch.known else None
    for (s, p, o), routes in dispatch.table.items():
        if predicate is not None and p != looked_up:
            continue
        if _may_be(triple.subject, s) and _may_be(triple.object, o):
            yield from routes


def _may_be(part: object, constant: bytes | None) -> bool:
    return constant is None or not isinstance(part, bytes) or part == constant


def _link(builder: Member, triple: TemplateTriple, route: Route, reader: Member, columns: Mapping[int, int]) -> _Link:
    """Return a link; `columns` has the place in the reader's triple of each variable of its shape."""
    parts = {From.SUBJECT: triple.subject, From.OBJECT: triple.object, From.INPUT: triple.predicate}
    came = [
        parts.get(each) if isinstance(each, From) else None for each in (route.subject, route.predicate, route.object)
    ]
    names = {number: variable.name for variable, number in reader.numbers.items()}
    pairs = (
        (part.name, names[number])
        for number, place in columns.items()
        if place < len(came) and isinstance(part := came[place], Variable) and number in names
    )
    return _Link(builder.listener.number, reader.listener.number, frozenset(pairs))
