"""The functions of filters on strings: the checks of their arguments (SPARQL 1.1, section 17.4.3), and their values.

Data's way: interpreter (rete/filters/interpreter.py) -> **functions of strings** -> its stack, or a verdict.
A string on the stack is a term, or computed: part of a term's text, which `views` tells as long as it is on the stack.
Computed terms are simple literals, IRIs (DATATYPE's) and literals with the language of the term that they were made of.
Invariant: a decided value is SPARQL's own.  Undecided are:
* functions that need Unicode's tables: LCASE, UCASE and the flag i beyond ASCII, as far as it matters;
* the string of a number that arithmetic has made.
"""

from __future__ import annotations

from retewave.rete.filters import codes as op
from retewave.rete.filters.codes import ERROR as E
from retewave.rete.filters.codes import ERROR_VALUE, UNDECIDED_VALUE
from retewave.rete.filters.codes import FALSE as F
from retewave.rete.filters.codes import TRUE as T
from retewave.rete.filters.codes import UNDECIDED as U
from retewave.rete.terms import kinds as kinds
from retewave.rete.terms.strings import (
    AS_WRITTEN,
    LOWER,
    UPPER,
    comparable,
    ends,
    finds,
    in_ascii,
    length,
    order,
    starts,
)
from retewave.rete.words.ascii import BACKSLASH, MINUS, NOT_ASCII, QUOTE, SPACE, STAR
from retewave.rete.words.bare import address_in
from retewave.rete.words.bytes import byte
from retewave.rete.words.jit import inlined, kernel

__all__ = ["VIEW_WIDTH", "apply_to_string", "string_test", "strings_compared"]

VIEW_WIDTH = 4
_AT, _SIZE, _CASE, _ORIGIN = 0, 1, 2, 3  # of a computed string; the last is the term that has its language


# Terms and strings


@inlined
def _text(term, values):  # type: ignore[no-untyped-def]
    """Return where a term's text begins, and where it ends."""
    at = address_in(values.arena) + values.spans[2 * term]
    return at, at + values.spans[2 * term + 1]


@kernel
def _parts(term, values):  # type: ignore[no-untyped-def]
    """Return where the string of an IRI or literal begins, where it ends, and where the term's text ends."""
    at, end = _text(term, values)
    if values.kind[term] == kinds.IRI:
        return at + 1, end - 1, end
    quote = end - 1
    while byte(quote) != QUOTE:
        quote -= 1
    return at + 1, quote, end


@kernel
def _string(filters, top, values):  # type: ignore[no-untyped-def]
    """Return the string of an IRI or a literal on the stack."""
    if filters.term[top] == 0:
        view = top * VIEW_WIDTH
        return filters.views[view + _AT], filters.views[view + _SIZE], filters.views[view + _CASE]
    begin, end, _ = _parts(filters.term[top], values)
    return begin, end - begin, AS_WRITTEN


@kernel
def _language(filters, top, values):  # type: ignore[no-untyped-def]
    """Return the language tag, as a string, of a literal with a language."""
    term = filters.term[top]
    if term == 0:
        term = filters.views[top * VIEW_WIDTH + _ORIGIN]
    _, quote, end = _parts(term, values)
    return quote + 2, end - quote - 2, AS_WRITTEN


@kernel
def _put(filters, top, kind, string, origin):  # type: ignore[no-untyped-def]
    """Put a computed string on the stack."""
    view = top * VIEW_WIDTH
    filters.kind[top], filters.number[top], filters.bound[top], filters.term[top] = kind, 0.0, 0.0, 0
    filters.views[view + _AT], filters.views[view + _SIZE], filters.views[view + _CASE] = string
    filters.views[view + _ORIGIN] = origin


@kernel
def _put_number(filters, top, kind, number):  # type: ignore[no-untyped-def]
    """Put a computed number, which is exact, or a truth value on the stack."""
    filters.kind[top], filters.number[top], filters.bound[top], filters.term[top] = kind, number, 0.0, 0


@kernel
def _put_kind(filters, top, kind):  # type: ignore[no-untyped-def]
    """Put an error or an undecided value on the stack."""
    filters.kind[top], filters.term[top] = kind, 0


@inlined
def _is_string(kind):  # type: ignore[no-untyped-def]
    return kind == kinds.STRING or kind == kinds.LANG


@inlined
def _is_term(kind):  # type: ignore[no-untyped-def]
    return kind < UNDECIDED_VALUE


# Comparison


@kernel
def strings_compared(action, filters, top, values):  # type: ignore[no-untyped-def]
    """Return the verdict of a comparison of two IRIs, two simple literals, or two literals with a language."""
    kind, one, other = filters.kind[top], filters.term[top], filters.term[top + 1]
    ordered = action >= op.LESS and action <= op.GREATER_OR_EQUAL
    if ordered and kind != kinds.STRING:
        return E
    if one != 0 and other != 0 and (one == other or not ordered):
        relation = 0 if one == other else 1
    else:
        left, right = _string(filters, top, values), _string(filters, top + 1, values)
        if not comparable(left, right):
            return U
        relation = order(left, right)
        if kind == kinds.LANG and order(_language(filters, top, values), _language(filters, top + 1, values)) != 0:
            relation = 1
    return T if _holds(action, relation) else F


@inlined
def _holds(action, relation):  # type: ignore[no-untyped-def]
    if action == op.EQUAL or action == op.SAME_TERM:
        return relation == 0
    if action == op.NOT_EQUAL:
        return relation != 0
    if action == op.LESS or action == op.LESS_OR_EQUAL:
        return relation < 0 or (relation == 0 and action == op.LESS_OR_EQUAL)
    return relation > 0 or (relation == 0 and action == op.GREATER_OR_EQUAL)


# Functions


@kernel
def apply_to_string(action, first, second, filters, top, values):  # type: ignore[no-untyped-def]
    """Replace the value at `top` by the result of a function of one argument."""
    kind = filters.kind[top]
    if not _is_term(kind):
        return
    if action == op.TRUTH:
        _truth(filters, top, kind, values)
    elif action == op.STR:
        _str(filters, top, kind, values)
    elif action == op.LANG:
        _lang(filters, top, kind, values)
    elif action == op.DATATYPE:
        _datatype(filters, top, kind, first, second, values)
    elif not _is_string(kind):
        _put_kind(filters, top, ERROR_VALUE)
    else:
        _of_string(action, filters, top, kind, values)


@kernel
def _truth(filters, top, kind, values):  # type: ignore[no-untyped-def]
    if _is_string(kind):
        truth = 1.0 if _string(filters, top, values)[1] > 0 else 0.0
        _put_number(filters, top, kinds.BOOLEAN, truth)


@kernel
def _of_string(action, filters, top, kind, values):  # type: ignore[no-untyped-def]
    """Apply LCASE, UCASE or STRLEN to a string."""
    string = _string(filters, top, values)
    if string[2] != AS_WRITTEN and not in_ascii(string):
        _put_kind(filters, top, UNDECIDED_VALUE)
    elif action == op.STRLEN:
        _put_number(filters, top, kinds.INTEGER, float(length(string)))
    else:
        origin = filters.term[top] if filters.term[top] != 0 else filters.views[top * VIEW_WIDTH + _ORIGIN]
        _put(filters, top, kind, (string[0], string[1], LOWER if action == op.LCASE else UPPER), origin)


@kernel
def _str(filters, top, kind, values):  # type: ignore[no-untyped-def]
    if kind == kinds.BLANK:
        _put_kind(filters, top, ERROR_VALUE)
    elif filters.term[top] == 0 and kind != kinds.IRI and not _is_string(kind):
        _put_kind(filters, top, UNDECIDED_VALUE)
    else:
        _put(filters, top, kinds.STRING, _string(filters, top, values), 0)


@kernel
def _lang(filters, top, kind, values):  # type: ignore[no-untyped-def]
    if kind == kinds.IRI or kind == kinds.BLANK:
        _put_kind(filters, top, ERROR_VALUE)
    else:
        tag = _language(filters, top, values) if kind == kinds.LANG else (0, 0, AS_WRITTEN)
        _put(filters, top, kinds.STRING, tag, 0)


@kernel
def _datatype(filters, top, kind, string, lang_string, values):  # type: ignore[no-untyped-def]
    if kind == kinds.IRI or kind == kinds.BLANK:
        _put_kind(filters, top, ERROR_VALUE)
    elif _is_string(kind):
        filters.kind[top], filters.term[top] = kinds.IRI, string if kind == kinds.STRING else lang_string
    elif filters.term[top] == 0:
        _put_kind(filters, top, UNDECIDED_VALUE)
    else:
        _, quote, end = _parts(filters.term[top], values)
        _put(filters, top, kinds.IRI, (quote + 4, end - quote - 5, AS_WRITTEN), 0)


# Tests of two strings


@kernel
def string_test(action, how, filters, top, values):  # type: ignore[no-untyped-def]
    """Return the verdict of a function on the values at `top` and behind it."""
    kind, other = filters.kind[top], filters.kind[top + 1]
    for each in (kind, other):
        if each == ERROR_VALUE or (_is_term(each) and not _is_string(each)):
            return E
    if not (_is_term(kind) and _is_term(other)):
        return U
    string, part = _string(filters, top, values), _string(filters, top + 1, values)
    if action == op.LANG_MATCHES:
        return _lang_matches(string, part) if kind == kinds.STRING else U
    if action == op.REGEX:
        return _regex(string, part, how)
    if other == kinds.LANG:
        if kind != kinds.LANG:
            return E
        if order(_language(filters, top, values), _language(filters, top + 1, values)) != 0:
            return E
    return _found(action, string, part)


@kernel
def _found(action, string, part):  # type: ignore[no-untyped-def]
    if not comparable(string, part):
        return U
    if action == op.STRSTARTS:
        return T if starts(string, part) else F
    if action == op.STRENDS:
        return T if ends(string, part) else F
    found = finds(string, part)
    return U if found < 0 else T if found == 1 else F


@kernel
def _regex(string, part, how):  # type: ignore[no-untyped-def]
    """Look for a part at one end, at both, or anywhere."""
    at, size, case = string
    if how & op.REGEX_ANY_CASE:
        if not in_ascii(string) and case != AS_WRITTEN:
            return U
        string = (at, size, LOWER)
    if not how & op.REGEX_AT_END:
        return _found(op.STRSTARTS if how & op.REGEX_AT_START else op.CONTAINS, string, part)
    if how & op.REGEX_AT_START and size != part[1]:
        return F if comparable(string, part) else U
    return _found(op.STRENDS, string, part)


@kernel
def _lang_matches(tag, wanted):  # type: ignore[no-untyped-def]
    """Match a tag by basic filtering (RFC 4647, section 3.3.1); a text that is no tag is not decided here."""
    at, size, _ = tag
    for place in range(at, at + size):
        if byte(place) <= SPACE or byte(place) >= NOT_ASCII or byte(place) == BACKSLASH:
            return U
    if wanted[1] == 1 and byte(wanted[0]) == STAR:
        return T if size > 0 else F
    if not starts((at, size, LOWER), wanted):
        return F
    return T if size == wanted[1] or byte(at + wanted[1]) == MINUS else F
