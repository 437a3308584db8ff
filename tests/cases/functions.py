"""Every function, operator and cast of SPARQL 1.1, and every kind of argument: what tests of functions go through.

A cell of the table is an expression of ?a (and ?b) and a term for each; the terms are in Oxigraph's canonical form
where it keeps no other, and `_:blank` and `UNDEF` stand for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

XSD = "http://www.w3.org/2001/XMLSchema#"
BLANK = "_:blank"
UNBOUND = "UNDEF"


def typed(kind: str, *lexicals: str) -> list[str]:
    return [f'"{lexical}"^^<{XSD}{kind}>' for lexical in lexicals]


INTEGERS = [
    *("nonPositiveInteger", "negativeInteger", "long", "int", "short", "byte", "nonNegativeInteger"),
    *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte", "positiveInteger"),
]
NUMBERS = [
    *typed("integer", "0", "5", "-3", "123456789012345678901234567890"),
    *typed("decimal", "2.5", "-2.5", "0.1", "0"),
    *typed("float", "1.5", "-0.5", "INF", "NaN", "-0"),
    *typed("double", "1.0E0", "-2.5E0", "1.0E300", "1.0E-1", "INF", "-INF", "NaN", "-0.0E0"),
    *(typed(kind, "-5" if kind in ("nonPositiveInteger", "negativeInteger") else "5")[0] for kind in INTEGERS),
]
OTHERS = [
    *typed("boolean", "true", "false"),
    *typed("dateTime", "2020-01-02T03:04:05.5-05:30", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05"),
    *typed("dateTime", "1999-12-31T24:00:00Z"),
    *typed("date", "2020-01-02", "2020-01-02Z"),
    *typed("time", "03:04:05Z"),
    *typed("dayTimeDuration", "P1DT2H"),
    *typed("yearMonthDuration", "P1Y"),
    *typed("duration", "P1Y2DT3H"),
    '"5"^^<urn:unknown>',
]
STRINGS = [
    '"abc"',
    '""',
    '"5"',
    '"true"',
    '"a b/é"',
    '"stra\u00dfe"',
    '"abc"@en',
    '"b"@en',
    '"b"',
    '"1"@fr',
    '"en"',
    '"*"',
]
ILL_TYPED = [
    *typed("integer", "x", "1_000", "1.5", "", " 5"),
    *typed("decimal", "1e4", "1_0.5", "INF", "x"),
    *typed("float", "x", "1_0", "inf"),
    *typed("double", "x", "1e", "1_0E1"),
    *typed("boolean", "TRUE", "yes"),
    *typed("dateTime", "2020-02-30T00:00:00Z", "x"),
    *typed("date", "2020-13-01"),
    *typed("time", "25:00:00"),
    *typed("duration", "P", "1Y"),
    *typed("dayTimeDuration", "P1Y"),
    *typed("yearMonthDuration", "P1D"),
    *typed("byte", "200"),
    *typed("unsignedByte", "-1"),
    *typed("positiveInteger", "0"),
    *typed("int", "2147483648"),
]
IRIS = ["<http://e/x>", f"<{XSD}integer>"]
TERMS = [*IRIS, BLANK, *STRINGS, *NUMBERS, *OTHERS, *ILL_TYPED, UNBOUND]
FEWER = [  # for pairs: one of each kind
    *(
        "<http://e/x>",
        f"<{XSD}integer>",
        BLANK,
        '"abc"',
        '""',
        '"5"',
        '"b"',
        '"b"@en',
        '"abc"@en',
        '"b"@fr',
        '"en"',
        '"*"',
    ),
    *typed("integer", "0", "5", "x", "1_000"),
    *typed("decimal", "2.5", "0", "1e4"),
    *typed("float", "1.5", "NaN"),
    *typed("double", "1.0E0", "INF", "NaN"),
    *typed("byte", "5", "200"),
    *typed("boolean", "true", "yes"),
    *typed("dateTime", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05", "x"),
    *typed("date", "2020-01-02"),
    *typed("time", "03:04:05Z"),
    *typed("dayTimeDuration", "P1DT2H"),
    *typed("yearMonthDuration", "P1Y"),
    *typed("duration", "P1Y2DT3H", "P"),
    '"5"^^<urn:unknown>',
    UNBOUND,
]

OF_ONE = [
    *(f"{name}(?a)" for name in ("STR", "LANG", "DATATYPE", "IRI", "URI", "BNODE", "ABS", "CEIL", "FLOOR", "ROUND")),
    *(f"{name}(?a)" for name in ("STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "CONCAT", "YEAR", "MONTH", "DAY")),
    *(f"{name}(?a)" for name in ("HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256", "SHA384")),
    *(f"{name}(?a)" for name in ("SHA512", "isIRI", "isURI", "isBLANK", "isLITERAL", "isNUMERIC", "BOUND")),
    *(f"<{XSD}{kind}>(?a)" for kind in ("boolean", "double", "float", "decimal", "integer", "dateTime", "string")),
    *("!?a", "-?a", "+?a", 'IF(?a, "yes", "no")', 'COALESCE(?a, "none")', "?a && true", "?a || false", "?a IN ()"),
    *('REGEX(?a, "b")', 'REPLACE(?a, "b", "[$0]")', "SUBSTR(?a, 2)", "STRDT(?a, <urn:t>)", 'STRLANG(?a, "en")'),
]
OF_TWO = [
    *(f"{name}(?a, ?b)" for name in ("LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER")),
    *(f"{name}(?a, ?b)" for name in ("STRLANG", "STRDT", "sameTerm", "SUBSTR", "CONCAT", "REGEX", "COALESCE")),
    *(f"?a {symbol} ?b" for symbol in ("=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "&&", "||")),
    *("?a IN (?b, 5)", "?a NOT IN (?b, 5)", 'IF(?a, ?b, "no")', 'SUBSTR("abc", ?a, ?b)', 'REPLACE(?a, ?b, "-")'),
    *('REPLACE("abc", "b", ?a, ?b)', 'REGEX("abc", ?a, ?b)'),
]
OF_NONE = ["CONCAT()", "COALESCE()"]


def cells() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Return each expression with the terms of ?a and ?b that it is asked for."""
    for text in OF_NONE:
        yield text, [(UNBOUND, UNBOUND)]
    for text in OF_ONE:
        yield text, [(term, UNBOUND) for term in TERMS]
    for text in OF_TWO:
        yield text, [(one, other) for one in FEWER for other in FEWER]
