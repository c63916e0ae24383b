import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
IDS = ((2, 7), "int64")

ROWS = [
    # 10 elements: unigrams; bigrams with 0, 1 or 2 skips
    Row("tf", "TfIdfVectorizer", [((10,), "int64")], [(6,)],
        {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 2}, other=10 * (1 + 3),
        read=80, write=24),
    Row("tf_idf", "TfIdfVectorizer", [((10,), "int64")], [(6,)],
        {"mode": "TFIDF", "min_gram_length": 2, "max_gram_length": 3, "max_skip_count": 0}, other=10 * 2 + 6),
    # a block of 4 bytes: 3 multiplies, 2 rotations of 3, exclusive or, add; to finish: 4 exclusive ors, 3 shifts, 2
    Row("murmur", "MurmurHash3", [((5,), "int32")], [((5,), "uint32")], domain=MS, other=5 * (11 + 9), read=20,
        write=20, other_type="int32"),
    Row("murmur_two_blocks", "MurmurHash3", [((5,), "float64")], [((5,), "uint32")], domain=MS, other=5 * (2 * 11 + 9)),
    # 14 tokens: 3 multiplies, 2 exclusive ors; 2 orders x 4 heads of a REMAINDER each
    Row("ngram_hash", "NGramHashMapping", [IDS, ((3,), "int64"), ((8,), "int64")], [((2, 7, 8), "int64")],
        {"max_ngram_size": 3, "n_head_per_ngram": 4}, domain=MS, other=14 * 5 + 14 * 8, special=14 * 8),
    Row("ngram_hash_offsets", "NGramHashMapping", [IDS, ((3,), "int64"), ((8,), "int64"), None, ((8,), "int64")],
        [((2, 7, 8), "int64")], {"max_ngram_size": 3}, domain=MS, other=14 * 5 + 2 * 14 * 8, special=14 * 8),
    Row("packed_ngram_hash", "VarlenNGramHashMapping",
        [((14,), "int64"), ((3,), "int64"), ((8,), "int64"), ((3,), "int32")], [((14, 8), "int64")],
        {"max_ngram_size": 3}, domain=MS, other=14 * 5 + 14 * 8, special=14 * 8),
    # two tokens compared at each of 14 places
    Row("ngram_repeat", "NGramRepeatBlock", [IDS, (2, 50)], [(2, 50)], {"ngram_size": 3}, domain=MS, other=14 * 2,
        read=8 * 14 + 4 * 100, write=4 * 100, other_type="int64"),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["hashing"], ROWS) == set()


def test_hash_of_strings_is_unknown() -> None:
    with pytest.raises(Unknown, match="string"):
        cost_of("MurmurHash3", [((5,), "string")], [((5,), "uint32")], domain=MS)
