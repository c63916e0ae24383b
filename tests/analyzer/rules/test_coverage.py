"""Every operator that the installed onnx and onnxruntime know has a rule, or a stated reason to need none."""

import onnx.defs
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

from neural_cost.analyzer.rules.registry import lookup, registered

CONTROL_FLOW = {("", "If"), ("", "Loop"), ("", "Scan"), ("", "SequenceMap")}  # the walk costs their bodies

# Operators that have neither a rule nor a body: each with its reason. Empty is what we want.
EXCEPTIONS: dict[tuple[str, str], str] = {}

Operator = tuple[str, str]


def schemas_of_onnx() -> list[onnx.defs.OpSchema]:
    """List every version of every operator of every domain."""
    return list(onnx.defs.get_all_schemas_with_history())


def operators_of_onnx() -> list[tuple[str, str, int]]:
    """List every version of every operator of onnx, deprecated ones too: old files have them."""
    return sorted({(schema.domain, schema.name, schema.since_version) for schema in schemas_of_onnx()})


def operators_of_onnxruntime() -> list[tuple[str, str, int]]:
    """List every operator of com.microsoft, and of the blocked layout that saved optimized models have."""
    domains = ("com.microsoft", "com.microsoft.nchwc")
    schemas = get_all_operator_schema()
    return sorted({(s.domain, s.name, s.since_version) for s in schemas if s.domain in domains})


def uncovered(operators: list[tuple[str, str, int]]) -> set[tuple[str, str, int]]:
    """List those with no rule at their version, which are neither control flow nor exceptions."""
    covered = CONTROL_FLOW | EXCEPTIONS.keys()
    return {(d, name, v) for d, name, v in operators if (d, name) not in covered and lookup(d, name, v) is None}


def test_the_lists_are_whole() -> None:
    domains = {domain for domain, _, _ in operators_of_onnx()}
    assert domains >= {"", "ai.onnx.ml", "ai.onnx.preview.training"}
    assert len({name for domain, name, _ in operators_of_onnx() if domain == ""}) > 180
    assert len(operators_of_onnxruntime()) > 80


@pytest.mark.parametrize("operators", [operators_of_onnx, operators_of_onnxruntime])
def test_every_operator_is_covered(operators: object) -> None:
    assert callable(operators)
    assert uncovered(operators()) == set()


def test_an_operator_without_a_rule_is_found() -> None:
    assert uncovered([("", "NoSuchOperator", 1)]) == {("", "NoSuchOperator", 1)}


def test_exceptions_need_their_place() -> None:
    assert [name for name in EXCEPTIONS if lookup(*name, 1_000) is not None] == []


def test_every_rule_is_for_an_operator_that_exists() -> None:
    known = {(schema.domain, schema.name) for schema in [*schemas_of_onnx(), *get_all_operator_schema()]}
    assert {(rule.domain, rule.op_type) for rule in registered()} - known == set()
