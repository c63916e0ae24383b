"""Hashes, n-grams and vocabularies of numbers. A lookup in a table of keys is one comparison."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.elementwise import per_element
from neural_cost.analyzer.rules.registry import cost


@cost("TfIdfVectorizer")
def tf_idf_vectorizer(node: Node) -> Cost:
    """Cost a lookup for each n-gram: one of each length and each skip starts at each element, the ends included.

    A length of one has no skips. The modes IDF and TFIDF multiply each output by its weight.
    """
    shortest, longest = node.required_attr("min_gram_length"), node.required_attr("max_gram_length")
    skips = node.required_attr("max_skip_count")
    starts = sum(1 if length == 1 else skips + 1 for length in range(shortest, longest + 1))
    weighted = node.required_attr("mode") != "TF"
    return node.cost(other_flops=node.x.size * starts + (node.y.size if weighted else 0))


@cost("MurmurHash3", domain="com.microsoft")
def murmur_hash3(node: Node) -> Cost:
    """Cost the 32-bit variant: 11 operations for each block of four bytes, and 9 to finish an element.

    Strings have no fixed number of blocks and are refused for that.
    """
    blocks = max(node.x.bits // 32, 1)
    return per_element(node, PerElement(11 * blocks + 9), node.x.size, other_type="uint32")


@cost("NGramHashMapping", "VarlenNGramHashMapping", domain="com.microsoft")
def ngram_hash_mapping(node: Node) -> Cost:
    """Cost, for each token and n-grams up to N, N multiplies and N - 1 exclusive ors; a remainder for each head's id.

    `head_offsets` adds one to each id. The remainder is a division.
    """
    offsets = node.input(4 if node.op_type == "NGramHashMapping" else 5)
    order, ids = node.required_attr("max_ngram_size"), node.y.size
    flops = node.x.size * (2 * order - 1) + ids * (2 if offsets else 1)
    return node.cost(other_flops=flops, special_ops=ids)


@cost("NGramRepeatBlock", domain="com.microsoft")
def ngram_repeat_block(node: Node) -> Cost:
    """Cost comparing the last n - 1 tokens with those before each position, in full, and a copy of the scores."""
    return node.cost(other_flops=node.x.size * (node.required_attr("ngram_size") - 1))
