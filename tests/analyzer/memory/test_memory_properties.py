"""Liveness against brute force on random graphs: lower <= plain <= upper, no order beats itself, formulas hold."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neural_cost.analyzer.memory.best import best_order
from neural_cost.analyzer.memory.kernels import Traits
from neural_cost.analyzer.memory.liveness import Method, Policy, levels
from neural_cost.analyzer.memory.orders import file_order, needed, runtime_order
from neural_cost.analyzer.memory.record import plain_peak
from neural_cost.analyzer.memory.scope import Scope, Step
from neural_cost.analyzer.memory.symbolic import peak_formula
from neural_cost.models import path
from tests.memory_models import activations_of, written


@st.composite
def graphs(draw, most=9):
    """A scope of random steps, and sizes; a tensor's key is a number."""
    steps, made, sizes = [], [0], {0: draw(st.integers(1, 9))}
    for index in range(draw(st.integers(1, most))):
        reads = tuple(dict.fromkeys(draw(st.lists(st.sampled_from(made), min_size=1, max_size=3))))
        view = draw(st.integers(0, 4)) == 0
        count = 1 if view else draw(st.integers(1, 2))
        writes = tuple(range(len(sizes), len(sizes) + count))
        overwrites, in_place, adds = (draw(st.booleans()) for _ in range(3))
        steps.append(Step(index, str(index), "", reads, writes, Traits(view, overwrites, in_place, adds)))
        sizes |= {key: sizes[reads[0]] if view else draw(st.integers(1, 9)) for key in writes}
        made += writes
    outputs = draw(st.sets(st.sampled_from(made[1:]), min_size=1))
    return Scope(tuple(steps), (0,), tuple(sorted(outputs))), sizes


def peak(scope, sizes, policy=Policy.PLAIN, order=file_order):
    forms = {key: size for key, size in sizes.items() if size > 1}
    return max(max(level.sums) for level in levels(scope, Method(sizes, order, policy, forms)))


def brute_force(scope, sizes, steps):
    """Bytes alive at each step: a tensor is there while it, or a view of it, was made and is still to be read."""
    owner = {0: 0}
    for step in steps:
        for key in step.writes:
            shared = step.traits.view and key not in scope.outputs
            owner[key] = owner[step.reads[0]] if shared else key
    result = []
    for at, step in enumerate(steps):
        made = {0, *(key for one in steps[: at + 1] for key in one.writes)}
        later = {key for one in steps[at:] for key in one.reads}
        needed_now = {owner[key] for key in made & (later | set(step.writes) | set(scope.outputs) | {0})}
        result.append(sum(sizes[key] for key in needed_now))
    return result


@given(graphs())
def test_plain_is_what_brute_force_says(graph):
    scope, sizes = graph
    for order in (file_order, runtime_order):
        steps = order(scope)
        found = [max(level.sums) for level in levels(scope, Method(sizes, order))]
        assert found == brute_force(scope, sizes, steps)


@given(graphs())
def test_the_figures_are_in_their_order_at_each_step(graph):
    scope, sizes = graph
    policies = (Policy.LOWER, Policy.PLAIN, Policy.UPPER)
    lower, plain, upper = (levels(scope, Method(sizes, file_order, policy, {})) for policy in policies)
    for one, other, last in zip(lower, plain, upper, strict=True):
        assert max(one.sums) <= max(other.sums) <= max(last.sums)


@given(graphs())
def test_keeping_memory_never_needs_less(graph):
    scope, sizes = graph
    assert peak(scope, {key: 256 * size for key, size in sizes.items()}, Policy.UPPER) >= 256 * peak(scope, sizes)


@given(graphs())
def test_the_lower_figure_is_not_below_any_one_node(graph):
    scope, sizes = graph
    assert peak(scope, sizes, Policy.LOWER) >= max(sum(sizes[key] for key in scope.outputs), sizes[0])


@given(graphs())
def test_onnxruntime_runs_each_step_once_after_what_it_needs(graph):
    scope, _ = graph
    assert_order(scope, runtime_order(scope))


def assert_order(scope, order):
    assert sorted(step.index for step in order) == list(range(len(scope.steps)))
    place = {step.index: position for position, step in enumerate(order)}
    for position, needs in enumerate(needed(scope)):
        assert all(place[each] < place[position] for each in needs)


@given(graphs(most=12))
def test_the_best_order_is_an_order_and_never_worse(graph):
    scope, sizes = graph
    order = best_order(scope, Method(sizes, file_order))
    assert_order(scope, order)
    assert peak(scope, sizes, order=lambda _: order) <= peak(scope, sizes)


@settings(max_examples=40, deadline=None)
@given(graphs(most=6))
def test_the_best_order_of_a_small_graph_is_the_best(graph):
    scope, sizes = graph
    order = best_order(scope, Method(sizes, file_order))
    least = min(peak(scope, sizes, order=lambda _, steps=steps: steps) for steps in topological_orders(scope))
    assert peak(scope, sizes, order=lambda _: order) == least  # the beam is wider than such a graph has states


def topological_orders(scope):
    needs = needed(scope)
    for positions in permutations(range(len(scope.steps))):
        place = {each: at for at, each in enumerate(positions)}
        if all(place[each] < place[at] for at, needed_ in enumerate(needs) for each in needed_):
            yield [scope.steps[at] for at in positions]


def test_reordering_saves_where_two_long_lives_need_not_meet(tmp_path):
    text = """g (float[64] x) => (float[1] y) {
        a = Concat <axis = 0> (x, x, x, x)
        b = Concat <axis = 0> (x, x, x, x)
        c = ReduceSum <keepdims = 1> (a)
        d = ReduceSum <keepdims = 1> (b)
        y = Add(c, d)
    }"""
    found = activations_of(written(text, tmp_path))
    method = Method(found.sizes(), file_order)
    assert plain_peak(found) == 256 + 2 * 1024 + 4  # x a b c
    order = best_order(found.scope, method)
    assert [step.index for step in order] in ([0, 2, 1, 3, 4], [1, 3, 0, 2, 4])
    assert peak(found.scope, found.sizes(), order=lambda _: order) == 256 + 1024 + 4 + 4  # x, c, b d


ONE_SUM = """g (float[n, 4] x) => (float[a, b] y) {
    t = Transpose(x)
    s = MatMul(x, t)
    r = ReduceSum <keepdims = 1> (s)
    y = Concat <axis = 1> (r, r)
}"""


def test_a_formula_is_one_sum_where_one_is_always_the_largest(tmp_path):
    found = activations_of(written(ONE_SUM, tmp_path))
    formula = peak_formula(found, ["n"])
    # x t s: 4 (4n + 4n + n**2) from where s is larger than nothing, which is always
    assert str(formula) == "n*(4*n + 32)"
    assert {n: formula({"n": n}) for n in (1, 5, 100)} == {n: 4 * n * n + 32 * n for n in (1, 5, 100)}


def test_the_peak_of_a_formula_moves(tmp_path):
    text = """g (float[n, 4] x) => (float[a, b] y) {
        p = Concat <axis = 1> (x, x, x, x, x, x)
        q = ReduceSum <keepdims = 1> (p)
        t = Transpose(x)
        s = MatMul(x, t)
        y = ReduceSum <keepdims = 1> (s)
    }"""
    formula = peak_formula(activations_of(written(text, tmp_path)), ["n"])
    # x p q: 4 (4n + 24n + 1); x t s: 4 (4n + 4n + n**2), larger from n = 21 on
    assert {n: formula({"n": n}) for n in (1, 20, 21, 50)} == {
        1: 4 * 29, 20: 4 * (28 * 20 + 1), 21: 4 * (8 * 21 + 441), 50: 4 * (8 * 50 + 2500)
    }  # fmt: skip
    assert str(formula) == "Max(112*n + 4, n*(4*n + 32))"


@pytest.mark.parametrize("family", ["dnn", "cnn", "rnn", "lstm", "transformer"])
@pytest.mark.parametrize("batch", [1, 2, 7, 64])
def test_formulas_of_families_hold_at_any_batch(family, batch):
    formula = peak_formula(activations_of(path(family)), ["batch"])
    assert formula({"batch": batch}) == plain_peak(activations_of(path(family), {"batch": batch}))


LOOPED = """g (float[steps, 2, 3] xs) => (float[steps, 2, 3] ys) {
    ys = Scan <num_scan_inputs = 1, body = b (float[2, 3] x) => (float[2, 3] y) { z = Neg(x)  y = Mul(z, z) }> (xs)
}"""


@pytest.mark.parametrize("steps", [1, 2, 9])
def test_formulas_of_bodies(tmp_path, steps):
    file = written(LOOPED, tmp_path)
    formula = peak_formula(activations_of(file), ["steps"])
    assert str(formula) == "48*steps + 48"  # xs ys, and in the body z y
    assert formula({"steps": steps}) == plain_peak(activations_of(file, {"steps": steps}))
