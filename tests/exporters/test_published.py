"""Networks of known size, exported from their frameworks: parameters and MACs as published, and as arithmetic says.

GMACs of VGG16 (15.470264), ResNet50 with its stride in the 3x3 (4.089184), ViT-B/16 (17.564), BERT-base of 128 tokens
(11.174) and an LSTM of 128 units over 210 steps (0.013870) are figures that other counters and papers agree on.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import warnings

import numpy as np
import pytest

import neural_cost

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
GIGA = 1e9


def totals(model, inputs, folder, **options):
    made = neural_cost.export(model, inputs, folder / "model.onnx", **options)
    found = neural_cost.analyze(made.path, dims={"batch": 1} if made.dims else None).totals
    assert found.complete
    return found


@pytest.fixture(scope="module")
def keras():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        import keras
    return keras


def image(batch=1):
    return np.random.default_rng(0).random((batch, 224, 224, 3), np.float32)


def bottlenecks(stride_in_3x3):
    """MACs of the convolutions of a ResNet50 on 224 x 224, and of its classifier."""
    macs, width = 112**2 * 49 * 3 * 64, 64
    for stage, (count, inner) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        size = 56 >> stage
        for block in range(count):
            before = 2 * size if stage and not block else size  # of the block's input
            first = before if stride_in_3x3 else size
            macs += first**2 * width * inner + size**2 * 9 * inner**2 + size**2 * inner * 4 * inner
            macs += 0 if block else size**2 * width * 4 * inner
            width = 4 * inner
    return macs + 2048 * 1000


def weights_of_bottlenecks(biases):
    """Weights of the convolutions of a ResNet50, a scale and a shift after each, and those of its classifier.

    Keras gives each convolution a bias too.
    """
    each = 2 + biases
    weights, width = 49 * 3 * 64 + each * 64, 64
    for count, inner in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for block in range(count):
            weights += width * inner + 9 * inner**2 + inner * 4 * inner + each * (inner + inner + 4 * inner)
            weights += 0 if block else width * 4 * inner + each * 4 * inner
            width = 4 * inner
    return weights + 2048 * 1000 + 1000


VGG = """import keras
import numpy as np


def vgg16():
    return keras.applications.VGG16(weights=None), np.random.default_rng(0).random((2, 224, 224, 3), np.float32)
"""
MEMORY = 18 << 30  # bytes; tf2onnx by itself takes more than 24 of them, TensorFlow 14


def test_vgg16_by_the_command(tmp_path):
    """Convolutions of 3 x 3 in five blocks, each half the size of the one before, and three dense layers."""
    pytest.importorskip("tensorflow")
    (tmp_path / "networks.py").write_text(VGG, encoding="utf-8")
    command = [sys.executable, "-m", "neural_cost", "export", "networks.py:vgg16", "-o", "vgg16.onnx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=1200)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MEMORY
    found = neural_cost.analyze(tmp_path / "vgg16.onnx", dims={"batch": 1}).totals
    sizes = [(224, 3, 64), (224, 64, 64), (112, 64, 128), (112, 128, 128), (56, 128, 256), *[(56, 256, 256)] * 2]
    sizes += [(28, 256, 512), *[(28, 512, 512)] * 2, *[(14, 512, 512)] * 3]
    dense = [(7 * 7 * 512, 4096), (4096, 4096), (4096, 1000)]
    macs = sum(size**2 * 9 * before * after for size, before, after in sizes) + sum(a * b for a, b in dense)
    weights = sum((9 * a + 1) * b for _, a, b in sizes) + sum((a + 1) * b for a, b in dense)
    assert (found.macs, found.parameters) == (macs, weights) == (15_470_264_320, 138_357_544)


def test_resnet50_of_keras_has_its_stride_in_the_1x1(keras, tmp_path):
    found = totals(keras.applications.ResNet50(weights=None), image(), tmp_path, verify=False)
    assert found.macs == bottlenecks(stride_in_3x3=False)
    assert found.parameters == weights_of_bottlenecks(biases=True) == 25_583_592
    assert round(found.macs / GIGA, 2) == 3.86


def test_resnet50_with_its_stride_in_the_3x3(tmp_path):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=1000)).eval()
    found = totals(model, {"pixel_values": torch.randn(1, 3, 224, 224)}, tmp_path, verify=False)
    assert found.macs == bottlenecks(stride_in_3x3=True)
    assert round(found.macs / GIGA, 6) == 4.089184


def attention_layers(tokens, width=768, inner=3072, layers=12):
    """MACs of encoder layers: four projections, scores and their use, and two products of the feed-forward part."""
    return layers * tokens * (4 * width**2 + 2 * tokens * width + 2 * width * inner)


def test_vit_b_16(tmp_path):
    """196 patches of 16 x 16 and a class token; 1000 classes of that token alone."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000)).eval()
    shaken(torch, model)
    found = totals(model, {"pixel_values": torch.randn(1, 3, 224, 224)}, tmp_path, verify=False)
    assert found.macs == 196 * 768 * 768 + attention_layers(197) + 768 * 1000
    assert (round(found.macs / GIGA, 3), found.parameters) == (17.564, 86_567_656)


def test_bert_base(tmp_path):
    """128 tokens, and the pooler's product with the first of them."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.BertModel(transformers.BertConfig()).eval()
    tokens = torch.arange(128).reshape(1, 128)
    found = totals(model, {"input_ids": tokens}, tmp_path, verify=False, dynamic_dims={})
    assert found.macs == attention_layers(128) + 768 * 768
    assert round(found.macs / GIGA, 3) == 11.174


def shaken(torch, model):
    """Weights of a model that has been trained: parameters of zeros, or equal to each other, would be merged."""
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.01 * torch.randn_like(each))


def test_lstm_of_128_units(keras, tmp_path):
    """Over 210 steps of one feature: four gates, each of its input, its state and a bias."""
    inputs = keras.Input((210, 1))
    layer = keras.layers.LSTM(128)
    steps = np.random.default_rng(0).random((2, 210, 1), np.float32)
    found = totals(keras.Model(inputs, layer(inputs)), steps, tmp_path)
    assert found.macs == 210 * 4 * 128 * (1 + 128) == 13_870_080
    assert found.parameters == 4 * 128 * (1 + 128) + 4 * 128 == 66_560
