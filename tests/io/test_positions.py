"""How far a reader has come: another one that goes on there brings what the first would have brought."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.io.reading.position import Position
from retewave.io.reading.reader import Chunk, Reader
from retewave.rete.terms.dictionary import Terms

_AT = "http://e/at"
_DATE = "http://www.w3.org/2001/XMLSchema#dateTime"
_GRAPHS = ["", " <http://e/g1>", " <http://e/g2>", " _:g"]


class Dribble(io.BytesIO):
    """A file that gives a few bytes at a time, so that blocks end anywhere."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self._most = most

    def readinto1(self, room: Any) -> int:
        return super().readinto(room[: self._most])


@st.composite
def _lines(draw: st.DrawFn) -> bytes:
    graph, number = draw(st.sampled_from(_GRAPHS)), draw(st.integers(0, 3))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        line = "nonsense"
    elif kind == 1:
        line = "# a comment"
    elif kind <= 4 and graph:
        line = f'{graph} <{_AT}> "2026-01-01T00:00:0{number}Z"^^<{_DATE}>{draw(st.sampled_from(["", graph]))} .'
    else:
        line = f"_:b{number} <http://e/p> <http://e/o{number}>{graph} ."
    return line.encode() + draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))


def _reader(data: bytes, most: int, timed: str) -> Reader:
    times: dict[str, Any] = {"rate": {"rate": 3}, "property": {"time_property": _AT}, "arrival": {"arrival": True}}
    return rw.read(Dribble(data, most), name="d.nq", **times[timed])


def _chunks(reader: Reader, terms: Terms, **more: Any) -> list[Chunk]:
    return list(reader.chunks(terms, chunk_rows=3, clock=lambda: 5_000_000, **more))


@settings(deadline=None, max_examples=200)
@given(
    st.lists(_lines(), max_size=14).map(b"".join),
    st.integers(1, 60),
    st.sampled_from(["rate", "property", "arrival"]),
    st.integers(0, 20),
)
def test_a_reader_that_goes_on_brings_the_same_rows_and_counts(data: bytes, most: int, timed: str, cut: int) -> None:
    terms = Terms(seed=1)
    whole = _reader(data, most, timed)
    chunks = _chunks(whole, terms, scope=7)
    if not chunks:
        return
    cut %= len(chunks)
    before = whole.counters
    position = Position(
        "d.nq",
        chunks[cut].scanned,
        7,
        terms,
        chunks[cut].times,
        faults=tuple(before.first_malformed[: chunks[cut].scanned.malformed]),
        untimed=tuple(before.first_untimed),
    )
    rest = _reader(data, most, timed).at(position)
    again = _chunks(rest, terms)
    wanted = [row for chunk in chunks[cut + 1 :] for row in chunk.rows.tolist()]
    assert [row for chunk in again for row in chunk.rows.tolist()] == wanted
    assert str(rest.counters) == str(before)


def _pieces(data: bytes, size: int) -> list[bytes]:
    """Return bytes as a source that brings a little at a time, each as a chunk of its own."""
    return [data[at : at + size] for at in range(0, len(data), size)]


_LINES = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(1000))
_JOIN = """SELECT ?x ?y FROM STREAM <http://e/one> [RANGE 20s] FROM STREAM <http://e/two> [RANGE 20s]
           WHERE { ?x <http://e/p> ?o . ?y <http://e/q> ?o }"""


def _found(engine: rw.Engine, *readers: Reader, stop: int | None = None, path: Path | None = None) -> list[tuple]:
    """Return the matches; take a snapshot after so many pieces, and leave what comes behind it."""
    found: list[tuple] = []
    pieces = 0

    def between() -> None:
        nonlocal pieces
        pieces += 1
        if pieces == stop and path:
            engine.snapshot(path, note={"found": len(found)})

    for batches in engine.run_batches(*readers, between=between):
        found += [(match.start, match.end, *(match.text(v) for v in match)) for batch in batches for match in batch]
    return found


def test_a_snapshot_within_a_run_holds_how_far_its_readers_have_come(tmp_path: Path) -> None:
    engine = rw.Engine()
    engine.register("SELECT ?x { ?x <http://e/p> ?y }")
    whole = _found(engine, rw.read(_pieces(_LINES, 5000), rate=1, name="d.nt"), stop=2, path=tmp_path / "state")
    restored = rw.Engine.restore(tmp_path / "state")
    [position] = restored.positions
    assert 0 < position.triples < 1000 and position.line == position.triples + 1
    assert _LINES[position.bytes - 1 : position.bytes] == b"\n"
    again = rw.read(_LINES, rate=1, name="d.nt").at(position)
    assert whole[: restored.note["found"]] + _found(restored, again) == whole
    assert restored.stats()["triples"] == 1000


def test_a_compressed_file_is_read_on_behind_what_was_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "d.nt.gz"
    path.write_bytes(gzip.compress(_LINES))
    engine = rw.Engine()
    engine.register("SELECT ?x { ?x <http://e/p> ?y }")
    whole = [match.text("x") for match in engine.run(rw.read(path, rate=1))]
    [end] = engine.positions
    assert end.bytes == len(_LINES)
    half = len(_LINES) // 2
    half = _LINES.index(b"\n", half) + 1
    middle = Position(end.name, end.scanned._replace(bytes=half), 1, engine.terms)
    rest = [match.text("x") for match in engine.run(rw.read(path, rate=1).at(middle))]
    assert rest == whole[_LINES[:half].count(b"\n") :]


def test_rows_that_wait_for_other_streams_are_part_of_a_snapshot(tmp_path: Path) -> None:
    one = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o%d> .\n" % (n, n % 7) for n in range(400))
    two = b"".join(b"<http://e/t%d> <http://e/q> <http://e/o%d> .\n" % (n, n % 7) for n in range(400))

    def readers(*, again: bool = False) -> list[Reader]:
        return [
            rw.read(one if again else _pieces(one, 999), rate=1, stream="http://e/one", name="one.nt"),
            rw.read(two if again else _pieces(two, 333), rate=1, stream="http://e/two", name="two.nt"),
        ]

    def engine() -> rw.Engine:
        made = rw.Engine(lateness="3s")
        made.register(_JOIN)
        return made

    whole = sorted(_found(engine(), *readers()))
    for stop in (1, 2, 5, 11):
        path = tmp_path / f"state{stop}"
        first = _found(engine(), *readers(), stop=stop, path=path)
        restored = rw.Engine.restore(path)
        on = [reader.at(position) for reader, position in zip(readers(again=True), restored.positions, strict=True)]
        assert sorted(first[: restored.note["found"]] + _found(restored, *on)) == whole


def test_a_run_that_was_left_goes_on_where_its_reader_was() -> None:
    engine = rw.Engine()
    engine.register("SELECT ?x { ?x <http://e/p> ?y }")
    seen = [batches[0].texts("x") for batches in engine.run_batches(rw.read(_LINES, rate=1, name="d.nt"))]
    assert sum(map(len, seen)) == 1000
    for _ in engine.run_batches(rw.read(_pieces(_LINES, 700), rate=1, start=2_000_000_000, name="d.nt")):
        break
    [position] = engine.positions
    assert position.triples == engine.triples - 1000
    on = rw.read(_LINES, rate=1, start=2_000_000_000, name="d.nt").at(position)
    rest = [text for batches in engine.run_batches(on) for text in batches[0].texts("x")]
    assert rest[-1] == b"<http://e/s999>" and engine.triples == 2000


class Failing(Dribble):
    """A file that cannot be read to its end."""

    def readinto1(self, room: Any) -> int:
        if self.tell() > len(_LINES) // 2:
            raise OSError("the disk is gone")
        return super().readinto1(room)


def test_what_was_read_before_a_source_fails_is_matched_and_positioned() -> None:
    engine = rw.Engine()
    engine.register("SELECT ?x { ?x <http://e/p> ?y }", keep=None)
    with pytest.raises(OSError, match="the disk is gone"):
        list(engine.run(rw.read(Failing(_LINES, 700), rate=1, name="d.nt")))
    [query], [position] = engine.queries, engine.positions
    assert query.matched == position.triples == _LINES[: position.bytes].count(b"\n") > 490
    list(engine.run(rw.read(_LINES, rate=1, name="d.nt").at(position)))
    assert [match.text("x") for match in query.matches] == [line.split()[0] for line in _LINES.splitlines()]


def test_blank_nodes_of_a_document_read_after_a_restore_are_others(tmp_path: Path) -> None:
    engine = rw.Engine()
    engine.register("SELECT ?x { ?x <http://e/p> 1 . ?x <http://e/q> 2 }")
    integer = b"<http://www.w3.org/2001/XMLSchema#integer>"
    list(engine.run(rw.read(b'_:b <http://e/p> "1"^^' + integer + b" .\n", rate=1)))
    engine.snapshot(tmp_path / "state")
    code = f"""
import retewave as rw
engine = rw.Engine.restore({str(tmp_path / "state")!r})
reader = rw.read(b'_:b <http://e/q> "2"^^{integer.decode()} .', rate=1, start=1_000_000)
print(len(list(engine.run(reader))))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "0\n"


def test_positions_are_refused_where_they_do_not_belong(tmp_path: Path) -> None:
    engine, other = rw.Engine(), rw.Engine()
    query = "SELECT ?x { ?x <http://e/p> ?y }"
    engine.register(query)
    other.register(query)
    path = tmp_path / "d.nt"
    path.write_bytes(_LINES)
    list(engine.run(rw.read(path, rate=1)))
    [position] = engine.positions
    with pytest.raises(rw.UsageError, match="of another engine"):
        list(other.run(rw.read(path, rate=1).at(position)))
    with pytest.raises(rw.UsageError, match=r"not of other\.nt"):
        rw.read("other.nt").at(position)
    with pytest.raises(rw.UsageError, match="ttl cannot be read on in the middle"):
        rw.read(path, format="ttl").at(position)
    with pytest.raises(rw.UsageError, match="told in another way"):
        list(engine.run(rw.read(path, format="nq", time_property="http://e/t").at(position)))
    path.write_bytes(_LINES[:100])
    with pytest.raises(rw.UsageError, match="fewer than the"):
        list(engine.run(rw.read(path, rate=1).at(position)))
    with pytest.raises(rw.UsageError, match="note of a snapshot is not JSON"):
        engine.snapshot(tmp_path / "state", note={"at": np.int64(5)})
    assert not (tmp_path / "state").exists()
