"""Operators of ai.onnx.ml: rows in, labels, scores and codes out."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    dims_of,
    integer,
    integers,
    required,
    set_output,
    text,
)
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend

ML = "ai.onnx.ml"


@mend("Scaler", "Normalizer", domain=ML)
def float_per_element(context: ShapeInferenceContext, node: ir.Node) -> None:
    """One float32 for each element."""
    set_output(context, node, 0, dims_of(required(node, 0)), ir.DataType.FLOAT)


@mend("Imputer", domain=ML)
def imputer(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Like its input."""
    x = required(node, 0)
    set_output(context, node, 0, dims_of(x), x.dtype)


@mend("CategoryMapper", domain=ML)
@mend("LabelEncoder", domain=ML, until=2)
def strings_and_numbers(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A string for each number, or a number for each string."""
    x = required(node, 0)
    dtype = ir.DataType.INT64 if x.dtype == ir.DataType.STRING else ir.DataType.STRING
    set_output(context, node, 0, dims_of(x), None if x.dtype is None else dtype)


@mend("OneHotEncoder", domain=ML)
def one_hot_encoder(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A last axis with one place for each category."""
    dims = dims_of(required(node, 0))
    out = None if dims is None else [*dims, _length(node, "cats_int64s", "cats_strings")]
    set_output(context, node, 0, out, ir.DataType.FLOAT)


@mend("FeatureVectorizer", domain=ML)
def feature_vectorizer(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The columns of all inputs side by side."""
    rows = _rows(required(node, 0))
    out = None if rows is None else [rows, sum(integers(node, "inputdimensions", []))]
    set_output(context, node, 0, out, ir.DataType.FLOAT)


@mend("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A vector counts as one row, which upstream leaves out."""
    x, columns = required(node, 0), dims_of(required(node, 1))
    dims = dims_of(x)
    if dims is None or columns is None or len(dims) != 1:
        ask_upstream(context, node, 1)
    else:
        set_output(context, node, 0, [1, columns[-1]], x.dtype)


@mend("LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor", domain=ML)
def regressor(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Rows by targets."""
    name = {"LinearRegressor": "targets", "TreeEnsembleRegressor": "n_targets"}.get(node.op_type, "")
    _scores(context, node, 0, integer(node, name, 1))


@mend("LinearClassifier", "TreeEnsembleClassifier", domain=ML)
def classifier(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A label for each row, and rows by classes."""
    _scores(context, node, 1, _labels(context, node))


@mend("SVMClassifier", domain=ML)
def svm_classifier(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Without probabilities, more than two classes get a score for each pair of them."""
    classes = _labels(context, node)
    pairs = classes * (classes - 1) // 2
    by_pair = classes > 2 and integers(node, "vectors_per_class", []) and not _length(node, "prob_a")
    _scores(context, node, 1, pairs if by_pair else classes)


def _labels(context: ShapeInferenceContext, node: ir.Node) -> int:
    """Set the labels, one for each row; the number of classes."""
    strings = "classlabels_strings" in node.attributes and len(node.attributes["classlabels_strings"].as_strings()) > 0
    rows = _rows(required(node, 0))
    set_output(context, node, 0, None if rows is None else [rows], ir.DataType.STRING if strings else ir.DataType.INT64)
    return _length(node, "classlabels_ints", "classlabels_int64s", "classlabels_strings")


def _scores(context: ShapeInferenceContext, node: ir.Node, index: int, count: int) -> None:
    rows = _rows(required(node, 0))
    set_output(context, node, index, None if rows is None else [rows, count], ir.DataType.FLOAT)


def _rows(x: ir.Value) -> Dim | None:
    dims = dims_of(x)
    return None if dims is None else dims[0] if len(dims) > 1 else 1


def _length(node: ir.Node, *names: str) -> int:
    return max((len(node.attributes[name].value) for name in names if name in node.attributes), default=0)


@mend("DictVectorizer", domain=ML)
def dict_vectorizer(context: ShapeInferenceContext, node: ir.Node) -> None:
    """One row with a place for each word; its type is that of the map's values."""
    set_output(context, node, 0, [1, _length(node, "int64_vocabulary", "string_vocabulary")], None)


@mend("CastMap", domain=ML)
def cast_map(context: ShapeInferenceContext, node: ir.Node) -> None:
    """One row; a dense map's length is found in a run."""
    names = {"TO_STRING": ir.DataType.STRING, "TO_INT64": ir.DataType.INT64}
    sparse = text(node, "map_form", "DENSE") == "SPARSE"
    columns: Dim = integer(node, "max_map", 1) if sparse else context.new_symbolic_dim()
    set_output(context, node, 0, [1, columns], names.get(text(node, "cast_to"), ir.DataType.FLOAT))
