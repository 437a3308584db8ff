"""The value side table's vocabulary: what kind of value a term has.

Data's way: bytes -> reader -> dictionary (fills the side table at interning) -> kernel's filters (read it).
Invariant: a literal whose lexical form its datatype does not allow is NONE, as is one of an unknown datatype.
Left out: how a lexical form is read (rete/terms/value.py), and what a filter makes of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = [
    "BLANK",
    "BOOLEAN",
    "DATE",
    "DATETIME",
    "DATETIME_LOCAL",
    "DATE_LOCAL",
    "DAYTIME_DURATION",
    "DECIMAL",
    "DOUBLE",
    "DURATION",
    "FLOAT",
    "INTEGER",
    "IRI",
    "LANG",
    "NONE",
    "STRING",
    "YEARMONTH_DURATION",
    "Values",
]

NONE = 0  # an unknown datatype, or an ill-formed lexical form
IRI = 1
BLANK = 2
STRING = 3  # a plain literal: xsd:string
LANG = 4  # a literal with a language tag
BOOLEAN = 5  # number: 0 or 1
INTEGER = 6  # xsd:integer and every type derived from it
DECIMAL = 7
FLOAT = 8  # number: read in double precision, as rdflib reads it
DOUBLE = 9
DATETIME = 10  # with a zone; number: microseconds since 1970-01-01T00:00:00Z
DATETIME_LOCAL = 11  # without a zone; number: as if it were UTC
DATE = 12  # with a zone; number: microseconds to its first instant
DATE_LOCAL = 13  # without a zone; number: as if it were UTC
DAYTIME_DURATION = 14  # number: microseconds
YEARMONTH_DURATION = 15  # number: months
DURATION = 16  # xsd:duration, only partly ordered; number: microseconds, which decide where there are no months


class Values(NamedTuple):
    """The side table: arrays indexed by TermId. Growing replaces them, so fetch them anew for every chunk."""

    kind: np.ndarray  # uint8: one of the constants above
    number: np.ndarray  # float64: the value as a number, 0.0 where the kind has none
    exact: np.ndarray  # uint8: 1 where comparing two exact numbers of comparable kinds compares the values
    hashes: np.ndarray  # int64: the hash of the term's text: equal texts, equal hashes, wherever the seed is the same
    spans: np.ndarray  # int64, two a term: where in the arena its text starts, its size
    arena: np.ndarray  # uint8: the texts, not indexed by id.  With the spans of one fetch: those of that moment
