"""Canonical texts of IRIs and literals: escapes resolved, relative IRIs resolved, one text for equal terms.

Data's way: what a query writes, what a function computes -> **texts** -> algebra, dictionary.
Invariant: equal terms get equal texts (docs/architecture.md); an IRI is resolved as RFC 3986 says.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

__all__ = ["RDF", "XSD", "is_absolute", "is_iri", "literal", "resolve", "unquote"]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_IRI = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_ECHAR = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def literal(lexical: str, datatype: str = XSD + "string", language: str = "") -> bytes:
    r"""Return a literal's canonical text.

    >>> literal('say "hi"'), literal("5", XSD + "integer"), literal("chat", language="FR")
    (b'"say \\"hi\\""', b'"5"^^<http://www.w3.org/2001/XMLSchema#integer>', b'"chat"@fr')
    """
    quoted = f'"{_quoted(lexical)}"'
    if language:
        return f"{quoted}@{language.lower()}".encode()
    if datatype == XSD + "string":
        return quoted.encode()
    return f"{quoted}^^<{datatype}>".encode()


def _quoted(lexical: str) -> str:
    return lexical.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")


def unquote(written: str) -> str:
    r"""Return the string that a string token stands for.

    >>> unquote(r"'a\tb'")
    'a\tb'
    """
    width = 3 if written[:3] in ('"""', "'''") and len(written) >= 6 else 1
    inner = written[width:-width]
    return _ECHAR.sub(lambda match: _CONTROL.get(match[1], match[1]), inner) if "\\" in inner else inner


def is_iri(written: str) -> bool:
    """Tell whether a string is an absolute IRI.

    >>> is_iri("urn:a"), is_iri("urn:a b"), is_iri("a")
    (True, False, False)
    """
    return is_absolute(written) and not _NOT_IN_IRI.search(written)


def is_absolute(iri: str) -> bool:
    """Tell whether an IRI begins with a scheme."""
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
