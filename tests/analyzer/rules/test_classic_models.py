import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

ML = "ai.onnx.ml"
X = (5, 4)
LABELS = ((5,), "int64")

ROWS = [
    # 5 samples x 2 targets x 4 features; 2 intercepts
    Row("linear_regressor", "LinearRegressor", [X], [(5, 2)], {"coefficients": [0.5] * 8, "intercepts": [1.0, 2.0]},
        domain=ML, macs=5 * 8, other=5 * 2, read=4 * 20 + 4 * (8 + 2), write=4 * 10, compute_type="float32"),
    Row("linear_regressor_vector", "LinearRegressor", [((4,), "float64")], [(1,)], {"coefficients": [0.5] * 4},
        domain=ML, macs=4, read=8 * 4 + 4 * 4, compute_type="float32"),
    # an intercept and a comparison for each of 15 scores; max, subtract, EXP, sum, DIVIDE
    Row("linear_classifier", "LinearClassifier", [X], [LABELS, (5, 3)],
        {"coefficients": [0.5] * 12, "intercepts": [0.0] * 3, "post_transform": "SOFTMAX"}, domain=ML,
        macs=5 * 12, other=15 + 15 + 5 * 15, special=2 * 15, read=4 * 20 + 4 * 15, write=8 * 5 + 4 * 15),
    Row("linear_classifier_logistic", "LinearClassifier", [X], [LABELS, (5, 3)],
        {"coefficients": [0.5] * 12, "post_transform": "LOGISTIC"}, domain=ML,
        macs=5 * 12, other=15 + 3 * 15, special=2 * 15),
    # 3 vectors of 4 features: subtract, multiply, add; multiply, EXP; weighted sum; rho
    Row("svm_regressor_rbf", "SVMRegressor", [X], [(5, 1)],
        {"kernel_type": "RBF", "n_supports": 3, "support_vectors": [0.0] * 12, "coefficients": [1.0] * 3,
         "rho": [0.5]},
        domain=ML, macs=5 * 3, other=5 * (3 * 12 + 3 * 2) + 5, special=5 * 3, read=4 * 20 + 4 * (12 + 3 + 1)),
    # the dot products are contractions; multiply, add, POW; rho and the comparison with zero
    Row("svm_regressor_poly_one_class", "SVMRegressor", [X], [(5, 1)],
        {"kernel_type": "POLY", "n_supports": 3, "support_vectors": [0.0] * 12, "coefficients": [1.0] * 3,
         "one_class": 1},
        domain=ML, macs=5 * 12 + 5 * 3, other=5 * 3 * 3 + 5 * 2, special=5 * 3),
    Row("svm_regressor_linear", "SVMRegressor", [X], [(5, 1)], {"coefficients": [1.0] * 4}, domain=ML,
        macs=5 * 4, other=5),
    # 6 vectors in 3 classes: each has 2 coefficients. 3 pairs: rho, compare, vote; a comparison for each score
    Row("svm_classifier", "SVMClassifier", [X], [LABELS, (5, 3)],
        {"kernel_type": "SIGMOID", "vectors_per_class": [1, 2, 3], "support_vectors": [0.0] * 24,
         "coefficients": [1.0] * 12, "rho": [0.0] * 3, "classlabels_ints": [0, 1, 2]},
        domain=ML, macs=5 * 24 + 5 * 12, other=5 * (6 * 3) + 5 * (3 * 3) + 15, special=5 * 6),
    # and the probability of two classes: multiply, add, EXP, add, DIVIDE, complement
    Row("svm_classifier_probability", "SVMClassifier", [X], [LABELS, (5, 2)],
        {"kernel_type": "LINEAR", "vectors_per_class": [1, 2], "support_vectors": [0.0] * 12,
         "coefficients": [1.0] * 3, "rho": [0.0], "prob_a": [1.0], "prob_b": [0.0], "classlabels_ints": [0, 1]},
        domain=ML, macs=5 * 12 + 5 * 3, other=5 * 3 + 5 * 6 + 10, special=5 * 2),
    Row("svm_classifier_linear", "SVMClassifier", [X], [LABELS, (5, 3)],
        {"coefficients": [1.0] * 12, "rho": [0.0] * 3, "classlabels_ints": [0, 1, 2]},
        domain=ML, macs=5 * 12, other=5 * 3 + 15),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["classic_models"], ROWS) == set()


def test_probabilities_of_three_classes_are_unknown() -> None:
    with pytest.raises(Unknown, match="iteration"):
        cost_of("SVMClassifier", [X], [LABELS, (5, 3)], domain=ML, vectors_per_class=[1, 1, 1], prob_a=[1.0] * 3)


@pytest.mark.parametrize("attribute", [{"kernel_type": "WAVELET"}, {"post_transform": "WAVELET"}])
def test_undefined_names_are_unknown(attribute: dict[str, str]) -> None:
    with pytest.raises(Unknown, match="WAVELET"):
        cost_of("SVMRegressor", [X], [(5, 1)], domain=ML, coefficients=[1.0], **attribute)


def test_classifier_without_scores_is_unknown() -> None:
    with pytest.raises(Unknown, match="lacks its output 1"):
        cost_of("LinearClassifier", [X], [LABELS], domain=ML)
