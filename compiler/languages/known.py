"""The languages, and how to tell in which language a text is written.

A new language is one record here.
"""

from __future__ import annotations

from retewave.compiler.languages.epsparql.query import EPSPARQL
from retewave.compiler.languages.language import Language
from retewave.compiler.languages.obep.query import OBEP
from retewave.compiler.languages.sparkwave.pattern_file import SPARKWAVE
from retewave.compiler.languages.sparql.query import SPARQL
from retewave.compiler.languages.spaseq.query import SPASEQ
from retewave.errors import UsageError

__all__ = ["LANGUAGES", "language_of", "named"]

LANGUAGES: tuple[Language, ...] = (
    SPARQL,
    EPSPARQL,
    SPASEQ,
    OBEP,
    SPARKWAVE,
)  # the first is taken where nothing says another


def named(name: str) -> Language:
    """Return a language by its name, or by the suffix of its files.

    >>> named("sparkwave") is named("tpg")
    True
    """
    for language in LANGUAGES:
        if name == language.name or f".{name}" in language.suffixes:
            return language
    known = ", ".join(language.name for language in LANGUAGES)
    raise UsageError(f"the language {name!r} is not known", hint=f"known: {known}")


def language_of(text: str, source: str) -> Language:
    """Return the language of a text: by its file's suffix, by words that only one language has, or else the first.

    >>> language_of("", "alarm.tpg").name, language_of("SELECT * { ?s ?p ?o }", "<query>").name
    ('sparkwave', 'sparql')
    """
    by_suffix = (language for language in LANGUAGES if source.endswith(language.suffixes))
    by_words = (language for language in LANGUAGES if language.knows(text))
    return next(by_suffix, None) or next(by_words, LANGUAGES[0])
