"""Turn a text into a parse tree, with errors in human words.

Data's way: **text -> parse tree** -> algebra.  Each language has one lark parser (LALR), built when it is first used.
Invariant: a syntax error is a `QueryError` with its place and the words that could stand there instead.
Left out: all questions of meaning, such as prefixes, scopes and clauses that do not run yet.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from retewave.compiler.languages.language import GRAMMARS, Language, ParseTree
from retewave.errors import Place, QueryError

__all__ = ["Node", "Source", "first_token", "kind_of", "read", "rule", "token", "tokens_of", "trees_of"]

Node = ParseTree | Token

_OURS = Path(__file__).parent  # the folder of all languages that come with retewave
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")

# Names of SPARQL's terminals in messages; keywords and punctuation stand for themselves.
_WORDS = {
    "ANON": "a blank node",
    "BLANK_NODE_LABEL": "a blank node",
    "COMPARISON": "a comparison",
    "DECIMAL": "a number",
    "DECIMAL_SIGNED": "a number",
    "DOUBLE": "a number",
    "DOUBLE_SIGNED": "a number",
    "FALSE": "true or false",
    "INTEGER": "a number",
    "INTEGER_SIGNED": "a number",
    "IRIREF": "an IRI",
    "LANGTAG": "a language tag",
    "MINUS_SIGN": "'-'",
    "NIL": "'()'",
    "PLUS": "'+'",
    "PNAME_LN": "an IRI",
    "PNAME_NS": "an IRI",
    "SLASH": "'/'",
    "STAR": "'*'",
    "QUESTION": "'?'",
    "STRING_LITERAL": "a string",
    "STRING_LITERAL_LONG": "a string",
    "TRUE": "true or false",
    "VAR": "a variable",
    "$END": "the end",
}
_CLOSERS = ("'}'", "')'", "']'")  # the tokens most often forgotten
_QUOTES = ("'", '"')
_FUNCTIONS = re.compile(r"BUILTIN_|BNODE$|BOUND$|COUNT$|SET_FUNCTION$|GROUP_CONCAT$|EXISTS$")
_A_FUNCTION = "a function"


@dataclass(frozen=True)
class Source:
    """The text of a query and where it came from."""

    text: str  # with \\uXXXX escapes resolved, which SPARQL does before anything else (section 19.2)
    name: str  # a file's path, or "<query>"

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines, for excerpts."""
        return self.text.split("\n")

    def place(self, node: Node) -> Place:
        """Return where a node starts."""
        first = node if isinstance(node, Token) else first_token(node)
        return self.at(first.line or 1, first.column or 1) if first else self.at(1, 1)

    def at(self, line: int, column: int) -> Place:
        """Return a place by its line and column."""
        excerpt = self.lines[line - 1].rstrip("\r") if line <= len(self.lines) else ""
        return Place(self.name, line, column, excerpt)


def rule(tree: ParseTree) -> str:
    """Return the name of a tree's rule, without the prefix that lark gives to an imported one."""
    return str(tree.data).rpartition("__")[2]


def token(tree: ParseTree, index: int = 0) -> Token:
    """Return the token that is a child of a tree."""
    found = tree.children[index]
    assert isinstance(found, Token)
    return found


def kind_of(written: Token) -> str:
    """Return the name of a token's terminal, without that prefix."""
    return written.type.rpartition("__")[2]


def tokens_of(tree: ParseTree) -> list[Token]:
    """Return the children of a tree that are tokens."""
    return [part for part in tree.children if isinstance(part, Token)]


def trees_of(tree: ParseTree) -> list[ParseTree]:
    """Return the children of a tree that are trees."""
    return [part for part in tree.children if isinstance(part, Tree)]


def first_token(tree: ParseTree) -> Token | None:
    """Return the first token below a tree."""
    rest: list[Node] = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, Token):
            return node
        rest += reversed(node.children)
    return None


def read(text: str, name: str, language: Language) -> tuple[ParseTree, Source]:
    """Parse a text in a language."""
    source = Source(_resolve_escapes(text.removeprefix("\ufeff")), name)
    _check_characters(source)
    try:
        return _parser(language.grammar).parse(source.text), source
    except UnexpectedInput as error:
        raise _syntax_error(error, source, language) from None


def _resolve_escapes(text: str) -> str:
    if "\\u" not in text and "\\U" not in text:
        return text
    return _ESCAPE.sub(_resolve_escape, text)


def _resolve_escape(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code <= sys.maxunicode else match[0]


def _check_characters(source: Source) -> None:
    """Refuse half of a surrogate pair: it is not a character, so no term can hold it."""
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        before = source.text[: error.start]
        place = source.at(before.count("\n") + 1, error.start - before.rfind("\n"))
        what = f"U+{ord(source.text[error.start]):04X} is not a character"
        raise QueryError(what, place=Place(place.source, place.line, place.column)) from error


@cache
def _parser(grammar: Path) -> Lark:
    # Building the tables takes half a second, so they are kept beside the modules' bytecode; lark sees when a
    # grammar, its options or its own version have changed, and goes without where the folder cannot be written.
    return Lark.open(
        str(grammar),
        parser="lalr",
        propagate_positions=False,
        maybe_placeholders=False,
        import_paths=list(map(str, GRAMMARS)),
        cache=_cache_file(grammar) if _OURS in grammar.parents else False,
    )


def _cache_file(grammar: Path) -> str | bool:
    folder = grammar.parent / "__pycache__"
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    return str(folder / f"{grammar.name}.tables")


def _syntax_error(error: UnexpectedInput, source: Source, language: Language) -> QueryError:
    expected = _expected(error, language)
    said = f"expected {_listed(expected)}" if expected else ""
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        last = len(source.lines)
        what = "the query ends too early"
        return QueryError(what, place=source.at(last, len(source.lines[-1]) + 1), hint=said)
    found = _found(error, source)
    if found[1:-1] in _QUOTES:
        place = source.at(error.line, error.column)
        return QueryError("a string does not end", place=place, hint="only a string in three quotes may go on")
    place = source.at(error.line, error.column)
    known = [*expected, *_members(expected, language)]
    hint = _mistake(error, found, source, language) or _reserved(found, said, expected, language)
    hint = hint or _guess(found, known) or said
    return QueryError(f"{found} cannot stand here", place=place, hint=hint)


def _reserved(found: str, said: str, expected: list[str], language: Language) -> str:
    """Return the hint for a word of the language where a name is expected, or an empty text."""
    word = found[1:-1]
    if word.upper() not in language.reserved or "a name" not in expected:
        return ""
    return f"{said}; {word} is a word of the language: choose another name or alias, or write a prefix, :{word}"


def _mistake(error: UnexpectedInput, found: str, source: Source, language: Language) -> str:
    """Return the language's own hint for the mistake at the end of the text, or an empty text."""
    end = (error.pos_in_stream or 0) + len(found) - 2  # without the quotes
    for pattern, hint in language.mistakes:
        match = pattern.search(source.text, 0, end)
        if match:
            return match.expand(hint)
    return ""


def _found(error: UnexpectedInput, source: Source) -> str:
    if isinstance(error, UnexpectedToken):
        return repr(str(error.token))
    word = re.compile(r"\w+|.", re.DOTALL).match(source.text, error.pos_in_stream or 0)
    return repr(word[0]) if word else "this"


def _expected(error: UnexpectedInput, language: Language) -> list[str]:
    names: Iterable[str] = ()
    if isinstance(error, UnexpectedCharacters):
        names = error.allowed or ()
    elif isinstance(error, UnexpectedToken):
        names = filter(partial(_fits, error), _choices(error, language.grammar))
    words = {_word(name, language) for name in names if not name.endswith(("WHITESPACE", "COMMENT"))}
    if _A_FUNCTION in words:
        words.discard("NOT")  # where an expression stands, it begins NOT EXISTS
    return sorted(words - language.refused, key=lambda word: (word not in _CLOSERS, word[0] in "'(", word.lower()))


def _choices(error: UnexpectedToken, grammar: Path) -> list[str]:
    # lark's own lists (`expected`, `accepts`) pass over the terminals that an imported grammar brings.
    known = {each.name for each in _parser(grammar).terminals} | {"$END"}
    parser: Any = error.interactive_parser
    return [name for name in parser.choices() if name in known]


def _fits(error: UnexpectedToken, name: str) -> bool:
    # An LALR table also lists tokens that then fail: only trying a token tells whether it may stand here.
    state = error.interactive_parser.parser_state.copy(deepcopy_values=False)
    state.parse_conf = copy(state.parse_conf)
    state.parse_conf.callbacks = {}
    try:
        state.feed_token(Token(name, ""), is_end=name == "$END")
    except (UnexpectedToken, KeyError):
        return False
    return True


def _word(name: str, language: Language) -> str:
    short = name.rpartition("__")[2]
    called = language.words.get(short) or _WORDS.get(short)
    if called:
        return called
    if _FUNCTIONS.match(short):
        return _A_FUNCTION
    terminal = _terminals(language.grammar).get(name, short)
    return terminal if terminal[0].isalpha() else f"'{terminal}'"


@cache
def _terminals(grammar: Path) -> dict[str, str]:
    terminals = _parser(grammar).terminals
    return {each.name: each.pattern.value for each in terminals if each.pattern.type == "str"}


def _members(expected: list[str], language: Language) -> Iterator[str]:
    """Yield the terminals that messages name by one common word: functions, operators."""
    for name, pattern in _alternatives(language.grammar).items():
        if _word(name, language) in expected:
            yield from (member.upper() for member in re.findall(r"\w{2,}", pattern))


@cache
def _alternatives(grammar: Path) -> dict[str, str]:
    terminals = ((each.name, each.pattern.value) for each in _parser(grammar).terminals if each.pattern.type == "re")
    return {name: found[0] for name, value in terminals if (found := re.match(r"(?:\(\?:)?\w+(?:\|\w+)+", value))}


def _listed(words: list[str], limit: int = 8) -> str:
    if len(words) > limit:
        return ", ".join(words[:limit]) + " ..."
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _guess(found: str, expected: list[str]) -> str:
    keywords = [word for word in expected if word.isupper()]
    near = difflib.get_close_matches(found.strip("'").upper(), keywords, 1, 0.75)
    return f"did you mean {near[0]}?" if near else ""
