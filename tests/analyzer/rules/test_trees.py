import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

ML = "ai.onnx.ml"
X = (5, 4)

# Tree 0: a root over a leaf and a branch with two leaves. Tree 1: a leaf alone.
SHAPE = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 3, 0, 0, 0],
    "nodes_falsenodeids": [2, 0, 4, 0, 0, 0],
}
TARGETS = {"target_treeids": [0, 0, 0, 1], "target_nodeids": [1, 3, 4, 0]}
# Leaf 3 has a weight for each of two classes.
CLASSES = {"class_treeids": [0, 0, 0, 0, 1], "class_nodeids": [1, 3, 3, 4, 0]}

ROWS = [
    # longest paths: 2 comparisons and none; a weight from each tree. Read: 2 thresholds, 4 weights
    Row("regressor", "TreeEnsembleRegressor", [X], [(5, 1)], {**SHAPE, **TARGETS}, domain=ML, version=3,
        other=5 * (2 + 2), read=4 * 20 + 4 * (2 + 4), write=4 * 5),
    # one sample cannot read 4 weights
    Row("regressor_one_sample", "TreeEnsembleRegressor", [(1, 4)], [(1, 1)], {**SHAPE, **TARGETS}, domain=ML, version=3,
        other=2 + 2, read=4 * 4 + 4 * (2 + 2)),
    Row("regressor_average", "TreeEnsembleRegressor", [X], [(5, 1)],
        {**SHAPE, **TARGETS, "aggregate_function": "AVERAGE", "base_values": [1.0]}, domain=ML, version=3,
        other=5 * (2 + 2) + 5 + 5, special=5),  # a base value; a DIVISION
    Row("regressor_double", "TreeEnsembleRegressor", [(X, "float64")], [(5, 1)],
        {**SHAPE, **TARGETS, "nodes_values_as_tensor": [0.0] * 6, "base_values_as_tensor": [1.0]}, domain=ML, version=3,
        other=5 * (2 + 2) + 5, read=8 * 20 + 8 * (2 + 4)),
    # two weights at most from tree 0; EXP, add, DIVIDE and a comparison for each score
    Row("classifier", "TreeEnsembleClassifier", [X], [((5,), "int64"), (5, 2)],
        {**SHAPE, **CLASSES, "post_transform": "LOGISTIC"}, domain=ML, version=3,
        other=5 * (2 + 3) + 10 * 3 + 10, special=10 * 2, read=4 * 20 + 4 * (2 + 5), write=8 * 5 + 4 * 10),
    # branches alone: 0 over 1 and a leaf, 1 over 2 and a leaf, 2 over leaves; 3 is a tree of its own
    Row("ensemble", "TreeEnsemble", [X], [(5, 2)],
        {"tree_roots": [0, 3], "nodes_truenodeids": [1, 0, 1, 4], "nodes_trueleafs": [0, 1, 1, 1],
         "nodes_falsenodeids": [3, 2, 2, 5], "nodes_falseleafs": [1, 0, 1, 1], "leaf_targetids": [0, 1, 0, 1, 0, 1],
         "post_transform": 1},
        domain=ML, version=5, other=5 * (3 + 1 + 2) + 10 * 5, special=10 * 2, read=4 * 20 + 4 * (4 + 6)),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["trees"], ROWS) == set()


@pytest.mark.parametrize(
    "broken",
    [
        {"nodes_truenodeids": [1, 0, 0, 0, 0, 0]},  # a branch leads back to the root
        {"nodes_truenodeids": [1, 0, 2, 0, 0, 0]},  # a branch leads to itself
        {"nodes_truenodeids": [1, 0, 4, 0, 0, 0]},  # a leaf hangs on two branches, another on none
        {"nodes_truenodeids": [9, 0, 3, 0, 0, 0]},  # a branch leads to no node
    ],
)
def test_what_is_no_tree_is_unknown(broken: dict[str, list[int]]) -> None:
    with pytest.raises(Unknown, match="do not form trees"):
        cost_of("TreeEnsembleRegressor", [X], [(5, 1)], domain=ML, version=3, **{**SHAPE, **TARGETS, **broken})


@pytest.mark.parametrize(
    "children",
    [
        [0, 0],  # the root is below itself
        [7, 0],  # a branch leads to no node, and node 1 is below nothing
    ],
)
def test_what_is_no_ensemble_is_unknown(children: list[int]) -> None:
    with pytest.raises(Unknown, match="do not form trees"):
        cost_of("TreeEnsemble", [X], [(5, 1)], domain=ML, version=5, tree_roots=[0], nodes_truenodeids=children,
                nodes_trueleafs=[0, 1], nodes_falsenodeids=[0, 1], nodes_falseleafs=[1, 1])  # fmt: skip
