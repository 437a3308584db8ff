"""The head of a query: its prefixes and its base, which give every term its canonical text.

Data's way: text -> parse tree -> **canonical texts** -> algebra.
Invariant: equal terms get equal texts (docs/architecture.md): escapes resolved, relative IRIs resolved
against BASE as RFC 3986 says, language tags lower case, xsd:string left out.  A number keeps its lexical
form.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lark import Token

from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Source, rule, token
from retewave.compiler.terms import RDF, XSD, is_absolute, literal, resolve, unquote
from retewave.epsilon.prefixes import WELL_KNOWN
from retewave.errors import QueryError

__all__ = ["Prologue"]

_LOCAL_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NUMBERS = {"INTEGER": "integer", "DECIMAL": "decimal", "DOUBLE": "double"}


@dataclass
class Prologue:
    """The prefixes and the base that hold where a term is read."""

    source: Source  # for the places of errors
    base: str = ""  # absolute, or empty when there is none
    prefixes: dict[str, str] = field(default_factory=dict)  # label without the colon -> IRI
    declared: set[str] = field(default_factory=set)  # the labels that the query declares; the others are given to it

    def declare_base(self, iri: Token) -> None:
        """Take a BASE line."""
        self.base = self.absolute(iri[1:-1], iri)

    def declare_prefix(self, label: str, iri: str, at: Token) -> None:
        """Take a PREFIX line; a later one of the same label wins."""
        self.prefixes[label] = self.absolute(iri, at)
        self.declared.add(label)

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

    def iri(self, tree: ParseTree) -> str:
        """Return the absolute IRI that an `iri` tree names."""
        written = token(tree)
        if written[0] == "<":
            return self.absolute(written[1:-1], written)
        if rule(tree) == "bare_iri":
            return str(written)
        label, _, local = ("", "", str(written)) if rule(tree) == "bare_name" else written.partition(":")
        if label not in self.prefixes:
            raise self._unknown_prefix(label, written)
        return self.prefixes[label] + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local)

    def reference(self, tree: ParseTree) -> str:
        """Return the name of a graph: its IRI, or its file as written."""
        # Without a BASE a relative reference is a file beside the query; it need not become an IRI.
        written = token(tree)
        return str(written[1:-1]) if written.startswith("<") and not self.base else self.iri(tree)

    def name(self, tree: ParseTree) -> bytes:
        """Return the canonical text of the IRI of a graph or window; a relative one without BASE stays as it is."""
        return f"<{self.reference(tree)}>".encode()

    def bare(self, name: Token) -> bytes:
        """Return the canonical text of the IRI that a word without brackets and prefix names: that of PREFIX :."""
        if "" not in self.prefixes:
            raise self._unknown_prefix("", name)
        return f"<{self.prefixes['']}{name}>".encode()

    def term(self, tree: ParseTree) -> bytes:
        """Return the canonical text of an IRI or literal."""
        match rule(tree):
            case "iri" | "bare_iri" | "bare_name":
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

    def _string(self, tree: ParseTree) -> bytes:
        lexical = unquote(str(tree.children[0]))
        match tree.children[1:]:
            case [Token() as tag]:
                return literal(lexical, language=tag[1:])
            case [datatype]:
                return literal(lexical, self.iri(datatype))
        return literal(lexical)

    def _unknown_prefix(self, label: str, at: Token) -> QueryError:
        near = difflib.get_close_matches(label, self.prefixes, 1, 0.6)
        if near:
            hint = f"did you mean {near[0]}:?"
        elif label in WELL_KNOWN:
            hint = f"add PREFIX {label}: <{WELL_KNOWN[label]}>"
        else:
            hint = f"add PREFIX {label}: <...>"
            if self.declared:
                hint += f"; the query declares {_labels(self.declared)}"
            if given := self.prefixes.keys() - self.declared:
                hint += f"; {_labels(given)} need{'s' * (len(given) == 1)} no declaration"
        return QueryError(f"the prefix {label}: is not declared", place=self.source.place(at), hint=hint)


def _labels(labels: Iterable[str]) -> str:
    return ", ".join(f"{each}:" for each in sorted(labels))
