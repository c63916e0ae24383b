"""Linear models and support vector machines of ai.onnx.ml, whose weights are attributes.

A product with coefficients or support vectors is a contraction, in float32 whatever the input's type; the weights are
read once, four bytes each. Scores then get intercepts, a post transform, and for a classifier a search for the largest.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.activations import ACTIVATIONS, SOFTMAX, PerElement
from neural_cost.analyzer.rules.elementwise import ONE
from neural_cost.analyzer.rules.registry import cost

DOMAIN = "ai.onnx.ml"
WEIGHT_BYTES = 4

POST_TRANSFORMS = {
    "NONE": PerElement(0),
    "LOGISTIC": ACTIVATIONS["sigmoid"],
    "SOFTMAX": SOFTMAX,
    "SOFTMAX_ZERO": SOFTMAX + ONE,  # a comparison with zero
    "PROBIT": PerElement(4, 1),  # sqrt(2) * erfinv(2 * x - 1)
}
"""What one score costs."""

# What one value of a kernel function costs after its dot product (RBF: after its squared distance).
KERNELS = {
    "LINEAR": PerElement(0),
    "POLY": PerElement(3, 1),  # (gamma * dot + coef0) ** degree
    "SIGMOID": PerElement(3, 1),  # tanh(gamma * dot + coef0)
    "RBF": PerElement(2, 1),  # exp(-gamma * distance)
}
SQUARED_DISTANCE = 3  # FLOPs for each element: subtract, multiply, add
PAIR_PROBABILITY = PerElement(2) + ACTIVATIONS["sigmoid"] + ONE  # sigmoid(a * score + b) and its complement


def post_transform(name: str, scores: Dim) -> tuple[Dim, Dim]:
    """FLOPs and transcendentals of a transform of so many scores. Raises Unknown for a name that ONNX lacks."""
    work = POST_TRANSFORMS.get(name)
    if work is None:
        raise Unknown(f"post transform {name} has no formula")
    return scores * work.flops, scores * work.special


def _transform(node: Node, scores: Dim) -> tuple[Dim, Dim]:
    return post_transform(node.attr("post_transform", "NONE"), scores)


def samples(node: Node) -> Dim:
    """Count the rows of the input; a vector is one row."""
    return prod(node.x.shape[:-1])


def scores_of(node: Node) -> Dim:
    """Count the scores of a classifier. Raises Unknown where the node lacks that output."""
    scores = node.output(1)
    if scores is None:
        raise Unknown(f"{node.op_type} lacks its output 1, which is required")
    return scores.size


def _count(node: Node, *names: str) -> int:
    """Count the elements of list attributes."""
    return sum(len(node.attr(name, [])) for name in names)


def _finish(node: Node, macs: Dim, flops: Dim, special: Dim, weights: int) -> Cost:
    return node.cost(
        macs=macs,
        other_flops=flops,
        special_ops=special,
        read_bytes=node.read_bytes + WEIGHT_BYTES * weights,
        compute_type="float32",
    )


@cost("LinearRegressor", domain=DOMAIN)
def linear_regressor(node: Node) -> Cost:
    """Cost the product with the coefficients, intercepts and post transform."""
    rows = samples(node)
    flops, special = _transform(node, node.y.size)
    intercepts = _count(node, "intercepts")
    macs = rows * _count(node, "coefficients")
    return _finish(node, macs, rows * intercepts + flops, special, _count(node, "coefficients", "intercepts"))


@cost("LinearClassifier", domain=DOMAIN)
def linear_classifier(node: Node) -> Cost:
    """Cost the product with the coefficients, intercepts, post transform, and one comparison for each score."""
    rows, scores = samples(node), scores_of(node)
    flops, special = _transform(node, scores)
    added = rows * _count(node, "intercepts") + scores
    macs = rows * _count(node, "coefficients")
    return _finish(node, macs, added + flops, special, _count(node, "coefficients", "intercepts"))


def _kernel(node: Node, rows: Dim, vectors: int) -> tuple[Dim, Dim, Dim]:
    """MACs, FLOPs and transcendentals of the kernel function between rows and support vectors."""
    kind = node.attr("kernel_type", "LINEAR")
    if kind not in KERNELS:
        raise Unknown(f"kernel {kind} has no formula")
    elements, values = rows * _count(node, "support_vectors"), rows * vectors
    flops, special = values * KERNELS[kind].flops, values * KERNELS[kind].special
    if kind == "RBF":
        return 0, SQUARED_DISTANCE * elements + flops, special
    return elements, flops, special


@cost("SVMRegressor", domain=DOMAIN)
def svm_regressor(node: Node) -> Cost:
    """Cost the kernel with each support vector, their weighted sum, and rho; `one_class` compares with zero.

    Without support vectors the coefficients weigh the features themselves.
    """
    rows = samples(node)
    macs, flops, special = _kernel(node, rows, node.attr("n_supports", 0))
    transform, more = _transform(node, node.y.size)
    last = rows * (1 + (node.attr("one_class", 0) != 0))
    return _finish(
        node,
        macs + rows * _count(node, "coefficients"),
        flops + transform + last,
        special + more,
        _count(node, "support_vectors", "coefficients", "rho"),
    )


@cost("SVMClassifier", domain=DOMAIN)
def svm_classifier(node: Node) -> Cost:
    """Cost the kernel with each support vector, then a vote between each two classes.

    A pair of classes weighs the kernel values of its own vectors: each vector is in a pair with every other class,
    which is one coefficient each. A pair adds rho, compares and counts a vote; each score is compared once. Without
    support vectors the coefficients weigh the features themselves, and rho is added. For
    probabilities, a pair costs a sigmoid of a scaled score; with more than two classes they are then found by
    iteration until they converge, so the cost is data, and Unknown is raised.
    """
    rows, per_class = samples(node), node.attr("vectors_per_class", [])
    weights = _count(node, "support_vectors", "coefficients", "rho", "prob_a", "prob_b")
    probabilities = _count(node, "prob_a")
    if probabilities > 1:
        raise Unknown("probabilities of more than two classes are found by iteration", node.x.name)
    macs, flops, special = _kernel(node, rows, sum(per_class))
    macs = macs + rows * _count(node, "coefficients")
    pairs = len(per_class) * (len(per_class) - 1) // 2
    votes = rows * (pairs * 3 if per_class else _count(node, "rho"))
    transform, more = _transform(node, scores_of(node))
    flops = flops + votes + rows * probabilities * PAIR_PROBABILITY.flops + transform + scores_of(node)
    special = special + rows * probabilities * PAIR_PROBABILITY.special + more
    return _finish(node, macs, flops, special, weights)
