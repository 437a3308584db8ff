"""What an engine tells of a case in time, in the form of the naive meaning."""

from __future__ import annotations

import warnings
from collections import Counter

from cases.engine import written
from cases.temporal import Case
from hypothesis import assume
from naive.detectors import detected
from naive.tokens import Token

import retewave as rw
from retewave.engine.registry import CartesianWarning, UnboundedWarning
from retewave.errors import QueryError

REFUSED = (  # what the documents say is refused, and is drawn now and then
    "what may be missing depends on a variable that BIND gives another value each time, or a time",
    "is assigned by BIND, and a policy compares what ",
    "the times of a group that is a part of another cannot be given to a variable",
    "FIRST and LAST are decided with the whole pattern",
    "a filter beside FIRST or LAST compares times with a variable of the other side",
    "FIRST or LAST chooses in a window that is narrower",
    "FIRST and LAST inside of each other make more than",
)
Told = tuple[int | None, int | None, tuple[tuple[str, str], ...]]


def engine_for(case: Case, **options: object) -> tuple[rw.Engine, rw.Query]:
    """Return an engine that listens for a case's query."""
    static = [[written(triple) for triple in sorted(case.static)]]
    engine = rw.Engine(static=static, seed=1, max_future=None, allow_cartesian=True, **options)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning):
            warnings.simplefilter("ignore", each)
        return engine, engine.register(case.query, keep=None)


def shown(match: rw.Match) -> Told:
    """Return a match as it is compared."""
    bindings = tuple(sorted((name, (match.text(name) or b"").decode()) for name in match))
    if match.start is None:
        return None, None, bindings
    assert match.end is not None
    return round(float(match.start) * 1e6), round(float(match.end) * 1e6), bindings  # type: ignore[arg-type]


def of_token(token: Token) -> Told:
    """Return a token likewise."""
    bindings = tuple(sorted((variable.name, text.decode()) for variable, text in token.bindings.items()))
    if token.end < token.start:
        return None, None, bindings
    return token.start, token.end, bindings


def push(engine: rw.Engine, case: Case, place: int) -> list[Told]:
    """Push one item of a case; return what is told."""
    item = case.stream[place]
    time = (item.start / 1e6, item.end / 1e6)
    return [
        shown(match) for match in engine.push([written(item.triple)], time=time, stream=item.stream, event=item.event)
    ]


def all_told(engine: rw.Engine, case: Case) -> Counter[Told]:
    """Push all items of a case, and flush; return what is told."""
    found = Counter(shown(match) for match in engine.flush())
    for place in range(len(case.stream)):
        found.update(push(engine, case, place))
    found.update(shown(match) for match in engine.flush())
    return found


def check_told(case: Case) -> None:
    """Check that an engine tells what the naive meaning says, unless it refuses the query for a known reason."""
    try:
        engine, _ = engine_for(case)
    except QueryError as refused:
        assert any(each in refused.what for each in REFUSED)
        assume(condition=False)
        raise
    assert all_told(engine, case) == Counter(map(of_token, detected(case.query, case.stream, case.static)))
