"""Files on Spark, without Spark: where they are cut, what a micro-batch takes, and that nothing is read twice."""

from __future__ import annotations

import gzip
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.errors import MalformedInput, UsageError
from retewave.spark.driver.partitions import keys_of, partition_of
from retewave.spark.source import offsets as plans
from retewave.spark.source.offsets import Files, Offset, groups
from retewave.spark.source.parts import Range, cut, statements, texts_of
from retewave.spark.source.triples import triples_of

AT = "http://www.w3.org/ns/prov#generatedAtTime"
DATE = '"2026-01-01T00:00:0%dZ"^^<http://www.w3.org/2001/XMLSchema#dateTime>'

LINES = ("<a:s> <a:p> <a:o> .\n", '_:b <a:p> "a\\n<x> _:y ."@en .\n', "# a comment\n", "\n", "  <a:s> <a:p> 5 .\r\n")


def content(ranges: list[Range]) -> bytes:
    return b"".join(bytes(text[0].as_buffer()) for each in ranges for text in texts_of(each))


def whole(path: Path, format: str = "nt") -> Range:
    return Range(str(path), 0, path.stat().st_size, format)


def files(pattern: object, *, counted: bool = False, part_bytes: int = 100) -> Files:
    return Files(str(pattern), None, counted, part_bytes)


# ---- where to cut ----
@settings(max_examples=many(200), deadline=None)
@given(st.lists(st.sampled_from(LINES)), st.integers(1, 60))
def test_parts_of_lines_are_whole_lines_and_make_up_the_text(lines: list[str], size: int) -> None:
    data, at, parts = "".join(lines).encode(), 0, []
    while at < len(data):
        end = cut(data, at, at + size, quads=False)
        parts.append(data[at:end])
        at = end
    assert b"".join(parts) == data
    assert all(part.endswith(b"\n") for part in parts)


@st.composite
def events(draw: st.DrawFn) -> list[list[str]]:
    """Events, each with its time before its statements, behind them, or among them."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        told = f"<g:{number}> <{AT}> {DATE % number} .\n"
        inside = f"<g:{number}> <{AT}> {DATE % number} <g:{number}> .\n"
        body = [f"<a:s> <a:p> <a:{i}> <g:{number}> .\n" for i in range(draw(st.integers(1, 3)))]
        place = draw(st.sampled_from(["before", "behind", "inside"]))
        found.append({"before": [told, *body], "behind": [*body, told], "inside": [*body, inside]}[place])
    return found


@settings(max_examples=many(200), deadline=None)
@given(events(), st.integers(1, 300))
def test_cuts_tear_no_event_from_its_time(parts: list[list[str]], size: int) -> None:
    bounds, at = {0}, 0
    for part in parts:
        at += len("".join(part))
        bounds.add(at)
    data, at = "".join(line for part in parts for line in part).encode(), 0
    while at < len(data):
        at = cut(data, at, at + size, quads=True)
        assert at in bounds


def test_quads_without_graphs_are_cut_in_the_end() -> None:
    data = b"<a:s> <a:p> <a:o> .\n" * 40_000
    assert 0 < cut(data, 0, 20, quads=True) < len(data)


def test_comments_and_blank_lines_are_no_statements(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("".join(LINES) * 3)
    assert statements(whole(path)) == 9


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_statements_are_counted_whatever_ends_a_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes(ending.join(["<a:s> <a:p> <a:o> .", "# no", "", "_:a <a:p> <a:o> ."]).encode())
    assert statements(whole(path)) == 2


def test_compressed_file_is_read_in_pieces_of_whole_events(tmp_path: Path) -> None:
    path = tmp_path / "a.nq.gz"
    event = f"<a:s> <a:p> <a:o> <g:%d> .\n<g:%d> <{AT}> {DATE % 1} .\n"
    text = "".join(event % (i, i) for i in range(5000)).encode()
    path.write_bytes(gzip.compress(text))
    pieces = [bytes(piece[0].as_buffer()) for piece in texts_of(whole(path, "nq"), 100_000)]
    assert b"".join(pieces) == text
    assert len(pieces) > 3
    assert all(piece.count(b"<a:p>") == piece.count(AT.encode()) for piece in pieces)


def test_damage_is_told_after_what_stands_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.nt.gz"
    path.write_bytes(gzip.compress(b"<a:s> <a:p> <a:o> .\n" * 1000)[:-20])
    pieces: Iterator = texts_of(whole(path))
    first = bytes(next(pieces)[0].as_buffer())
    assert first.endswith(b".\n")
    with pytest.raises(MalformedInput, match="damaged"):
        next(pieces)


def test_other_formats_are_read_as_quads(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("@prefix a: <a:> . a:s a:p a:o, 5 .")
    assert content([whole(path, "ttl")]).count(b"<a:s> <a:p>") == 2


def test_statements_of_a_part_are_counted_once_and_what_is_remembered_stays_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, counted = folder(tmp_path, {"a.nt": 4}) / "a.nt", []

    def noted(part: Any) -> Any:
        counted.append(part)
        return statements(part)

    monkeypatch.setattr(plans, "statements", noted)
    monkeypatch.setattr(plans, "_REMEMBERED", 2)
    counts = plans.StatementCounts()
    parts = [replace(whole(path), start=at) for at in (0, 22, 44)]
    assert [counts(part) for part in (parts[0], parts[0], parts[1])] == [4, 4, 3]
    assert counted == parts[:2]
    counts(parts[2])
    counts(parts[0])  # it had to go for the third
    assert counted == [*parts, parts[0]]
    assert pickle.loads(pickle.dumps(counts))(parts[0]) == 4
    assert counted == [*parts, parts[0], parts[0]]


def test_threads_that_ask_for_the_same_part_wait_for_one_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, counted, go = folder(tmp_path, {"a.nt": 400}) / "a.nt", [], threading.Event()

    def slowly(part: Range) -> int:
        counted.append(part)
        assert go.wait(60)
        return statements(part)

    monkeypatch.setattr(plans, "statements", slowly)
    monkeypatch.setattr(plans, "_REMEMBERED", 3)
    counts, parts = plans.StatementCounts(), [replace(whole(path), start=22 * n) for n in range(8)]
    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(counts, part) for part in (*parts[:2], *parts[:2])]
        go.set()
        assert [each.result() for each in asked[:2]] == [each.result() for each in asked[2:]]
        assert len(counted) == 2
        again = list(pool.map(counts, parts * 50))
    assert again == [statements(part) for part in parts] * 50


# ---- what a micro-batch takes ----
def folder(path: Path, sizes: dict[str, int]) -> Path:
    for name, lines in sizes.items():
        (path / name).write_text("".join(f"<a:{name}> <a:p> <a:{i}> .\n" for i in range(lines)))
    return path


@settings(max_examples=many(50), deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(1, 900), st.integers(1, 400))
def test_micro_batches_take_every_byte_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[int], most: int, part_bytes: int
) -> None:
    path = folder(tmp_path_factory.mktemp("in"), {f"{i}.nt": count for i, count in enumerate(lines)})
    source, offset, taken, ordinals = files(path, counted=True, part_bytes=part_bytes), Offset({}), [], []
    while True:
        plan = source.following(offset, source.sizes(), most_bytes=most)
        if plan.end == offset:
            break
        assert source.plan(offset, Offset.of(plan.end.data())) == plan
        taken += [part.range for part in plan.parts]
        ordinals += [part.first for part in plan.parts]
        offset = plan.end
    assert content(taken) == b"".join((path / f"{i}.nt").read_bytes() for i in range(len(lines)))
    assert ordinals == [sum(statements(each) for each in taken[:i]) for i in range(len(taken))]
    assert offset.statements == sum(lines)


def test_limit_of_files_is_kept(tmp_path: Path) -> None:
    source = files(folder(tmp_path, {"a.nt": 2, "b.nt": 2, "c.nt": 2}))
    plan = source.following(Offset({}), source.sizes(), most_files=2)
    assert [Path(part.range.file).name for part in plan.parts] == ["a.nt", "b.nt"]


def test_file_that_grows_is_read_on(tmp_path: Path) -> None:
    source = files(folder(tmp_path, {"a.nt": 2}))
    first = source.following(Offset({}), source.sizes())
    with (tmp_path / "a.nt").open("a") as file:
        file.write("<a:s> <a:p> <a:new> .\n")
    second = source.following(first.end, source.sizes())
    assert content([part.range for part in second.parts]) == b"<a:s> <a:p> <a:new> .\n"


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    source = files(folder(tmp_path, {"a.nt": 1}))
    size = (tmp_path / "a.nt").stat().st_size
    with (tmp_path / "a.nt").open("a") as file:
        file.write("<a:s> <a:p")
    assert list(source.complete(source.sizes(), {}).values()) == [size]


def test_line_without_end_that_was_read_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("<a:s> <a:p> <a:o> .")
    source = files(path)
    first = source.following(Offset({}), source.sizes())
    path.write_text("<a:s> <a:p> <a:o> . # and more")
    with pytest.raises(UsageError, match="in the middle of a line"):
        source.following(first.end, source.sizes())


def test_file_that_shrinks_is_refused(tmp_path: Path) -> None:
    source = files(folder(tmp_path, {"a.nt": 2}))
    first = source.following(Offset({}), source.sizes())
    (tmp_path / "a.nt").write_text("")
    with pytest.raises(UsageError, match="has shrunk"):
        source.following(first.end, source.sizes())


def test_compressed_file_that_grows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.nt.gz"
    path.write_bytes(gzip.compress(b"<a:s> <a:p> <a:o> .\n"))
    source = files(path)
    first = source.following(Offset({}), source.sizes())
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(UsageError, match="cannot be read on"):
        source.following(first.end, source.sizes())


def test_hidden_and_foreign_files_of_a_folder_are_left_out(tmp_path: Path) -> None:
    folder(tmp_path, {"a.nt": 1, ".b.nt": 1, "_c.nt": 1, "notes.txt": 1})
    assert [Path(path).name for path in files(tmp_path).sizes()] == ["a.nt"]
    assert [Path(path).name for path in files(tmp_path / "*.nt").sizes()] == ["a.nt"]


@pytest.mark.parametrize("where", ["/no/such/folder", "s3://bucket/key"])
def test_what_is_no_file_is_refused(where: str) -> None:
    with pytest.raises(UsageError):
        files(where).sizes()


def test_small_parts_share_a_task(tmp_path: Path) -> None:
    source = files(folder(tmp_path, {f"{i}.nt": 1 for i in range(10)}))
    parts = source.plan(Offset({}), Offset(source.sizes())).parts
    grouped = groups(parts, 100)
    assert [part for group in grouped for part in group] == list(parts)
    assert all(sum(part.range.end - part.range.start for part in group) <= 100 for group in grouped)
    assert len(grouped) < len(parts)


# ---- triples ----
def triples(path: Path, **how: Any) -> list[dict]:
    source = files(path, counted=True)
    plan = source.plan(Offset({}), Offset(source.sizes()))
    told: dict[str, Any] = {"rate": None, "time_property": None, "raising": True} | how
    return [row for part in plan.parts for batch in triples_of(part, **told) for row in batch.to_pylist()]


def test_triples_at_a_rate_follow_each_other_across_files(tmp_path: Path) -> None:
    found = triples(folder(tmp_path, {"a.nt": 7, "b.nt": 3}), rate=1)
    assert [row["time"].timestamp() for row in found] == list(range(10))
    assert found[7]["s"] == "<a:b.nt>"


def test_graph_tells_the_time_of_its_triples(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    path.write_text(f"<a:s> <a:p> 'no' .\n<a:s> <a:p> <a:o> <g:1> .\n<g:1> <{AT}> {DATE % 7} .\n".replace("'", '"'))
    found = triples(path, time_property=AT)
    assert [(row["o"], row["graph"], row["time"].second) for row in found] == [
        ("<a:o>", "<g:1>", 7),
        (DATE % 7, None, 7),
    ]


def test_blank_nodes_of_two_files_differ_and_those_of_one_agree(tmp_path: Path) -> None:
    for name in ("a.nt", "b.nt"):
        (tmp_path / name).write_text("_:b <a:p> <a:o> .\n" * 20)
    found = [row["s"] for row in triples(tmp_path)]
    assert len(set(found[:20])) == len(set(found[20:])) == 1
    assert len(set(found)) == 2


def test_malformed_line_is_raised_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("<a:s> <a:p> <a:o> .\nnonsense\n<a:s> <a:p> <a:q> .\n")
    assert [row["o"] for row in triples(path, raising=False)] == ["<a:o>", "<a:q>"]
    with pytest.raises(MalformedInput):
        triples(path)


# ---- shards' keys ----
@pytest.mark.parametrize("shards", [*range(1, 20), 100])
def test_key_of_each_shard_has_a_partition_of_its_own(shards: int) -> None:
    keys = keys_of(shards)
    assert [partition_of(key, shards) for key in keys] == list(range(shards))
    assert 0 in keys, "a checkpoint of another number of shards has to be noticed"
