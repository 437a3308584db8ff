"""The dictionary: a law against a dict, sweeping, pinning, growth, snapshots."""

from __future__ import annotations

import numpy as np
import pytest
from cases.many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from retewave.errors import SnapshotError, UsageError
from retewave.rete.terms import dictionary as terms_module
from retewave.rete.terms.dictionary import Terms

pytestmark = pytest.mark.jit

texts = st.binary(min_size=1, max_size=40) | st.integers(0, 30).map(lambda n: b"<http://example.org/%d>" % n)


def marks_of(ids: list[int]) -> np.ndarray:
    marks = np.zeros(max(ids, default=0) + 1, np.uint8)
    marks[ids] = 1
    return marks


@settings(max_examples=many(150), deadline=None)
@given(st.lists(st.tuples(texts, st.booleans()), max_size=60), st.data())
def test_the_dictionary_is_a_dict_under_interning_and_sweeping(
    steps: list[tuple[bytes, bool]], data: st.DataObject
) -> None:
    terms = Terms(seed=3)
    model: dict[bytes, int] = {}
    for text, sweeps in steps:
        assert model.setdefault(text, terms.intern(text)) == terms.find(text) == terms.intern(text)
        if sweeps:
            kept = data.draw(st.lists(st.sampled_from(sorted(model)), unique=True)) if model else []
            freed = terms.sweep(marks_of([model[text] for text in kept]))
            assert freed == len(model) - len(kept)
            model = {text: model[text] for text in kept}
        assert len(terms) == len(model) == len(set(model.values()))
        assert terms.texts(model.values()) == list(model)
    assert all(terms.find(text) == 0 for text, _ in steps if text not in model)


def test_ids_are_dense_from_one_and_the_same_however_they_are_asked_for() -> None:
    terms = Terms(seed=1)
    assert [terms.intern(text) for text in (b"a", b"b", b"a")] == [1, 2, 1]
    assert terms.intern_many([b"c", b"a", b"c", b"d"]).tolist() == [3, 1, 3, 4]


def test_reclaimed_ids_are_reused_and_living_ones_stay() -> None:
    terms = Terms(seed=1)
    terms.intern_many([b"a", b"b", b"c"])
    assert terms.sweep(marks_of([2])) == 2
    assert terms.text(2) == b"b" and terms.find(b"a") == 0
    assert sorted([terms.intern(b"x"), terms.intern(b"y")]) == [1, 3]
    assert terms.intern(b"z") == 4


def test_pinned_and_held_terms_survive_a_sweep() -> None:
    terms = Terms(seed=1)
    pinned, held, lost = terms.intern_many([b"p", b"h", b"l"]).tolist()
    terms.pin([pinned])
    holder = lambda: np.array([held])  # noqa: E731
    terms.hold(holder)
    assert terms.sweep(np.zeros(0, np.uint8)) == 1
    assert terms.texts([pinned, held]) == [b"p", b"h"]
    terms.release(holder)
    assert terms.sweep(np.zeros(0, np.uint8)) == 1 and terms.find(b"h") == 0
    with pytest.raises(UsageError, match="no term has the id"):
        terms.text(lost)


def test_growing_leaves_arrays_that_were_fetched_before_as_they_were() -> None:
    terms = Terms(seed=1)
    five = terms.intern(b'"5"^^<http://www.w3.org/2001/XMLSchema#integer>')
    before = terms.values
    terms.intern_many([b"<http://example.org/%d>" % n for n in range(20_000)])
    assert len(terms.values.kind) > len(before.kind)
    assert before.number[five] == terms.values.number[five] == 5.0
    assert terms.text(20_001) == b"<http://example.org/19999>"


def test_who_has_grown_ahead_takes_as_much_again_without_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Terms(seed=1)
    terms.intern_many([b"<http://example.org/%d>" % n for n in range(40_000)])
    asked: list[int] = []
    monkeypatch.setattr(terms_module, "in_huge_pages", lambda array: asked.append(len(array)))
    terms.grow_ahead()
    before = terms.table
    assert asked == [len(before.slots)]
    terms.intern_many([b"<http://example.org/%d>" % n for n in range(40_000, 80_000)])
    assert all(one is other for one, other in zip(terms.table, before, strict=True))
    assert terms.find(b"<http://example.org/0>") == 1 and terms.text(80_000) == b"<http://example.org/79999>"


def test_a_sweep_is_due_when_the_terms_have_doubled() -> None:
    terms = Terms(seed=1)
    terms.intern_many([b"%d" % n for n in range(1 << 16)])
    assert terms.due()
    terms.sweep(np.ones(40_001, np.uint8))
    assert not terms.due()
    terms.intern_many([b"x%d" % n for n in range(40_000)])
    assert terms.due()


def test_a_sweep_that_found_little_was_not_worthwhile() -> None:
    terms = Terms(seed=1)
    ids = terms.intern_many([b"%d" % n for n in range(160)])
    marks = np.ones(161, np.uint8)
    marks[ids[:9]] = 0
    terms.sweep(marks)
    assert not terms.worthwhile and len(terms) == 151
    marks[ids[9:19]] = 0
    terms.sweep(marks)
    assert terms.worthwhile and len(terms) == 141


def test_pinned_terms_do_not_grow_with_the_rows_that_use_terms() -> None:
    terms = Terms()
    ids = terms.intern_many([b"%d" % n for n in range(100)])
    terms.pin(ids[:40])
    terms.sweep(np.ones(101, np.uint8))
    assert (terms.in_use(1.0), terms.in_use(2.0), terms.in_use(0.5)) == (100, 160, 70)


def test_no_sweep_is_due_for_pinned_terms() -> None:
    terms = Terms(seed=1)
    ids = terms.intern_many([b"%d" % n for n in range(1 << 16)])
    terms.pin(ids)
    terms.pin(ids[:10])
    assert not terms.due()
    assert not Terms.from_state(terms.state()).due()
    terms.intern_many([b"x%d" % n for n in range(1 << 16)])
    assert terms.due()


def test_a_sweep_is_due_when_the_terms_that_are_not_pinned_have_doubled() -> None:
    terms = Terms(seed=1)
    terms.pin(terms.intern_many([b"<http://example.org/%d>" % n for n in range(60_000)]))
    terms.intern_many([b"%d" % n for n in range(70_000)])
    terms.sweep(np.ones(100_001, np.uint8))
    assert (len(terms), terms.passing) == (100_000, 40_000)
    terms.intern_many([b"x%d" % n for n in range(39_999)])
    assert not terms.due()
    terms.intern(b"one more")
    assert terms.due()


def test_a_sweep_of_which_all_that_is_not_pinned_goes_was_worthwhile() -> None:
    terms = Terms(seed=1)
    terms.pin(terms.intern_many([b"<http://example.org/%d>" % n for n in range(3_000)]))
    terms.intern_many([b"%d" % n for n in range(100)])
    terms.sweep(np.zeros(0, np.uint8))
    assert terms.worthwhile


def test_the_first_id_that_is_not_pinned_is_where_a_sweep_begins() -> None:
    terms = Terms(seed=1)
    assert terms.first_passing() == 1
    ids = terms.intern_many([b"a", b"b", b"c"])
    assert terms.first_passing() == ids[0]
    terms.pin(ids[[0, 2]])
    assert terms.first_passing() == ids[1]
    terms.pin(ids)
    assert terms.first_passing() == ids[2] + 1


def test_memory_is_flat_over_an_endless_stream_of_new_terms() -> None:
    terms, sizes = Terms(seed=1), []
    for round in range(12):
        terms.intern_many([b"<http://example.org/%d/%d>" % (round, n) for n in range(20_000)])
        terms.sweep(np.zeros(0, np.uint8))
        sizes.append(terms.nbytes)
    assert len(set(sizes[1:])) == 1


def test_a_restored_dictionary_continues_as_the_old_one_would() -> None:
    terms = Terms(seed=9)
    terms.intern_many([b"a", b"b", b"c", b"d"])
    terms.pin([1])
    terms.sweep(marks_of([3]))
    twin = Terms.from_state(terms.state())
    steps = [b"b", b"e", b"c", b"f", b"g"]
    assert [twin.intern(text) for text in steps] == [terms.intern(text) for text in steps]
    assert (len(twin), twin.generation) == (len(terms), terms.generation)
    assert twin.sweep(np.zeros(0, np.uint8)) == terms.sweep(np.zeros(0, np.uint8))
    assert twin.text(1) == b"a"


def test_a_state_that_lacks_an_array_is_refused_by_name() -> None:
    state = Terms(seed=1).state()
    del state["hashes"]
    with pytest.raises(SnapshotError, match="hashes"):
        Terms.from_state(state)


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(UsageError):
        Terms(seed=1).intern(b"")


def test_seeds_scatter_the_slots_differently_but_not_the_ids() -> None:
    one, other = Terms(seed=1), Terms(seed=2)
    names = [b"<http://example.org/%d>" % n for n in range(100)]
    assert one.intern_many(names).tolist() == other.intern_many(names).tolist()
    assert one.state()["hashes"].tolist() != other.state()["hashes"].tolist()
