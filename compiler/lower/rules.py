"""Rules as records: templates of ids and columns.

Data's way: the template of a query + the columns of its complete tuples -> **a template of words** -> the kernel's
records.  A branch does not build a triple of the template if it does not bind all variables of that triple.
A template that needs a new term for every solution (a blank node, BIND) is built in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from retewave.compiler.algebra import BlankNode, TemplateTriple, Variable
from retewave.compiler.expressions.programs import Programs
from retewave.compiler.lower.lowered import Output
from retewave.compiler.plan.shape import Listener, Rule
from retewave.rete.words import layout

__all__ = ["OPEN", "Building", "building", "built_predicates", "template_ids"]

OPEN = 0  # in place of the id of a term that is not known yet
Building: TypeAlias = tuple[int, tuple[tuple[int, int, int], ...], int]  # how a rule builds, its template, its stream
_NOTHING: Building = (layout.BUILDS_NOTHING, (), 0)


def building(rule: Rule | None, output: Output, place: Mapping[Variable, int], programs: Programs) -> Building:
    """Return how a branch builds triples from its tuples; `place` has the columns of variables."""
    if rule is None:
        return _NOTHING
    nodes = {part for triple in rule.template for part in _parts(triple) if isinstance(part, BlankNode)}
    if nodes or output.always or rule.in_python:
        return layout.BUILDS_IN_PYTHON, (), rule.stream
    found = [_words(triple, place, programs) for triple in rule.template]
    return layout.BUILDS, tuple(words for words in found if words is not None), rule.stream


def _words(triple: TemplateTriple, place: Mapping[Variable, int], programs: Programs) -> tuple[int, int, int] | None:
    words = []
    for part in _parts(triple):
        if isinstance(part, bytes):
            words.append(programs.id(part))
        elif isinstance(part, Variable) and part in place:
            words.append(-1 - place[part])
        else:
            return None
    s, p, o = words
    return s, p, o


def _parts(triple: TemplateTriple) -> tuple[bytes | Variable | BlankNode, ...]:
    return triple.subject, triple.predicate, triple.object


def template_ids(rule: Rule, programs: Programs) -> Iterator[tuple[int, int, int]]:
    """Yield the triples of a template as ids, with OPEN for terms that are known only when they are built."""
    for triple in rule.template:
        s, p, o = (programs.id(part) if isinstance(part, bytes) else OPEN for part in _parts(triple))
        yield s, p, o


def built_predicates(listeners: Iterable[Listener], programs: Programs) -> frozenset[int] | None:
    """Return the predicates of all that rules build; None: any."""
    rules = [rule for each in listeners for rule in each.all_rules]
    found = frozenset(p for rule in rules for _, p, _ in template_ids(rule, programs))
    return None if OPEN in found else found
