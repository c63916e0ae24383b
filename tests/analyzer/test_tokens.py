"""What a call means in tokens: caches and sequences found by the graph's own inputs; figures by hand."""

import onnx
import onnx.parser
import pytest

import neural_cost

# one layer of one head of width 8: keys and values of earlier tokens come in, and go out with this call's
DECODER = """<ir_version: 8, opset_import: ["": 17]> g
    (int64[batch, seq] ids, float16[batch, 1, past, 8] keys, float16[batch, 1, past, 8] values)
    => (float16[batch, seq, 8] y, float16[a, b, c, d] new_keys, float16[e, f, g, h] new_values)
    <float16[5, 8] table = {TABLE}, float16[8, 8] w = {WEIGHT}, int64[1] one = {1}> {
    x = Gather(table, ids)
    q = MatMul(x, w)
    k = Unsqueeze(q, one)
    new_keys = Concat <axis = 2> (keys, k)
    new_values = Concat <axis = 2> (values, k)
    t = Transpose <perm = [0, 1, 3, 2]> (new_keys)
    s = MatMul(k, t)
    p = MatMul(s, new_values)
    y = Squeeze(p, one)
}""".replace("TABLE", ", ".join("1" * 40)).replace("WEIGHT", ", ".join("1" * 64))


def report_of(text, tmp_path, **dims):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    return neural_cost.analyze(file, dims=dims)


def macs(batch, seq, past):
    return batch * (seq * 8 * 8 + 2 * seq * (past + seq) * 8)  # x w; q k' and s v


def test_a_decoder_in_tokens(tmp_path):
    found = report_of(DECODER, tmp_path, batch=3, seq=2, past=7).tokens
    assert (found.dim, found.past_dim, found.batch, found.tokens, found.context) == ("seq", "past", 3, 2, 9)
    assert found.cache_bytes_per_token == 2 * 8 * 2  # a key and a value of 8 float16
    assert found.cache_bytes == 3 * 9 * 32
    assert found.macs_per_token == macs(3, 2, 7) / 6
    assert found.weight_flops_per_token == 2 * 8 * 8
    assert found.prefill.macs == macs(3, 9, 0)
    assert found.decode.macs == macs(3, 1, 8)


def test_a_single_token_of_a_single_sequence_is_told_from_a_batch_of_one(tmp_path):
    found = report_of(DECODER, tmp_path, batch=1, seq=1, past=2047).tokens
    assert (found.dim, found.past_dim, found.context) == ("seq", "past", 2048)
    assert found.decode.macs == macs(1, 1, 2047)


def test_an_open_decoder_has_the_same_tokens_and_no_calls_nobody_asked_for(tmp_path):
    found = report_of(DECODER, tmp_path).tokens
    assert (found.dim, found.past_dim, found.tokens, found.context) == ("seq", "past", 1, 2)
    assert (found.prefill, found.decode) == (None, None)
    assert found.why == 'nobody gave the size of "seq" or "past"'
    assert found.why in str(report_of(DECODER, tmp_path)).replace("\n", " ")
    asked = report_of(DECODER, tmp_path, seq=1).tokens
    assert asked.decode.macs == macs(1, 1, 1)
    assert asked.why == ""


@pytest.mark.parametrize(("name", "said"), [("past", "along an open dimension"), ("seq", "tokens of a call")])
def test_calls_that_the_file_fixes_are_told_of(name, said, tmp_path):
    found = report_of(DECODER.replace(f", {name}", ", 6"), tmp_path).tokens
    assert (found.prefill, found.decode) == (None, None)
    assert said in found.why


ENCODER = """<ir_version: 8, opset_import: ["": 17]> g (int64[batch, words] ids) => (float[batch, words, 2] y)
    <float[5, 2] table = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, float[2, 2] w = {1, 2, 3, 4}> {
    x = Gather(table, ids)  y = MatMul(x, w) }"""
FEATURES = """<ir_version: 8, opset_import: ["": 17]> g (float[n, time_steps, 2] x) => (float[a, b, c] y)
    <float[2, 2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }"""


@pytest.mark.parametrize(("text", "names"), [(ENCODER, ("batch", "words")), (FEATURES, ("n", "time_steps"))])
def test_other_models_with_a_sequence(text, names, tmp_path):
    found = report_of(text, tmp_path, **dict(zip(names, (3, 5), strict=True))).tokens
    assert (found.dim, found.batch, found.tokens, found.context) == (names[1], 3, 5, 5)
    assert (found.past_dim, found.cache_bytes_per_token, found.prefill) == (None, None, None)
    assert (found.macs_per_token, found.flops_per_token) == (2 * 2, 2 * 2 * 2)


IMAGES = """<ir_version: 8, opset_import: ["": 17]> g (float[batch, 3, height, width] x) => (float[a, b, c, d] y) {
    y = Relu(x) }"""
# a state that does not grow is no cache; neither is an output that is larger by chance in a fixed dimension
STATE = """<ir_version: 8, opset_import: ["": 17]> g (float[1, n, 4] h, float[2, n, 4] x)
    => (float[1, n, 4] a, float[3, n, 4] b) {
    a = Relu(h)  b = Concat <axis = 0> (h, x) }"""


# samples of sound that a convolution takes together before an LSTM: what is called a sequence has no tokens
SOUND = """<ir_version: 8, opset_import: ["": 17]> g (float[batch, sequence, 1] x) => (float[t, one, batch, 4] y)
    <float[4, 1, 8] w = {CONV}, float[1, 16, 4] k = {W}, float[1, 16, 4] r = {R}> {
    turned = Transpose <perm = [0, 2, 1]> (x)  c = Conv <strides = [4]> (turned, w)
    steps = Transpose <perm = [2, 0, 1]> (c)  y = LSTM <hidden_size = 4> (steps, k, r) }"""
for mark, numbers in (("CONV", 32), ("W", 64), ("R", 64)):
    SOUND = SOUND.replace("{" + mark + "}", "{" + ", ".join("1" * numbers) + "}")
# a waveform has no vector at a position
WAVE = """<ir_version: 8, opset_import: ["": 17]> g (float[batch, sequence] x) => (float[a, b] y) { y = Relu(x) }"""
# a token of which of the two?
PAIR = """<ir_version: 8, opset_import: ["": 17]> g (int64[batch, src_seq] s, int64[batch, tgt_seq] t)
    => (float[a, b, c] y, float[d, e, f] z) <float[5, 2] table = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}> {
    y = Gather(table, s)  z = Gather(table, t) }"""


@pytest.mark.parametrize("text", [IMAGES, STATE, SOUND, WAVE, PAIR], ids=["images", "state", "sound", "wave", "pair"])
def test_models_without_a_sequence(text, tmp_path):
    assert report_of(text, tmp_path).tokens is None


def test_tokens_are_in_the_json_and_the_table(tmp_path):
    report = report_of(DECODER, tmp_path, batch=1, seq=1, past=9)
    assert report.to_dict()["tokens"]["decode"]["macs"] == macs(1, 1, 9)
    assert report.to_dict()["tokens"]["cache_bytes_per_token"] == 32
    text = str(report)
    assert "one token after 9" in text
    assert "10 tokens at once" in text


def test_a_token_of_an_open_decoder_as_a_formula(tmp_path):
    report = report_of(DECODER, tmp_path)
    assert str(report.per_token["macs"]) == "16*past + 16*seq + 64"  # macs(batch, seq, past) / (batch * seq)
    assert report.to_dict()["formulas"]["per_token"]["macs"] == "16*past + 16*seq + 64"
    assert str(report_of(DECODER, tmp_path, batch=2, seq=3).per_token) == "{}"
    assert str(report_of(DECODER, tmp_path, batch=2).per_token["macs"]) == "16*past + 16*seq + 64"
