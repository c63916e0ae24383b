import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

ML = "ai.onnx.ml"
X = (4, 3)

ROWS = [
    Row("binarizer", "Binarizer", [X], [X], {"threshold": 0.5}, domain=ML, other=12, read=48, write=48),
    Row("imputer", "Imputer", [X], [X], domain=ML, other=12),
    Row("label_encoder", "LabelEncoder", [((7,), "int64")], [(7,)], domain=ML, other=7, read=56, write=28),
    Row("one_hot_encoder", "OneHotEncoder", [((7,), "int64")], [(7, 5)], domain=ML, other=7, write=140),
    Row("scaler", "Scaler", [(X, "int64")], [X], domain=ML, other=2 * 12, read=96, write=48, other_type="float32"),
    Row("normalizer_max", "Normalizer", [X], [X], domain=ML, other=2 * 12, special=12),  # compare, DIVIDE
    Row("normalizer_l1", "Normalizer", [X], [X], {"norm": "L1"}, domain=ML, other=3 * 12, special=12),
    Row("normalizer_l2", "Normalizer", [X], [X], {"norm": "L2"}, domain=ML, other=3 * 12 + 4, special=12 + 4),
    Row("array_feature_extractor", "ArrayFeatureExtractor", [(4, 9), ((2,), "int64")], [(4, 2)], domain=ML,
        read=4 * 8 + 8 * 2, write=4 * 8),
    Row("feature_vectorizer", "FeatureVectorizer", [X, ((4, 2), "int64")], [(4, 5)], domain=ML, other=8,
        read=48 + 64, write=80, other_type="float32"),  # two columns are converted
    Row("zip_map", "ZipMap", [X], [((), "sequence(map(int64,float32))")], domain=ML, read=48, write=48),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["features"], ROWS) == {
        (ML, "CastMap"),  # refused, below
        (ML, "CategoryMapper"),
        (ML, "DictVectorizer"),
    }


@pytest.mark.parametrize("op_type", ["CastMap", "CategoryMapper", "DictVectorizer", "LabelEncoder"])
def test_strings_and_maps_are_unknown(op_type: str) -> None:
    with pytest.raises(Unknown, match="no fixed size"):
        cost_of(op_type, [((7,), "string")], [((7,), "int64")], domain=ML)
