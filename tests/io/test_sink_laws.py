"""Laws of the sinks: the kernels write, byte for byte, what plain Python writes (tests/naive/lines.py)."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.lines import naive_lines
from naive.written_terms import csv_term, json_term, tsv_term

import retewave as rw
from retewave.compiler.algebra import Variable
from retewave.errors import UsageError
from retewave.io.sinks import lines as sink_lines
from retewave.io.sinks.sinks import open_sink
from retewave.match import Matches
from retewave.query import Query
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.bytes import BLOCK, address_of
from retewave.rete.written.times import DATES, EXACT, SECONDS, WHOLE_SECONDS, write_time
from retewave.windows.intervals import EARLIEST, LATEST, STATIC_END, STATIC_START
from retewave.windows.times import Clock, format_datetime

XSD = "http://www.w3.org/2001/XMLSchema#"
FORMATS = ["ndjson", "csv", "tsv", "nt"]
CLOCKS = [
    Clock("int"),
    Clock("float"),
    Clock("text"),
    Clock("datetime", zone=UTC),
    Clock("datetime", zone=timezone(timedelta(hours=2))),
    Clock("datetime"),
    Clock("datetime64", unit="ns"),
]

# What a literal's inside is made of: escapes, what formats treat on their own, controls, every width of UTF-8.
INSIDES = st.lists(
    st.sampled_from(
        [
            r"\"",
            r"\\",
            r"\n",
            r"\r",
            ",",
            "\t",
            "\x00",
            "\x1f",
            "\x7f",
            " ",
            "a",
            "5",
            "é",
            "…",
            "𝔄",
            "'",
            "@",
            "^^<",
            "x" * 31,
        ]
    ),
    max_size=12,
).map("".join)
TAILS = st.sampled_from(["", "@en", "@de-at-1996", f"^^<{XSD}integer>", f"^^<{XSD}dateTime>", "^^<http://e/ä,b>"])
LITERALS = st.builds('"{}"{}'.format, INSIDES, TAILS)
IRIS = st.builds("<http://e/{}>".format, st.text("ab,;é…𝔄/#?", max_size=70))
LABELS = st.builds("_:{}".format, st.text("abz09", min_size=1, max_size=40))
TERMS = st.one_of(LITERALS, IRIS, LABELS).map(str.encode)
SOME_TIMES = [0, 1, -1, 9, 10, 12, 99, 100, 999_999, 10**6, -1_500_000, EXACT - 1, EXACT, -EXACT, EARLIEST, LATEST]
TIMES = st.one_of(st.sampled_from(SOME_TIMES), st.integers(-(10**7), 10**7), st.integers(EARLIEST, LATEST))
NEAR_TIMES = st.one_of(st.integers(-(10**7), 10**7), st.integers(10**15, 2 * 10**15))

QUERIES = [
    "REGISTER QUERY one AS SELECT ?x ?y WHERE { ?x <http://e/p> ?y }",
    "SELECT ?y ?z ?y2 WHERE { ?y <http://e/p> ?z . ?y <http://e/q> ?y2 }",
    """PREFIX : <http://e/> SELECT ?x ?p WITHIN 1 HOUR FROM STREAM S <http://e/s>
       WHERE { SEQ (A; B+; C+) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?p }
               DEFINE GPM C ON S { :c :c 1 } }""",
    "REGISTER QUERY asked AS ASK FROM STREAM <http://e/s> [RANGE 5s STEP 5s] WHERE { ?x <http://e/p> ?y }",
]
CONSTRUCTS = [
    "CONSTRUCT { ?x <http://e/q> ?y . ?y ?x _:b . _:b <http://e/r> _:c, 'tea'@en } WHERE { ?x <http://e/p> ?y }",
    "CONSTRUCT { ?x ?y ?x } WHERE { ?x ?y ?z }",
]


def registered(texts: list[str]) -> list[Query]:
    engine = rw.Engine()
    return [engine.register(text) for text in texts]


SELECTED, CONSTRUCTED = registered(QUERIES), registered(CONSTRUCTS)


class Taken:
    """What repeated event patterns took, match by match, as a batch's groups tell it."""

    def __init__(self, matches: list[dict[str, list[tuple[int, dict[Variable, int]]]]]) -> None:
        self.matches = matches

    def of(self, row: int) -> dict[str, list[tuple[int, dict[Variable, int]]]]:
        return self.matches[row]

    @property
    def terms(self) -> np.ndarray:
        found = [term for of in self.matches for each in of.values() for _, ids in each for term in ids.values()]
        return np.array(found, np.int64)


class Repeating(Matches):
    """A batch of matches with repetitions."""

    __slots__ = ("groups",)
    groups: Taken  # type: ignore[assignment]

    def _all_ids(self) -> np.ndarray:
        return np.concatenate([self.ids.reshape(-1), self.groups.terms])


@st.composite
def groups_of(draw: st.DrawFn, query: Query, matches: int, known: list[int], times: st.SearchStrategy[int]) -> Taken:
    """What event patterns took in the matches of a batch; some take nothing, and some variables are unbound."""
    found = []
    for _ in range(matches):
        of: dict[str, list[tuple[int, dict[Variable, int]]]] = {}
        for pattern in query.repeated:
            of[pattern.name] = [
                (draw(times), {Variable(name): draw(st.sampled_from(known)) for name in pattern.variables})
                for _ in range(draw(st.integers(0, 3)))
            ]
        found.append({name: [(t, {v: i for v, i in ids.items() if i}) for t, ids in each] for name, each in of.items()})
    return Taken(found)


@st.composite
def batches_of(draw: st.DrawFn, queries: list[Query], times: st.SearchStrategy[int]) -> list[Matches]:
    """Some batches of matches as the engine makes them: views of wider rows, terms shared, some of them sealed."""
    terms = Terms(seed=1)
    known = [0, *(terms.intern(text) for text in draw(st.lists(TERMS, min_size=1, max_size=6)))]
    clock, behind = draw(st.sampled_from(CLOCKS)), 0
    found: list[Matches] = []
    for query in queries[: draw(st.integers(1, len(queries)))]:
        count, width = draw(st.integers(1, 4)), len(query.variables)
        rows = np.zeros((count, width + 4), np.int64)
        ids = draw(st.lists(st.sampled_from(known), min_size=count * width, max_size=count * width))
        rows[:, 2 : 2 + width] = np.array(ids).reshape(count, width)
        for row in rows:
            begin, end = sorted((draw(times), draw(times)))
            row[:2] = (STATIC_START, STATIC_END) if draw(st.integers(0, 9)) == 0 else (begin, end)
        places = np.arange(behind, behind + count)
        made = query, terms, clock, rows[:, 2 : 2 + width], rows[:, 0], rows[:, 1], places
        if query.repeated:
            repeating = Repeating(*made)
            repeating.groups = draw(groups_of(query, count, known, times))
            found.append(repeating)
        else:
            found.append(Matches(*made))
        behind += count
    shuffled = np.array(draw(st.permutations(range(behind))))
    for batch in found:
        batch.places = np.sort(shuffled[batch.places])
        if draw(st.booleans()):
            batch.seal()
    return found


def written(format: str, batches: list[Matches], queries: list[Query]) -> bytes:
    file = io.BytesIO()
    sink = open_sink(format, queries, file, seconds=True)
    sink.close()
    head = file.tell()
    sink.write(batches)
    return file.getvalue()[head:]


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_kernels_write_what_plain_python_writes(format: str, data: st.DataObject) -> None:
    queries = CONSTRUCTED if format == "nt" else SELECTED
    batches = data.draw(batches_of(queries, TIMES if data.draw(st.booleans()) else NEAR_TIMES))
    names = tuple(dict.fromkeys(name for query in queries for name in query.variables))
    assert written(format, batches, queries) == naive_lines(format, batches, names)


@settings(max_examples=150, deadline=None)
@given(batches_of(SELECTED, TIMES))
def test_arrow_holds_the_texts_that_the_dictionary_has(batches: list[Matches]) -> None:
    names = ("x", "y", "z", "y2", "p")
    table = pa.ipc.open_stream(arrow(batches)).read_all()
    rows: list[tuple[Any, ...]] = []
    for batch in batches:
        timeless = (batch.ends < batch.starts).tolist()
        times = [
            [None if none else time / 10**6 for time, none in zip(each.tolist(), timeless, strict=True)]
            for each in (batch.starts, batch.ends)
        ]
        columns = [batch.texts(name) if name in batch.query.variables else [None] * len(batch) for name in names]
        rows += zip(batch.places.tolist(), [batch.query.name] * len(batch), *times, *columns, strict=True)
    rows.sort(key=lambda row: row[0])
    expected = [list(column) for column in zip(*rows, strict=True)][1:]
    expected[3:] = [[text and text.decode() for text in column] for column in expected[3:]]
    assert [column.to_pylist() for column in table.columns[: len(expected)]] == expected


def arrow(batches: list[Matches]) -> bytes:
    file = io.BytesIO()
    sink = open_sink("arrow", SELECTED, file, seconds=True)
    sink.write(batches)
    sink.close()
    return file.getvalue()


def sequence_batch(clock: Clock, *, sealed: bool = False) -> Repeating:
    """Three matches: of one, of no, and of two repetitions."""
    terms, query = Terms(seed=1), SELECTED[2]
    x, one, two = (terms.intern(text) for text in (b"<http://e/x>", b'"1"^^<%binteger>' % XSD.encode(), b'"two"'))
    ids, times = np.array([[x, one], [x, 0], [x, two]]), np.array([1, 2, 3]) * 10**6
    batch = Repeating(query, terms, clock, ids, times, times)
    rebound = [{Variable("x"): x, Variable("p"): one}, {Variable("x"): x}, {Variable("x"): x, Variable("p"): two}]
    repetitions = [(at * 10**6, of) for at, of in zip((5, 6, 7), rebound, strict=True)]
    batch.groups = Taken([{"B": repetitions[:1]}, {"B": []}, {"B": repetitions[1:]}])
    if sealed:
        batch.seal()
    return batch


@pytest.mark.parametrize("sealed", [False, True])
def test_groups_are_lists_in_json_and_arrow(sealed: bool) -> None:
    batch = sequence_batch(Clock("int"), sealed=sealed)
    lines = [json.loads(line) for line in written("ndjson", [batch], [batch.query]).splitlines()]
    assert [[each["time"] for each in line["groups"]["B"]] for line in lines] == [[5], [], [6, 7]]
    assert lines[2]["groups"]["B"][1]["bindings"]["p"] == {"type": "literal", "value": "two"}
    assert written("csv", [batch], [batch.query]).count(b",") == 12
    expected = [
        [{"time": 5, "x": "<http://e/x>", "p": f'"1"^^<{XSD}integer>'}], [],
        [{"time": 6, "x": "<http://e/x>", "p": None}, {"time": 7, "x": "<http://e/x>", "p": '"two"'}],
    ]  # fmt: skip
    assert batch.to_arrow()["groups.B"].to_pylist() == expected
    file = io.BytesIO()
    sink = open_sink("arrow", [batch.query, SELECTED[0]], file, seconds=True)
    sink.write([batch])
    sink.close()
    assert pa.ipc.open_stream(file.getvalue()).read_all()["groups.B"].to_pylist() == expected


def test_values_of_repetitions_have_types_where_all_have_one() -> None:
    batch = sequence_batch(Clock("datetime", zone=UTC))
    batch.groups = Taken([batch.groups.of(0)] * 3)
    column = batch.to_arrow()["groups.B"]
    assert column.type.value_type.field("p").type == pa.int64() and column.to_pylist()[0][0]["p"] == 1
    assert batch.to_pandas()["groups.B"][0][0]["p"] == 1
    assert column.type.value_type.field("time").type == pa.timestamp("us", tz="UTC")


def test_each_record_batch_of_arrow_brings_its_own_dictionary_of_different_terms() -> None:
    terms, time, file = Terms(seed=1), np.zeros(3, np.int64), io.BytesIO()
    sink = open_sink("arrow", SELECTED[:1], file, seconds=False)
    a, b, c = (terms.intern(b'"%c"' % letter) for letter in b"abc")
    for ids in ([[a, b], [a, 0], [b, b]], [[c, a], [c, a], [c, a]]):
        sink.write([Matches(SELECTED[0], terms, Clock("text"), np.array(ids), time, time)])
    sink.close()
    found = list(pa.ipc.open_stream(file.getvalue()))
    assert [batch.column("x").dictionary.to_pylist() for batch in found] == [['"a"', '"b"'], ['"c"']]
    assert found[0].column("y").to_pylist() == ['"b"', None, '"b"']
    assert found[1].column("start").type == pa.timestamp("us", tz="UTC")


def test_columns_of_too_much_text_are_cut_into_several_record_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retewave.io.sinks.arrow_columns.MOST_BYTES", 25)
    terms, time = Terms(seed=1), np.zeros(4, np.int64)
    ids = np.array([[terms.intern(b'"0123456789%d"' % n), 0] for n in range(4)])
    batch = Matches(SELECTED[0], terms, Clock("int"), ids, time, time)
    assert [len(found) for found in pa.ipc.open_stream(arrow([batch]))] == [1, 1, 1, 1]
    with pytest.raises(UsageError, match="more than 2 GiB"):
        monkeypatch.setattr("retewave.io.sinks.arrow_columns.MOST_BYTES", 5)
        arrow([batch])


@given(TERMS)
@settings(max_examples=300, deadline=None)
def test_every_term_is_written_as_plain_python_writes_it(term: bytes) -> None:
    terms = Terms(seed=1)
    ids, time = np.array([[terms.intern(term), 0]]), np.array([10**6])
    batch = Matches(SELECTED[0], terms, Clock("int"), ids, time, time)
    member = b'{"query":"one","start":1,"end":1,"bindings":{"x":' + json_term(term) + b"}}\n"
    assert written("ndjson", [batch], SELECTED[:1]) == member
    assert written("csv", [batch], SELECTED[:1]) == b"one,1,1," + csv_term(term) + b",\r\n"
    assert written("tsv", [batch], SELECTED[:1]) == b'"one"\t1\t1\t' + tsv_term(term) + b"\t\n"


@given(st.one_of(st.sampled_from(SOME_TIMES), st.integers(EARLIEST, LATEST), NEAR_TIMES))
@settings(max_examples=500, deadline=None)
def test_times_are_written_as_plain_python_writes_them(time: int) -> None:
    out = np.zeros(64, np.uint8)
    kinds = {DATES: format_datetime(time)}
    if abs(time) < EXACT:
        kinds |= {WHOLE_SECONDS: str(Clock("int").decode(time)), SECONDS: str(Clock("float").decode(time))}
    for clock, said in kinds.items():
        size = write_time(address_of(out), time, clock) - address_of(out)
        assert out[:size].tobytes().decode() == said


@pytest.mark.parametrize("year", [-44, -1, 0, 1, 1582, 1900, 1970, 2000, 2024, 2100, 9999, 10000, 30000])
def test_first_and_last_days_of_months_are_written_as_dates(year: int) -> None:
    out = np.zeros(64, np.uint8)
    first = np.datetime64(f"{year:05}-01-01" if year < 0 else f"{year:04}-01-01", "us").astype(np.int64)
    for day in range(367):
        time = int(first) + day * 86_400_000_000
        size = write_time(address_of(out), time, DATES) - address_of(out)
        assert out[:size].tobytes().decode() == format_datetime(time)


@pytest.mark.parametrize("size", [0, 1, 30, 31, 32, 33, 63, 64, 1_000, 3 << 20])
@pytest.mark.parametrize("special", ["", '\\"', "\t", ",", "\\\\", "\\n"])
def test_terms_of_every_length_are_written_whole(size: int, special: str) -> None:
    """Blocks of 32 bytes, and lines that are longer than a buffer."""
    terms, time = Terms(seed=1), np.array([0, 1, 2])
    texts = [f'"{"x" * size}{special}"', f"<http://e/{'x' * size}>", f'"{special}{"y" * size}"@en']
    ids = np.array([[terms.intern(text.encode()), terms.intern(b'"next"')] for text in texts])
    batch = Matches(SELECTED[0], terms, Clock("int"), ids, time, time)
    for format in FORMATS[:3]:
        assert written(format, [batch], SELECTED[:1]) == naive_lines(format, [batch], ("x", "y"))


def test_batch_that_is_larger_than_a_buffer_is_written_in_stretches_of_whole_lines() -> None:
    terms, count = Terms(seed=1), 30_000
    ids = np.array([[terms.intern(b"<http://e/%d>" % (n % 97)), terms.intern(b'"%d"' % n)] for n in range(count)])
    batch = Matches(SELECTED[0], terms, Clock("float"), ids, np.arange(count), np.arange(count))
    stretches = [bytes(stretch) for stretch in sink_lines.stretches(sink_lines.Objects(), batch)]
    assert len(stretches) > 2
    assert all(stretch.endswith(b"}}\n") for stretch in stretches)
    assert b"".join(stretches) == naive_lines("ndjson", [batch], ("x", "y"))


def test_dictionary_keeps_a_block_free_behind_its_texts() -> None:
    terms = Terms(seed=1)
    for n in range(3):
        last = terms.intern(b'"%s"' % (b"%d" % n * ((1 << 18) - 3)))
        assert terms.by_id.spans[last].sum() + BLOCK <= len(terms.by_id.arena)


def test_time_with_a_zone_is_written_in_utc() -> None:
    zone = timezone(timedelta(hours=2))
    time = np.array([Clock("datetime", zone=zone).encode(datetime(2012, 7, 16, 12, 0, tzinfo=zone))])
    batch = Matches(SELECTED[0], Terms(seed=1), Clock("datetime", zone=zone), np.array([[0, 0]]), time, time)
    assert written("csv", [batch], SELECTED[:1]) == b"one,2012-07-16T10:00:00Z,2012-07-16T10:00:00Z,,\r\n"


@pytest.mark.parametrize("format", ["ndjson", "csv", "tsv", "arrow"])
def test_each_report_of_an_ask_says_true_or_false_in_ndjson_and_is_a_row_elsewhere_if_it_is_true(format: str) -> None:
    engine, file = rw.Engine(), io.BytesIO()
    engine.register("ASK FROM STREAM <http://e/s> [RANGE 10s STEP 5s] WHERE { ?x <http://e/p> 2 }", name="é")
    sink = open_sink(format, list(engine.queries), file, seconds=True)
    lines = "".join(f"<http://e/a> <http://e/p> {value} .\n" for value in (1, 1, 2, 1, 1)).encode()
    reader = rw.read(io.BytesIO(lines), format="ttl", rate=0.2, stream="http://e/s")
    for batches in engine.run_batches(reader):
        sink.write(batches)
    sink.close()
    times = [(0, False), (10, True), (15, True), (20, False)]  # at 5, it is as empty as before
    said = [{"query": "é", "start": time - 10, "end": time, "bindings": {}, "boolean": true} for time, true in times]
    if format == "ndjson":
        assert [json.loads(line) for line in file.getvalue().splitlines()] == said
    elif format == "arrow":
        assert pa.ipc.open_stream(file.getvalue()).read_all()["end"].to_pylist() == [10, 15]
    else:
        assert file.getvalue().count(b"\n") == 3  # with the head
