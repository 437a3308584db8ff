"""The record of a query language.  All other code asks this record, so a new language is one folder and one line.

Data's way: text -> **which language** -> its grammar -> its builder -> algebra.
Left out: the list of languages (`known`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lark import Tree

if TYPE_CHECKING:
    from retewave.compiler.algebra import Algebra, Query
    from retewave.compiler.expressions.tree import Expression
    from retewave.compiler.languages.context import Context
    from retewave.compiler.languages.reading import Source

__all__ = ["GRAMMARS", "SHARED_GRAMMARS", "Language", "ParseTree"]

ParseTree = Tree[Any]  # the grammar, not a type, says which children a tree has

SHARED_GRAMMARS = Path(__file__).parent / "sparql"  # of SPARQL and its dialects
GRAMMARS = (SHARED_GRAMMARS, Path(__file__).parent / "windows")  # where a grammar finds the grammars that it imports

_COMMENTS_AND_STRINGS = re.compile(r"<[^<>\s]*>|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")


@dataclass(frozen=True, eq=False)
class Language:
    """A query language."""

    name: str  # the name that users give
    suffixes: tuple[str, ...]  # of its files, with the dot
    grammar: Path  # its lark file: LALR; it may import the grammars in `GRAMMARS`
    build: Callable[[ParseTree, Source, Language], Query]  # makes the query of a parse tree
    recognises: re.Pattern[str] | None = None  # words that only its texts have; None: there are none
    words: Mapping[str, str] = field(default_factory=dict)  # names of its own terminals in messages
    views: bool = False  # whether its queries may be views: windows that slide, aggregates, order
    refused: frozenset[str] = frozenset()  # keywords that parse only to be refused; no hint names them
    reserved: frozenset[str] = frozenset()  # words, in capitals, that are no names unless they have a prefix
    mistakes: tuple[tuple[re.Pattern[str], str], ...] = ()  # end of an unreadable text -> hint
    patterns: Mapping[str, Callable[[ParseTree, Context], Algebra]] = field(
        default_factory=dict
    )  # rule -> its own pattern
    expressions: Mapping[str, Callable[[ParseTree, Context], Expression]] = field(
        default_factory=dict
    )  # rule -> likewise

    def knows(self, text: str) -> bool:
        """Tell whether a text can only be of this language."""
        return self.recognises is not None and bool(self.recognises.search(_COMMENTS_AND_STRINGS.sub("", text)))
