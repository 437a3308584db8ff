"""Law: an event with the triples that `why_not` has found and those that it names as missing is a detection."""

from __future__ import annotations

import re
from random import Random

import pytest
from cases.many import many
from cases.ontologies import INDIVIDUALS, N, manchester, random_case, random_expression
from helpers.told_events import engine_of, pushed

import retewave as rw
from retewave.errors import QueryError
from retewave.why_not.answer import Partial

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LATER = 1000  # seconds: behind all events
CASES = 150
_TERM = re.compile(r'<[^>]*>|"[^"]*"\S*|\S+')


def term(text: str) -> str | int:
    """Return a term of an answer; what may be anything is an individual of its name."""
    if text.startswith(("?", "_:")):
        return f"{N}any{text[1:].strip(':.')}"
    if text.lstrip("-").isdigit():
        return int(text)
    return TYPE if text == "rdf:type" else text[1:-1] if text.startswith("<") else text


def completed(partial: Partial) -> list[tuple[str | int, ...]]:
    """Return the triples of an event that has all: what was found of events, and what is missing.

    Where nothing but a common time is missing, an event has all of them at once, those that are static, too.
    """
    apart = any(each.pattern == "time" for each in partial.refused)
    said = [each.triple for each in partial.found if apart or each.start is not None]
    said += [each.pattern for each in partial.refused if each.pattern != "time"]
    return [tuple(map(term, _TERM.findall(each))) for each in said]


def individuals_of(matches: list[rw.Match]) -> set[str]:
    return {str(match.individual) for match in matches}


@pytest.mark.filterwarnings("ignore")
def test_an_event_that_has_what_was_named_as_missing_is_detected() -> None:
    completed_cases = found_cases = 0
    for seed in range(many(CASES)):
        random = Random(seed)
        case = random_case(random, complex_axioms=seed % 2 == 0, events=2)
        text = f"EVENT <{N}X> AS {manchester(random_expression(random))}"
        try:
            engine, query = engine_of(case, text)
        except QueryError:
            continue
        before = individuals_of(pushed(engine, case))
        who = random.choice(INDIVIDUALS).decode()[1:-1]
        alternatives = engine.why_not(query, {"event": f"{N}X", "individual": who}).alternatives
        if not alternatives:  # no triples say such a thing, as no axiom does
            assert not before
            continue
        (told,) = alternatives
        if told.matches:
            found_cases += 1
            assert who in before, (seed, text)
            continue
        event = completed(told.partials[0])
        if any(isinstance(triple[0], int) for triple in event):
            continue  # what was found leads to a literal, which is no subject: there is no such triple
        matches = [*engine.push(event, time=LATER), *engine.flush()]
        assert who in individuals_of([each for each in matches if each.end == LATER]), (seed, text, event, case, told)
        completed_cases += 1
    assert completed_cases > many(CASES) / 4
    assert many(CASES) < 20 or found_cases
