"""What each operator of time means, in the words of its definition: at equal times, at the bound, and beside it."""

from __future__ import annotations

import pytest
from naive.detectors import detected
from naive.streams import Item
from naive.times import duration_text, moment_text, window_of
from naive.tokens import Token

from retewave.compiler import algebra
from retewave.compiler.algebra import Algebra, Query, Stream, TriplePattern, Triples, Variable, visible
from retewave.compiler.expressions.tree import Call, Constant, Expression, Operation
from retewave.windows import relations

XSD = b"<http://www.w3.org/2001/XMLSchema#"
W = 10  # the width of windows, in microseconds


def iri(name: str) -> bytes:
    return f"<urn:{name}>".encode()


def one(predicate: str, subject: str = "?x", object_: str = "?{}") -> Triples:
    """Return the pattern of one triple, whose object is a variable of the predicate's name unless said otherwise."""
    texts = (subject, predicate, object_.format(predicate))
    s, p, o = (Variable(text[1:]) if text.startswith("?") else iri(text) for text in texts)
    return Triples((TriplePattern(s, p, o),))


A, B, C, N = one("a"), one("b"), one("c"), one("n")


def item(written: str, start: int, end: int | None = None, stream: str | None = None) -> Item:
    """Return an item; `written` is a subject, a predicate and an object: "s a 1"."""
    s, p, o = (iri(part) for part in written.split())
    return Item((s, p, o), start, start if end is None else end, stream)


def asked(where: Algebra, *streams: Stream, solutions: str = "bag", policy: str = "unrestricted") -> Query:
    names = tuple(variable.name for variable in visible(where))
    return Query("SELECT", where, names, streams=streams, solutions=solutions, policy=algebra.Policy(policy))


def seen(token: Token) -> tuple[str, int, int, str]:
    """Return the objects that a token binds, by their names, its interval, and how it was told."""
    names = " ".join(sorted(f"{variable.name}={text[5:-1].decode()}" for variable, text in token.bindings.items()))
    return names.replace("x=s ", "").replace(" x=s", ""), token.start, token.end, token.how.name.lower()


def found(where: Algebra, *items: Item, streams: tuple[Stream, ...] = (), **more: object) -> list[tuple]:
    return [seen(token) for token in detected(asked(where, *streams), items, **more)]


def seq(left: Algebra, right: Algebra) -> algebra.Relate:
    return algebra.Relate(left, relations.SEQ, right)


def test_joined_token_has_the_earliest_start_and_the_latest_end() -> None:
    assert found(algebra.Join(A, B), item("s a 1", 1, 4), item("s b 2", 3, 6)) == [("a=1 b=2", 1, 6, "arrival")]


@pytest.mark.parametrize(("start", "matches"), [(4, False), (5, False), (6, True)])
def test_seq_wants_the_left_to_end_before_the_right_starts(start: int, matches: bool) -> None:
    assert bool(found(seq(A, B), item("s a 1", 1, 5), item("s b 2", start, 7))) is matches


def test_optional_takes_what_ends_at_the_same_instant_and_what_was_before_but_nothing_later() -> None:
    told = found(algebra.LeftJoin(A, B), item("s b 1", 3), item("s a 1", 5), item("s b 2", 5), item("s b 3", 6))
    assert told == [("a=1 b=1", 3, 5, "close"), ("a=1 b=2", 5, 5, "close")]


def test_optional_leaves_alone_what_has_its_partner_one_microsecond_outside_the_window() -> None:
    where = algebra.Within(algebra.LeftJoin(A, B), W)
    assert found(where, item("s b 1", 0), item("s a 1", W)) == [("a=1 b=1", 0, W, "flush")]
    assert found(where, item("s b 1", 0), item("s a 1", W + 1)) == [("a=1", W + 1, W + 1, "flush")]


def test_trailing_not_is_told_at_its_deadline_and_what_ends_at_the_deadline_bars_it() -> None:
    where = algebra.After(A, N, W)
    assert found(where, item("s a 1", 0), item("s c 1", W + 1)) == [("a=1", 0, W, "deadline")]
    assert found(where, item("s a 1", 0), item("s n 1", W), item("s c 1", W + 1)) == []
    assert found(where, item("s a 1", 0), item("s n 1", W + 1)) == [("a=1", 0, W, "deadline")]


def test_advance_to_the_deadline_does_not_pass_it() -> None:
    where, items = algebra.After(A, N, W), (item("s a 1", 0),)
    assert found(where, *items, until=W) == found(where, *items, flush=False) == []
    assert found(where, *items, until=W + 1) == [("a=1", 0, W, "deadline")]
    assert found(where, *items) == [("a=1", 0, W, "flush")]


def test_texts_of_times_are_canonical() -> None:
    assert duration_text(0) == b'"PT0S"^^' + XSD + b"dayTimeDuration>"
    assert duration_text(90_061_500_000) == b'"P1DT1H1M1.5S"^^' + XSD + b"dayTimeDuration>"
    assert moment_text(1_000_001) == b'"1970-01-01T00:00:01.000001Z"^^' + XSD + b"dateTime>"


@pytest.mark.parametrize(("operator", "width"), [("<", 2_999_999), ("<=", 3_000_000), ("=", None)])
def test_duration_conjunct_is_a_window(operator: str, width: int | None) -> None:
    long, bound = Call("GETDURATION", ()), Constant(b'"PT3S"^^' + XSD + b"duration>")
    test: Expression = Operation(operator, (long, bound))
    swapped = Operation({"<": ">", "<=": ">="}.get(operator, operator), (bound, long))
    other = Call("BOUND", (Variable("x"),))
    assert [window_of(each) for each in (test, swapped, Operation("&&", (other, test)))] == [width] * 3
    assert window_of(Operation("||", (other, test))) is None
