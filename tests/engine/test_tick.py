"""A run with a tick: the clock goes on while nothing arrives, and nothing is late for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import retewave as rw

UNANSWERED = """PREFIX : <http://e/>
    SELECT ?x { { ?x :request ?n } SEQ NOT { ?x :response ?n } WITHIN 20ms }"""
OPTIONAL = "PREFIX : <http://e/> SELECT ?x ?y { ?x :request ?n OPTIONAL { ?x :by ?y } }"


def line(subject: str, predicate: str, graph: str = "") -> bytes:
    end = f" <http://e/{graph}> .\n" if graph else " .\n"
    return f'<http://e/{subject}> <http://e/{predicate}> "1"{end}'.encode()


class Source:
    """Pieces, each behind the one before only when a match has been told since."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces, self.told = pieces, threading.Event()

    def tell(self, match: rw.Match) -> None:
        self.told.set()

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            yield piece
            assert self.told.wait(60), "nothing was told while the source was silent"
            self.told.clear()


@pytest.mark.parametrize("query", [UNANSWERED, OPTIONAL])
def test_what_waits_for_the_clock_is_told_while_nothing_arrives(query: str) -> None:
    source, before = Source(line("a", "request"), line("b", "request")), set(threading.enumerate())
    engine = rw.Engine()
    engine.register(query, on_match=source.tell)
    found = list(engine.run(rw.read(source, format="nt"), tick="10ms"))
    assert [match.text("x") for match in found] == [b"<http://e/a>", b"<http://e/b>"]
    assert set(threading.enumerate()) == before


def test_a_reader_that_is_silent_holds_up_no_other() -> None:
    one, other = Source(line("a", "request"), line("b", "request")), Source(line("c", "request"))
    told: set[str] = set()

    def tell(match: rw.Match) -> None:
        told.add(str(match["x"]))
        (other if str(match["x"]) == "http://e/c" else one).tell(match)

    engine = rw.Engine()
    engine.register(UNANSWERED, on_match=tell)
    readers = [rw.read(each, format="nt", name=name) for name, each in (("one", one), ("other", other))]
    assert len(list(engine.run(*readers, tick="10ms"))) == 3
    assert told == {"http://e/a", "http://e/b", "http://e/c"}


def test_nothing_is_late_for_a_tick() -> None:
    pieces = [line(f"s{n}", "request") for n in range(3_000)]
    engine = rw.Engine()
    query = engine.register("SELECT ?x { ?x <http://e/request> ?n }")
    list(engine.run(rw.read(iter(pieces), format="nt"), tick="100us"))
    assert (query.matched, engine.stats()["late"]) == (3_000, 0)


def test_an_event_that_goes_on_after_a_tick_is_not_late() -> None:
    source = Source(line("a", "request", "g"), line("b", "request", "g"))
    engine = rw.Engine()
    engine.register(UNANSWERED, on_match=source.tell)
    found = list(engine.run(rw.read(source, format="nq"), tick="10ms"))
    assert [match.text("x") for match in found] == [b"<http://e/a>", b"<http://e/b>"]
    assert engine.stats()["late"] == 0


def test_a_tick_moves_no_clock_backwards_that_another_thread_has_moved() -> None:
    source = Source(line("a", "request"))
    engine = rw.Engine(max_future=None)
    engine.register(UNANSWERED, on_match=source.tell)
    engine.advance(4_000_000_000)
    assert list(engine.run(rw.read([line("b", "request")], format="nt"), tick="10ms")) == []
    assert engine.stats()["late"] == 1


@pytest.mark.parametrize("times", [{"rate": 1}, {"time_property": "http://e/at", "format": "nq"}])
def test_a_tick_is_refused_beside_times_of_the_streams_own(times: dict[str, object]) -> None:
    with pytest.raises(rw.UsageError, match="a tick tells the time of arrival"):
        list(rw.Engine().run(rw.read(b"", name="s", **{"format": "nt", **times}), tick="1s"))  # type: ignore[arg-type]


def test_a_tick_takes_time() -> None:
    with pytest.raises(rw.UsageError, match="longer than nothing"):
        list(rw.Engine().run(rw.read(b"", format="nt"), tick=0))
