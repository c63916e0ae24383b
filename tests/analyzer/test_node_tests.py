"""ONNX's own node tests: what is not right is in a table with its reason, and nothing is wrong."""

import json
from pathlib import Path

import pytest

from tests.node_tests import cases, judge, shapes, without
from tests.open_sizes import untrue

pytestmark = pytest.mark.long  # collecting the tests computes them all

TABLE = Path(__file__).parents[1] / "data" / "node_tests_not_right.json"
REASONS = {case: reason for reason, names in json.loads(TABLE.read_text()).items() for case in names}


@pytest.fixture(scope="module")
def collected():
    return cases()


@pytest.fixture(scope="module")
def verdicts(collected, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    return {case.name: judge(case, folder) for case in collected}


def test_none_has_a_wrong_shape_or_type(verdicts):
    assert {name: v.why for name, v in verdicts.items() if v.verdict == "wrong"} == {}


def test_those_not_right_are_in_the_table(verdicts):
    new = {name: v.why for name, v in verdicts.items() if v.verdict != "right" and name not in REASONS}
    assert new == {}, "newly not right"


def test_those_in_the_table_are_not_right(verdicts):
    right = [name for name in REASONS if verdicts[name].verdict == "right"]
    assert right == [], "take it out of the table"


def test_none_is_wrong_when_one_constant_is_not_known(collected, tmp_path):
    left_out = [without(case, name) for case in collected for name in case.constants]
    wrong = [(case.name, v.why) for case in left_out if (v := judge(case, tmp_path)).verdict == "wrong"]
    assert len(left_out) > 1000
    assert wrong == []


def test_98_of_100_are_right(verdicts):
    right = sum(v.verdict == "right" for v in verdicts.values())
    assert right / len(verdicts) >= 0.98


def test_symbolic_shapes_hold_at_the_true_sizes(collected, tmp_path):
    found = {case.name: untrue(case.model, shapes(case), tmp_path) for case in collected}
    assert {name: outputs for name, outputs in found.items() if outputs} == {}
