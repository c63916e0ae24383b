import pytest
import sympy

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

ROWS = [
    Row(
        "matmul", "MatMul", [(2, 3), (3, 5)], [(2, 5)],
        macs=2 * 5 * 3, read=4 * (2 * 3 + 3 * 5), write=4 * (2 * 5),
    ),
    Row("matmul_batch_broadcast", "MatMul", [(7, 1, 2, 3), (4, 3, 5)], [(7, 4, 2, 5)], macs=7 * 4 * 2 * 5 * 3),
    Row("matmul_vector_matrix", "MatMul", [(3,), (3, 5)], [(5,)], macs=5 * 3),
    Row("matmul_vector_batch", "MatMul", [(3,), (4, 3, 5)], [(4, 5)], macs=4 * 5 * 3),
    Row("matmul_matrix_vector", "MatMul", [(4, 2, 3), (3,)], [(4, 2)], macs=4 * 2 * 3),
    Row("matmul_dot", "MatMul", [(3,), (3,)], [()], macs=3, write=4),
    Row("matmul_empty_inner", "MatMul", [(2, 0), (0, 5)], [(2, 5)], macs=0),
    Row("matmul_int32", "MatMul", [((2, 3), "int32"), ((3, 5), "int32")], [((2, 5), "int32")], macs=2 * 5 * 3,
        compute_type="int32"),
    Row("matmul_integer16", "MatMulInteger16", [((2, 3), "int16"), ((3, 5), "int16")], [((2, 5), "int32")],
        domain="com.microsoft", macs=2 * 5 * 3, compute_type="int16"),
    Row("gemm", "Gemm", [(2, 3), (3, 5)], [(2, 5)], macs=2 * 5 * 3),
    Row("gemm_transposed", "Gemm", [(3, 2), (5, 3), (5,)], [(2, 5)], {"transA": 1, "transB": 1}, version=13,
        macs=2 * 5 * 3, other=2 * 5),  # the add of C
    Row("gemm_scaled", "Gemm", [(2, 3), (3, 5), (5,)], [(2, 5)], {"alpha": 0.5, "beta": 2.0},
        macs=2 * 5 * 3, other=2 * 5 + 2 * 5 + 5),  # alpha, add, beta on C before it is broadcast
    Row("einsum_matmul", "Einsum", [(2, 3), (3, 5)], [(2, 5)], {"equation": "ij,jk->ik"}, macs=2 * 3 * 5),
    Row("einsum_spaces_implicit", "Einsum", [(2, 3), (3, 5)], [(2, 5)], {"equation": " i j , j k "}, macs=2 * 3 * 5),
    Row("einsum_heads", "Einsum", [(2, 7, 4, 8), (2, 9, 4, 8)], [(2, 4, 7, 9)], {"equation": "bqhd,bkhd->bhqk"},
        macs=2 * 4 * 7 * 9 * 8),
    Row("einsum_inner", "Einsum", [(6,), (6,)], [()], {"equation": "i,i"}, macs=6),
    Row("einsum_outer", "Einsum", [(6,), (4,)], [(6, 4)], {"equation": "i,j->ij"}, macs=6 * 4),
    Row("einsum_ellipsis", "Einsum", [(7, 1, 2, 3), (4, 3, 5)], [(7, 4, 2, 5)], {"equation": "...ij,...jk->...ik"},
        macs=7 * 4 * 2 * 3 * 5),  # the ellipsis broadcasts (7, 1) with (4)
    Row("einsum_ellipsis_implicit", "Einsum", [(7, 2, 3), (3, 5)], [(7, 2, 5)], {"equation": "...ij,jk"},
        macs=7 * 2 * 3 * 5),
    Row("einsum_ellipsis_in_the_middle", "Einsum", [(2, 7, 8, 3), (3, 5)], [(2, 7, 8, 5)],
        {"equation": "a...b,bc->a...c"}, macs=2 * 7 * 8 * 3 * 5),
    Row("einsum_repeated_label", "Einsum", [(3, 3), (3, 5)], [(5,)], {"equation": "ii,ij->j"}, macs=3 * 5),
    Row("einsum_three", "Einsum", [(2, 3), (3, 5), (5, 7)], [(2, 7)], {"equation": "ij,jk,kl->il"},
        macs=2 * 3 * 5 + 2 * 5 * 7),  # (ij,jk->ik), then (ik,kl->il): j left after the first
    Row("einsum_three_bilinear", "Einsum", [(2, 3), (4, 3, 5), (2, 5)], [(2, 4)], {"equation": "bi,oij,bj->bo"},
        macs=2 * 3 * 4 * 5 + 2 * 4 * 5),  # (bi,oij->boj), then (boj,bj->bo)
    Row("einsum_three_elementwise_first", "Einsum", [(2,), (2,), (2,)], [()], {"equation": "i,i,i->"},
        macs=2 + 2),  # i is still needed after the first
    Row("einsum_sum", "Einsum", [(3, 4)], [(3,)], {"equation": "ij->i"}, other=3 * 4),
    Row("einsum_trace", "Einsum", [(3, 3)], [()], {"equation": "ii->"}, other=3),  # the diagonal is added
    Row("einsum_diagonal", "Einsum", [(3, 3)], [(3,)], {"equation": "ii->i"}),
    Row("einsum_transpose", "Einsum", [(3, 4)], [(4, 3)], {"equation": "ij->ji"}),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contraction"], ROWS) == set()


def test_symbolic_dimensions_give_the_formula() -> None:
    batch, tokens = sympy.symbols("batch tokens", integer=True, positive=True)
    product = cost_of("MatMul", [(batch, tokens, 8), (8, 4)], [(batch, tokens, 4)])
    assert product.macs == batch * tokens * 4 * 8


def test_a_symbol_that_meets_a_number_in_an_ellipsis_is_not_taken_for_it() -> None:
    batch = sympy.Symbol("batch", integer=True, positive=True)
    cost = cost_of("Einsum", [(batch, 2, 3), (4, 3, 5)], [(4, 2, 5)], equation="...ij,...jk->...ik")
    assert cost.macs.subs(batch, 1) == cost.macs.subs(batch, 4) == 4 * 2 * 3 * 5


@pytest.mark.parametrize("equation", ["ij->ij", "ijk,jk->ij", "i,jk->ik"])
def test_an_equation_that_does_not_fit_is_unknown(equation: str) -> None:
    with pytest.raises(Unknown, match="equation"):
        cost_of("Einsum", [(2, 3), (3, 5)], [(2, 5)], equation=equation)


def test_an_unknown_shape_is_unknown() -> None:
    with pytest.raises(Unknown, match="made unknown"):
        cost_of("MatMul", [(2, 3), (3, 5)], [tensor("y", None)])
