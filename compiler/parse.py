"""The front door of the languages: from the text of a query to a `Query`.

Data's way: **text -> query** -> normal form -> plan -> network.
A language is a grammar file and the builder of its frame; the pattern inside is SPARQL's in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lark import Tree

from retewave.compiler.algebra import Query
from retewave.compiler.build_query import build
from retewave.compiler.build_tpg import build_tpg
from retewave.compiler.grammars import Source, read
from retewave.errors import QueryError, UsageError

__all__ = ["LANGUAGES", "parse"]

# Language -> (grammar, builder).  C-SPARQL's grammar contains SPARQL's, so both are read by it.
LANGUAGES: dict[str, tuple[str, Callable[[Tree, Source, str], Query]]] = {
    "sparql": ("csparql", build),
    "tpg": ("tpg", build_tpg),
}
_TPG_WORDS = re.compile(r"\b(?:EPSILON_ONTOLOGY|STATIC_INSTANCES|HANDLERS|TIMEWINDOW)\b", re.IGNORECASE)
_COMMENTS_AND_STRINGS = re.compile(r"<[^<>\s]*>|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")


def parse(text: str, *, source: str = "<query>", language: str | None = None) -> Query:
    """Read a query; the language is guessed from the source's suffix and the text unless it is given.

    >>> query = parse("SELECT ?s { ?s a <urn:Offer> }")
    >>> query.projection, str(query.where.patterns[0])
    (('s',), '?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Offer>')
    """
    language = language or _guess(text, source)
    if language not in LANGUAGES:
        raise UsageError(f"the language {language!r} is not known", hint=f"known: {', '.join(LANGUAGES)}")
    grammar, builder = LANGUAGES[language]
    try:
        return builder(*read(text, source, grammar), language)
    except RecursionError as error:
        raise QueryError(f"{source}: the query is nested too deeply") from error


def _guess(text: str, source: str) -> str:
    if source.endswith(".tpg"):
        return "tpg"
    return "tpg" if _TPG_WORDS.search(_COMMENTS_AND_STRINGS.sub("", text)) else "sparql"
