"""The front door of the languages: from the text of a query to a `Query`.

Data's way: **text -> query** -> normal form -> plan -> network.
"""

from __future__ import annotations

from retewave.compiler.algebra import Query
from retewave.compiler.languages.known import language_of, named
from retewave.compiler.languages.language import Language
from retewave.compiler.languages.reading import read
from retewave.errors import QueryError

__all__ = ["parse"]


def parse(text: str, *, source: str = "<query>", language: str | Language | None = None) -> Query:
    """Read a query; the language is guessed from the source's suffix and the text unless it is given.

    >>> query = parse("SELECT ?s { ?s a <urn:Offer> }")
    >>> query.projection, str(query.where.patterns[0])
    (('s',), '?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Offer>')
    """
    if language is None:
        language = language_of(text, source)
    elif isinstance(language, str):
        language = named(language)
    try:
        return language.build(*read(text, source, language), language)
    except RecursionError as error:
        raise QueryError(f"{source}: the query is nested too deeply") from error
