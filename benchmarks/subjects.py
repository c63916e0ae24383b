"""The models that are measured: one that onnx ships, chains, transformers with their weights here, there or nowhere."""

from pathlib import Path

from benchmarks.chain import write_chain
from benchmarks.transformers import Bert, Llama, Weights, write_bert, write_llama

CHAINS = (1_000, 10_000, 100_000)
RESNET = "resnet50"
BERT, BERT_BARE = "BERT, 440 MB inside the file", "BERT, no weights"
DECODER, DECODER_BARE = "decoder, 3.4 GB beside the file", "decoder, weight file missing"
LLAMA = "Llama-2-7B, open dimensions, no weights"
BERT_BASE, SENTENCE = Bert(), {"batch": 1, "sequence": 128}
STEP = {"batch": 1, "sequence": 1, "past": 511}
SMALLER_LLAMA = Llama(layers=20, hidden=2560, inner=6656, heads=20)  # 1.71e9 parameters of two bytes


def chain_name(nodes: int) -> str:
    return f"chain of {nodes:,}"


def resnet50() -> Path:
    """Return the light ResNet-50 that the onnx package ships."""
    import onnx

    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_resnet50.onnx"


def write_subjects(folder: Path, *, quick: bool) -> dict[str, Path]:
    """Write the models, each into a folder of its own, and return their paths; `quick` leaves out the largest."""
    chains = [nodes for nodes in CHAINS if not quick or nodes < max(CHAINS)]
    models = {RESNET: resnet50()}
    models |= {chain_name(nodes): write_chain(folder / f"chain{nodes}.onnx", nodes) for nodes in chains}
    models[LLAMA] = write_llama(_within(folder, "llama"), Weights.MISSING)
    models[BERT_BARE] = write_bert(_within(folder, "bert_bare"), Weights.MISSING, BERT_BASE, SENTENCE)
    models[DECODER_BARE] = write_llama(_within(folder, "decoder_bare"), Weights.MISSING, SMALLER_LLAMA, STEP)
    if not quick:
        models[BERT] = write_bert(_within(folder, "bert"), Weights.INLINE, BERT_BASE, SENTENCE)
        models[DECODER] = write_llama(_within(folder, "decoder"), Weights.EXTERNAL, SMALLER_LLAMA, STEP)
    return models


def _within(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name / "model.onnx"
