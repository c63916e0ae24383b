"""ai.onnx.ml operators that prepare features. A lookup in a table of keys or categories is one comparison.

Strings and maps have no fixed size: a node that reads or writes them is refused for that, but for ZipMap, whose keys
are the same attribute for every map.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.elementwise import ONE, per_element
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost

DOMAIN = "ai.onnx.ml"


@cost("Binarizer", "Imputer", domain=DOMAIN)
def compare(node: Node) -> Cost:
    """Cost one comparison for each element: with the threshold, or with the value that is replaced."""
    return per_element(node, ONE)


@cost("CastMap", "CategoryMapper", "DictVectorizer", "LabelEncoder", "OneHotEncoder", domain=DOMAIN)
def look_up(node: Node) -> Cost:
    """Cost one lookup for each input element."""
    return per_element(node, ONE, node.x.size)


@cost("Scaler", domain=DOMAIN)
def scaler(node: Node) -> Cost:
    """Cost (x - offset) * scale for each element."""
    return per_element(node, PerElement(2), other_type=node.y.dtype)


@cost("Normalizer", domain=DOMAIN)
def normalizer(node: Node) -> Cost:
    """Cost a norm for each row (MAX: compare; L1: absolute, add; L2: square, add, and a root) and the division."""
    size = node.x.size
    norm = node.attr("norm", "MAX")
    roots = prod(node.x.shape[:-1]) if norm == "L2" else 0
    flops = (2 if norm == "MAX" else 3) * size
    return node.cost(other_flops=flops + roots, special_ops=size + roots, other_type=node.y.dtype)


@cost("ArrayFeatureExtractor", domain=DOMAIN)
def array_feature_extractor(node: Node) -> Cost:
    """Cost the elements taken."""
    return node.cost(read_bytes=partial_read(node, node.y.size))


@cost("FeatureVectorizer", domain=DOMAIN)
def feature_vectorizer(node: Node) -> Cost:
    """Cost joining the inputs; one conversion for each element of another type."""
    given = [tensor for tensor in node.inputs if tensor is not None]
    converted = sum((tensor.size for tensor in given if tensor.dtype != node.y.dtype), 0)
    return node.cost(other_flops=converted, other_type=node.y.dtype)


@cost("ZipMap", domain=DOMAIN)
def zip_map(node: Node) -> Cost:
    """Cost a copy of the values into maps."""
    return node.cost(write_bytes=node.x.bytes)
