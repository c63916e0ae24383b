"""The models of VALIDATION.md, in two halves: looked at while the prediction was built, and held out.

The split was written down before any of them was predicted. No figure of either half is in the program: rates come from
kernels that a calibration measures by themselves. Errors of the first half led to better kernel models; the second half
was only ever run as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import onnx

from neural_cost.models import NAMES, path

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
Half = Literal["looked at", "held out"]

LOOKED_AT_LIGHT = ("squeezenet", "resnet50", "shufflenet", "inception_v1")
LOOKED_AT_PRACTICE = (
    "ch_PP-OCRv4_det_infer", "nakdimon", "silero_vad_16k_sequence", "lac_encoder", "open-nsfw",
    "derive_form_model.int8",
)  # fmt: skip
BATCH = 16
SIZES = {"batch": 8, "steps": 32}


@dataclass(frozen=True)
class Subject:
    """A model, the sizes it is run with, and the half that it is in.

    Attributes:
        make: its file, made or fetched where it is not there.
    """

    name: str
    group: str
    half: Half
    make: Callable[[], Path] = field(compare=False)
    dims: Mapping[str, int]


@dataclass(frozen=True)
class Encoder:
    """Sizes of a BERT with random weights."""

    width: int
    layers: int
    heads: int
    batch: int
    steps: int

    @property
    def name(self) -> str:
        return f"bert {self.width}x{self.layers}, {self.batch}x{self.steps}"


ENCODERS: Mapping[Encoder, Half] = {
    Encoder(256, 4, 4, 1, 128): "looked at",
    Encoder(128, 2, 2, 1, 16): "held out",
    Encoder(384, 6, 6, 4, 64): "held out",
    Encoder(768, 4, 12, 1, 128): "held out",
}


def subjects(folder: Path) -> Iterator[Subject]:
    """All of them; `folder` keeps what is exported."""
    yield from _families(folder)
    for file in sorted(LIGHT.glob("light_*.onnx")):
        name = file.stem.removeprefix("light_")
        yield Subject(file.stem, "light", _half(name in LOOKED_AT_LIGHT), partial(_there, file), {})
    yield from _transformers(folder)
    yield from _practice()


def _families(folder: Path) -> Iterator[Subject]:
    for name in NAMES:
        yield Subject(f"{name}@torch", "family", "looked at", partial(_there, path(name)), {"batch": BATCH})
    for framework in ("keras", "jax"):
        for name in NAMES:
            target = folder / f"{name}_{framework}.onnx"
            make = partial(_family, name, framework, target)
            yield Subject(f"{name}@{framework}", "family", "held out", make, {"batch": BATCH})


def _transformers(folder: Path) -> Iterator[Subject]:
    from tests.transformer_models import MODELS, export, export_by_trace

    for name in MODELS:
        dims = SIZES if name in ("bert", "gpt2", "llama") else {"batch": SIZES["batch"]}
        make = partial(_transformer, export, name, folder / f"{name}20.onnx")
        yield Subject(name, "transformer", _half(name == "bert"), make, dims)
    for name in ("bert", "gpt2"):
        make = partial(_transformer, export_by_trace, name, folder / f"{name}_traced.onnx")
        yield Subject(f"{name}, older exporter", "transformer", _half(name == "gpt2"), make, SIZES)
    for encoder, half in ENCODERS.items():
        make = partial(_encoder, encoder, folder / f"bert_{encoder.width}_{encoder.layers}.onnx")
        yield Subject(encoder.name, "transformer", half, make, {"batch": encoder.batch, "steps": encoder.steps})


def _practice() -> Iterator[Subject]:
    from tests.corpus import practice_models

    for model in practice_models():
        yield Subject(model.name, "practice", _half(model.name in LOOKED_AT_PRACTICE), model.file, model.dims)


def _half(looked_at: bool) -> Half:
    return "looked at" if looked_at else "held out"


def _there(file: Path) -> Path:
    return file


def _family(name: str, framework: str, target: Path) -> Path:
    """Export a family."""
    if not target.exists():
        import neural_cost
        from neural_cost.models.zoo import family

        neural_cost.export(*family(name, framework), target)
    return target


def _transformer(export: Callable[[str, Path], Any], name: str, target: Path) -> Path:
    return target if target.exists() else Path(export(name, target.parent).file)


def _encoder(encoder: Encoder, target: Path) -> Path:
    """Export a BERT of these sizes, batch and steps open."""
    if target.exists():
        return target
    import torch
    from transformers import BertConfig, BertModel

    from tests.transformer_models import quiet

    config = BertConfig(
        vocab_size=1000, hidden_size=encoder.width, num_hidden_layers=encoder.layers,
        num_attention_heads=encoder.heads, intermediate_size=4 * encoder.width, max_position_embeddings=512,
    )  # fmt: skip
    torch.manual_seed(0)
    module = BertModel(config).eval()
    inputs = {name: torch.ones((2, 9), dtype=torch.long) for name in ("input_ids", "attention_mask")}
    dims = {0: torch.export.Dim("batch", max=512), 1: torch.export.Dim("steps", max=512)}
    with quiet():
        torch.onnx.export(
            module, (), target, kwargs=inputs, dynamo=True, opset_version=20, external_data=False, verbose=False,
            dynamic_shapes=dict.fromkeys(inputs, dims), input_names=list(inputs),
        )  # fmt: skip
    return target
