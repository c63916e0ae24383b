"""Configs of Hugging Face: the graph without weights, costed by closed form; nothing is fetched or run."""

from __future__ import annotations

import json
import warnings

import pytest

import neural_cost
from neural_cost import BackendError, ExportError, ModelError
from neural_cost.targets import load

LAYERS, WIDTH, INNER, HEADS, VOCABULARY = 2, 64, 96, 4, 100
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 128,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
}
MATRICES = LAYERS * (4 * WIDTH * WIDTH + 3 * WIDTH * INNER) + WIDTH * VOCABULARY  # attention, gated FFN, head
PARAMETERS = MATRICES + VOCABULARY * WIDTH + (2 * LAYERS + 1) * WIDTH  # and the embedding, and the norms

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def config(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("mobius")
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text(json.dumps(LLAMA))
    return tmp_path / "tiny"


def exported(target, file):
    source = load(f"hf:{target}", print)
    return neural_cost.export(source.model, source.example_inputs, file)


def test_llama_is_the_closed_form(config, tmp_path):
    made = exported(config, tmp_path / "a.onnx")
    assert made.parity is None
    steps, past = 5, 3
    sizes = {"batch": 2, "sequence_len": steps, "past_sequence_len": past}
    totals = neural_cost.analyze(made.path, dims=sizes | {"past_seq_len + seq_len": steps + past}).totals
    assert totals.parameters == PARAMETERS
    attention = LAYERS * 2 * steps * (steps + past) * WIDTH  # query x key, and scores x value
    assert totals.macs == 2 * (steps * MATRICES + attention)
    assert [file.name for file in tmp_path.glob("a.onnx*")] == ["a.onnx"]
    assert made.path.stat().st_size < 1_000_000  # the weights are not there


def test_the_config_itself_can_be_named(config, tmp_path):
    assert exported(config / "config.json", tmp_path / "a.onnx").exporter == "mobius-onnx"


def test_what_lies_beside_the_config_is_not_looked_at(config, tmp_path):
    (config / "modeling_llama.py").write_text("raise SystemExit('run')")
    (config / "model.safetensors").write_bytes(b"no weights")
    exported(config, tmp_path / "a.onnx")


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, ModelError, r"config\.json cannot be read \(No such file"),
        ("{", ModelError, r"config\.json is not JSON"),
        ("[1]", ModelError, r"config\.json has no model_type"),
        ('{"hidden_size": 8}', ModelError, r"config\.json has no model_type"),
        ('{"model_type": "unheard"}', ExportError, r"knows no architecture 'unheard', as .*config\.json"),
        (json.dumps(LLAMA | {"hidden_size": "x"}), ExportError, r"cannot build .*config\.json.* expected int, got str"),
        (json.dumps(LLAMA | {"num_hidden_layers": -1}), ExportError, "must be positive, got -1"),
    ],
)
def test_configs_that_cannot_be_built(config, tmp_path, content, error, message):
    (config / "config.json").unlink()
    if content is not None:
        (config / "config.json").write_text(content)
    with pytest.raises(error, match=message) as caught:
        exported(config, tmp_path / "a.onnx")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "a.onnx").exists()


def test_the_extra_is_named(config, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mobius", None)
    with pytest.raises(BackendError, match=r"mobius is missing: pip install 'neural-cost\[hf\]'"):
        exported(config, tmp_path / "a.onnx")
