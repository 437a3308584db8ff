"""Decide the temporal relation of two intervals: Allen's thirteen, by small integer codes.

Data's way: ... -> dispatch -> **memories and joins** -> match rows -> ...; a join that carries a relation
asks `holds` for each pair of rows.  The function is plain Python over integers, and compiles in numba as it
is: `retewave.rete` jits it.

Invariant: of two proper intervals (start < end) exactly one of the thirteen relations holds.  Of instants at
least one does, and sometimes more: an instant at an interval's start both MEETS and STARTS it.

SEQ of EP-SPARQL (left.end < right.start) is Allen's BEFORE, and EQUALS is Allen's own: one code each.
A static token has no place in time (+inf, -inf): the answer of `holds` means nothing there, and a
language does not relate static tokens.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "AFTER",
    "BEFORE",
    "CONTAINS",
    "DURING",
    "EQUALS",
    "FINISHED_BY",
    "FINISHES",
    "MEETS",
    "MET_BY",
    "NAMES",
    "NONE",
    "OVERLAPPED_BY",
    "OVERLAPS",
    "SEQ",
    "STARTED_BY",
    "STARTS",
    "bounds",
    "code_of",
    "holds",
    "inverse",
]

NONE: Final = 0  # no relation asked for: any two intervals
EQUALS: Final = 1
BEFORE: Final = 2
AFTER: Final = 3
MEETS: Final = 4
MET_BY: Final = 5
OVERLAPS: Final = 6
OVERLAPPED_BY: Final = 7
STARTS: Final = 8
STARTED_BY: Final = 9
DURING: Final = 10
CONTAINS: Final = 11
FINISHES: Final = 12
FINISHED_BY: Final = 13
SEQ: Final = BEFORE  # EP-SPARQL's name

NAMES: Final = (
    "none", "equals", "before", "after", "meets", "met by", "overlaps", "overlapped by", "starts",
    "started by", "during", "contains", "finishes", "finished by",
)  # fmt: skip  # the code is the index


def holds(code: int, l_start: int, l_end: int, r_start: int, r_end: int) -> bool:
    """Tell whether the left interval is in this relation to the right one.

    An odd code above EQUALS is the inverse of the even code below it: swap the sides, then decide seven.

    >>> holds(SEQ, 1, 2, 3, 4), holds(SEQ, 1, 3, 3, 4), holds(MEETS, 1, 3, 3, 4)
    (True, False, True)
    >>> holds(DURING, 2, 3, 1, 4), holds(CONTAINS, 1, 4, 2, 3)
    (True, True)
    """
    if code == NONE:
        return True
    if code == EQUALS:
        return l_start == r_start and l_end == r_end
    if code % 2 == 1:
        l_start, l_end, r_start, r_end = r_start, r_end, l_start, l_end
        code -= 1
    if code == BEFORE:
        return l_end < r_start
    if code == MEETS:
        return l_end == r_start
    if code == OVERLAPS:
        return l_start < r_start and r_start < l_end and l_end < r_end
    if code == STARTS:
        return l_start == r_start and l_end < r_end
    if code == DURING:
        return r_start < l_start and l_end < r_end
    if code == FINISHES:
        return r_start < l_start and l_end == r_end
    raise ValueError("an unknown code of a temporal relation")


Side = tuple[int, bool]  # 0 for the left interval, 1 for the right one; whether its end is meant, else its start
_LS, _LE, _RS, _RE = (0, False), (0, True), (1, False), (1, True)
_BOUNDS: Final[dict[int, tuple[tuple[Side, int, Side], ...]]] = {
    NONE: (),
    EQUALS: ((_LS, 0, _RS), (_RS, 0, _LS), (_LE, 0, _RE), (_RE, 0, _LE)),
    BEFORE: ((_LE, 1, _RS),),
    MEETS: ((_LE, 0, _RS), (_RS, 0, _LE)),
    OVERLAPS: ((_LS, 1, _RS), (_RS, 1, _LE), (_LE, 1, _RE)),
    STARTS: ((_LS, 0, _RS), (_RS, 0, _LS), (_LE, 1, _RE)),
    DURING: ((_RS, 1, _LS), (_LE, 1, _RE)),
    FINISHES: ((_RS, 1, _LS), (_LE, 0, _RE), (_RE, 0, _LE)),
}


def bounds(code: int) -> tuple[tuple[Side, int, Side], ...]:
    """Return what a relation says of the four times: each triple says that the first and the gap are at most the last.

    >>> bounds(SEQ), bounds(AFTER)
    ((((0, True), 1, (1, False)),), (((1, True), 1, (0, False)),))
    """
    if code in _BOUNDS:
        return _BOUNDS[code]
    return tuple(((1 - one, e), gap, (1 - other, f)) for (one, e), gap, (other, f) in _BOUNDS[inverse(code)])


def inverse(code: int) -> int:
    """Return the relation that the right side has to the left.

    >>> NAMES[inverse(BEFORE)], NAMES[inverse(CONTAINS)], NAMES[inverse(EQUALS)]
    ('after', 'during', 'equals')
    """
    if not 0 <= code < len(NAMES):
        raise ValueError(f"no temporal relation has the code {code}; the codes are 0 to {len(NAMES) - 1}")
    if code in (NONE, EQUALS):
        return code
    return code ^ 1


def code_of(name: str) -> int:
    """Return the code of a relation by its name; case, blanks, hyphens and underscores do not matter.

    >>> code_of("OVERLAPPED-BY") == OVERLAPPED_BY, code_of("seq") == SEQ
    (True, True)
    """
    plain = " ".join(name.lower().replace("-", " ").replace("_", " ").split())
    if plain == "seq":
        return SEQ
    if plain not in NAMES:
        raise ValueError(f"no temporal relation is called {name!r}; the known ones are seq, {', '.join(NAMES)}")
    return NAMES.index(plain)
