"""Why a line is not N-Triples or N-Quads: codes for the kernels, sentences for people.

Data's way: the scanner's kernels note a code and a column; the reader makes a report of them.
Invariant: a code is the index of its sentence.
Left out: nothing; every malformed line has exactly one reason, that of its first fault.
"""

from __future__ import annotations

__all__ = [
    "BAD_ESCAPE",
    "BAD_IRI_CHARACTER",
    "BAD_LABEL",
    "BAD_STRING_ESCAPE",
    "BAD_SURROGATE",
    "BAD_TAG",
    "BAD_UTF8",
    "LINE_TOO_LONG",
    "NO_DATATYPE",
    "NO_DOT",
    "NO_GRAPH_HERE",
    "NO_OBJECT",
    "NO_PREDICATE",
    "NO_SUBJECT",
    "OPEN_IRI",
    "OPEN_STRING",
    "REASONS",
    "RELATIVE_IRI",
    "TRAILING",
]

NO_SUBJECT = 0
NO_PREDICATE = 1
NO_OBJECT = 2
NO_DOT = 3
NO_GRAPH_HERE = 4
TRAILING = 5
OPEN_IRI = 6
BAD_IRI_CHARACTER = 7
RELATIVE_IRI = 8
OPEN_STRING = 9
BAD_ESCAPE = 10
BAD_STRING_ESCAPE = 11
BAD_SURROGATE = 12
BAD_UTF8 = 13
BAD_LABEL = 14
BAD_TAG = 15
NO_DATATYPE = 16
LINE_TOO_LONG = 17

REASONS = (
    "expected a subject: an IRI in <…> or a blank node _:…",
    "expected a predicate: an IRI in <…>",
    "expected an object: an IRI in <…>, a blank node _:… or a literal in quotes",
    'expected " ." at the end of the statement',
    "N-Triples has no fourth term; read the file as N-Quads",
    "only a comment may follow the statement's dot",
    "the IRI is not closed by >",
    "the character is not allowed in an IRI",
    "the IRI is not absolute: it does not start with a scheme and a colon",
    "the literal is not closed by a quote",
    "the escape is not \\u with four or \\U with eight hexadecimal digits",
    "the escape is none of \\t \\b \\n \\r \\f \\\" \\' \\\\ \\u \\U",
    "the escape is not a Unicode character",
    "the bytes are not UTF-8; is it Latin-1? all texts are UTF-8: iconv -f LATIN1 -t UTF-8 converts it",
    "the blank node's label is malformed",
    "the language tag is malformed",
    "expected a datatype: an IRI in <…> behind ^^",
    "the line is too long",
)
