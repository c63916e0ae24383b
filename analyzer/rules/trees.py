"""Tree ensembles of ai.onnx.ml.

Which path a sample takes is data. As with sequence lengths elsewhere, the count is the full one: every sample takes
the longest path of every tree, a comparison at each branch, and ends at the leaf with the most weights, an add each.
That is an upper limit, reached by trees of even depth. A test for membership in a set is one comparison.

Of the trees, a sample reads the thresholds on its paths and the weights of its leaves, and all samples together no
more than there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from neural_cost.analyzer.cost import Cost, Dim, minimum
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.classic_models import WEIGHT_BYTES, post_transform, samples, scores_of
from neural_cost.analyzer.rules.registry import cost

DOMAIN = "ai.onnx.ml"
NO_TREES = "its nodes do not form trees"
AVERAGE = ("AVERAGE", 0)
POST_TRANSFORMS_BY_NUMBER = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@dataclass(frozen=True, slots=True)
class Forest:
    """Branches on the longest path and weights of the largest leaf, summed over trees; and how many there are."""

    depth: int
    leaf_weights: int
    branches: int
    weights: int


def total_depth(roots: Sequence[int], children: Sequence[Sequence[int]]) -> int:
    """Sum over trees the nodes on the longest path down. Raises Unknown where the nodes are not trees from the roots.

    That is where a branch leads nowhere, or where going down from all roots does not meet each node once.
    """
    total = visited = 0
    for root in roots:
        longest, waiting = 0, [(root, 1)]
        while waiting:
            index, depth = waiting.pop()
            visited += 1
            if visited > len(children) or not 0 <= index < len(children):
                raise Unknown(NO_TREES)
            longest = max(longest, depth)
            waiting.extend((child, depth + 1) for child in children[index])
        total += longest
    if visited != len(children):
        raise Unknown(NO_TREES)
    return total


def _forest_by_ids(node: Node, leaves: str) -> Forest:
    """Read the form where every node of a tree, leaves included, has an id; `leaves` prefixes the leaf attributes."""
    keys = list(zip(node.attr("nodes_treeids", []), node.attr("nodes_nodeids", []), strict=False))
    index = {key: position for position, key in enumerate(keys)}
    branch = [mode != "LEAF" for mode in node.attr("nodes_modes", [])]
    children: list[list[int]] = [[] for _ in keys]
    for name in ("nodes_truenodeids", "nodes_falsenodeids"):
        for position, child in enumerate(node.attr(name, [])):
            if branch[position]:
                children[position].append(index.get((keys[position][0], child), -1))
    below = {child for group in children for child in group}
    roots = [position for position in range(len(keys)) if position not in below]
    depth = total_depth(roots, children) - len(roots)  # leaves compare nothing
    weights = Counter(zip(node.attr(f"{leaves}_treeids", []), node.attr(f"{leaves}_nodeids", []), strict=False))
    largest: dict[int, int] = {}
    for (tree, _), count in weights.items():
        largest[tree] = max(largest.get(tree, 0), count)
    return Forest(depth, sum(largest.values()), sum(branch), sum(weights.values()))


def _cost(node: Node, forest: Forest, values: Dim, transform: tuple[Dim, Dim], averaged: bool = False) -> Cost:
    """Cost the paths and leaves of each sample; base value, average and transform of each of its values."""
    rows = samples(node)
    flops, special = transform
    divisions = values if averaged else 0
    based = any(node.attr(name) is not None for name in ("base_values", "base_values_as_tensor"))
    read = minimum(rows * forest.depth, forest.branches) + minimum(rows * forest.leaf_weights, forest.weights)
    return node.cost(
        other_flops=rows * (forest.depth + forest.leaf_weights) + (values if based else 0) + divisions + flops,
        special_ops=divisions + special,
        read_bytes=node.read_bytes + _weight_bytes(node) * read,
    )


def _weight_bytes(node: Node) -> int:
    """Bytes of a threshold or weight: TreeEnsemble has the input's type, the others float32 or, as tensors, float64."""
    if node.op_type == "TreeEnsemble":
        return node.x.bits // 8
    return 8 if node.attr("nodes_values_as_tensor") is not None else WEIGHT_BYTES


@cost("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(node: Node) -> Cost:
    """Cost the paths and leaves of every tree, base values, a division where targets are averaged, a transform."""
    values = node.y.size
    averaged = node.attr("aggregate_function", "SUM") in AVERAGE
    transform = post_transform(node.attr("post_transform", "NONE"), values)
    return _cost(node, _forest_by_ids(node, "target"), values, transform, averaged)


@cost("TreeEnsembleClassifier", domain=DOMAIN)
def tree_ensemble_classifier(node: Node) -> Cost:
    """Cost the paths and leaves of every tree, base values, a transform, and one comparison for each score."""
    scores = scores_of(node)
    flops, special = post_transform(node.attr("post_transform", "NONE"), scores)
    return _cost(node, _forest_by_ids(node, "class"), scores, (flops + scores, special))


@cost("TreeEnsemble", domain=DOMAIN)
def tree_ensemble(node: Node) -> Cost:
    """Cost the paths and leaves of every tree. Here branches and leaves are apart, and a leaf has one weight."""
    sides = [(node.attr(f"nodes_{side}leafs", []), node.attr(f"nodes_{side}nodeids", [])) for side in ("true", "false")]
    children: list[list[int]] = [[] for _ in sides[0][1]]
    for are_leaves, ids in sides:
        for position, (leaf, child) in enumerate(zip(are_leaves, ids, strict=False)):
            if not leaf:
                children[position].append(child)
    roots = node.attr("tree_roots", [])
    forest = Forest(total_depth(roots, children), len(roots), len(children), len(node.attr("leaf_targetids", [])))
    transform = post_transform(POST_TRANSFORMS_BY_NUMBER[node.attr("post_transform", 0)], node.y.size)
    return _cost(node, forest, node.y.size, transform, node.attr("aggregate_function", 1) in AVERAGE)
