"""The graphs that a view is evaluated over (MEANING §7), and the rows that come of it, as pyoxigraph reads SPARQL."""

from __future__ import annotations

from collections import Counter

import pyoxigraph as ox

Triple = tuple[str, str, str]  # N-Triples texts
Pattern = tuple[str, str, str]  # terms, and variables with their question mark
Row = tuple[tuple[str, str], ...]  # (variable, term), by variable


def matches(pattern: Pattern, triple: Triple) -> bool:
    """Tell whether a triple is one that a pattern asks for."""
    pairs = list(zip(pattern, triple, strict=True))
    bound = {one: other for one, other in pairs if one[0] == "?"}
    return all(bound.get(one, one) == other for one, other in pairs)


def fill(store: ox.Store, triples: frozenset[Triple], graph: ox.NamedNode | ox.DefaultGraph) -> None:
    """Put triples into a graph of a store."""
    text = "".join(f"{' '.join(triple)} .\n" for triple in triples)
    store.load(text.encode(), format=ox.RdfFormat.N_TRIPLES, to_graph=graph)


def rows_of(found: object) -> Counter[Row]:
    """Return the rows of a result; ASK has one empty row, or none."""
    if isinstance(found, ox.QueryBoolean):
        return Counter([()] if bool(found) else [])
    assert isinstance(found, ox.QuerySolutions)
    names = [each.value for each in found.variables]
    rows: Counter[Row] = Counter()
    for each in found:
        pairs = ((name, term_text(str(each[name]))) for name in names if each[name] is not None)
        rows[tuple(sorted(pairs))] += 1
    return rows


def term_text(term: str) -> str:
    """Return a term such that equal numbers are equal texts."""
    lexical, quoted, datatype = term.rpartition('"^^<http://www.w3.org/2001/XMLSchema#')
    if not quoted or datatype not in ("integer>", "decimal>", "double>"):
        return term
    return f"{float(lexical[1:]):.9g} {datatype[:-1]}"
