"""Small transformers with random weights, exported from PyTorch: the module, example inputs, and the ONNX file."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BATCH, STEPS = 3, 7
VOCABULARY, WIDTH, LAYERS, HEADS, INNER, POSITIONS = 100, 64, 2, 4, 128, 32
IMAGE, PATCH, MELS = 32, 8, 16


@dataclass(frozen=True, eq=False)
class Exported:
    """A module, and the file that was made of it.

    Attributes:
        axes: names of the open axes of each input.
        dims: what the open dimensions are in `inputs`.
    """

    name: str
    module: Any
    inputs: Mapping[str, Any]
    axes: Mapping[str, Mapping[int, str]]
    file: Path

    @property
    def dims(self) -> dict[str, int]:
        named = ((name, self.inputs[key].shape[axis]) for key, axes in self.axes.items() for axis, name in axes.items())
        return dict(named)

    @property
    def feeds(self) -> dict[str, np.ndarray]:
        return {name: tensor.numpy() for name, tensor in self.inputs.items()}


def export(name: str, folder: Path, opset: int = 20) -> Exported:
    """Build a model and export it with `dynamo`, dimensions open."""
    import torch

    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(0)
        module, inputs, axes = MODELS[name]()
        _make_distinct(module)
        exported = Exported(name, module.eval(), inputs, axes, folder / f"{name}{opset}.onnx")
        torch.onnx.export(
            module,
            (),
            exported.file,
            kwargs=inputs,
            dynamo=True,
            opset_version=opset,
            dynamic_shapes=_open(axes),
            input_names=list(inputs),
            external_data=False,
            verbose=False,
        )
    return exported


def export_by_trace(name: str, folder: Path) -> Exported:
    """Export with the older exporter: ONNX Runtime's fusions look for the graphs that it writes."""
    import torch

    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(0)
        module, inputs, axes = MODELS[name](implementation="eager")
        _make_distinct(module)
        exported = Exported(name, module.eval(), inputs, axes, folder / f"{name}_traced.onnx")
        torch.onnx.export(
            _first_output(module, list(inputs)),
            tuple(inputs.values()),
            exported.file,
            dynamo=False,
            opset_version=17,
            dynamic_axes=axes,
            input_names=list(inputs),
        )
    return exported


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings and logs of exporters and quantizers; what they write is what tests look at."""
    disabled = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def torch_macs(exported: Exported) -> int:
    """MACs by torch's own counter, which sees neither mkldnn's kernels nor fused attention: both are off here."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with (
            quiet(),
            torch.no_grad(),
            sdpa_kernel(SDPBackend.MATH),
            torch.backends.mkldnn.flags(enabled=False),
            FlopCounterMode(display=False) as counter,
        ):
            exported.module(**exported.inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    macs, rest = divmod(counter.get_total_flops(), 2)
    assert rest == 0
    return macs


def parameters_of(exported: Exported) -> int:
    """Elements of the module's parameters, a shared one once."""
    return sum(parameter.numel() for parameter in exported.module.parameters())


def _make_distinct(module: Any) -> None:
    """Move every weight a little: fresh norms and biases are equal, and exporters merge equal tensors."""
    import torch

    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.02)


def _open(axes: Mapping[str, Mapping[int, str]]) -> dict[str, dict[int, Any]]:
    import torch

    names = {name for each in axes.values() for name in each.values()}
    dims = {name: torch.export.Dim(name, min=1, max=POSITIONS) for name in names}
    return {key: {axis: dims[name] for axis, name in each.items()} for key, each in axes.items()}


def _first_output(module: Any, names: list[str]) -> Any:
    import torch

    class FirstOutput(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *inputs: Any) -> Any:
            return self.module(**dict(zip(names, inputs, strict=True)))[0]

    return FirstOutput()


Built = tuple[Any, dict[str, Any], dict[str, dict[int, str]]]
TOKENS = {0: "batch", 1: "steps"}


def _tokens() -> Any:
    import torch

    return torch.randint(0, VOCABULARY, (BATCH, STEPS))


def _mask() -> Any:
    import torch

    return torch.ones(BATCH, STEPS, dtype=torch.long)


def bert(implementation: str = "sdpa") -> Built:
    """An encoder with a pooler."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=POSITIONS, attn_implementation=implementation,
    )  # fmt: skip
    inputs = {"input_ids": _tokens(), "attention_mask": _mask()}
    return BertModel(config), inputs, dict.fromkeys(inputs, TOKENS)


def gpt2(implementation: str = "sdpa") -> Built:
    """A decoder with a head that shares the weights of its embedding, without a cache."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_positions=POSITIONS, use_cache=False,
        bos_token_id=0, eos_token_id=0, attn_implementation=implementation,
    )  # fmt: skip
    inputs = {"input_ids": _tokens(), "attention_mask": _mask()}
    if implementation == "eager":  # else the older exporter meets an operator that it lacks
        inputs["position_ids"] = torch.arange(STEPS).repeat(BATCH, 1)
    return GPT2LMHeadModel(config), inputs, dict.fromkeys(inputs, TOKENS)


def llama() -> Built:
    """A decoder with rotary positions; pairs of query heads share a key head."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        num_key_value_heads=HEADS // 2, intermediate_size=INNER, max_position_embeddings=POSITIONS, use_cache=False,
    )  # fmt: skip
    inputs = {"input_ids": _tokens()}
    return LlamaForCausalLM(config), inputs, dict.fromkeys(inputs, TOKENS)


def vit() -> Built:
    """An image classifier: 16 patches and a class token."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
        image_size=IMAGE, patch_size=PATCH, num_labels=10,
    )  # fmt: skip
    inputs = {"pixel_values": torch.randn(BATCH, 3, IMAGE, IMAGE)}
    return ViTForImageClassification(config), inputs, {"pixel_values": {0: "batch"}}


def whisper() -> Built:
    """The encoder: two convolutions over the spectrum, the second of which halves its frames."""
    import torch
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(
        vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=LAYERS, encoder_attention_heads=HEADS,
        encoder_ffn_dim=INNER, max_source_positions=POSITIONS, num_mel_bins=MELS, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    inputs = {"input_features": torch.randn(BATCH, MELS, 2 * POSITIONS)}
    return WhisperEncoder(config), inputs, {"input_features": {0: "batch"}}


MODELS: dict[str, Callable[..., Built]] = {
    "bert": bert, "gpt2": gpt2, "llama": llama, "vit": vit, "whisper": whisper,
}  # fmt: skip
