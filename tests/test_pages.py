"""Large arrays: what is never used is not resident, what is handed out is nobody else's."""

import numpy as np
import pytest

from retewave.rete.pages import Pool, grown, zeros

SMALL, LARGE = (7, 3), (1 << 16, 3)


@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_zeros_are_zero_and_can_be_written(shape: tuple[int, ...]) -> None:
    array = zeros(shape)
    assert array.shape == shape and array.dtype == np.int64 and not array.any()
    array[-1] = 5
    assert array.sum() == 15


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float64])
def test_a_grown_array_begins_with_what_the_old_one_held(kind: type) -> None:
    old = np.arange(1000, dtype=kind)
    new = grown(old, 1 << 20)
    assert new.dtype == old.dtype and (new[:1000] == old).all() and not new[1000:].any()


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
