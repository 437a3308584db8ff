"""What matches look like on their way out: each format against a library that reads it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import BNode, Graph, Literal, URIRef
from rdflib.query import Result

import retewave as rw
from retewave.errors import UsageError
from retewave.io.rdf import from_text, to_text
from retewave.io.sinks.sinks import FORMATS, open_sink, usual_format

E = "http://e/"
XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS = [
    URIRef(E + "a,b"),
    BNode("b1"),
    Literal("plain"),
    Literal('say "tea"\tnow\r\nor \\ never'),
    Literal("thé", lang="fr"),
    Literal("5", datatype=URIRef(XSD + "integer")),
    Literal("\x01\x1f"),
    Literal(""),
]


def written(format: str, queries: list[str], triples: list[tuple], *, seconds: bool = True) -> bytes:
    engine, file = rw.Engine(seed=1), io.BytesIO()
    registered = [engine.register(text) for text in queries]
    sink = open_sink(format, registered, file, seconds=seconds)
    lines = "".join(" ".join(to_text(term).decode() for term in triple) + " .\n" for triple in triples)
    for batches in engine.run_batches(rw.read(lines.encode(), format="nt", rate=4 if seconds else None)):
        sink.write(batches)
    sink.close()
    return file.getvalue()


def of_terms() -> list[tuple]:
    return [(URIRef(f"{E}s{n}"), URIRef(E + "p"), term) for n, term in enumerate(TERMS)]


SELECT = "SELECT ?s ?o WHERE { ?s <http://e/p> ?o }"


def without_scope(term: object) -> object:
    """Blank nodes are set apart by document: compare them as such only."""
    return BNode("b1") if isinstance(term, BNode) else term


def test_ndjson_holds_one_object_a_match_with_terms_as_sparql_json_has_them() -> None:
    lines = [json.loads(line) for line in written("ndjson", [SELECT], of_terms()).splitlines()]
    assert [line["start"] for line in lines] == [n / 4 for n in range(len(TERMS))]
    assert {line["query"] for line in lines} == {"query1"}
    document = {"head": {"vars": ["s", "o"]}, "results": {"bindings": [line["bindings"] for line in lines]}}
    result = Result.parse(io.BytesIO(json.dumps(document).encode()), format="json")
    assert [without_scope(row[1]) for row in cast(Iterable[tuple[Any, ...]], result)] == TERMS


def test_tsv_is_read_back_by_a_sparql_library() -> None:
    data = written("tsv", [SELECT], of_terms()[:3] + of_terms()[4:6])
    result = Result.parse(io.BytesIO(data), format="tsv")
    assert [str(name) for name in result.vars or ()] == ["query", "start", "end", "s", "o"]
    found: list[Any] = list(result)
    assert [row[1].toPython() for row in found] == [0, 0.25, 0.5, 0.75, 1]
    assert [str(row[4]) for row in found[2:]] == ["plain", "thé", "5"]


def test_tsv_keeps_a_tab_in_a_literal_from_starting_a_column() -> None:
    lines = written("tsv", [SELECT], of_terms()).splitlines()
    assert {line.count(b"\t") for line in lines} == {4}


def test_csv_holds_plain_values_quoted_where_they_must_be() -> None:
    data = written("csv", [SELECT], of_terms()).decode()
    assert data.startswith("query,start,end,s,o\r\n")
    rows = list(csv.reader(io.StringIO(data, newline="")))
    assert [row[:3] for row in rows[1:3]] == [["query1", "0.0", "0.0"], ["query1", "0.25", "0.25"]]
    values = [row[4] for row in rows[1:]]
    assert values[0] == E + "a,b"
    assert values[1].startswith("_:")
    assert values[2:] == [str(term) for term in TERMS[2:]]


def test_arrow_is_a_stream_of_typed_columns() -> None:
    table = pa.ipc.open_stream(written("arrow", [SELECT], of_terms())).read_all()
    terms = pa.dictionary(pa.int32(), pa.string())
    assert table.schema.types == [terms, pa.float64(), pa.float64(), terms, terms]
    assert [without_scope(from_text(text.encode())) for text in table["o"].to_pylist()] == TERMS


def test_arrow_has_timestamps_when_times_are_dates() -> None:
    table = pa.ipc.open_stream(written("arrow", [SELECT], of_terms()[:1], seconds=False)).read_all()
    assert table.schema.field("start").type == pa.timestamp("us", tz="UTC")
    assert table["start"][0].as_py().year >= 2020


def test_arrow_without_matches_still_has_a_schema() -> None:
    assert pa.ipc.open_stream(written("arrow", [SELECT], [])).read_all().column_names == [
        "query",
        "start",
        "end",
        "s",
        "o",
    ]


def test_table_without_matches_still_has_its_head() -> None:
    assert written("csv", [SELECT], []) == b"query,start,end,s,o\r\n"
    assert written("tsv", [SELECT], []) == b"?query\t?start\t?end\t?s\t?o\n"
    assert written("ndjson", [SELECT], []) == b""


REFUSED = 'SELECT ?s WHERE { ?s <http://e/p> ?o FILTER(CONTAINS(STR(?o), "zzz")) }'
CONSTRUCTED = "CONSTRUCT { ?s <http://e/q> ?o } WHERE { ?s <http://e/p> ?o }"


OF_MATCHES = [format for format in FORMATS if format not in ("nq", "trig")]  # those are of detections only


@pytest.mark.parametrize("format", OF_MATCHES)
def test_sink_that_is_given_no_batches_writes_nothing(format: str) -> None:
    query, file = rw.Engine().register(CONSTRUCTED), io.BytesIO()
    sink = open_sink(format, [query], file, seconds=True)
    before = file.getvalue()
    sink.write([])
    assert file.getvalue() == before
    sink.close()
    assert file.getvalue() == written(format, [CONSTRUCTED], [])


@pytest.mark.parametrize("format", OF_MATCHES)
def test_batch_of_which_every_candidate_is_refused_in_python_leaves_the_output_whole(format: str) -> None:
    where = REFUSED.partition("WHERE")[2]
    text = f"CONSTRUCT {{ ?s <http://e/q> ?s }} WHERE {where}" if format == "nt" else REFUSED
    assert written(format, [text], of_terms()) == written(format, [text], [])


@pytest.mark.parametrize("format", ["ndjson", "csv", "tsv", "arrow"])
def test_batch_of_which_distinct_refuses_every_match_leaves_the_output_whole(format: str) -> None:
    engine, file = rw.Engine(seed=1), io.BytesIO()
    sink = open_sink(format, [engine.register("SELECT DISTINCT ?o WHERE { ?s <http://e/p> ?o }")], file, seconds=True)
    pieces = (b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % n for n in range(3))
    batches = list(engine.run_batches(rw.read(pieces, format="nt", rate=1)))
    assert [len(found) for found in batches] == [1], "who is given batches is given matches"
    for found in batches:
        sink.write(found)
    sink.write([])
    sink.close()
    data = file.getvalue()
    rows = pa.ipc.open_stream(data).read_all().num_rows if format == "arrow" else data.count(b"http://e/o")
    assert rows == 1


def test_construct_becomes_n_triples() -> None:
    text = "CONSTRUCT { ?o <http://e/q> ?s . _:b <http://e/of> ?s } WHERE { ?s <http://e/p> ?o }"
    graph = Graph().parse(data=written("nt", [text], of_terms()), format="nt")
    assert (URIRef(E + "a,b"), URIRef(E + "q"), URIRef(E + "s0")) in graph
    made = list(graph.subject_objects(URIRef(E + "of")))
    assert len(made) == len(TERMS)
    assert len({blank for blank, _ in made}) == len(TERMS), "a blank node is new for every match"
    assert len(list(graph.subject_objects(URIRef(E + "q")))) == 2, "a literal cannot be a subject"


def test_matches_of_several_queries_leave_in_the_order_in_which_they_were_found() -> None:
    queries = ["SELECT ?s WHERE { ?s <http://e/p> ?o }", "SELECT ?o WHERE { ?s <http://e/p> ?o . ?s <http://e/p> ?o }"]
    lines = [json.loads(line) for line in written("ndjson", queries, of_terms()).splitlines()]
    assert [line["end"] for line in lines] == sorted(line["end"] for line in lines)
    assert Counter(line["query"] for line in lines) == {"query1": len(TERMS), "query2": len(TERMS)}
    rows = list(csv.DictReader(io.StringIO(written("csv", queries, of_terms()).decode(), newline="")))
    assert {row["query"]: row["s"] == "" for row in rows} == {"query1": False, "query2": True}
    table = pa.ipc.open_stream(written("arrow", queries, of_terms())).read_all()
    assert table["end"].to_pylist() == [line["end"] for line in lines]


def test_unbound_variable_is_left_out_of_json_and_empty_in_tables() -> None:
    union = "SELECT ?s ?o ?x WHERE { { ?s <http://e/p> ?o } UNION { ?x <http://e/none> ?o } }"
    (line,) = written("ndjson", [union], of_terms()[:1]).splitlines()
    assert sorted(json.loads(line)["bindings"]) == ["o", "s"]
    assert written("csv", [union], of_terms()[2:3]).splitlines()[1].endswith(b"plain,")


def test_match_of_static_data_alone_has_no_times() -> None:
    engine, file = rw.Engine(static=b"<http://e/a> <http://e/p> <http://e/b> ."), io.BytesIO()
    query = engine.register(SELECT)
    sink = open_sink("ndjson", [query], file, seconds=True)
    for batches in engine.run_batches(rw.read(b"", rate=1)):
        sink.write(batches)
    found = json.loads(file.getvalue())
    assert (found["start"], found["end"]) == (None, None)


def test_formats_that_do_not_fit_are_refused() -> None:
    engine, file = rw.Engine(), io.BytesIO()
    select = engine.register("SELECT ?start WHERE { ?start <http://e/p> ?o }")
    construct = engine.register("CONSTRUCT WHERE { ?s <http://e/p> ?o }")
    assert (usual_format([select]), usual_format([construct])) == ("ndjson", "nt")
    with pytest.raises(UsageError, match="no output format in common"):
        usual_format([select, construct])
    with pytest.raises(UsageError, match="is a SELECT query, which builds no triples"):
        open_sink("nt", [select], file, seconds=True)
    with pytest.raises(UsageError, match=r"\?start has the name of a column"):
        open_sink("csv", [select], file, seconds=True)
    with pytest.raises(UsageError, match="known: ndjson, csv"):
        open_sink("xml", [select], file, seconds=True)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_literal_survives_json(lexical: str) -> None:
    (line,) = written("ndjson", [SELECT], [(URIRef(E + "s"), URIRef(E + "p"), Literal(lexical))]).splitlines()
    assert json.loads(line)["bindings"]["o"] == {"type": "literal", "value": lexical}
