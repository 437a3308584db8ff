"""The parts of a branch that share no variable: a cartesian product, which a user must allow."""

from __future__ import annotations

from retewave.compiler.algebra import Variable
from retewave.compiler.rewrite.branch import Branch

__all__ = ["parts_of"]


def parts_of(branch: Branch) -> tuple[str, ...]:
    """Return as text the parts of a branch that no variable connects; a single part if all are connected.

    A pattern without variables does not count as a part: it multiplies only arrivals.

    >>> from retewave.compiler.rewrite.normal import branches
    >>> from retewave.compiler.parse import parse
    >>> (branch,) = branches(parse("SELECT * { ?a <urn:p> ?b . ?c <urn:q> ?d . ?b <urn:r> ?e }"))
    >>> parts_of(branch)
    ('?a <urn:p> ?b . ?b <urn:r> ?e', '?c <urn:q> ?d')
    """
    parts: list[tuple[set[Variable], list[tuple[int, str]]]] = []
    for place, (variables, text) in enumerate(_pieces(branch)):
        if not variables:
            continue
        joined, texts = set(variables), [(place, text)]
        for part in [part for part in parts if part[0] & joined]:
            parts.remove(part)
            joined |= part[0]
            texts += part[1]
        parts.append((joined, sorted(texts)))
    return tuple(" . ".join(text for _, text in texts) for _, texts in sorted(parts, key=lambda part: part[1]))


def _pieces(branch: Branch) -> list[tuple[frozenset[Variable], str]]:
    pieces = [(pattern.variables, str(pattern)) for pattern in branch.patterns]
    for part in branch.parts:
        # The pieces of a part count one by one: variables that connect them inside it connect them here, too.
        pieces += _pieces(part.branch)
    for table in branch.values:
        names = " ".join(str(variable) for variable in table.variables)
        pieces.append((frozenset(table.variables), f"VALUES ({names})"))
    return pieces
