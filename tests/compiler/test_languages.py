"""A language is one record: what reads, guesses, lists and refuses asks it, and nothing else knows of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lark import Tree

from retewave import Engine
from retewave.compiler.algebra import Filter, Query, visible
from retewave.compiler.expressions.tree import Expression, Operation
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.known import LANGUAGES, language_of, named
from retewave.compiler.languages.language import Language
from retewave.compiler.languages.reading import Source
from retewave.compiler.languages.sparql.expressions import expression
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.compiler.languages.sparql.query import declare
from retewave.compiler.languages.sparql.triples import triples
from retewave.compiler.parse import parse
from retewave.engine.registry import read_query
from retewave.errors import QueryError, UsageError
from retewave.windows import durations


def build(tree: Tree, source: Source, language: Language) -> Query:
    context = Context(source, Prologue(source), language)
    prologue, block, *conditions, span = tree.children[0].children
    declare(prologue, context)
    where = triples(block, context)
    names = tuple(each.name for each in visible(where))
    for condition in conditions:
        where = Filter(expression(condition, context), where)
    return context.query(form="SELECT", where=where, projection=names, window=durations.parse(str(span)))


def twice(tree: Tree, context: Context) -> Expression:
    number = expression(tree.children[0], context)
    return Operation("+", (number, number))


TOY = Language(
    name="toy",
    suffixes=(".toy",),
    grammar=Path(__file__).with_name("toy.lark"),
    build=build,
    recognises=re.compile(r"\bSEE\b"),
    words={"SPAN": "a number of seconds"},
    expressions={"twice": twice},
)


def test_a_language_of_ten_lines_runs_without_a_change_anywhere_else() -> None:
    engine = Engine()
    query = engine.register("SEE ?who <urn:likes> ?what . ?what <urn:is> <urn:warm> WITHIN 5s", language=TOY)
    assert query.parsed.language == "toy"
    engine.push(("urn:ann", "urn:likes", "urn:tea"), time=1)
    assert [match["who"].n3() for match in engine.push(("urn:tea", "urn:is", "urn:warm"), time=6)] == ["<urn:ann>"]
    assert not engine.push(("urn:tea", "urn:is", "urn:warm"), time=7)


def test_a_language_has_expressions_of_its_own() -> None:
    engine = Engine()
    engine.register("SEE ?who <urn:age> ?age . IF (?age > TWICE 5) WITHIN 5s", language=TOY)
    assert not engine.push(("urn:ann", "urn:age", 10), time=1)
    assert engine.push(("urn:ann", "urn:age", 11), time=1)


def test_a_languages_own_words_stand_in_its_messages() -> None:
    with pytest.raises(QueryError) as raised:
        parse("SEE ?who <urn:likes> ?what . WITHIN soon", language=TOY)
    assert raised.value.hint == "expected a number of seconds"
    assert raised.value.place is not None and raised.value.place.column == 37


def test_the_language_of_a_text_is_told_by_its_files_suffix_then_by_its_words_else_it_is_the_first() -> None:
    for language in LANGUAGES:
        for suffix in language.suffixes:
            assert language_of("", f"some{suffix}") is language
    assert language_of("TIMEWINDOW (5)", "<query>") is named("sparkwave")
    assert language_of("SELECT * { ?x ?p 'TIMEWINDOW' } # TIMEWINDOW", "<query>") is LANGUAGES[0]


def test_names_and_suffixes_of_languages_are_different() -> None:
    names = [language.name for language in LANGUAGES]
    suffixes = [suffix for language in LANGUAGES for suffix in language.suffixes]
    assert len(set(names)) == len(names) and len(set(suffixes)) == len(suffixes)


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'sparqll' is not known") as raised:
        Engine().register("SELECT * { ?x ?p ?y }", language="sparqll")
    assert raised.value.hint == "known: " + ", ".join(each.name for each in LANGUAGES)


def test_keywords_that_a_language_refuses_by_name_are_in_none_of_its_hints() -> None:
    for language in LANGUAGES:
        with pytest.raises(QueryError) as raised:
            parse("SELECT * { ?x ?p ?y . , }", language=language)
        assert raised.value.hint and not set(re.findall(r"\w+", raised.value.hint)) & language.refused


def test_a_text_in_one_line_without_braces_is_no_path_unless_such_a_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_query("SEE ?who ?does ?what WITHIN 5s", TOY).window == 5_000_000
    Path("my query").write_text("SELECT * { ?x ?p ?y }")
    assert read_query("my query").projection == ("x", "p", "y")
    for missing in ("query", "no such.rq", "other.tpg"):
        with pytest.raises(UsageError, match="there is no file"):
            read_query(missing)
