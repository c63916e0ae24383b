"""Kernels timed by themselves: what is timed is what was meant, and it runs here."""

from __future__ import annotations

from itertools import product

import pytest

from neural_cost.runtime.calibrate.kernels import measure
from neural_cost.runtime.calibrate.kernels.measure import KernelPlan, kernel_rates, nchwc_block
from neural_cost.runtime.session import SessionOptions, open_session

QUICK = {"passes": 1, "each_s": 1e-4, "cache_bytes": 1 << 20}
EVERY = sorted({spec.kind for spec in measure._specs(16, None)})


@pytest.fixture(scope="module")
def relu():
    return kernel_rates(KernelPlan(**QUICK, kinds=frozenset({"Relu", "MatMul weight"})))


def test_every_point_of_the_grid_is_there(relu):
    sizes = {p.sizes for p in relu.points if p.kind == "MatMul weight" and p.threads == 1}
    axes = [sorted(set(axis)) for axis in zip(*sizes, strict=True)]
    assert sizes == set(product(*axes))
    assert not relu.left_out


def test_more_work_takes_longer(relu):
    found = relu.table(1)
    assert found.seconds("Relu", (1 << 21,)).seconds > 10 * found.seconds("Relu", (1 << 10,)).seconds
    assert (
        found.seconds("MatMul weight", (256, 2048, 2048)).seconds > found.seconds("MatMul weight", (1, 16, 16)).seconds
    )


def test_all_times_are_of_something(relu):
    assert all(point.seconds > 0 for point in relu.points)
    assert all(seconds > 0 for seconds in relu.run_s.values())


def test_the_layout_of_this_machine():
    assert nchwc_block() in (0, 4, 8, 16)


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_runs_or_says_why_not(kind):
    """The smallest of each: ONNX Runtime takes the model, or the layout is one that this machine does not have."""
    spec = min((each for each in measure._specs(16, frozenset({kind}))), key=lambda each: each.work or sum(each.sizes))
    if "nchwc" in spec.domain and nchwc_block() != 16:
        pytest.skip("this machine packs channels otherwise")
    session = open_session(spec.model(), SessionOptions(threads=1, level="disable"))
    session.runner(spec.feeds())()


def test_sizes_of_a_kind_are_all_of_one_length():
    lengths: dict[str, set[int]] = {}
    for spec in measure._specs(16, None):
        lengths.setdefault(spec.kind, set()).add(len(spec.sizes))
    assert all(len(found) == 1 for found in lengths.values())


def test_a_kind_that_onnx_runtime_has_not_is_left_out(monkeypatch):
    from neural_cost.runtime.calibrate.kernels.spec import Operand, Spec

    missing = Spec("Relu", (4,), "NoSuchOperator", [Operand((4,))])
    monkeypatch.setattr(measure, "_specs", lambda block, kinds: iter([missing]))
    found = kernel_rates(KernelPlan(**QUICK))
    assert found.points == ()
    assert "Relu" in found.left_out
