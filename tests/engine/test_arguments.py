"""Wrong arguments: errors of ours, with words, and nothing is changed by them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rdflib import URIRef
from typer.testing import CliRunner

import retewave as rw
from retewave.cli.app import app
from retewave.errors import MalformedStatic
from retewave.io.rdf import to_text

T = ("http://e/a", "http://e/p", "http://e/b")
QUERY = "SELECT ?x { ?x <http://e/p> ?y }"


@pytest.fixture
def engine() -> rw.Engine:
    engine = rw.Engine()
    engine.register(QUERY, name="n")
    return engine


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda e: e.push(T, time=1e308), "1e\\+308 is more than 36000 years"),
        (lambda e: e.push(T, time=-1e308), "36000 years"),
        (lambda e: e.push(T, time=10**400), "36000 years"),
        (lambda e: e.push(T, time=float("inf")), "not a time"),
        (lambda e: e.push(T, time=(1, 2, 3)), "an interval is a pair"),
        (lambda e: e.push(T, time=()), "an interval is a pair"),
        (lambda e: e.push(("http://a", "http://b")), "three terms, not 2"),
        (lambda e: e.push(("http://a", "http://b", "http://c", "http://d")), "three terms, not 4"),
        (lambda e: e.push("http://a"), "a tuple of three terms, not 'http://a'"),
        (lambda e: e.push(["http://a"]), "a tuple of three terms, not 'http://a'"),
        (lambda e: e.push(None), "a tuple of three terms, not None"),
        (lambda e: e.push(5), "a tuple of three terms, not 5"),
        (lambda e: e.push([1, 2, 3]), "a tuple of three terms, not 1"),
        (lambda e: e.push(T, stream="ex:s"), "a stream's name is an absolute IRI, not 'ex:s'"),
        (lambda e: e.push(T, stream="s"), "a stream's name is an absolute IRI"),
        (lambda e: e.push(T, stream=5), "a stream's name is an absolute IRI, not 5"),
        (lambda e: e.encode(5), "a tuple of three terms"),
        (lambda e: list(e.run(b"<a:s> <a:p> <a:o> .")), "cannot run bytes"),
        (lambda e: list(e.run([1])), "cannot run list"),
        (lambda e: e.remove("n"), "'n' is no query"),
        (lambda e: e.remove(None), "None is no query"),
        (lambda e: e.why_not("n"), "'n' is no query"),
        (lambda e: e.register(5), "a query is a text or a path, not 5"),
        (lambda e: e.register(QUERY.encode()), "a query is a text or a path"),
        (lambda e: rw.read("f.nq", time_property="ex:at"), "a time property is an absolute IRI, not 'ex:at'"),
        (lambda e: rw.read("f.nq", time_property="at"), "absolute IRI"),
        (lambda e: rw.read("f.nq", stream="at"), "absolute IRI"),
        (lambda e: rw.read("f.nt", rate="x"), "a rate is a number"),  # type: ignore[arg-type]
        (lambda e: rw.read("f.nt", rate=float("nan")), "a rate is a number"),
        (lambda e: rw.read("f.nt", rate=float("inf")), "a rate is a number"),
        (lambda e: rw.read("f.nt", rate=1e-308), "a rate is at least"),
        (lambda e: rw.Engine(lateness=1e308), "a duration is not negative and at most"),
        (lambda e: rw.Engine(max_future=10**400), "a duration is not negative and at most"),
        (lambda e: rw.Engine(seed="x"), "seed is a whole number"),  # type: ignore[arg-type]
        (lambda e: rw.Engine(seed=1 << 70), "seed is a whole number"),
        (lambda e: rw.Engine(max_live_rows=1.5), "max_live_rows is a whole number"),  # type: ignore[arg-type]
        (lambda e: rw.Engine(max_live_rows=0), "max_live_rows is a whole number"),
        (lambda e: rw.Engine(datasets=5), "datasets maps IRIs to files"),  # type: ignore[arg-type]
        (lambda e: rw.Engine(imports=["x"]), "imports maps IRIs to files"),  # type: ignore[arg-type]
        (lambda e: rw.Engine(on_late=5), "cannot be called"),  # type: ignore[arg-type]
        (lambda e: rw.Engine(schema=5).push(T), "cannot read a schema from 5"),
        (lambda e: rw.Engine(schema=[("http://a", "http://b")]).push(T), "a triple of a schema has three terms"),
        (lambda e: rw.Engine(static=5).push(T), "cannot read static data from 5"),
        (lambda e: rw.Engine(static=[("http://a", "http://b")]).push(T), "static data has three terms, not 2"),
        (lambda e: e.snapshot("no/such/folder/s"), "cannot write the snapshot no/such/folder/s"),
        (lambda e: e.snapshot("/dev/null"), "it is no file"),
        (lambda e: e.snapshot("."), "it is no file"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_an_error_in_words_that_changes_nothing(
    engine: rw.Engine, call: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(rw.RetewaveError, match=said):
        call(engine)
    assert engine.stats()["triples"] == 0
    assert len(engine.push(T, time=1)) == 1


def test_a_path_can_be_run_as_it_stands(engine: rw.Engine, tmp_path: Path) -> None:
    path = tmp_path / "f.nt"
    path.write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    assert len(list(engine.run(str(path)))) == len(list(engine.run(path))) == 1


# Prefixed names


def test_a_well_known_prefix_is_resolved_wherever_an_iri_is_asked_for(engine: rw.Engine) -> None:
    assert rw.read("f.nq", time_property="prov:generatedAtTime").time_property == rw.io.GENERATED_AT
    assert rw.read("f.nq", stream="sosa:x").stream == "http://www.w3.org/ns/sosa/x"
    assert to_text("foaf:knows") == b"<http://xmlns.com/foaf/0.1/knows>"
    assert to_text(URIRef("foaf:knows")) == b"<foaf:knows>"  # whoever writes so means it


def test_an_iri_in_brackets_and_one_of_a_scheme_without_slashes_are_taken_as_they_are() -> None:
    assert rw.read("f.nq", stream="<ex:s>").stream == "ex:s"
    assert rw.read("f.nq", stream="urn:s").stream == "urn:s"


def test_a_stream_of_any_absolute_iri_that_a_query_names_can_be_pushed_to() -> None:
    engine = rw.Engine()
    engine.register("SELECT ?x FROM STREAM <ex:s> { ?x <http://e/p> ?y }")
    assert len(engine.push(T, time=1, stream="ex:s")) == 1


GRAPH = (
    "<http://e/a> <http://e/p> <http://e/b> <http://e/g> .\n"
    "<http://e/g> <http://www.w3.org/ns/prov#generatedAtTime> "
    '"2024-05-03T18:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
)


def test_options_of_the_command_line_take_well_known_prefixes_and_refuse_others(tmp_path: Path) -> None:
    stream = tmp_path / "f.nq"
    stream.write_text(GRAPH)
    run = ["run", QUERY, "--stream"]
    ended = CliRunner().invoke(app, [*run, f"prov:s={stream}", "--time-property", "prov:generatedAtTime"])
    assert (ended.exit_code, len(ended.stdout.splitlines())) == (0, 1), ended.output
    for wrong in ([str(stream), "--time-property", "ex:at"], [f"ex:s={stream}"]):
        ended = CliRunner().invoke(app, [*run, *wrong])
        assert ended.exit_code == 2
        assert "is an absolute IRI, not 'ex:" in ended.stderr


# Static data, and snapshots


def test_malformed_static_data_ends_with_exit_code_2_and_opens_no_output(tmp_path: Path) -> None:
    for name, text in {
        "bad.ttl": "<http://e/a> <http://e/p> .",
        "f.nt": "<http://e/a> <http://e/p> <http://e/b> .\n",
    }.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    arguments = [
        "run",
        QUERY,
        "--static",
        str(tmp_path / "bad.ttl"),
        "--stream",
        str(tmp_path / "f.nt"),
        "--out",
        str(out),
    ]
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 2
    assert "bad.ttl:1" in ended.stderr
    assert not out.exists()
    with pytest.raises(MalformedStatic):
        rw.Engine(static=tmp_path / "bad.ttl").push(T)


def test_what_a_killed_snapshot_left_goes_with_the_next_one(engine: rw.Engine, tmp_path: Path) -> None:
    path, others = tmp_path / "s", [tmp_path / "s.nt", tmp_path / "t.01234567.part"]
    for each in [tmp_path / "s.01234567.part", *others]:
        each.write_bytes(b"x")
    engine.snapshot(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_a_snapshot_that_is_being_written_is_left_alone(engine: rw.Engine, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    part = tmp_path / "s.01234567.part"
    with part.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        engine.snapshot(tmp_path / "s")
        assert part.exists()


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_snapshot_that_fails_names_its_file_and_leaves_nothing(
    engine: rw.Engine, tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    engine.snapshot(tmp_path / "s")
    before = (tmp_path / "s").read_bytes()
    monkeypatch.setattr(*(("os.fsync", full) if failing == "fsync" else (Path, "replace", full)))
    with pytest.raises(rw.SnapshotError, match=r"cannot write the snapshot .*s: No space left"):
        engine.snapshot(tmp_path / "s")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]
