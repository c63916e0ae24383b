"""What training costs, on models small enough to work out by hand."""

from __future__ import annotations

import json

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest

import neural_cost
from neural_cost import OptionError, TrainingOptions
from neural_cost.analyzer.training import registry
from neural_cost.analyzer.training.record import NodeTraining
from tests.layout import ROOT

HEAD = '<ir_version: 10, opset_import: ["": 20, "acme": 1]>'
N = 5
MLP = f"""{HEAD} g (float[n, 3] x) => (float[n, 2] y) <float[3, 4] w1, float[4, 2] w2> {{
    a = MatMul(x, w1)  b = Relu(a)  y = MatMul(b, w2) }}"""
P = 3 * 4 + 4 * 2  # parameters


@pytest.fixture
def analyzed(tmp_path):
    def analyzed(text, **options):
        model = onnx.parser.parse_model(text)
        made = {name for node in model.graph.node for name in node.output}
        for info in (info for info in model.graph.value_info if info.name not in made):  # weights, which are zeros
            shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(shape, np.float32), info.name))
        file = tmp_path / "model.onnx"
        onnx.save(model, file)
        return neural_cost.analyze(file, **options)

    return analyzed


def test_a_network_of_two_layers(analyzed):
    found = analyzed(MLP, dims={"n": N}).training()
    assert found.complete
    assert found.forward_macs == N * P
    assert found.weight_macs == N * P
    assert found.input_macs == N * 4 * 2  # the graph's input needs none
    assert found.backward_macs == N * P + N * 8
    assert found.backward_flops == 2 * (N * P + N * 8) + N * 4  # a comparison for each element of the Relu
    assert found.saved_bytes == 4 * N * (3 + 4)  # x, and the Relu's output, which the second product needs as well
    assert found.saved_input_bytes == 4 * N * 3
    assert found.gradient_bytes == found.weight_bytes == 4 * P
    assert found.optimizer_bytes == 2 * 4 * P + 2 * 4
    assert found.memory_bytes == (4 + 4 + 8) * P + 8 + 4 * N * 7
    assert found.step_flops == found.forward_flops + found.backward_flops + P * 14
    rule = found.convention
    assert (rule.backward_macs, rule.training_macs) == (2 * N * P, 3 * N * P)
    assert rule.memory_training_bytes == 2 * rule.memory_forward_bytes == 2 * 4 * N * (4 + 4 + 2)


def test_frozen_weights_need_no_gradient(analyzed):
    report = analyzed(MLP, dims={"n": N})
    first = report.training(freeze=["w1"])
    assert (first.weight_macs, first.input_macs, first.saved_bytes) == (N * 8, 0, 4 * N * 4)
    assert (first.parameters, first.frozen_parameters) == (8, 12)
    assert first.gradient_bytes == 4 * 8
    assert first.weight_bytes == 4 * P
    second = report.training(freeze="w2")
    assert (second.weight_macs, second.input_macs) == (N * 12, N * 8)
    assert second.saved_bytes == 4 * N * (3 + 4)  # the Relu's output for the Relu
    none = report.training(freeze=["w?"])
    assert (none.backward_macs, none.saved_bytes, none.optimizer_bytes) == (0, 0, 0)
    assert any("nothing is trained" in note for note in none.notes)


@pytest.mark.parametrize(
    ("precision", "weights", "copy", "gradients", "state", "activation"),
    [("file", 4, 0, 4, 4, 4), ("fp32", 4, 0, 4, 4, 4), ("bf16", 2, 0, 2, 2, 2), ("amp", 4, 2, 4, 4, 2),
     ("mixed", 2, 4, 2, 4, 2)],
)  # fmt: skip
def test_precisions(analyzed, precision, weights, copy, gradients, state, activation):
    found = analyzed(MLP, dims={"n": N}).training(precision=precision)
    assert (found.weight_bytes, found.copy_bytes, found.gradient_bytes) == (weights * P, copy * P, gradients * P)
    assert found.optimizer_bytes == 2 * state * P + 2 * 4
    assert found.saved_bytes == activation * N * 7


def test_mixed_precision_is_16_bytes_for_each_parameter(analyzed):
    found = analyzed(MLP, dims={"n": N}).training(precision="mixed")
    assert found.memory_bytes - found.saved_bytes - 2 * 4 == 16 * P  # Rajbhandari et al. (2020), "ZeRO", section 3.1


def test_accumulation_is_more_passes_for_one_step(analyzed):
    once, four = (analyzed(MLP, dims={"n": N}).training(accumulate=count) for count in (1, 4))
    assert four.memory_bytes == once.memory_bytes
    assert four.step_macs == 4 * once.step_macs == 4 * (once.forward_macs + once.backward_macs)
    assert four.step_flops == 4 * (once.forward_flops + once.backward_flops) + 3 * P + 14 * P


def test_views_share_and_integers_are_kept_whole(analyzed):
    text = f"""{HEAD} g (int64[n] ids) => (float[n, 4] y) <float[9, 4] table, int64[2] s = {{-1, 4}}> {{
        e = Gather(table, ids)  r = Reshape(e, s)  t = Transpose<perm = [1, 0]>(r)  u = Transpose<perm = [1, 0]>(t)
        m = Mul(u, e)  y = Relu(m) }}"""
    found = analyzed(text, dims={"n": N}).training(precision="amp")
    # positions, one memory of rows under four names, and the Relu's output
    assert found.saved_bytes == 8 * N + 2 * N * 4 + 2 * N * 4
    assert found.complete


def test_no_gradient_passes_what_jumps(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 2] y) <float[3, 4] w1, float[4, 2] w2> {{
        a = MatMul(x, w1)  b = Floor(a)  y = MatMul(b, w2) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert found.complete
    assert (found.weight_macs, found.input_macs) == (N * 8, 0)
    assert any('no gradient reaches "w1"' in note for note in found.notes)


def test_a_type_to_convert_to_gets_no_gradient(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 4] y) <float[3, 4] w1, float two = {{2}}> {{
        a = MatMul(x, w1)  c = CastLike(two, a)  y = Mul(a, c) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert found.complete
    assert found.saved_bytes == 4 * (N * 3 + 1)  # x and the two: the Mul does not need a
    assert found.backward_flops == 2 * N * 12 + N * 4
    assert not any("no gradient" in note for note in found.notes)


def test_running_statistics_that_are_computed_get_no_gradient(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 4] y) <float[3, 4] w1, float[4] s, float[4] b, float[4] m> {{
        a = MatMul(x, w1)  v = Mul(m, m)  r = ReduceMean <keepdims = 0, noop_with_empty_axes = 0> (a)
        u = Add(v, r)  y = BatchNormalization(a, s, b, m, u) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert [node.op_type for node in found.nodes] == ["MatMul", "BatchNormalization"]


def test_what_leads_to_no_output_runs_not_backward(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 4] y) <float[3, 4] w1, float[3, 4] w2> {{
        y = MatMul(x, w1)  dead = MatMul(x, w2) }}"""
    assert analyzed(text, dims={"n": N}).training().weight_macs == N * 12


def test_an_operator_without_a_rule_is_listed(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 2] y) <float[3, 4] w1, float[4, 2] w2, float[n, 4] b> {{
        a = MatMul(x, w1)  b = acme.Mystery(a)  y = MatMul(b, w2) }}"""
    found = analyzed(text.replace(", float[n, 4] b>", ">"), dims={"n": N}).training()
    assert not found.complete
    assert [(each["domain"], each["op_type"], each["nodes"]) for each in found.uncounted] == [("acme", "Mystery", 1)]
    assert found.weight_macs >= N * 12  # what lies before it is counted
    assert "INCOMPLETE" in str(found)


def test_a_scan_runs_backward_in_each_step(analyzed):
    text = f"""{HEAD}
    g (float[5, n, 4] xs, float[n, 4] first) => (float[n, 4] last, float[5, n, 4] all) <float[4, 4] w> {{
        last, all = Scan <num_scan_inputs = 1,
            body = step (float[n, 4] h, float[n, 4] x) => (float[n, 4] after, float[n, 4] out) {{
                p = MatMul(h, w)  s = Add(p, x)  after = Tanh(s)  out = Identity(after) }}> (first, xs) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert found.complete, (found.uncounted, found.unknown)
    assert found.weight_macs == 5 * N * 16
    assert found.input_macs == 4 * N * 16  # the first state needs none
    # 3 FLOPs for each tanh; 4 sums of the weight's gradients, and 4 of a state's: as an output, and from the next step
    assert found.backward_flops == 2 * 9 * N * 16 + 3 * 5 * N * 4 + 4 * 16 + 4 * N * 4
    assert [node.repeats for node in found.nodes if node.op_type == "MatMul"] == [4, 1]
    assert found.saved_bytes == 4 * 6 * N * 4  # the state before each step, and after it: five, and the first one
    assert found.saved_input_bytes == 4 * N * 4


def test_a_loop_that_hands_a_weight_on_keeps_it_once(analyzed):
    text = f"""{HEAD}
    g (float[n, 4] first) => (float[n, 4] last) <float[4, 4] w, int64 five = {{5}}, bool on = {{1}}> {{
        last, same = Loop <body = step (int64 i, bool c, float[n, 4] h, float[4, 4] v) => (bool d, float[n, 4] k,
            float[4, 4] u) {{ d = Identity(c)  k = MatMul(h, v)  u = Identity(v) }}> (five, on, first, w) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert found.complete, (found.uncounted, found.unknown)
    assert (found.weight_macs, found.input_macs) == (5 * N * 16, 4 * N * 16)
    assert found.saved_bytes == 4 * 5 * N * 4  # the state before each step: the last one's is not needed
    assert found.saved_input_bytes == 4 * N * 4


def test_branches_run_backward_as_they_run(analyzed):
    text = f"""{HEAD} g (bool c, float[n, 3] x) => (float[n, 4] y) <float[3, 4] w1, float[3, 4] w2> {{
        y = If <then_branch = t () => (float[n, 4] a) {{ a = MatMul(x, w1) }},
            else_branch = e () => (float[n, 4] b) {{ p = MatMul(x, w2)  b = Relu(p) }}> (c) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert found.complete
    assert found.weight_macs == N * 12  # the dearer branch counts, which has the Relu
    assert found.saved_bytes == 4 * N * (3 + 4)


def test_the_formula_of_what_a_scan_keeps_holds_for_one_step_and_more(analyzed):
    text = f"""{HEAD} g (float[t, n, 4] xs, float[n, 4] first) => (float[n, 4] last) <float[4, 4] w> {{
        last = Scan <num_scan_inputs = 1, body = step (float[n, 4] h, float[n, 4] x) => (float[n, 4] after) {{
            p = MatMul(h, w)  after = Add(p, x) }}> (first, xs) }}"""
    saved = analyzed(text).training().formulas["saved_bytes"]
    assert [saved({"t": t, "n": 2}) for t in (1, 2, 7)] == [4 * t * 2 * 4 for t in (1, 2, 7)]  # the state before each


def test_one_segment_keeps_what_is_kept_without_checkpoints_and_stands_once(analyzed):
    found = analyzed(MLP, dims={"n": N}).training()
    assert found.checkpoints[0].saved_bytes == found.saved_bytes
    segments = [trade.segments for trade in found.checkpoints]
    assert segments == sorted(set(segments))


@pytest.mark.parametrize("checkpoint", ["none", "block", "sqrt"])
def test_checkpoints_keep_less_and_compute_more(checkpoint):
    report = neural_cost.analyze(ROOT / "models" / "transformer.onnx", dims={"batch": 8})
    plain, found = report.training(), report.training(checkpoint=checkpoint)
    assert found.backward_macs == plain.backward_macs
    assert (found.saved_bytes < plain.saved_bytes) == (checkpoint != "none")
    assert (found.recomputed_macs > 0) == (checkpoint != "none")
    assert found.step_macs == plain.step_macs + found.recomputed_macs


@pytest.mark.parametrize("checkpoint", ["block", "sqrt"])
def test_formulas_with_checkpoints_are_those_of_the_figures(checkpoint):
    file = ROOT / "models" / "transformer.onnx"
    formulas = neural_cost.analyze(file).training(checkpoint=checkpoint).formulas
    assert {"saved_bytes", "memory_bytes"} <= set(formulas)
    for batch in (1, 3, 16):
        bound = neural_cost.analyze(file, dims={"batch": batch}).training(checkpoint=checkpoint)
        assert {name: formula({"batch": batch}) for name, formula in formulas.items()} == {
            name: getattr(bound, name) for name in formulas
        }


def test_segments_that_sizes_may_move_have_no_formula(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, n] y) <float[3, 4] w1> {{
        a = MatMul(x, w1)  t = Transpose(a)  s = MatMul(a, t)  y = Softmax(s) }}"""
    formulas = analyzed(text).training(checkpoint="sqrt").formulas
    assert set(formulas) == {"backward_macs", "input_macs", "weight_macs"}
    assert "saved_bytes" in analyzed(text).training(checkpoint="none").formulas


def test_a_weight_without_a_name_of_its_own_goes_by_its_module(analyzed):
    text = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y) <float[4, 4] val_1, float[4] val_2, float[4, 4] val_3> {{
        ["a/0/fc"] a = MatMul(x, val_1)  ["a/0/fc"] b = Add(a, val_2)  ["a/1/fc"] y = MatMul(b, val_3) }}"""
    report = analyzed(text, dims={"n": N})
    scopes = {node.scope for node in report.nodes}
    assert len(scopes) == 2
    first = next(iter(sorted(scopes))).replace("/", ".")
    assert report.training(freeze=[f"{first}.*"]).parameters == 4 * 4
    assert report.training(freeze=[f"{first}.weight"]).parameters == 4 + 4 * 4
    assert report.training(freeze=["*.bias"]).parameters == 2 * 4 * 4


def test_a_block_keeps_what_it_reads(analyzed):
    layers = "  ".join(
        f'["{i}/up"] a{i} = MatMul(x{i}, u{i})  ["{i}/act"] b{i} = Relu(a{i})  '
        f'["{i}/down"] x{i + 1} = MatMul(b{i}, d{i})'
        for i in range(3)
    )
    weights = ", ".join(f"float[4, 16] u{i}, float[16, 4] d{i}" for i in range(3))
    report = analyzed(f"{HEAD} g (float[n, 4] x0) => (float[n, 4] x3) <{weights}> {{ {layers} }}", dims={"n": N})
    plain, found = report.training(), report.training(checkpoint="block")
    assert plain.saved_bytes == 4 * N * 3 * (4 + 16)
    assert found.saved_bytes == 4 * N * (3 * 4 + 16)  # what each of three reads, and the inside of the one at work
    assert found.recomputed_macs == report.totals.macs


def test_nodes_that_keep_the_same_are_cut_in_the_middle(analyzed):
    text = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y) <float[4, 4] w> {{
        a = MatMul(x, w)  b = Tanh(a)  c = Tanh(b)  y = Tanh(c) }}"""
    found = analyzed(text, dims={"n": N}).training(checkpoint="sqrt")
    # The root of four nodes is two segments, each with 2 x 4 n floats to keep: x and b, then c and y.
    assert found.recomputed_macs == N * 4 * 4
    assert found.recomputed_flops == 2 * N * 4 * 4 + N * 4  # and the first Tanh


def test_a_loop_of_unknown_length_leaves_its_nodes_out(analyzed):
    text = f"""{HEAD} g (float[n, 4] x, int64 m) => (float[n, 4] y) <float[4, 4] w, bool on = {{1}}> {{
        b = Loop <body = step (int64 i, bool c, float[n, 4] h) => (bool d, float[n, 4] k) {{
            d = Identity(c)  k = MatMul(h, w) }}> (m, on, x)
        y = MatMul(b, w) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert not found.complete
    assert "how often" in " ".join(each["why"] for each in found.unknown)


def test_more_segments_keep_less_until_what_they_read_is_more():
    found = neural_cost.analyze(ROOT / "models" / "transformer.onnx", dims={"batch": 8}).training()
    first, *others = found.checkpoints
    assert (first.segments, first.saved_bytes, first.recomputed_macs) == (1, found.saved_bytes, 0)
    assert min(each.saved_bytes for each in others) < first.saved_bytes
    assert [each.recomputed_macs for each in others] == sorted(each.recomputed_macs for each in others)


@pytest.mark.parametrize("name", ["dnn", "cnn", "rnn", "lstm", "transformer"])
def test_formulas_give_what_an_analysis_gives(name):
    file = ROOT / "models" / f"{name}.onnx"
    formulas = neural_cost.analyze(file).training(precision="amp").formulas
    assert set(formulas) == {"backward_macs", "input_macs", "weight_macs", "saved_bytes", "memory_bytes"}
    for batch in (1, 3, 16):
        bound = neural_cost.analyze(file, dims={"batch": batch}).training(precision="amp")
        assert {each: formula({"batch": batch}) for each, formula in formulas.items()} == {
            each: getattr(bound, each) for each in formulas
        }


def test_records_are_plain_data_and_tables(analyzed):
    found = analyzed(MLP).training(optimizer="adafactor")
    data = json.loads(json.dumps(found.to_dict()))
    # Adafactor: 15 for each element of two matrices, 7 for each of 3 + 4 rows, 6 for each of 4 + 2 columns
    assert data["step_flops"] == found.forward_flops + found.backward_flops + 15 * P + 7 * 7 + 6 * 6
    assert data["formulas"]["saved_bytes"] == "28*n"
    assert list(found.to_dataframe()["op_type"]) == ["MatMul", "Relu", "MatMul"]
    assert list(found.to_dataframe().columns) == list(NodeTraining.__slots__)
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"optimizer": "lion"}, "lion"), ({"precision": "fp8"}, "fp8"), ({"checkpoint": "all"}, "all"),
     ({"accumulate": 0}, "accumulate"), ({"freeze": [1]}, "freeze cannot be"), ({"freeze": None}, "freeze cannot be"),
     ({"freeze": ["nothing*"]}, 'freeze "nothing\\*".*"w1"')],
)  # fmt: skip
def test_mistakes_are_told(analyzed, options, message):
    with pytest.raises(OptionError, match=message):
        analyzed(MLP, dims={"n": N}).training(**options)


def test_quantized_weights_are_not_trained(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 4] y) <float[3, 4] w1, int8[4, 4] q = {{{", ".join("1" * 16)}}},
        float s = {{0.5}}> {{ a = MatMul(x, w1)  d = DequantizeLinear(q, s)  y = MatMul(a, d) }}"""
    found = analyzed(text, dims={"n": N}).training(precision="bf16")
    assert (found.parameters, found.frozen_parameters) == (12, 16)
    assert (found.weight_macs, found.input_macs) == (N * 12, N * 16)
    assert found.weight_bytes == 2 * 12 + 16
    assert any("fewer than 16 bits" in note for note in found.notes)


def test_quantized_activations_are_listed_and_what_lies_before_is_counted(analyzed):
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 2] y) <float[3, 4] w1, float[4, 2] w2, float s = {{0.5}},
        uint8 z = {{0}}, int64[2] shape = {{-1, 4}}> {{
        a = MatMul(x, w1)  q = QuantizeLinear(a, s, z)  r = Reshape(q, shape)  d = DequantizeLinear(r, s, z)
        y = MatMul(d, w2) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert not found.complete
    assert [(each["op_type"], each["nodes"]) for each in found.uncounted] == [
        ("QuantizeLinear", 1), ("DequantizeLinear", 1)
    ]  # fmt: skip
    assert all("no derivative" in each["why"] for each in found.uncounted)
    assert (found.weight_macs, found.input_macs) == (N * 12 + N * 8, N * 8)


def test_options_can_be_given_whole_and_changed(analyzed):
    report = analyzed(MLP, dims={"n": N})
    options = TrainingOptions(optimizer="sgd", freeze=["w1"])
    assert report.training(options).parameters == 8
    assert report.training(options, freeze=[]).parameters == P
    assert report.training(options, freeze=[]).optimizer_bytes == 0


def test_a_rule_of_your_own_is_used(analyzed, monkeypatch):
    monkeypatch.setattr(registry, "_rules", registry.registered())

    @neural_cost.register_backward("Mystery", domain="acme")
    def mystery(node, wants):
        return registry.Gradient(macs={0: 7 * node.x.size}, saves=(node.y,))

    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 4] b) <float[3, 4] w1> {{
        a = MatMul(x, w1)  b = acme.Mystery(a) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert found.uncounted == []
    assert (found.input_macs, found.saved_bytes) == (7 * N * 4, 4 * N * (3 + 4))
    assert not found.complete  # what it costs forward is not known


@pytest.mark.parametrize("given", [None, 7])
def test_a_rule_that_gives_no_gradient_is_told(analyzed, monkeypatch, given):
    monkeypatch.setattr(registry, "_rules", registry.registered())
    neural_cost.register_backward("Mystery", domain="acme")(lambda node, wants: given)
    text = f"""{HEAD} g (float[n, 3] x) => (float[n, 4] b) <float[3, 4] w1> {{
        a = MatMul(x, w1)  b = acme.Mystery(a) }}"""
    found = analyzed(text, dims={"n": N}).training()
    assert any("where a Gradient is wanted" in each["why"] for each in found.unknown)


def test_a_report_has_it_on_demand(analyzed):
    report = analyzed(MLP, dims={"n": N})
    assert "training" not in report.to_dict()
    assert report.to_dict(training=TrainingOptions())["training"]["backward_macs"] == N * P + N * 8
