"""What the head of a query settles: its prefixes and its base, and so the canonical text of every term.

Data's way: text -> parse tree -> **canonical texts** -> algebra.
Invariant: equal terms get equal texts (docs/architecture.md): escapes resolved, relative IRIs resolved
against BASE as RFC 3986 says, language tags lower case, xsd:string left out.  A number keeps its lexical
form.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from lark import Token, Tree

from retewave.compiler.grammars import Source, rule, token
from retewave.epsilon.prefixes import WELL_KNOWN
from retewave.errors import QueryError

__all__ = ["RDF", "XSD", "Prologue", "is_absolute", "is_iri", "literal", "resolve", "unquote"]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"

_NUMBERS = {"INTEGER": "integer", "DECIMAL": "decimal", "DOUBLE": "double"}
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_IRI = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_ECHAR = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_QUOTED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_TO_QUOTE = re.compile(r'[\\"\n\r]')


@dataclass
class Prologue:
    """The prefixes and the base that hold where a term is read."""

    source: Source  # for the places of errors
    base: str = ""  # absolute, or empty when there is none
    prefixes: dict[str, str] = field(default_factory=dict)  # label without the colon -> IRI

    def declare_base(self, iri: Token) -> None:
        """Take a BASE line."""
        self.base = self.absolute(iri[1:-1], iri)

    def declare_prefix(self, label: str, iri: str, at: Token) -> None:
        """Take a PREFIX line; a later one of the same label wins."""
        self.prefixes[label] = self.absolute(iri, at)

    def absolute(self, iri: str, at: Token) -> str:
        """Resolve an IRI against the base."""
        if is_absolute(iri):
            return iri
        if not self.base:
            raise QueryError(
                f"<{iri}> is relative and the query has no BASE",
                place=self.source.place(at),
                hint="write the whole IRI, or a line BASE <...> at the top",
            )
        return resolve(self.base, iri)

    def iri(self, tree: Tree) -> str:
        """Return the absolute IRI that an `iri` tree names."""
        written = token(tree)
        if written[0] == "<":
            return self.absolute(written[1:-1], written)
        if rule(tree) == "bare_iri":
            return str(written)
        label, _, local = written.partition(":")
        if label not in self.prefixes:
            raise self._unknown_prefix(label, written)
        return self.prefixes[label] + (_ECHAR.sub(r"\1", local) if "\\" in local else local)

    def term(self, tree: Tree) -> bytes:
        """Return the canonical text of an IRI or literal."""
        match rule(tree):
            case "iri" | "bare_iri":
                return f"<{self.iri(tree)}>".encode()
            case "numeric_literal" | "signed_literal":
                number = token(tree)
                kind = number.type.rpartition("__")[2].removesuffix("_SIGNED")
                return literal(str(number), XSD + _NUMBERS[kind])
            case "boolean_literal":
                return literal(str(tree.children[0]).lower(), XSD + "boolean")
            case "rdf_literal":
                return self._string(tree)
            case "nil":
                return f"<{RDF}nil>".encode()
        raise TypeError(f"not a term: {tree.data}")

    def _string(self, tree: Tree) -> bytes:
        lexical = unquote(str(tree.children[0]))
        match tree.children[1:]:
            case [Token() as tag]:
                return literal(lexical, language=tag[1:])
            case [datatype]:
                return literal(lexical, self.iri(datatype))
        return literal(lexical)

    def _unknown_prefix(self, label: str, at: Token) -> QueryError:
        near = difflib.get_close_matches(label, self.prefixes, 1, 0.6)
        known = ", ".join(f"{each}:" for each in sorted(self.prefixes))
        if near:
            hint = f"did you mean {near[0]}:?"
        elif label in WELL_KNOWN:
            hint = f"add PREFIX {label}: <{WELL_KNOWN[label]}>"
        else:
            hint = f"the query declares {known}" if known else f"add PREFIX {label}: <...>"
        return QueryError(f"the prefix {label}: is not declared", place=self.source.place(at), hint=hint)


def literal(lexical: str, datatype: str = XSD + "string", language: str = "") -> bytes:
    r"""Return a literal's canonical text.

    >>> literal('say "hi"'), literal("5", XSD + "integer"), literal("chat", language="FR")
    (b'"say \\"hi\\""', b'"5"^^<http://www.w3.org/2001/XMLSchema#integer>', b'"chat"@fr')
    """
    quoted = f'"{_TO_QUOTE.sub(lambda match: _QUOTED[match[0]], lexical)}"'
    if language:
        return f"{quoted}@{language.lower()}".encode()
    if datatype == XSD + "string":
        return quoted.encode()
    return f"{quoted}^^<{datatype}>".encode()


def unquote(written: str) -> str:
    r"""Return the string that a string token stands for.

    >>> unquote(r"'a\tb'")
    'a\tb'
    """
    width = 3 if written[:3] in ('"""', "'''") and len(written) >= 6 else 1
    inner = written[width:-width]
    return _ECHAR.sub(lambda match: _CONTROL.get(match[1], match[1]), inner) if "\\" in inner else inner


def is_iri(written: str) -> bool:
    """Say whether a string is an absolute IRI.

    >>> is_iri("urn:a"), is_iri("urn:a b"), is_iri("a")
    (True, False, False)
    """
    return is_absolute(written) and not _NOT_IN_IRI.search(written)


def is_absolute(iri: str) -> bool:
    """Say whether an IRI begins with a scheme."""
    return _ABSOLUTE.match(iri) is not None


def resolve(base: str, reference: str) -> str:
    """Resolve a relative reference, for any scheme (RFC 3986, section 5.2.2).

    >>> resolve("http://a/b/c/d;p?q", "../g"), resolve("ex://h/x/y", "#z")
    ('http://a/b/g', 'ex://h/x/y#z')
    """
    scheme, authority, path, query, _ = urlsplit(base)
    _, own_authority, own_path, own_query, fragment = urlsplit(reference)
    if own_authority:
        authority, path, query = own_authority, _without_dots(own_path), own_query
    elif own_path.startswith("/"):
        path, query = _without_dots(own_path), own_query
    elif own_path:
        folder = path.rpartition("/")[0] if "/" in path or not authority else ""
        merged = f"{folder}/{own_path}" if authority or "/" in path else own_path
        path, query = _without_dots(merged), own_query
    elif "?" in reference:
        query = own_query
    whole = urlunsplit((scheme, authority, path, query, fragment))
    return whole + "#" if reference.endswith("#") and not fragment else whole


def _without_dots(path: str) -> str:
    kept: list[str] = []
    parts = path.split("/")
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "..":
            if len(kept) > 1:
                kept.pop()
        elif part != ".":
            kept.append(part)
            continue
        if last:
            kept.append("")
    return "/".join(kept)
