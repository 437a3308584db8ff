"""The clock also goes by what no query asks for: a reader drops it, and tells its time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from cases.engine import written
from cases.many import many
from cases.sharded import Event, Queries, Told, one_engine, shown, single, texts_of
from cases.temporal import temporal_case
from cases.views import written as view_and_items
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.errors import QueryError
from retewave.io.reading.reader import GENERATED_AT, Reader

NO_ANSWER = """PREFIX : <http://e/> SELECT ?r FROM STREAM <http://e/s> [RANGE 1m]
WHERE { { ?r :asks ?k } SEQ NOT { ?r :answers ?k } WITHIN 5s }"""
COUNTS = """PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) FROM NAMED WINDOW :w ON <http://e/s> [RANGE 10s STEP 10s]
WHERE { WINDOW :w { ?r :asks ?k } }"""
STREAM, XSD = "http://e/s", "http://www.w3.org/2001/XMLSchema#"
SECOND = 1_000_000
LAW = settings(max_examples=many(300), deadline=None, suppress_health_check=list(HealthCheck))


def quads(second: float, subject: str, predicate: str, *, told: bool) -> bytes:
    """Return an event of one triple, and when it was if something tells that."""
    graph = f"<http://e/{subject}>"
    time = f'{graph} <{GENERATED_AT}> "{second}"^^<{XSD}decimal> .\n' if told else ""
    return f"{graph} <http://e/{predicate}> <http://e/k> {graph} .\n{time}".encode()


def watched(engine: rw.Engine, pieces: Callable[[], Iterator[bytes]], queries: list[rw.Query], **how: object) -> list:
    """Run an engine on pieces; return how many matches each query had told when each piece but the first was asked."""
    seen = []

    def source() -> Iterator[bytes]:
        for piece in pieces():
            seen.append([query.matched for query in queries])
            yield piece

    reader: Reader = rw.read(source(), format="nq", stream=STREAM, **how)  # type: ignore[arg-type]
    for _ in engine.run(reader):
        pass
    return seen


BY = pytest.mark.parametrize("how", [{"rate": 1}, {"time_property": GENERATED_AT}], ids=["rate", "time property"])


def one_asks(how: dict) -> Iterator[bytes]:
    for second in range(60):
        yield quads(second, f"r{second}", "asks" if second == 0 else "hums", told="rate" not in how)


@BY
def test_absence_is_told_while_there_is_noise(how: dict) -> None:
    engine = rw.Engine()
    absent = engine.register(NO_ANSWER, language="epsparql", keep=0)
    seen = watched(engine, lambda: one_asks(how), [absent], **how)
    assert [told for (told,) in seen[:6]] == [0] * 6
    assert [told for (told,) in seen[9:]] == [1] * 51  # a reader may be some pieces ahead


@BY
def test_reports_are_told_while_there_is_noise(how: dict) -> None:
    engine = rw.Engine()
    view = engine.register(COUNTS, keep=0)
    seen = watched(engine, lambda: one_asks(how), [view], **how)
    assert [told for (told,) in seen[:2]] == [0] * 2
    assert [told for (told,) in seen[4:10]] == [1] * 6  # at 0
    assert [told for (told,) in seen[14:]] == [2] * 46  # at 10, the first without content


def lines_of(event: Event, place: int, chance: random.Random) -> str:
    """Return an event as a named graph, with its time before or behind, in the graph or beside it."""
    graph = f"<http://e/graph{place}>"
    moment = datetime.fromtimestamp(event.time / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    time = f'{graph} <{GENERATED_AT}> "{moment}"^^<{XSD}dateTime>' + chance.choice([" .\n", f" {graph} .\n"])
    triples = "".join(" ".join(text.decode() for text in triple) + f" {graph} .\n" for triple in event.triples)
    return time + triples if chance.random() < 0.5 else triples + time


def read_by(queries: Queries, events: Sequence[Event], chance: random.Random, **options: Any) -> tuple[Told, int]:
    """Return what one engine finds in a stream that it reads in pieces, a reader for each stream; and what is late."""
    engine, readers = one_engine(queries, **options), []
    for stream in dict.fromkeys(event.stream for event in events):
        own = enumerate(event for event in events if event.stream == stream)
        text = "".join(lines_of(event, place, chance) for place, event in own).encode()
        cuts = sorted(chance.randint(0, len(text)) for _ in range(chance.randint(0, 9)))
        pieces = [text[begin:end] for begin, end in pairwise([0, *cuts, len(text)])]
        readers.append(rw.read(iter(pieces), format="nq", stream=stream, time_property=GENERATED_AT, name=f"{stream}"))
    told: Told = Counter(shown(engine.flush()))
    told.update(match for found in engine.run_batches(*readers) for batch in found for match in shown(batch))
    told.update(shown(engine.flush()))
    return told, engine.order.late


def with_noise(events: Sequence[Event], unit: int, chance: random.Random) -> list[Event]:
    """Put items that no query asks for between those of a stream, and perhaps before and behind them."""
    times = [event.time for event in events] or [0]
    noise = [(b"<http://e/a>", b"<http://e/hums>", b"<http://e/b>")]
    first, last = min(times) - 2 * unit, max(times) + 9 * unit
    streams = [event.stream for event in events] or [None]
    added = [Event(chance.randint(first, last), noise, chance.choice(streams)) for _ in range(chance.randint(0, 12))]
    return sorted([*events, *added], key=lambda event: event.time)


@LAW
@given(data=st.data(), seed=st.integers(0, 1 << 30))
def test_what_is_read_with_noise_is_what_is_pushed_with_it(data: st.DataObject, seed: int) -> None:
    case, chance = data.draw(temporal_case()), random.Random(seed)
    events = with_noise([Event(item.end, [item.triple], item.stream) for item in case.stream], 1_000, chance)
    static = [[written(triple) for triple in sorted(case.static)]]
    queries: Queries = {"query": case.query}
    try:
        wanted = single(queries, events, static=static)
    except QueryError:
        return
    assert read_by(queries, events, chance, static=static) == (wanted, 0)


@pytest.mark.filterwarnings("ignore")
def test_views_of_what_is_read_with_noise_are_those_of_what_is_pushed_with_it() -> None:
    for seed in range(many(200)):
        (view, items), chance = view_and_items(seed), random.Random(seed)
        if "TRIPLES" in view.text or "ELEMENTS" in view.text:
            continue  # such windows count the triples that tell the time, too, which are not pushed
        events = [Event(item.time * SECOND, [texts_of(item.triple)], item.stream) for item in items]
        events, static = with_noise(events, SECOND, chance), [*view.static] or ()
        queries: Queries = {"query": view.text}
        found = read_by(queries, events, chance, static=static)
        assert found == (single(queries, events, static=static), 0), (seed, view.text)


def test_what_is_late_does_not_go_by_the_pieces() -> None:
    found_late = 0
    for seed in range(many(100)):
        chance = random.Random(seed)
        triples = {word: (b"<http://e/a>", b"<http://e/%s>" % word, b"<http://e/b>") for word in (b"asks", b"hums")}
        words = chance.choices(list(triples), k=20)
        events = [Event(chance.randint(0, 20) * SECOND, [triples[word]]) for word in words]
        queries: Queries = {"query": "SELECT ?x { ?x <http://e/asks> ?y }"}
        lateness = chance.randint(0, 5)
        found = [read_by(queries, events, random.Random(cut), lateness=lateness) for cut in range(3)]
        assert found[0] == found[1] == found[2], seed
        found_late += found[0][1]
    assert found_late


def test_a_reader_of_noise_alone_does_not_hold_up_another() -> None:
    engine = rw.Engine()
    found = engine.register("PREFIX : <http://e/> SELECT ?x { ?x :asks ?y }", keep=0)
    seen = []

    def noise() -> Iterator[bytes]:
        for second in range(40):
            seen.append(found.matched)
            yield quads(second, f"n{second}", "hums", told=True)

    asked = b"".join(quads(second, f"a{second}", "asks", told=True) for second in range(40))
    how: dict[str, Any] = {"format": "nq", "time_property": GENERATED_AT}
    list(engine.run(rw.read(noise(), name="noise", **how), rw.read(asked, name="asked", **how)))
    assert found.matched == 40
    assert any(0 < told < 40 for told in seen)
