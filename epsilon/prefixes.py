"""Well-known prefixes, and names that stand where an IRI is asked for.

Where it stands: at the edge: options, arguments, hints, explanations.
Invariant: a prefixed name is never taken for an IRI: it is resolved, or refused.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from retewave.errors import UsageError

__all__ = ["WELL_KNOWN", "absolute", "expanded"]

WELL_KNOWN: Final = MappingProxyType(
    {
        "dc": "http://purl.org/dc/elements/1.1/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "owl": "http://www.w3.org/2002/07/owl#",
        "prov": "http://www.w3.org/ns/prov#",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "sioc": "http://rdfs.org/sioc/ns#",
        "sosa": "http://www.w3.org/ns/sosa/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    }
)
_OPAQUE = ("urn", "tag", "mailto", "did", "info", "ni", "data", "geo", "tel", "cid", "mid", "oid", "file")
_IRI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):[^\x00-\x20<>\"{}|^`\\]*")


def expanded(name: str) -> str:
    """Return the IRI that a name with a well-known prefix stands for; every other text as it is.

    >>> expanded("prov:generatedAtTime"), expanded("http://e/at")
    ('http://www.w3.org/ns/prov#generatedAtTime', 'http://e/at')
    """
    prefix, colon, local = name.partition(":")
    known = colon and prefix in WELL_KNOWN and not local.startswith("//")
    return WELL_KNOWN[prefix] + local if known else name


def absolute(name: object, what: str) -> str:
    """Return the IRI that somebody has written: in full, in angle brackets, or with a well-known prefix.

    >>> absolute("ex:at", "a time property")
    Traceback (most recent call last):
        ...
    retewave.errors.UsageError: a time property is an absolute IRI, not 'ex:at'
      hint: write it in full (http://…), or as <ex:at> if that is all of it; the prefixes known here are dc, foaf, owl, prov, rdf, rdfs, sioc, sosa, xsd
    """  # noqa: E501
    if isinstance(name, str):
        bracketed = name.startswith("<") and name.endswith(">")
        iri = name[1:-1] if bracketed else expanded(name)
        found = _IRI.fullmatch(iri)
        if found and (bracketed or "://" in iri or found[1].lower() in _OPAQUE):
            return iri
    known = ", ".join(WELL_KNOWN)
    raise UsageError(
        f"{what} is an absolute IRI, not {name!r}",
        hint=f"write it in full (http://…), or as <{name}> if that is all of it; the prefixes known here are {known}",
    )
