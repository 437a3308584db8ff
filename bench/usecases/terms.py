"""The streams of the use cases as Prolog's terms, for an engine that reads no RDF: what a parser would have made.

Data's way: generator (`streams.py`) -> events -> **terms** -> a file that `peers/events/prolog/play.pl` reads.
Invariant: what a rule asks of an event is an argument of its term; an event that has to be known as the next of its
company or vessel has its number there, and that of the one before, which is more than the RDF says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from retewave.bench.usecases.cases import background
from retewave.bench.usecases.events import Happening, Term
from retewave.bench.usecases.questions import UseQuestion
from retewave.bench.usecases.streams import STREAMS

__all__ = ["happenings", "terms"]


def happenings(question: UseQuestion, count: int) -> dict[str, list[Happening]]:
    """Return the streams of a question, by their names, with so many events in all."""
    names = list(question.case.streams.values())
    return {name: list(STREAMS[name](count // len(names))) for name in names}


def terms(question: UseQuestion, streams: dict[str, list[Happening]], triples: bool = False) -> Iterator[str]:
    """Yield the lines of a file: the window, what is known beforehand, and the events in the order of time.

    Of one time, events come in the order in which the query names their streams.  Events may be told triple by triple,
    of which `triples.event` makes them.
    """
    yield f"width({question.width}).\n"
    yield from _known(question.case.background)
    numbers: Counter[str] = Counter()
    all_ = [(each.time, name, each) for name, events in streams.items() for each in events]
    for time, name, each in sorted(all_, key=lambda one: one[0]):
        if triples:
            yield from (f"at({time}, said({name}, '{s}', {p}, {_object(o)}, {time})).\n" for s, p, o in each.triples)
            continue
        said: dict[str, Term] = {p: o for _, p, o in each.triples}
        of = each.triples[0][0]
        numbers[of] += 1
        number = f", {numbers[of]}, {numbers[of] - 1}" if question.numbered else ""
        yield f"at({time}, {_term(name, of, number, said, time)}).\n"


def _term(stream: str, of: str, number: str, said: dict[str, Term], time: int) -> str:
    """Return an event as a term; its subject is what the event is about."""
    if stream == "shares":
        return f"share({of}{number}, {_cents(said['price'])}, {time})"
    if stream == "cards":
        return f"paid({of}, {_cents(said['amount'])}, {time})"
    if stream == "boats":
        place = str(said["location"]).strip('"')
        return f"boat({of}{number}, {said['speed']}, {place}, {said['direction']}, {time})"
    if stream == "weather":
        return f"grid(weather, {said['loc']}, {of}, {said['light']}, {said['windsp']}, {time})"
    if stream in ("power", "storage"):
        return f"grid({stream}, {said['loc']}, {of}, {said['fare']}, {said['watt']}, {time})"
    return f"road({stream[-1]}, {said['hasValue']}, {time})"


def _object(term: Term) -> str:
    if isinstance(term, str):
        return "'" + term.strip('"') + "'"
    return str(_cents(term) if isinstance(term, Decimal) else term)


def _cents(amount: Term) -> int:
    return int(Decimal(amount) * 100)


def _known(name: str) -> Iterator[str]:
    """Yield the background as facts, one for each thing that it is about."""
    arguments = {"homes": "home", "harbour": "named", "holders": "holder"}
    if name:
        for line in background(name):
            if fact := _fact(line, arguments[name]):
                yield fact


def _fact(line: str, functor: str) -> str:
    """Return a line of Turtle about one thing as a fact: `:a :p :b ; :q "c d" .` as functor(a, b, 'c d').

    >>> _fact(':card1 :cardHolder "holder 1" ; :holderAddress :street1 .', "holder")
    "holder(card1, 'holder 1', street1).\\n"
    """
    if not line.startswith(":") or line.startswith(":line"):
        return ""
    of, said = line.rstrip(" .\n").split(" ", 1)
    values = [each.strip().split(" ", 1)[1] for each in said.split(";")]
    written = [f"'{value[1:-1]}'" if value.startswith('"') else value[1:] for value in values]
    return f"{functor}({', '.join([of[1:], *written])}).\n"
