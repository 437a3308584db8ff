"""Large queries and large terms take as long as they are: work is counted, nothing is timed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import retewave as rw
from retewave.compiler.expressions.programs import conjunction
from retewave.compiler.parse import parse
from retewave.compiler.rewrite.normal import branches
from retewave.errors import UsageError
from retewave.io import rdf
from retewave.io.lines import lines

LIKES = "SELECT ?o { ?s <http://e/p> ?o }"
FORMS = {
    "conditions of one filter": lambda n: "FILTER(" + " && ".join(f"?y > {i}" for i in range(n)) + ")",
    "alternatives of one filter": lambda n: "FILTER(" + " || ".join(f"?y > {i}" for i in range(n)) + ")",
    "filters": lambda n: " ".join(f"FILTER(?y > {i})" for i in range(n)),
    "members of a list": lambda n: "FILTER(?y IN (" + ", ".join(map(str, range(n))) + "))",
    "rows of a table": lambda n: "VALUES ?y { " + " ".join(map(str, range(n))) + " }",
}


def calls(work: Callable[[], Any]) -> int:
    """Return how many functions are called, of Python and of C."""
    count = 0

    def note(_frame: object, event: str, _given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("form", FORMS)
def test_twice_as_many_parts_of_a_query_are_twice_as_much_work(form: str) -> None:
    def registered(count: int) -> Callable[[], None]:
        text = f"SELECT ?x {{ ?x <http://e/p> ?y . {FORMS[form](count)} }}"

        def work() -> None:
            engine = rw.Engine(seed=1)
            engine.register(text)
            engine.flush()

        return work

    registered(3)()  # what is loaded at the first time does not count
    once, twice = calls(registered(400)), calls(registered(800))
    assert twice < 2.3 * once


def test_a_conjunction_takes_each_instruction_once() -> None:
    taken = 0

    class Program(tuple):
        def __add__(self, other: object) -> Any:
            raise AssertionError("a program is copied for each that follows")

        def __radd__(self, other: object) -> Any:
            raise AssertionError("what there is so far is copied for each program")

        def __iter__(self) -> Any:
            nonlocal taken
            taken += len(self)
            return super().__iter__()

    code = conjunction(Program((n, 0, 0)) for n in range(100))
    assert len(code) == 3 * (100 + 99) and taken <= 300


@pytest.mark.jit
def test_filters_and_assignments_may_be_thousands() -> None:
    filters = " ".join(f"FILTER(?y != {i})" for i in range(3_000))
    bound = " ".join(f"BIND(?y + {i} AS ?b{i})" for i in range(1_200))
    (branch,) = branches(parse(f"SELECT ?x {{ ?x <http://e/p> ?y . {bound} {filters} }}"))
    assert len(branch.steps) == 4_200
    engine = rw.Engine()
    engine.register(f"SELECT ?x {{ ?x <http://e/p> ?y . {filters} }}")
    assert len(engine.push(("http://e/s", "http://e/p", 5_000), time=0)) == 1
    assert not engine.push(("http://e/s", "http://e/p", 2_999), time=0)


@pytest.mark.jit
def test_a_long_line_that_comes_in_pieces_is_not_moved_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = 0

    class Counting(bytearray):
        def __setitem__(self, place: Any, value: Any) -> None:
            nonlocal moved
            moved += len(value) if isinstance(place, slice) else 1
            super().__setitem__(place, value)

    monkeypatch.setattr(lines, "bytearray", Counting, raising=False)
    readable, writable = os.pipe()
    size = 4 << 20

    def feed() -> None:
        with os.fdopen(writable, "wb") as sink:
            sink.write(b'<http://e/s> <http://e/p> "' + b"z" * size + b'" .\n')

    feeding = threading.Thread(target=feed)
    feeding.start()
    engine = rw.Engine()
    engine.register(LIKES)
    with os.fdopen(readable, "rb") as source:
        (match,) = engine.run(rw.read(source, format="nt", rate=1))
    feeding.join()
    assert len(match.text("o") or b"") == size + 2
    assert moved < 2 * size


@pytest.mark.parametrize("kind", ["", "@en", "^^<http://e/kind>"])
def test_a_literal_longer_than_a_parser_takes_at_once_is_pushed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = r"a\\\"\u00e9\U0001F600\n" + "\\\\" * 7
    text = f'"{written * 9}"{kind}'
    whole = rdf._parsed(text)
    for piece in range(11, 40):
        monkeypatch.setattr(rdf, "_PIECE", piece)
        assert rdf._parsed(text) == whole


def test_a_literal_of_seventeen_megabytes_with_escapes_is_a_term() -> None:
    assert rdf.to_text('"' + "\\n" * (17 << 19) + '"') == b'"' + b"\\n" * (17 << 19) + b'"'


@pytest.mark.parametrize("wrong", ['"{}\\"', '"{}" "x"', '"{}"x"', "{}", "<{}", '"{}\\u00"'])
def test_an_error_about_a_long_term_tells_its_beginning_only(wrong: str) -> None:
    with pytest.raises(UsageError) as error:
        rdf.to_text(wrong.format("z" * (2 << 20)))
    assert len(str(error.value)) < 2_000


def test_long_terms_are_not_kept_by_the_way() -> None:
    before = rdf._of_short.cache_info().currsize
    rdf.to_text('"' + "q" * 1_000 + '"')
    assert rdf._of_short.cache_info().currsize == before
