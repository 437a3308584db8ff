"""Random queries of nested groups, as text, with a stream and static data to ask them of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import strategies as st
from naive.detectors import detected
from naive.streams import Item

from cases.conjunctions import MS
from cases.engine import NUMBERS, OBJECTS, STREAMS, VARIABLES, stream_of, terms, triples, widths
from retewave.compiler.algebra import Query
from retewave.compiler.parse import parse
from retewave.windows.intervals import is_static


@dataclass(frozen=True)
class Case:
    """A query as text, and what it is asked of."""

    text: str  # the query
    stream: list[Item]  # in the order of time
    static: frozenset  # triples that are always there

    @property
    def query(self) -> Query:
        """The query, read."""
        return parse(self.text)


@st.composite
def group_of(draw: st.DrawFn, depth: int = 2) -> str:
    """Write a group: triples first, then what may stand among them, each BIND with a variable of its own."""
    parts = [_triple(each) for each in draw(st.lists(terms, min_size=1, max_size=2))]
    for _ in range(draw(st.integers(0, 2))):
        parts.append(draw(_part(depth)))
    return "{ " + " ".join(parts) + " }"


@st.composite
def _part(draw: st.DrawFn, depth: int) -> str:
    variable, other = draw(st.sampled_from(VARIABLES)), draw(st.sampled_from(VARIABLES))
    kinds = ["filter", "bind", "values", "triple"] + ["group", "union", "union"] * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "filter":
            tests = [f"{variable} < 3", f"{variable} != {other}", f"BOUND({variable})", f"isIRI({variable})"]
            return f"FILTER({draw(st.sampled_from(tests))})"
        case "bind":
            name = f"?b{draw(st.integers(0, 1_000_000))}"
            return f"BIND({draw(st.sampled_from([f'{variable} + 1', variable, f'STR({variable})']))} AS {name})"
        case "values":
            rows = draw(st.lists(st.sampled_from([*OBJECTS, NUMBERS[0]]), min_size=1, max_size=2))
            return f"VALUES {variable} {{ {' '.join(row.decode() for row in rows)} }}"
        case "triple":
            return _triple(draw(terms))
        case "group":
            return draw(group_of(depth - 1))
        case _:
            return f"{draw(group_of(depth - 1))} UNION {draw(group_of(depth - 1))}"


def _triple(parts: tuple[bytes | str, ...]) -> str:
    return " ".join(part if isinstance(part, str) else part.decode() for part in parts) + " ."


@st.composite
def case_of(draw: st.DrawFn) -> Case:
    """Draw a query with its streams, and a stream."""
    streams = "".join(
        f"FROM STREAM <{iri}> [RANGE {width // MS}ms] "
        for iri in STREAMS[: draw(st.integers(0, 2))]
        if (width := draw(widths)) is not None
    )
    text = f"SELECT * {streams}WHERE {draw(group_of())}"
    return Case(text, draw(stream_of(most=8)), frozenset(draw(st.lists(triples, max_size=3))))


def expected(case: Case) -> Counter:
    """Return what the naive meaning finds: start, end, bindings, and the item that completed it."""
    found = detected(case.query, case.stream, case.static)
    return Counter(
        (
            None if is_static(each.start, each.end) else each.start,
            None if is_static(each.start, each.end) else each.end,
            tuple(sorted((f"?{variable.name}", text) for variable, text in each.bindings.items())),
            max((fact.arrival for fact in each.facts), default=-1),
        )
        for each in found
    )
