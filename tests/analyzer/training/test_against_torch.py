"""Backward MACs against torch's counter, exactly, and saved bytes against what autograd keeps."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

import neural_cost
from neural_cost.models import zoo
from tests import transformer_models
from tests.analyzer.training.resnet import export, resnet18
from tests.analyzer.training.torch_runs import backward_macs, saved_bytes, saved_tensors
from tests.layout import ROOT

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration", "ignore::UserWarning", "ignore::FutureWarning")

BATCH = 4
FAMILIES = ("dnn", "cnn", "rnn", "lstm", "transformer")  # those that stand as files in models/


@pytest.mark.parametrize("name", FAMILIES)
def test_families_have_the_macs_that_torch_counts(name):
    module, (example,) = zoo.family(name)
    batch = example[:1].expand(BATCH, *example.shape[1:]).contiguous()
    found = neural_cost.analyze(ROOT / "models" / f"{name}.onnx", dims={"batch": BATCH}).training()
    assert found.complete
    assert found.backward_macs == backward_macs(lambda: module(batch))


@pytest.fixture(scope="module", params=["bert", "gpt2", "llama", "vit", "whisper"])
def transformer(request, tmp_path_factory):
    return transformer_models.export(request.param, tmp_path_factory.mktemp("transformers"))


def test_transformers_have_the_macs_that_torch_counts(transformer):
    found = neural_cost.analyze(transformer.file, dims=transformer.dims).training()
    assert found.complete, (found.uncounted, found.unknown)
    assert found.backward_macs == backward_macs(lambda: transformer.module(**transformer.inputs))


# Patterns of the module's names; the file has another name for a weight that is turned, val_28, and knows its module.
FROZEN = {
    "bert": ["*embeddings*", "*layer.0.*"],  # the first layers: nothing goes back into them
    "gpt2": ["*h.0.*", "*ln_f*"],  # a layer between trained ones: the gradient passes through it
    "vit": ["*q_proj*", "*k_proj*"],
}


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_weights_cost_what_torch_counts(name, tmp_path):
    exported = transformer_models.export(name, tmp_path)
    found = neural_cost.analyze(exported.file, dims=exported.dims).training(freeze=FROZEN[name])
    for key, weight in exported.module.named_parameters():
        weight.requires_grad_(not any(fnmatchcase(key, pattern) for pattern in FROZEN[name]))
    frozen = [weight for weight in exported.module.parameters() if not weight.requires_grad]
    assert found.frozen_parameters == sum(weight.numel() for weight in frozen) > 0
    assert found.backward_macs == backward_macs(lambda: exported.module(**exported.inputs))


def test_attention_as_an_operator_has_the_macs_that_torch_counts(tmp_path):
    exported = transformer_models.export("llama", tmp_path, opset=23)
    report = neural_cost.analyze(exported.file, dims=exported.dims)
    assert any(node.op_type == "Attention" for node in report.nodes)
    assert report.training().backward_macs == backward_macs(lambda: exported.module(**exported.inputs))


@pytest.fixture(scope="module")
def resnet(tmp_path_factory):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module, example = resnet18(), torch.randn(2, 3, 64, 64)
    return module, example, export(module, example, tmp_path_factory.mktemp("resnet") / "resnet18.onnx")


def test_a_resnet_has_the_macs_and_the_saved_bytes_of_torch(resnet):
    module, example, file = resnet
    found = neural_cost.analyze(file).training()
    assert found.complete
    assert found.backward_macs == backward_macs(lambda: module(example))
    assert found.saved_bytes == saved_bytes(module, lambda: module(example))


def test_the_cnn_with_its_batch_normalization_keeps_what_torch_keeps(tmp_path):
    module, (example,) = zoo.family("cnn")
    file = export(module, example, tmp_path / "cnn.onnx")
    assert neural_cost.analyze(file).training().saved_bytes == saved_bytes(module, lambda: module(example))


UNIT = 4 * BATCH * 128  # bytes of one step of 128 units
MORE_IN_TORCH = {
    "dnn": 0,
    # Its normalization is folded into the file's convolutions: what that keeps, and mean and deviation, is not there.
    "cnn": 4 * BATCH * (64 * 32 * 32 + 128 * 16 * 16),
    # On a CPU torch stacks the states of both layers' 32 steps, and keeps them twice; of the last step the whole stack.
    "rnn": 2 * 32 * UNIT - UNIT,
    # The same; but the initial states are the first of those that it keeps, and the last ones are in the stack alone.
    "lstm": 2 * 32 * UNIT - UNIT - 2 * UNIT,
    # Values are a view of queries, keys and values together in both layers, and keep all three.
    "transformer": 2 * 2 * 32 * UNIT,
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_keep_what_torch_keeps(name):
    module, (example,) = zoo.family(name)
    batch = example[:1].expand(BATCH, *example.shape[1:]).contiguous()
    found = neural_cost.analyze(ROOT / "models" / f"{name}.onnx", dims={"batch": BATCH}).training()
    assert found.saved_bytes + MORE_IN_TORCH[name] == saved_bytes(module, lambda: module(batch))


def _guards(batch, heads, queries):
    """The exporter guards each softmax of both layers against rows that are masked whole: a truth value, and a copy."""
    return 2 * batch * heads * queries**2 * (1 + 4)


LAST = 4 * transformer_models.WIDTH * transformer_models.BATCH
STEPS = transformer_models.STEPS
MORE_IN_FILE = {
    "gpt2": _guards(3, 4, STEPS),
    # Of the last hidden states torch keeps all, the file those of the first token.
    "bert": _guards(3, 4, STEPS) - LAST * (STEPS - 1),
    "vit": _guards(3, 4, 17) - LAST * (17 - 1),
    # SiLU stands there as a Sigmoid and a product, and keeps both; 1 / sqrt as two operators, in 5 norms. Of values
    # that pairs of heads share torch keeps a copy for each.
    "llama": _guards(3, 4, STEPS) + 4 * 3 * STEPS * (2 * 128 + 5 - 2 * (64 - 32)),
    "whisper": 0,
}


def test_transformers_keep_what_torch_keeps(transformer):
    found = neural_cost.analyze(transformer.file, dims=transformer.dims).training()
    theirs = saved_bytes(transformer.module, lambda: transformer.module(**transformer.inputs))
    assert found.saved_bytes - MORE_IN_FILE[transformer.name] == theirs


def test_formulas_in_batch_and_steps_give_what_an_analysis_gives(transformer):
    open_ = neural_cost.analyze(transformer.file)
    formulas, peak = open_.training().formulas, open_.formulas.totals["activation_peak_bytes"]
    assert set(formulas) == {"backward_macs", "input_macs", "weight_macs", "saved_bytes", "memory_bytes"}
    for sizes in ({"batch": 1, "steps": 2}, {"batch": 5, "steps": 11}, {"batch": 2, "steps": 30}):
        dims = {name: sizes[name] for name in transformer.dims}
        report = neural_cost.analyze(transformer.file, dims=dims)
        bound = report.training()
        assert peak(sizes) == report.totals.activation_peak_bytes
        assert {name: formula(sizes) for name, formula in formulas.items()} == {
            name: getattr(bound, name) for name in formulas
        }


def _is_copy(tensor, module):
    """A weight in 16 bits, which autocast keeps as well: it is none of the activations."""
    shapes = {shape for each in module.parameters() for shape in (each.shape, each.shape[::-1])}
    return tensor.dtype == torch.bfloat16 and tensor.shape in shapes


@pytest.mark.parametrize("name", ["dnn", "cnn"])
def test_families_keep_what_autocast_keeps(name):
    module, (example,) = zoo.family(name)
    batch = example[:1].expand(BATCH, *example.shape[1:]).contiguous()

    def run():
        with torch.autocast("cpu", torch.bfloat16):
            return module(batch)

    kept = [tensor for tensor in saved_tensors(module, run) if not _is_copy(tensor, module)]
    found = neural_cost.analyze(ROOT / "models" / f"{name}.onnx", dims={"batch": BATCH}).training(precision="amp")
    folded = MORE_IN_TORCH[name] // 2  # what the CNN's normalization keeps, in 16 bits
    assert found.saved_bytes + folded == sum(tensor.untyped_storage().nbytes() for tensor in kept)
