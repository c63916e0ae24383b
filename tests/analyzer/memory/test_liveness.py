"""What is alive when, worked out by hand. A float is 4 bytes; tensors are of 64 floats (256 bytes) unless it says."""

import pytest

from neural_cost.analyzer.memory.liveness import Policy
from neural_cost.analyzer.memory.orders import runtime_order
from neural_cost.analyzer.memory.record import measure
from tests.memory_models import activations_of, bytes_at, written

T = 256
LOWER, PLAIN, PLANNED, UPPER = Policy


@pytest.fixture
def at(tmp_path):
    """Bytes at each node of a model written as text."""

    def found(text, policy=PLAIN, order=None, **given):
        activations = activations_of(written(text, tmp_path), **given)
        assert not activations.unknown
        steps = bytes_at(activations, policy) if order is None else bytes_at(activations, policy, order)
        return [size // T if size % T == 0 else size / T for size in steps.values()]

    return found


CHAIN = """g (float[64] x) => (float[64] y) {
    a = Exp(x)
    b = Neg(a)
    y = Abs(b)
}"""


def test_chain(at):
    assert at(CHAIN) == [2, 3, 3]  # x a; x a b; x b y
    assert at(CHAIN, LOWER) == [2, 2, 3]  # b over a; y lies in memory of the caller
    assert at(CHAIN, UPPER) == [2, 3, 3]


DIAMOND = """g (float[64] x) => (float[64] y) {
    a = Exp(x)
    b = ReduceSum <keepdims = 1> (a)
    c = Neg(a)
    y = Add(b, c)
}"""


def test_diamond(at):
    one = 4 / T
    assert at(DIAMOND) == [2, 2 + one, 3 + one, 3 + one]  # x a; x a b; x a b c; x b c y
    assert at(DIAMOND, LOWER) == [2, 2 + one, 2 + one, 3 + one]


def test_a_tensor_lives_to_its_last_reader(at):
    text = """g (float[64] x) => (float[64] y) {
        a = Exp(x)
        b = Transpose(a)
        c = Transpose(b)
        y = Add(a, c)
    }"""
    assert at(text) == [2, 3, 4, 4]  # a until the end: x a; x a b; x a b c; x a c y


def test_views_share_memory(at):
    text = """g (float[64] x) => (float[64] y) <int64[1] axes = {0}, int64[1] flat = {-1}> {
        a = Transpose(x)
        b = Unsqueeze(a, axes)
        c = Reshape(b, flat)
        d = Transpose(c)
        y = Transpose(d)
    }"""
    for policy in Policy:
        assert at(text, policy) == [2, 2, 2, 3, 3]  # x a; the same under b and c; x a d; x d y


def test_a_view_keeps_its_tensor_alive(at):
    text = """g (float[64] x) => (float[64] y) <int64[2] two = {8, 8}> {
        a = Transpose(x)
        b = Reshape(a, two)
        c = Transpose(x)
        d = Transpose(b)
        e = Flatten <axis = 0> (d)
        y = MatMul(c, c)
    }"""
    assert at(text)[:4] == [2, 2, 3, 4]  # a lives as b until d is made


def test_an_output_that_is_a_view_is_a_copy(at):
    text = """g (float[64] x) => (float[64] y) <int64[1] flat = {-1}> {
        a = Exp(x)
        y = Reshape(a, flat)
    }"""
    for policy in Policy:
        assert at(text, policy) == [2, 3]


def test_inputs_and_outputs_are_held(at):
    text = """g (float[64] x) => (float[64] y, float[64] z) {
        y = Exp(x)
        a = Transpose(y)
        b = Transpose(a)
        z = Transpose(b)
    }"""
    assert at(text) == [2, 3, 4, 4]  # x and y to the end


def test_an_input_that_nothing_reads_is_held_too(at):
    assert at("g (float[64] x, float[64] unused) => (float[64] y) { y = Exp(x) }") == [3]


UNREAD = """g (float[64] x) => (float[64] y) <int64[2] half = {32, 32}> {
    a, b = Split(x, half)
    c = Transpose(a)
    y = Concat <axis = 0> (c, c)
}"""


def test_an_output_that_nothing_reads(at):
    assert at(UNREAD) == [2, 2, 2.5]  # b is alive at the Split alone: x a b; x a c; x c y
    # In units of 256 bytes, and no node frees b: x a b; x a b c; x b c y
    assert at(UNREAD, UPPER) == [3, 4, 4]


def test_operators_that_write_over_their_inputs(at):
    text = """g (float[64] x) => (float[64] y) {
        a = Exp(x)
        b = Transpose(x)
        c = Add(a, b)
        d = Transpose(c)
        y = Transpose(d)
    }"""
    assert at(text) == [2, 3, 4, 3, 3]
    assert at(text, LOWER) == [2, 3, 3, 3, 3]  # c over a


def test_planned_is_in_place_where_the_kernels_are(at):
    text = """g (float[64] x) => (float[64] y) {
        a = Transpose(x)
        b = Relu(a)
        c = Neg(b)
        d = Transpose(c)
        y = Transpose(d)
    }"""
    # x a; b lies in a; x a c, for Neg is not in place; d is where a was; x c y, and what a was is kept until d dies
    assert at(text, PLANNED) == [2, 2, 3, 3, 3]
    assert at(text, LOWER) == [2, 2, 2, 3, 3]
    assert at(text) == [2, 3, 3, 3, 3]


def test_planned_is_not_in_place_where_the_input_is_needed_again(at):
    text = """g (float[64] x) => (float[64] y) {
        a = Transpose(x)
        b = Relu(a)
        c = Relu(a)
        d = Transpose(c)
        y = Add(d, b)
    }"""
    assert at(text, PLANNED) == [2, 3, 3, 4, 4]  # x a; x a b; x b and c in a; x b c d; x b d y


def test_a_larger_output_is_not_all_over_its_input(at):
    text = """g (float[64] x) => (float[4, 64] y) <float[4, 1] w = {1, 1, 1, 1}> {
        a = Transpose(x)
        b = Add(a, w)
        y = Transpose <perm = [0, 1]> (b)
    }"""
    assert at(text, LOWER) == [2, 5, 9]  # b is 4 tensors, one of them over a: x b
    assert at(text) == [2, 6, 9]


CONV = "<kernel_shape = [1, 1]>"
RESIDUAL = """g (float[1, 4, 4, 4] x) => (float[4, 64] z) <float[4, 4, 1, 1] w = {WEIGHTS}, int64[2] n = {1, 64}> {
    a = Transpose <perm = [0, 1, 3, 2]> (x)
    b = Conv(a, w)
    c = Add(b, a)
    d = Relu(c)
    e = Reshape(d, n)
    z = Concat <axis = 0> (e, e, e, e)
}""".replace("WEIGHTS", ", ".join("1" * 16))


def test_a_convolution_adds_into_the_other_operand_of_a_sum(at):
    assert at(RESIDUAL) == [2, 3, 4, 3, 2, 6]  # x a; x a b; x a b c; x c d; as before; x d z(4)
    assert at(RESIDUAL, LOWER) == [2, 2, 2, 2, 2, 6]  # b and c lie in a


def test_free_memory_is_kept_for_the_next_tensor_of_the_shape(at):
    text = """g (float[64] x) => (float[1] y, float[1, 1] u) <int64[2] two = {8, 8}> {
        a = Transpose(x)
        s = ReduceSum <keepdims = 1> (a)
        t = Expand(s, two)
        u = ReduceSum <keepdims = 1> (t)
        v = Transpose(x)
        y = ReduceSum <keepdims = 1> (v)
    }"""
    small = 4 / T
    # x a; x a s; x s t; x t u; x v u; x v y u
    assert at(text) == [2, 2 + small, 2 + small, 2 + small, 2 + small, 2 + 2 * small]
    # In units of 256 bytes, and the memory of a is kept for v; t is of another shape: x a; x a s; x a s t; x a t u; ...
    assert at(text, UPPER) == [2, 3, 4, 4, 3, 4]


IF = """g (bool c, float[64] x) => (float[64] y) {
    a = Transpose(x)
    b = If (c) <
        then_branch = t () => (float[64] p) { q = Transpose(a)  r = Transpose(q)  p = Transpose(r) },
        else_branch = e () => (float[64] p) { p = Transpose(a) }
    >
    y = Transpose(b)
}"""


def test_branches_run_on_top_of_what_is_alive(at):
    flag = 1 / T
    # at the If: c x a and b; beside them q r, and at the end r p; what it captures stays alive
    assert at(IF) == [2 + flag, 5 + flag, 3 + flag]
    # at least: c x a, and p of the smaller branch before b is there
    assert at(IF, LOWER) == [2 + flag, 3 + flag, 3 + flag]


def test_a_known_branch_counts_alone(at):
    text = IF.replace("(bool c, float[64] x)", "(float[64] x)").replace("{\n    a =", "<bool c = {0}> {\n    a =", 1)
    assert at(text) == [2, 4, 3]


LOOP = """g (float[64] x) => (float[64] y) <int64 n = {3}, bool go = {1}> {
    a = Transpose(x)
    b, rows = Loop (n, go, a) <body = l (int64 i, bool k, float[64] s) => (bool m, float[64] t, float[64] row) {
        m = Identity(k)
        u = Transpose(s)
        t = Transpose(u)
        row = Transpose(u)
    }>
    c = Transpose(b)
    y = Transpose(c)
}"""


def test_the_state_of_a_loop_is_its_own_after_the_first_run(at):
    number = 8 + 1  # bytes of the iteration's number and its condition
    # x a, b and rows of 3; inside s, u t row, and m; afterwards x b c, rows being read by none
    inside = (number + 1) / T + 4
    assert at(LOOP) == [2, 2 + 4 + inside, 3, 3]
    # At least: x a, with s in a, and u t row beside it; then b and rows come, which is as much as that and more
    assert at(LOOP, LOWER) == [2, 6, 3, 3]


def test_rows_of_a_loop_are_kept_one_by_one_and_then_joined(at):
    small = 3 * 256  # the number, the condition in and out, each in a unit of the arena
    assert at(LOOP, UPPER)[1] == 2 + 4 + 3 + 4 + small / T


def test_a_loop_that_never_runs_needs_nothing(at):
    # b and rows: 0 of them
    assert at(LOOP.replace("n = {3}", "n = {0}"))[1] == 3


def test_a_scan_reads_slices_where_they_lie(at):
    text = """g (float[5, 64] xs) => (float[5, 64] ys) {
        a = Transpose <perm = [0, 1]> (xs)
        b = Scan (a) <num_scan_inputs = 1, body = s (float[64] x) => (float[64] y) {
            u = Transpose(x)
            y = Transpose(u)
        }>
        ys = Transpose <perm = [0, 1]> (b)
    }"""
    assert at(text) == [10, 17, 15]  # xs a; xs a b and u y; xs b ys
    assert at(text, LOWER) == [10, 15, 15]


def test_constants_are_weights(at):
    text = """g (float[64] x) => (float[64] y) <float[64] w = {WEIGHTS}> {
        a = Neg(w)
        y = Add(x, a)
    }""".replace("WEIGHTS", ", ".join("1" * 64))
    assert at(text) == [2]


def test_a_view_of_a_weight_is_no_activation(at):
    text = """g (float[64] x, int64[1] shape) => (float[64] y) <float[64] w = {WEIGHTS}> {
        a = Reshape(w, shape)
        b = Transpose(x)
        y = Add(b, a)
    }""".replace("WEIGHTS", ", ".join("1" * 64))
    small = 8 / T  # the shape
    assert at(text) == [2 + small, 3 + small]


def test_an_operator_without_its_input_breaks_nothing(tmp_path):
    found = activations_of(written("g (float[64] x) => (float[64] y) { a = Identity()  y = Exp(x) }", tmp_path))
    assert measure(found, 0).peak_bytes == 2 * T  # it reads nothing, so it runs at load time


def test_unknown_sizes_leave_no_peak(tmp_path):
    text = "g (float[64] x) => (float[n] y) { a = NonZero(x)  b = Cast <to = 1> (a)  y = ReduceSum(b) }"
    found = measure(activations_of(written(text, tmp_path)), 0)
    assert (found.peak_lower_bytes, found.peak_bytes, found.peak_upper_bytes) == (None, None, None)
    assert '"a"' in found.why


def test_onnxruntime_starts_from_the_last_leaf_and_takes_the_latest_first(tmp_path):
    text = """g (float[64] x) => (float[64] y, float[64] z) {
        a = Exp(x)
        b = Neg(x)
        y = Add(a, b)
        z = Abs(a)
    }"""
    steps = runtime_order(activations_of(written(text, tmp_path)).scope)
    assert [step.op_type for step in steps] == ["Exp", "Abs", "Neg", "Add"]


def test_what_is_alive_at_the_peak_is_named(tmp_path):
    found = measure(activations_of(written(CHAIN, tmp_path)), 7)
    assert found.peak_bytes == 3 * T
    assert found.peak_node == "1"
    assert [(each.name, each.bytes) for each in found.alive] == [("x", T), ("a", T), ("b", T)]
    assert [(each.node, each.lower_bytes, each.bytes, each.upper_bytes) for each in found.timeline] == [
        ("0", 2 * T, 2 * T, 2 * T), ("1", 2 * T, 3 * T, 3 * T), ("2", 3 * T, 3 * T, 3 * T)
    ]  # fmt: skip
    assert (found.input_bytes, found.output_bytes, found.cache_bytes, found.weight_bytes) == (T, T, 0, 7)
    assert found.workspace_bytes is None


def test_bodies_at_the_peak_are_one_entry(tmp_path):
    found = measure(activations_of(written(IF, tmp_path)), 0)
    assert found.alive[0].name == "in the bodies of 1"
    assert found.alive[0].bytes == 2 * T


def test_a_graph_in_which_nothing_runs_holds_its_inputs(tmp_path):
    text = "g (float[64] x) => (float[2] y) <float[2] w = {1, 2}> { y = Neg(w) }"
    found = measure(activations_of(written(text, tmp_path)), 8)
    assert (found.peak_lower_bytes, found.peak_bytes, found.peak_upper_bytes) == (T, T, T)
    assert (found.peak_node, found.alive, found.timeline) == (None, [], [])
