"""Rules (MEANING §4): what CONSTRUCT builds and feeds back, and in which order the rules of one instant run.

* What a rule builds comes in at the instant at which its solution ends, after the items of that instant; all that one
  solution builds is one event.  An occurrence that is there already is not added again, and keeps its event.
* A rule stands in a later stratum than what it reads in a decision about the same instant.

Decisions where the page is silent:
* FIRST and LAST that are not first in a sequence, and the left side of a *naive* SEQ, are such decisions, too.
* A solution of static data alone has no instant at which its triples could come in: it builds nothing.
* A solution is built once: of a set by its bindings and times, of a bag by the facts that it was made of as well.
* A token made of what a rule built is certain at the close of the instant at which that was built; if it ends later, as
  what comes last is.
* An occurrence is compared with occurrences, not with what these entail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from naive.streams import Entail, Item, Triple
from naive.tokens import Token
from retewave.compiler.algebra import (
    After,
    Algebra,
    Before,
    Between,
    BlankNode,
    Exists,
    First,
    Last,
    LeftJoin,
    Minus,
    OptionalBefore,
    OptionalEquals,
    Policy,
    Query,
    Relate,
    Term,
    TriplePattern,
    Triples,
    operands,
)
from retewave.windows import relations

SAME, CLOSED, EARLIER = "same instant", "close of the instant", "earlier"  # when a decision looks at a triple pattern
ANYTHING = b"<urn:anything>"  # a term of a template that is not known yet
EVENTS_OF_RULES = 1_000_000_000  # their numbers begin here


def is_rule(query: Query) -> bool:
    """Tell whether what a query builds comes in again."""
    return query.form == "CONSTRUCT" and (query.is_rule or query.feeds is not None)


class Built:
    """What rules have built: each solution once."""

    def __init__(self) -> None:
        self.solutions: set[object] = set()

    def by(self, rule: int, query: Query, tokens: Sequence[Token]) -> Iterator[Item]:
        """Yield what the new ones of a rule's solutions build."""
        times: Counter[object] = Counter()
        for token in tokens:
            if token.is_static:
                continue
            solution: tuple[object, ...] = (rule, frozenset(token.bindings.items()), token.start, token.end)
            times[solution + token.facts] += 1
            solution += (token.facts, times[solution + token.facts]) if query.solutions == "bag" else ()
            if solution not in self.solutions:
                self.solutions.add(solution)
                number = len(self.solutions)
                for triple in _triples(query, token, number):
                    event = EVENTS_OF_RULES + number
                    yield Item(triple, token.start, token.end, stream_of(query), event, is_built=True)


def same_occurrence(one: Item, other: Item) -> bool:
    """Tell whether two items are the same triple, at the same time, on the same stream."""
    return (one.triple, one.start, one.end, one.stream) == (other.triple, other.start, other.end, other.stream)


def stream_of(query: Query) -> str | None:
    """Return the stream on which a rule's triples come in; None: every stream."""
    if query.feeds is not None:
        return query.feeds[1:-1].decode()
    return query.streams[0].iri[1:-1].decode() if len(query.streams) == 1 else None


def _triples(query: Query, token: Token, number: int) -> Iterator[Triple]:
    for each in query.template:
        terms = [_term(term, token, number) for term in (each.subject, each.predicate, each.object)]
        s, p, o = terms
        if s is not None and p is not None and o is not None and s[:1] != b'"' and p[:1] == b"<":
            yield s, p, o


def _term(term: Term | BlankNode, token: Token, number: int) -> bytes | None:
    match term:
        case BlankNode(label):
            return f"_:built{number}x{label}".encode()
        case bytes():
            return term
    return token.bindings.get(term)


def strata(queries: Sequence[Query], entail: Entail) -> list[list[int]]:
    """Return the rules' places in the order in which an instant runs them; those of one list run in rounds."""
    rules = [place for place, query in enumerate(queries) if is_rule(query)]
    level = dict.fromkeys(rules, 0)
    for _ in rules:
        for reader in rules:
            for writer in rules:
                for when in _looks_at(queries[reader], queries[writer], entail):
                    level[reader] = max(level[reader], level[writer] + (when == CLOSED))
        if level[max(level, key=level.__getitem__)] >= len(rules):
            raise ValueError(f"a decision about an instant waits for itself: the rules {rules}")
    return [[rule for rule in rules if level[rule] == each] for each in sorted(set(level.values()))]


def _looks_at(reader: Query, writer: Query, entail: Entail) -> set[str]:
    """Return when a rule looks at what another one, or itself, builds in the same instant."""
    built = set(_may_build(writer, entail))
    stream = stream_of(writer)
    heard = not reader.streams or stream is None or any(each.iri == f"<{stream}>".encode() for each in reader.streams)
    return {
        when
        for pattern, when in _read(reader.where, SAME, reader.policy)
        if heard and when != EARLIER
        if stream is None or pattern.source in (None, f"<{stream}>".encode())
        if any(_may_be(pattern, triple) for triple in built)
    }


def _may_build(query: Query, entail: Entail) -> Iterator[Triple]:
    for each in query.template:
        s, p, o = (
            term if isinstance(term, bytes) else ANYTHING for term in (each.subject, each.predicate, each.object)
        )
        yield from {(ANYTHING, ANYTHING, ANYTHING)} if p == ANYTHING else entail((s, p, o))


def _may_be(pattern: TriplePattern, triple: Triple) -> bool:
    return all(
        not isinstance(term, bytes) or text in (term, ANYTHING)
        for term, text in zip(pattern.terms, triple, strict=True)
    )


def _read(pattern: Algebra, when: str, policy: Policy) -> Iterator[tuple[TriplePattern, str]]:
    """Yield the triple patterns, and when the decisions around each look at it."""
    if isinstance(pattern, Triples):
        yield from ((each, when) for each in pattern.patterns)
        return
    for part, how in zip(operands(pattern), _looks(pattern, policy), strict=True):
        inside = when if when == EARLIER or how == SAME else how
        yield from _read(part, inside, policy)


def _looks(pattern: Algebra, policy: Policy) -> Iterable[str]:
    """Return when an operator looks at each of its operands."""
    chooses = SAME if policy.name == "unrestricted" else CLOSED
    before = CLOSED if policy.name == "naive" else EARLIER
    match pattern:
        case LeftJoin() | Minus() | Exists() | OptionalEquals() | After():
            return SAME, CLOSED
        case Relate(relation=relations.BEFORE):
            return before, chooses
        case Relate(relation=relations.AFTER):
            return SAME, EARLIER
        case Between():
            return before, chooses, EARLIER
        case OptionalBefore():
            return EARLIER, SAME
        case Before():
            return SAME, EARLIER
        case First() | Last():
            return (CLOSED,)
    return [SAME for _ in operands(pattern)]
