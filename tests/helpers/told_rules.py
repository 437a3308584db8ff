"""What an engine tells of rules, query by query, in the form of the naive meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from cases.rules import RulesCase
from naive.detectors import detected_all
from naive.tokens import Token

import retewave as rw
from helpers.told import Told, of_token, shown
from retewave.compiler.algebra import Query, Variable


def by_query(found: Iterable[rw.Match]) -> dict[str, Counter[Told]]:
    """Return what was told, query by query; new blank nodes are not told apart."""
    told: dict[str, Counter[Told]] = {}
    for match in found:
        told.setdefault(match.query.name, Counter())[_without_labels(shown(match))] += 1
    return told


def naive(case: RulesCase, queries: list[rw.Query]) -> dict[str, Counter[Told]]:
    """Return what is to be told, likewise."""
    tokens = detected_all(case.queries, case.stream, case.static)
    told = {}
    for query, parsed, found in zip(queries, case.queries, tokens, strict=True):
        if found:
            told[query.name] = Counter(_without_labels(of_token(_shown_of(parsed, token))) for token in found)
    return told


def _shown_of(query: Query, token: Token) -> Token:
    """Return a token with what its query shows: of a rule, what its template mentions."""
    if query.form == "SELECT":
        return token
    terms = {term for triple in query.template for term in (triple.subject, triple.predicate, triple.object)}
    shown = {v: text for v, text in token.bindings.items() if v in terms and isinstance(v, Variable)}
    return replace(token, bindings=shown)


def _without_labels(told: Told) -> Told:
    start, end, bindings = told
    return start, end, tuple((name, re.sub(r"^_:.*", "_:", text)) for name, text in bindings)
