"""A sweep that goes on between the rows changes nothing but the memory that is taken."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases.engine import Case, case_of, engine_for, pushed_one_by_one, shown, written
from cases.many import many
from helpers.found import anywhere
from helpers.inside import network_of
from hypothesis import given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.engine import matcher
from retewave.rete.terms import dictionary as terms_module
from retewave.rete.terms.dictionary import Terms

LAW = settings(max_examples=many(150), deadline=None)
pytestmark = pytest.mark.jit
LIKES = "SELECT ?who FROM STREAM <http://e/s> [RANGE 1s] { ?who <http://e/likes> ?what . ?who <http://e/has> ?what }"


@pytest.fixture
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a sweep begin whenever none is under way, and do no more than one step a row."""
    monkeypatch.setattr(Terms, "due", lambda *_: True)
    monkeypatch.setattr(matcher, "SWEPT_A_ROW", 1)


def take_reclaimed_ids(terms: Terms, place: int) -> None:
    """Give the ids that wait for reuse to other texts, so that a row that still holds one would show it."""
    for number in range(3):
        terms.intern(b"<http://e/other%d.%d>" % (place, number))


@LAW
@given(case_of(), st.integers(1, 9))
def test_a_sweep_that_is_always_under_way_changes_no_match(case: Case, work: int) -> None:
    plain, _ = engine_for(case)
    swept, query = engine_for(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Terms, "due", lambda *_: True)
        patch.setattr(matcher, "SWEPT_A_ROW", work)
        for place, item in enumerate(case.stream):
            swept.push(written(item.triple), time=(item.start / 1e6, item.end / 1e6), stream=item.stream)
            take_reclaimed_ids(swept.terms, place)
    found = Counter(shown(match, 0, case.query.distinct) for match in query.matches)
    assert anywhere(found) == anywhere(pushed_one_by_one(plain, case))


@pytest.mark.usefixtures("always_due")
def test_terms_are_flat_over_a_stream_of_new_ones_though_each_step_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher, "SWEPT_A_ROW", 8)
    engine = rw.Engine()
    query = engine.register(LIKES, keep=0)
    sizes = []
    for n in range(6_000):
        who, what = f"http://e/who{n}", f"http://e/what{n}"
        engine.push([(who, "http://e/likes", what), (who, "http://e/has", what)], time=n / 50, stream="http://e/s")
        sizes.append(len(engine.terms))
    assert query.matched == 6_000
    assert max(sizes[3_000:]) <= max(sizes[:3_000])
    assert max(sizes) < 1_500


@pytest.mark.usefixtures("always_due")
def test_matches_that_somebody_holds_are_decoded_before_their_terms_go() -> None:
    engine = rw.Engine()
    engine.register(LIKES, keep=0)
    held = []
    for n in range(1_000):
        who = f"http://e/who{n}"
        rows = [(who, "http://e/likes", "http://e/tea"), (who, "http://e/has", "http://e/tea")]
        held += engine.push(rows, time=n, stream="http://e/s")
    assert engine.terms.find(b"<http://e/who5>") == 0
    assert [match.text("who") for match in held] == [b"<http://e/who%d>" % n for n in range(1_000)]


@pytest.mark.usefixtures("always_due")
def test_a_match_that_is_made_while_rows_are_marked_keeps_the_terms_of_one_that_goes_before_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT ?what FROM STREAM <http://e/s> [RANGE 1s] { ?who <http://e/likes> ?what . ?who <http://e/has> ?it }"
    )
    for n in range(200):
        engine.push((f"http://e/who{n}", "http://e/likes", f"http://e/tea{n}"), time=0, stream="http://e/s")
    engine.matcher.sweeps.leave()  # the next one begins with the next row, and comes to the last of these rows last
    engine.push(("http://e/who0", "http://e/is", "http://e/here"), time=0, stream="http://e/s")
    (held,) = engine.push(("http://e/who199", "http://e/has", "http://e/it"), time=0.9, stream="http://e/s")
    for n in range(1_000):
        engine.push((f"http://e/later{n}", "http://e/likes", "http://e/tea"), time=10 + n, stream="http://e/s")
        network_of(engine).runtime.collect()
        monkeypatch.setattr(matcher, "SWEPT_A_ROW", 8)
        take_reclaimed_ids(engine.terms, n)
    assert held.text("what") == b"<http://e/tea199>"


def test_a_window_that_fills_is_seldom_swept_and_one_that_moves_on_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "_SWEEP_FROM", 100)
    engine, begun = rw.Engine(), []
    begin = Terms.begin_sweep

    def noted(terms: Terms) -> Any:
        begun.append(len(terms))
        return begin(terms)

    monkeypatch.setattr(Terms, "begin_sweep", noted)
    engine.register("SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 1000s] { ?x <http://e/p> ?y . ?x <http://e/q> ?z }")

    def come(first: int, behind: int) -> list[int]:
        begun.clear()
        for n in range(first, behind):
            engine.push((f"http://e/x{n}", "http://e/p", f"http://e/y{n}"), time=n, stream="http://e/s")
        return list(begun)

    assert [size // 100 for size in come(0, 1_000) if size > 1] == [1, 16]
    sizes = come(1_000, 10_000)
    assert len(sizes) > 3 and max(sizes) <= 2 * 2_200 and len(engine.terms) <= 2 * 2_200


def test_terms_that_no_row_accounts_for_are_swept_though_the_last_sweep_was_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terms_module, "_SWEEP_FROM", 100)
    engine = rw.Engine()
    engine.register(
        "SELECT ?x FROM STREAM <http://e/s> [RANGE 9000s] { ?x <http://e/p> ?y . ?x <http://e/q> ?z FILTER(?y > 0) }"
    )
    for n in range(200):
        engine.push((f"http://e/x{n}", "http://e/p", n + 1), time=n, stream="http://e/s")
    assert len(engine.terms) > 400
    most = 0
    for n in range(1_000):  # none of these is stored
        engine.push((f"http://e/y{n}", "http://e/p", -n), time=200 + n, stream="http://e/s")
        most = max(most, len(engine.terms))
    assert most < 1_200  # it would be 1,600, sixteen times what the sweep in vain has left


def test_what_a_removed_query_alone_has_used_goes_when_the_terms_have_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "_SWEEP_FROM", 100)
    engine, text = (
        rw.Engine(),
        "SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 1000s] {{ ?x <http://e/{}> ?y . ?x <http://e/q> ?z }}",
    )
    gone, _ = (engine.register(text.format(name), name=name) for name in ("p", "r"))

    def come(predicate: str, first: int, behind: int) -> int:
        for n in range(first, behind):
            engine.push((f"http://e/x{n}", f"http://e/{predicate}", f"http://e/y{n}"), time=n, stream="http://e/s")
        return len(engine.terms)

    assert come("p", 0, 300) > 600
    engine.remove(gone)
    assert come("r", 300, 600) < 800  # where nothing had gone it would be 1,200, less than four times 400


@pytest.mark.parametrize("late", [False, True])
def test_terms_of_rows_that_are_never_poured_are_reclaimed(late: bool) -> None:
    engine, lines = rw.Engine(), list[bytes]()
    engine.register("SELECT ?x { ?x <http://e/p> ?y }", keep=0)
    stamp = b'<http://e/e%d> <http://e/at> "2000-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> '
    stamp += b"<http://e/e%d> ."
    row = b"<http://e/s%d> <http://e/p> <http://e/o%d> <http://e/e%d> ."
    for day in (b"01", b"02") if late else ():  # one item would be taken for a wrong clock
        lines.append(b"<http://e/s> <http://e/p> <http://e/o> <http://e/%s> ." % day)
        lines.append((stamp % (0, 0)).replace(b"2000-01-01", b"2020-01-" + day).replace(b"/e0>", b"/%s>" % day))
    for n in range(120_000):
        lines += [stamp % (n, n), row % (n, n, n)] if late else [stamp % (n, n)]
    list(engine.run(rw.read(b"\n".join(lines), format="nq", time_property="http://e/at")))
    assert engine.matcher.triples == 2 * late
    assert len(engine.terms) < 180_000


@pytest.mark.usefixtures("always_due")
def test_late_rows_that_wait_keep_their_terms() -> None:
    engine = rw.Engine(lateness=500)
    query = engine.register("SELECT ?x { ?x <http://e/p> ?y }")
    for n in range(600):
        engine.push((f"http://e/s{n}", "http://e/p", "http://e/o"), time=n)
        take_reclaimed_ids(engine.terms, n)
    engine.flush()
    assert [match.text("x") for match in query.matches] == [b"<http://e/s%d>" % n for n in range(600)]


@pytest.mark.usefixtures("always_due")
def test_a_snapshot_and_another_query_in_the_middle_of_a_sweep_lose_nothing(tmp_path: Path) -> None:
    engine = rw.Engine()
    engine.register(LIKES)
    for n in range(40):
        engine.push((f"http://e/who{n}", "http://e/likes", "http://e/tea"), time=n / 50, stream="http://e/s")
    assert engine.matcher.sweeps.under_way
    engine.snapshot(tmp_path / "snapshot")
    restored = rw.Engine.restore(tmp_path / "snapshot")
    engine.register("SELECT ?x { ?x <http://e/has> ?y }", name="Has")
    for one in (engine, restored):
        rows = [(f"http://e/who{n}", "http://e/has", "http://e/tea") for n in range(40)]
        found = [match for match in one.push(rows, time=0.9, stream="http://e/s") if match.query.name != "Has"]
        assert sorted(match.text("who") or b"" for match in found) == sorted(b"<http://e/who%d>" % n for n in range(40))


@LAW
@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=80), st.data())
def test_what_is_interned_or_found_during_a_sweep_outlives_it(
    steps: list[tuple[int, bool]], data: st.DataObject
) -> None:
    terms, marked, touched = Terms(seed=5), set(), set()
    before = [b"t%d" % n for n in range(30)]
    ids = dict(zip(before, terms.intern_many(before).tolist(), strict=True))
    marks = terms.begin_sweep()
    for text in data.draw(st.sets(st.sampled_from(before))):
        marks[ids[text]] = 1
        marked.add(text)
    done, gone = 0, set()
    for number, by_finding in steps:
        text = b"t%d" % number
        found = terms.find(text)
        if found == 0 and not by_finding:
            assert text in gone or text not in before
            found = terms.intern(text)
        if found:
            touched.add(text)
            gone.discard(text)
        freed = set(terms.reclaim(done, 3).tolist())
        gone |= {text for text in before if ids[text] in freed}
        done += 3
    terms.reclaim(done, 1 << 40)
    terms.end_sweep()
    living = {text for text in {b"t%d" % n for n in range(41)} if terms.find(text)}
    assert living == (marked | touched) & living and marked | touched == living
    assert terms.texts([terms.find(text) for text in sorted(living)]) == sorted(living)


@LAW
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 15, 16, 17, 4_095, 4_096, 4_097, 9_000, 70_000]), st.booleans()), max_size=60
    )
)
def test_texts_of_every_size_keep_apart_where_holes_are_filled_and_where_the_arena_grows(
    steps: list[tuple[int, bool]],
) -> None:
    terms, living = Terms(seed=2), {}
    for number, (size, stays) in enumerate(steps):
        text = (b"%d." % number).ljust(size, b"x")[: max(size, len(b"%d." % number))]
        living[text] = terms.intern(text)
        if not stays:
            marks = np.zeros(1 + max(living.values()), np.uint8)
            living = dict(list(living.items())[len(living) // 2 :])
            marks[list(living.values())] = 1
            terms.sweep(marks)
        assert terms.texts(living.values()) == list(living)
