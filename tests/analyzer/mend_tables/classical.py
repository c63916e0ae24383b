"""ai.onnx.ml: shapes by hand; those of scores as ONNX Runtime makes them."""

from tests.analyzer.mend_rows import Row

ML = "ai.onnx.ml"
PAIRWISE = {"vectors_per_class": [1] * 4, "classlabels_ints": [0, 1, 2, 3]}

ROWS = [
    *(Row(op, ["int64[5,3]"], ["float32[5,3]"], domain=ML) for op in ("Scaler", "Normalizer")),
    Row("Imputer", ["int64[5,3]"], ["int64[5,3]"], domain=ML),
    Row("CategoryMapper", ["string[5]"], ["int64[5]"], domain=ML),
    Row("LabelEncoder", ["int64[5]"], ["string[5]"], {"classes_strings": ["a", "b"]}, domain=ML),
    Row("OneHotEncoder", ["int64[2,3]"], ["float32[2,3,4]"], {"cats_int64s": [5, 6, 7, 8]}, domain=ML),
    Row("FeatureVectorizer", ["int64[5,3]", "float32[5,2]"], ["float32[5,5]"], {"inputdimensions": [3, 2]}, domain=ML),
    Row("ArrayFeatureExtractor", ["float32[3]", "int64[2]"], ["float32[1,2]"], domain=ML),
    Row("LinearRegressor", ["float32[5,3]"], ["float32[5,2]"], {"targets": 2}, domain=ML),
    Row("LinearRegressor", ["float32[3]"], ["float32[1,1]"], domain=ML, note="a vector is one row"),
    Row("SVMRegressor", ["float32[5,3]"], ["float32[5,1]"], domain=ML),
    Row("TreeEnsembleRegressor", ["float64[5,3]"], ["float32[5,4]"], {"n_targets": 4}, domain=ML),
    Row("LinearClassifier", ["float32[5,3]"], ["int64[5]", "float32[5,2]"], {"classlabels_ints": [0, 1]}, domain=ML),
    Row("TreeEnsembleClassifier", ["float32[5,3]"], ["string[5]", "float32[5,3]"],
        {"classlabels_strings": ["a", "b", "c"]}, domain=ML),
    Row("SVMClassifier", ["float32[5,3]"], ["int64[5]", "float32[5,6]"], PAIRWISE, domain=ML, note="4 * 3 / 2 pairs"),
    Row("SVMClassifier", ["float32[5,3]"], ["int64[5]", "float32[5,4]"], PAIRWISE | {"prob_a": [0.5]}, domain=ML),
    Row("SVMClassifier", ["float32[5,3]"], ["int64[5]", "float32[5,4]"], {"classlabels_ints": [0, 1, 2, 3]}, domain=ML,
        note="linear: without vectors"),
    Row("DictVectorizer", ["float32[1]"], ["?[1,3]"], {"string_vocabulary": ["a", "b", "c"]}, domain=ML),
    Row("CastMap", ["float32[1]"], ["float32[1,7]"], {"map_form": "SPARSE", "max_map": 7}, domain=ML),
]  # fmt: skip
