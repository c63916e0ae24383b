"""Arrays between processes."""

import ml_dtypes
import numpy as np
import pytest

from neural_cost import BackendError
from neural_cost.runtime.rounds.arrays import read_arrays, write_arrays, write_list


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "float16", "bfloat16", "float8_e4m3fn", "int4"])
def test_they_go_and_come_back(dtype, tmp_path):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(getattr(ml_dtypes, dtype, dtype))
    write_arrays(tmp_path / "a.npz", {"b/c: d": array, "0": np.zeros(())})
    found = read_arrays(tmp_path / "a.npz")
    assert list(found) == ["b/c: d", "0"]
    assert found["b/c: d"].dtype == array.dtype
    assert np.array_equal(found["b/c: d"], array)
    assert found["0"].shape == ()


def test_a_list_keeps_its_order(tmp_path):
    write_list(tmp_path / "a.npz", [np.array([place]) for place in range(12)])
    assert [int(array[0]) for array in read_arrays(tmp_path / "a.npz").values()] == list(range(12))


def test_strings_are_refused(tmp_path):
    with pytest.raises(BackendError, match='"text" is an array of strings'):
        write_arrays(tmp_path / "a.npz", {"text": np.array(["a"], object)})
