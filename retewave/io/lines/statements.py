"""One line: where the terms of its statement are, and where it ends.

Data's way: bytes of a line -> **spans of its terms** -> the statement is gathered (`gathered.py`), or refused.
"""

from __future__ import annotations

from retewave.io.lines import reasons as why
from retewave.io.lines.characters import decode
from retewave.io.lines.job import (
    FORESEEN,
    GRAPHS,
    K_AT,
    K_NEXT,
    K_OTHER,
    K_SIZE,
    KNOWN_NOW,
    LAST,
    LIMIT,
    NO_GRAPHS,
)
from retewave.io.lines.literals import literal
from retewave.io.lines.terms import FAULT, GRAPH, OBJECT, PREDICATE, SUBJECT, blank, blanks_end, fault, iri
from retewave.rete.words.ascii import CR, DOT, HASH, LESS, LF, QUOTE, UNDERSCORE
from retewave.rete.words.bytes import BLOCK, Address, byte, cell, first_string_stop, same, set_cell
from retewave.rete.words.jit import inlined, kernel

__all__ = [
    "rest",
    "statement",
]


@inlined
def _node(job: Address, span: Address, at: Address, reason: int) -> Address:
    """Scan an IRI or a blank node."""
    if byte(at) == LESS:
        return iri(job, span, at)
    return blank(job, span, at) if byte(at) == UNDERSCORE else fault(job, reason, at)


@inlined
def _subject(job: Address, at: Address) -> Address:
    """Scan the subject.  An IRI is first compared with the last subject: statements come grouped by subject."""
    last, size = cell(job, LAST), cell(job, LAST + 1)
    if byte(at) == LESS and size > 0 and at + size <= cell(job, LIMIT) and same(last, at, size):
        set_cell(job + SUBJECT, 0, last)
        set_cell(job + SUBJECT, 1, size)
        return at + size
    return _node(job, job + SUBJECT, at, why.NO_SUBJECT)


@inlined
def _is_predicate(job: Address, known: Address, at: Address) -> bool:
    """Tell whether the text at the address is a predicate that was met."""
    size = cell(known, K_SIZE)
    return size > 0 and at + size <= cell(job, LIMIT) and same(cell(known, K_AT), at, size)


@inlined
def _predicate(job: Address, at: Address) -> Address:
    """Scan the predicate, unless it is a foreseen predicate."""
    known = cell(cell(job, KNOWN_NOW), K_NEXT)
    if not _is_predicate(job, known, at):
        known = cell(cell(job, KNOWN_NOW), K_OTHER)
        if not _is_predicate(job, known, at):
            set_cell(job, FORESEEN, 0)
            return iri(job, job + PREDICATE, at) if byte(at) == LESS else fault(job, why.NO_PREDICATE, at)
    size = cell(known, K_SIZE)
    set_cell(job, FORESEEN, known)
    set_cell(job + PREDICATE, 0, at)
    set_cell(job + PREDICATE, 1, size)
    return at + size


@inlined
def _graph(job: Address, at: Address) -> Address:
    """Scan the fourth term, if there is one, and the blanks behind it: it is compared with the subject first."""
    set_cell(job + GRAPH, 1, 0)
    if byte(at) == DOT:
        return at
    if cell(job, GRAPHS) == NO_GRAPHS:
        return fault(job, why.NO_GRAPH_HERE if byte(at) == LESS or byte(at) == UNDERSCORE else why.NO_DOT, at)
    subject, size = cell(job + SUBJECT, 0), cell(job + SUBJECT, 1)
    if byte(at) == LESS and at + size <= cell(job, LIMIT) and same(subject, at, size):  # an event, named as its subject
        set_cell(job + GRAPH, 0, at)
        set_cell(job + GRAPH, 1, size)
        return blanks_end(at + size)
    end = _node(job, job + GRAPH, at, why.NO_DOT)
    return blanks_end(end) if end != FAULT else FAULT


@inlined
def _terms(job: Address, at: Address) -> Address:
    """Scan the terms of a statement: return the address where its dot should be."""
    at = _subject(job, at)
    if at == FAULT:
        return FAULT
    at = _predicate(job, blanks_end(at))
    if at == FAULT:
        return FAULT
    at = blanks_end(at)
    at = literal(job, job + OBJECT, at) if byte(at) == QUOTE else _node(job, job + OBJECT, at, why.NO_OBJECT)
    return _graph(job, blanks_end(at)) if at != FAULT else FAULT


@kernel
def _comment_end(job: Address, at: Address) -> Address:
    """Return the address of the line's end behind a comment, which has to be valid UTF-8."""
    while True:
        step = first_string_stop(at)
        at += step
        if step == BLOCK:
            continue
        if byte(at) == LF or byte(at) == CR:
            return at
        _, length = decode(at)
        if length == 0:
            return fault(job, why.BAD_UTF8, at)
        at += length


@inlined
def rest(job: Address, at: Address) -> Address:
    """Return the address of the line's end, before which there may be blanks and a comment."""
    at = blanks_end(at)
    if byte(at) == LF or byte(at) == CR:
        return at
    return _comment_end(job, at) if byte(at) == HASH else fault(job, why.TRAILING, at)


@inlined
def statement(job: Address, at: Address) -> Address:
    """Scan a statement, and blanks or a comment behind it: return the address of the line's end."""
    dot = _terms(job, at)
    if dot == FAULT:
        return FAULT
    return rest(job, dot + 1) if byte(dot) == DOT else fault(job, why.NO_DOT, dot)
