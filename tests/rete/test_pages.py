"""Large arrays: what is never used is not resident, what is handed out is nobody else's."""

import mmap
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retewave.rete.words import pages
from retewave.rete.words.pages import Pool, extended, grown, in_huge_pages, zeros

SMALL, LARGE = (7, 3), (1 << 16, 3)


@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_zeros_are_zero_and_can_be_written(shape: tuple[int, ...]) -> None:
    array = zeros(shape)
    assert array.shape == shape and array.dtype == np.int64 and not array.any()
    array[-1] = 5
    assert array.sum() == 15


@pytest.mark.skipif(
    not (Path("/proc/self/smaps").exists() and Path("/sys/kernel/mm/transparent_hugepage").exists()),
    reason="this system has no huge pages to ask for, or does not tell who asked",
)
def test_huge_pages_are_asked_for_where_an_array_is_large_and_nothing_else_changes() -> None:
    small, large, other = zeros(SMALL), zeros((1 << 20,)), zeros((1 << 20,))
    for array in (small, large):
        in_huge_pages(array)
        assert not array.any()
        array[-1] = 1
    assert _is_advised(large) and not _is_advised(other)


def _is_advised(array: np.ndarray) -> bool:
    """Tell whether the array's memory is marked `hg` in what the system tells of this process."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(found[1], 16) <= array.ctypes.data < int(found[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return "hg" in line.split()
    return False


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float64])
def test_a_grown_array_begins_with_what_the_old_one_held(kind: Any) -> None:
    old = np.arange(1000, dtype=kind)
    new = grown(old, 1 << 20)
    assert new.dtype == old.dtype and (new[:1000] == old).all() and not new[1000:].any()


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_an_array_that_is_extended_again_and_again_keeps_what_it_held_and_mostly_its_place(kind: Any) -> None:
    array, length, places = np.arange(100, dtype=kind), 100, set()
    for _ in range(9):
        held, length = array, 4 * length
        array = extended(array, length)
        assert array.dtype == kind and (array[: len(held)] == held).all() and not array[len(held) :].any()
        array[len(held) :] = 7
        places |= {array.ctypes.data} if array.nbytes >= pages._LEAST else set()
    assert len(places) <= 3


def test_a_part_of_an_array_is_not_extended_over_what_is_behind_it() -> None:
    array = extended(np.ones(1), 1 << 20)
    array[5] = 3
    for part in (array[1:5], array[:5][::-1]):
        assert extended(part, 6).tolist() == [*part.tolist(), *[0] * (6 - len(part))]


def test_where_addresses_are_scarce_arrays_are_extended_by_copying(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scarce(mmap.mmap):
        def __new__(cls, place: int, size: int, **options: int) -> "Scarce":
            if size > 1 << 22:
                raise OSError("Cannot allocate memory")
            return super().__new__(cls, place, size, **options)

    monkeypatch.setattr(mmap, "mmap", Scarce)
    first = extended(np.array([1, 2]), 1 << 18)
    assert np.shares_memory(first, extended(first, 1 << 19))
    monkeypatch.undo()
    assert extended(first, 1 << 20)[:3].tolist() == [1, 2, 0]


@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_a_pool_hands_out_no_array_that_somebody_has_a_view_of(shape: tuple[int, ...]) -> None:
    pool = Pool(shape)
    taken = pool.take()
    view = taken[1:][:, 0]
    del taken
    others = [pool.take() for _ in range(10)]
    assert not any(np.shares_memory(view, other) for other in others)
    assert not any(np.shares_memory(a, b) for a in others for b in others if a is not b)


@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_a_pool_uses_an_array_again_when_the_last_view_of_it_is_gone(shape: tuple[int, ...]) -> None:
    pool = Pool(shape)
    taken = pool.take()
    place, view = taken.ctypes.data, taken[2:]
    del taken, view
    assert pool.take().ctypes.data == place
