"""Bodies of control flow: how often they run, what they cost, and what is unknown; counts by hand."""

import onnx
import onnx.parser
import pytest

import neural_cost
from tests.truth import truth_of

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'
ROW = 2 * 3  # elements of x in the models below: a Mul of it is as many FLOPs
PRODUCT = 2 * 3 * 3  # MACs of x (2, 3) by w (3, 3)


def analyzed(text, tmp_path, **options):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), file)
    return neural_cost.analyze(file, **options), file


LOOP = """g (float[2, 3] x) => (float[2, 3] y)
    <int64 m = {%s}, bool c = {%s}, float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
    y = Loop(m, c, x) <body = b (int64 i, bool ci, float[2, 3] a) => (bool co, float[2, 3] z) {
        co = Identity(ci)
        p = MatMul(a, w)
        z = Mul(p, p)
    }>
}"""


@pytest.mark.parametrize(("most", "starts", "trips"), [(5, 1, 5), (1, 1, 1), (0, 1, 0), (-1, 1, 0), (5, 0, 0)])
def test_a_loop_runs_as_often_as_its_limit_says(most, starts, trips, tmp_path):
    report, _ = analyzed(LOOP % (most, starts), tmp_path)
    assert report.totals.complete
    assert report.totals.macs == trips * PRODUCT
    assert report.totals.other_flops == trips * ROW
    assert report.totals.parameters == 3 * 3  # used in every iteration, there once
    product = next(node for node in report.nodes if node.op_type == "MatMul")
    assert (product.macs, product.repeats) == (PRODUCT, trips)


COUNTED = """g (float[2, 3] x) => (float[2, 3] y)
    <int64 m = {100}, bool c = {1}, int64 n = {0}, int64 end = {7}, int64 two = {2}> {
    last, y = Loop(m, c, n, x) <
        body = b (int64 i, bool ci, int64 k, float[2, 3] a) => (bool co, int64 next, float[2, 3] z) {
        next = Add(k, two)
        co = Less(next, end)
        z = Mul(a, a)
    }>
}"""  # k is 0, 2, 4, 6; after the fourth it is 8


def test_a_condition_on_constants_is_played_through(tmp_path):
    report, _ = analyzed(COUNTED, tmp_path)
    assert report.totals.complete
    assert report.totals.other_flops == 4 * (ROW + 1 + 1)  # Mul, Add, Less


UP_TO_A_SIZE = """g (float[rows, 3] x) => (float[m, 3] y)
    <int64 zero = {0}, int64 axis = {0}, int64 two = {2}, int64 top = {%s}> {
    s = Shape(x)
    n = Gather(s, axis)
    starts = Less(zero, n)
    last, kept, y, ys = Loop(, starts, zero, n, x) <
        body = b (int64 i, bool ci, int64 k, int64 n_in, float[l, 3] a)
            => (bool co, int64 next, int64 n_out, float[l, 3] z, float[3] row) {
        next = Add(k, two)
        n_out = Identity(n_in)
        counts = Less(next, n_in)
        few = LessOrEqual(i, top)
        co = And(counts, few)
        z = Mul(a, a)
        row = Gather(z, axis)
    }>
}"""


@pytest.mark.parametrize(
    ("rows", "top", "trips"), [(7, 99, 4), (8, 99, 4), (9, 99, 5), (1, 99, 1), (9, 1, 3), (9, 0, 2)]
)
def test_a_loop_that_counts_up_to_a_size_has_trips_at_any_size(rows, top, trips, tmp_path):
    """After t iterations k is 2 t and i was t - 1: it ends when 2 t >= rows, or when t - 1 > top."""
    report, file = analyzed(UP_TO_A_SIZE % top, tmp_path, dims={"rows": rows})
    product = next(node for node in report.nodes if node.op_type == "Mul")
    assert (report.totals.complete, product.repeats, product.other_flops) == (True, trips, rows * 3)
    assert not neural_cost.verify(report).differences
    opened = next(node for node in neural_cost.analyze(file).nodes if node.op_type == "Mul")
    trips_at = opened.source.open_repeats
    assert int(trips_at.subs(dict.fromkeys(trips_at.free_symbols, rows))) == trips


def test_a_counted_loop_may_be_longer_than_what_is_played_through(tmp_path):
    report, _ = analyzed(COUNTED.replace("{100}", "{1000000}").replace("{7}", "{20000}"), tmp_path)
    product = next(node for node in report.nodes if node.op_type == "Mul")
    assert product.repeats == 10_000  # steps of 2


DATA_DEPENDENT = """g (float[2, 3] x) => (float[2, 3] y) <bool c = {1}, float[1] end = {7}> {
    y = Loop(, c, x) <body = b (int64 i, bool ci, float[2, 3] a) => (bool co, float[2, 3] z) {
        z = Add(a, a)
        s = ReduceMax <keepdims = 0> (z)
        l = Less(s, end)
        co = Squeeze(l)
    }>
}"""


def test_trips_that_depend_on_data_are_unknown(tmp_path):
    report, _ = analyzed(DATA_DEPENDENT, tmp_path)
    assert not report.totals.complete
    assert report.totals.flops == 0
    added = next(node for node in report.nodes if node.op_type == "Add")
    assert (added.flops, added.repeats) == (ROW, None)
    assert "--trips" in report.coverage.unknown_shapes[0]["why"]


def test_trips_can_be_given(tmp_path):
    text = LOOP.replace("<int64 m = {%s}, bool c = {%s}, ", "<bool c = {1}, ").replace("g (", "g (int64 m, ")
    unknown, file = analyzed(text, tmp_path)
    assert not unknown.totals.complete
    name = "the loop"
    model = onnx.load(file)
    model.graph.node[0].name = name
    onnx.save(model, file)
    report = neural_cost.analyze(file, trips={name: 6})
    assert report.totals.complete
    assert report.totals.macs == 6 * PRODUCT
    with pytest.raises(neural_cost.DimensionError, match='no Loop node "other"; it has: the loop'):
        neural_cost.analyze(file, trips={"other": 6})


GROWING = """g (float[2, 3] x) => (float[n, 3] y) <int64 m = {4}, bool c = {1}> {
    y = Loop(m, c, x) <body = b (int64 i, bool ci, float[k, 3] a) => (bool co, float[l, 3] z) {
        co = Identity(ci)
        z = Concat <axis = 0> (a, x)
    }>
}"""


def test_a_shape_that_grows_is_unknown_not_wrong(tmp_path):
    report, _ = analyzed(GROWING, tmp_path)
    assert not report.totals.complete
    concat = next(node for node in report.nodes if node.op_type == "Concat")
    assert concat.flops is None
    assert concat.inputs[0].dims == (None, 3)
    assert concat.repeats == 4


IF = """g (float[2, 3] x%s) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}%s> {
    y = If(c) <
        then_branch = t () => (float[2, 3] yt) { yt = Mul(x, x) },
        else_branch = e () => (float[2, 3] ye) { ye = MatMul(x, w) }
    >
}"""


@pytest.mark.parametrize(("truth", "macs", "other"), [(1, 0, ROW), (0, PRODUCT, 0)])
def test_a_constant_condition_takes_its_branch(truth, macs, other, tmp_path):
    report, _ = analyzed(IF % ("", f", bool c = {{{truth}}}"), tmp_path)
    assert report.totals.complete
    assert (report.totals.macs, report.totals.other_flops) == (macs, other)


def test_of_two_possible_branches_the_dearer_counts(tmp_path):
    report, _ = analyzed(IF % (", bool c", ""), tmp_path)
    assert report.totals.complete
    assert (report.totals.macs, report.totals.other_flops) == (PRODUCT, 0)
    assert "else_branch" in report.notes[0]
    assert {node.op_type: node.repeats for node in report.nodes} == {"If": 1, "Mul": 0, "MatMul": 1}


SCAN = """g (float[3, 3] s, float[5, 2, 3] xs) => (float[3, 3] last, float[2, 5, 3] ys) {
    last, ys = Scan <num_scan_inputs = 1, scan_output_axes = [1],
        body = b (float[3, 3] a, float[2, 3] x) => (float[3, 3] a2, float[2, 3] y) {
        a2 = Identity(a)
        y = MatMul(x, a)
    }> (s, xs)
}"""


def test_a_scan_runs_once_for_each_slice(tmp_path):
    report, file = analyzed(SCAN, tmp_path)
    assert report.totals.complete
    assert report.totals.macs == 5 * PRODUCT
    shapes = {tensor.name: tensor.dims for node in report.nodes for tensor in node.outputs}
    assert (shapes["last"], shapes["ys"]) == ((3, 3), (2, 5, 3))
    assert outputs_of(file) == {"last": (3, 3), "ys": (2, 5, 3)}


def outputs_of(file):
    """Shapes of a Scan's outputs, from a run."""
    tensors = truth_of(file).tensors
    return {name: tensors[name].shape for name in ("last", "ys")}


OLD_SCAN = SCAN.replace("float[3, 3] s, float[5, 2, 3] xs", "float[4, 3, 3] s, float[4, 5, 2, 3] xs").replace(
    "float[3, 3] last, float[2, 5, 3] ys", "float[4, 3, 3] last, float[4, 5, 2, 3] ys"
).replace(", scan_output_axes = [1],", ",").replace("(s, xs)", "(, s, xs)")  # fmt: skip


def test_the_scan_of_opset_8_has_a_batch(tmp_path):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD.replace("17", "8") + OLD_SCAN), file)
    report = neural_cost.analyze(file)
    assert report.totals.complete
    assert report.totals.macs == 4 * 5 * PRODUCT
    shapes = {tensor.name: tensor.dims for node in report.nodes for tensor in node.outputs}
    assert (shapes["last"], shapes["ys"]) == ((4, 3, 3), (4, 5, 2, 3))
    assert outputs_of(file) == {"last": (4, 3, 3), "ys": (4, 5, 2, 3)}


NESTED = """g (float[2, 3] x) => (float[2, 3] y) <int64 m = {4}, int64 k = {3}, bool c = {1}> {
    y = Loop(m, c, x) <body = outer (int64 i, bool ci, float[2, 3] a) => (bool co, float[2, 3] z) {
        co = Identity(ci)
        z = Loop(k, c, a) <body = inner (int64 j, bool di, float[2, 3] d) => (bool do, float[2, 3] e) {
            do = Identity(di)
            e = Mul(d, x)
        }>
    }>
}"""


def test_nested_trips_multiply(tmp_path):
    report, _ = analyzed(NESTED, tmp_path)
    assert report.totals.complete
    assert report.totals.flops == 4 * 3 * ROW
    assert next(node for node in report.nodes if node.op_type == "Mul").graph.count("/body") == 2


SEQUENCE_MAP = """g (float[2, 3] x) => (float[2, 3] y) <int64 at = {0}> {
    s = SequenceConstruct(x, x, x)
    t = SequenceMap(s) <body = b (float[2, 3] a) => (float[2, 3] z) { z = Mul(a, a) }>
    y = SequenceAt(t, at)
}"""


def test_a_sequence_map_runs_once_for_each_element(tmp_path):
    report, _ = analyzed(SEQUENCE_MAP, tmp_path)
    assert next(node for node in report.nodes if node.op_type == "Mul").repeats == 3


def test_open_dimensions_stay_open_in_bodies_and_trips(tmp_path):
    text = SCAN.replace("5", "steps").replace("2, 3", "batch, 3").replace("2, steps", "batch, steps")
    report, _ = analyzed(text, tmp_path, dims={"batch": 2})
    assert report.model.assumed_dims == ["steps"]
    ys = next(
        tensor for node in report.nodes if node.op_type == "Scan" for tensor in node.outputs if tensor.name == "ys"
    )
    assert ys.dims == (2, 1, 3)
    assert [str(dim) for dim in ys.symbols] == ["2", "steps", "3"]


@pytest.mark.parametrize("op", ["If(c)", "Loop(m, c, x)", "Scan(x)", "SequenceMap(x)"])
def test_control_flow_without_a_body_is_listed(op, tmp_path):
    text = "g (float[2, 3] x) => (float[2, 3] y) <int64 m = {4}, bool c = {1}> { y = OP }".replace("OP", op)
    report, _ = analyzed(text, tmp_path)
    assert not report.totals.complete
    assert "form" in report.coverage.unknown_shapes[0]["why"]


FLEX = """<ir_version: 10, opset_import: ["": 20, "ai.onnx.preview": 1]>
g (float[1, 2, 3, 4] q) => (float[1, 2, 3, 4] y) {
    y = ai.onnx.preview.FlexAttention <
        score_mod = s (float[b, h, n, m] a) => (float[b, h, n, m] c) { c = Tanh(a) },
        prob_mod = p (float[b, h, n, m] d) => (float[b, h, n, m] e) { e = Mul(d, d) }
    > (q, q, q)
}"""


def test_the_bodies_of_a_flex_attention_both_count(tmp_path):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(FLEX), file)
    report = neural_cost.analyze(file)
    assert report.totals.complete
    scores = 2 * 3 * 3
    assert report.totals.macs == scores * (4 + 4)
    assert report.totals.other_flops == scores * (1 + 5) + scores + scores  # scale and softmax; Tanh; Mul
