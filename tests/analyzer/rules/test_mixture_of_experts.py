from tests.analyzer.rules.table import Row, parametrize, untested

MS, F16, U8 = "com.microsoft", "float16", "uint8"
# 6 tokens of 16, 8 experts of inner width 32, 2 for each token: 12 passes
ROUTE = 48 * (1 + 5) + 12 * 1  # each score: compare, softmax; the best two of a token in order
COMBINE = 12 * 2 * 16  # multiply and add of each output

ROWS = [
    Row(
        "moe", "MoE", [(2, 3, 16), (6, 8), (8, 32, 16), (8, 32), (8, 16, 32), (8, 16)], [(2, 3, 16)],
        {"k": 2, "normalize_routing_weights": 1}, MS,
        macs=12 * (16 * 32 + 32 * 16),
        other=ROUTE + 12 * 2 + COMBINE + 12 * (32 + 16) + 12 * 32,  # normalize; biases; relu
        special=48 * 2 + 12,
        read=4 * (96 + 48 + 8 * (512 + 32 + 512 + 16)), write=4 * 96,  # 12 passes may touch all 8 experts
    ),
    Row(
        "moe_one_token_swiglu", "MoE", [(1, 16), (1, 8), (8, 64, 16), None, (8, 16, 32)], [(1, 16)],
        {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1}, MS,
        macs=2 * (16 * 64 + 32 * 16),
        other=8 * 6 + 2 * 1 + 2 * 2 * 16 + 2 * 32 * 5,  # g * sigmoid(g) * l
        special=8 * 2 + 2 * 32 * 2,
        read=4 * (16 + 8 + 2 * (1024 + 512)),  # of 8 experts the 2 that are chosen
    ),
    Row(
        "moe_third_layer", "MoE", [(1, 16), (1, 8), (8, 32, 16), None, (8, 16, 32), None, (8, 32, 16)], [(1, 16)],
        {"k": 1, "activation_type": "silu"}, MS,
        macs=1 * (3 * 16 * 32), other=8 * 6 + 2 * 16 + 32 * (4 + 1), special=8 * 2 + 32 * 2,
    ),
    Row("moe_geglu", "MoE", [(1, 16), (1, 8), (8, 64, 16), None, (8, 16, 32)], [(1, 16)],
        {"activation_type": "geglu", "swiglu_fusion": 2}, MS,
        macs=3 * 16 * 32, other=8 * 6 + 2 * 16 + 32 * (8 + 1), special=8 * 2 + 32),
    Row(
        "qmoe_int4", "QMoE",
        [((1, 16), F16), ((1, 8), F16), ((8, 64, 8), U8), ((8, 64), F16), None, ((8, 16, 16), U8), ((8, 16), F16)],
        [((1, 16), F16)], {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "swiglu_limit": 7.0}, MS,
        macs=2 * (16 * 64 + 32 * 16),
        other=8 * 6 + 2 + 2 * 2 * 16 + 2 * 32 * (5 + 3) + 2 * (16 * 64 + 32 * 16) * 3,  # clamps; decode
        special=8 * 2 + 2 * 32 * 2, compute_type=F16,
        read=2 * 16 + 2 * 8 + 2 * (64 * 8 + 2 * 64 + 16 * 16 + 2 * 16),
    ),
    Row(
        "qmoe_separate_gate_router_weights", "QMoE",
        [((1, 16), F16), ((1, 8), F16), ((8, 32, 8), U8), None, None, ((8, 16, 16), U8), None, None, ((8, 32, 8), U8),
         *[None] * 5, ((1, 8), F16)],
        [((1, 16), F16)], {"k": 1, "activation_type": "swiglu", "quant_type": "fp4"}, MS,
        macs=3 * 16 * 32, other=8 * 1 + 2 * 16 + 32 * 5 + 3 * 16 * 32 * 2, special=32 * 2,  # no softmax
    ),
    Row(
        "qmoe_nvfp4_packed_along_outputs", "QMoE",
        [((1, 16), F16), ((1, 8), F16), ((8, 16, 32), U8), None, None, ((8, 32, 8), U8)], [((1, 16), F16)],
        {"k": 1, "activation_type": "swiglu", "swiglu_fusion": 2, "quant_type": "nvfp4"}, MS,
        macs=3 * 16 * 32, other=8 * 6 + 2 * 16 + 32 * 5 + 3 * 16 * 32 * 2, special=8 * 2 + 32 * 2,
    ),
    Row(
        "qmoe_float8_activations", "QMoE",
        [((1, 16), F16), ((1, 8), F16), ((8, 32, 8), U8), None, None, ((8, 16, 16), U8)], [((1, 16), F16)],
        {"k": 1, "quant_type": "wfp4afp8"}, MS,
        macs=2 * 16 * 32, other=8 * 6 + 2 * 16 + 32 + 2 * 16 * 32 * 2, special=8 * 2, compute_type="float8e4m3fn",
        other_type=F16,
    ),
    Row(
        "moe_packed", "MoEPacked",
        [((1, 16), F16), (1, 8), ((8, 32, 10), U8), ((8, 32, 10), U8), ((8, 16, 20), U8)], [((1, 16), F16)],
        {"k": 2}, MS,
        macs=2 * 3 * 16 * 32, other=8 * 6 + 2 + 2 * 2 + 2 * 2 * 16 + 2 * 32 * 5 + 2 * 3 * 16 * 32 * 2,
        special=8 * 2 + 2 + 2 * 32 * 2,  # normalized unless it says otherwise
        read=2 * 16 + 4 * 8 + 2 * (320 + 320 + 320),
    ),
    Row(
        "moe_packed_relu2", "MoEPacked",
        [((1, 16), F16), (1, 8), ((8, 32, 10), U8), None, ((8, 16, 20), U8), (1, 8)], [((1, 16), F16)],
        {"k": 1, "activation_type": "relu2", "normalize_routing_weights": 0}, MS,
        macs=2 * 16 * 32, other=8 * 1 + 2 * 16 + 32 * 2 + 2 * 16 * 32 * 2,
    ),
    Row(
        "router", "MoEGroupRouter", [(6, 8), (8,)], [(6, 8)],
        {"top_k": 2, "n_group": 4, "group_topk": 2, "topk_group": 2}, MS,
        other=48 * (3 + 1) + 2 * 48  # sigmoid and bias; compares for groups and for experts
        + 6 * (4 * (2 * 1 + 2) + 4 + 2 * 1)  # best two of 4 groups in order, added; 4 groups; best two in order
        + 6 * 2 * 2,  # max, log
        special=48 * 2 + 6 * 2, other_type="float32",
    ),
    Row(
        "router_scores_with_projection", "MoEGroupRouter", [((6, 256), F16), (8,), ((8, 256), F16)],
        [None, (6, 8), (6, 8)], {"top_k": 2}, MS,
        macs=6 * 8 * 256, other=48 * (3 + 1), special=48 * 2,
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["mixture_of_experts"], ROWS) == set()
