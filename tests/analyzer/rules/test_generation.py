from tests.analyzer.rules.table import Row, parametrize, untested

X = (3, 4)

ROWS = [
    Row("constant_of_shape", "ConstantOfShape", [((2,), "int64")], [X], read=16, write=48),
    Row("eye_like", "EyeLike", [((4, 4), "int32")], [(4, 4)], read=0, write=64),
    Row("range", "Range", [((), "int64")] * 3, [((10,), "int64")], other=2 * 10, read=3 * 8, write=80,
        other_type="int64"),
    # a draw; multiply, add
    Row("random_uniform", "RandomUniform", [], [X], {"shape": [3, 4]}, other=12 * (1 + 2), read=0, write=48,
        other_type="float32"),
    Row("random_uniform_like", "RandomUniformLike", [(X, "int32")], [(X, "float16")], other=12 * 3, read=0, write=24,
        other_type="float16"),
    # a draw, LOG, multiply, SQRT, multiply, COS, multiply; multiply, add
    Row("random_normal", "RandomNormal", [], [X], other=12 * (7 + 2), special=12 * 3, write=48),
    Row("random_normal_like", "RandomNormalLike", [X], [X], other=12 * (7 + 2), special=12 * 3, read=0),
    Row("bernoulli", "Bernoulli", [X], [X], other=12 * 2, read=48, write=48),  # a draw, a comparison
    # EXP and a running sum of 2 x 10 classes; 5 samples of a draw, a multiply and ceil(log2(10)) comparisons
    Row("multinomial", "Multinomial", [(2, 10)], [((2, 5), "int32")], {"sample_size": 5},
        other=2 * 20 + (2 * 5) * (2 + 4), special=20, write=40),
    Row("contrib_range", "Range", [((), "int32")] * 3, [((5,), "int32")], domain="com.microsoft", other=2 * 5),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["generation"], ROWS) == set()
