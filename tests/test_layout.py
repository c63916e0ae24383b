"""pyproject.toml tells the truth about the tree: what it leaves out is missing from a wheel, though `-e` finds it."""

from __future__ import annotations

import shutil

import pytest

from tests.layout import LINKED, ROOT, data_complaints, link_complaints, package_complaints


@pytest.fixture
def tree(tmp_path):
    """A small tree without a fault."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src").mkdir()
    for folder in (
        "src/neural_cost",
        "src/neural_cost/adapters",
        "src/neural_cost/commands",
        "src/neural_cost/operations",
        "src/neural_cost/render",
        "src/neural_cost/render/plots",
        "analyzer",
        "analyzer/rules",
        "analyzer/data",
        "analyzer/findings",
        "analyzer/fusion",
        "analyzer/gap",
        "analyzer/memory",
        "analyzer/prediction",
        "analyzer/shape_mends",
        "analyzer/tables",
        "analyzer/training",
        "analyzer/training/rules",
        "exporters",
        "models",
        "runtime",
        "runtime/backends",
        "runtime/calibrate",
        "runtime/calibrate/kernels",
        "runtime/mapping",
        "runtime/rounds",
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    for name in LINKED:
        (tmp_path / "src" / "neural_cost" / name).symlink_to(f"../../{name}")
    return tmp_path


@pytest.mark.parametrize("check", [package_complaints, data_complaints, link_complaints])
def test_tree_is_whole(check):
    assert check(ROOT) == []


@pytest.mark.parametrize("check", [package_complaints, data_complaints, link_complaints])
def test_small_tree_is_whole(tree, check):
    assert check(tree) == []


def test_unlisted_package_is_found(tree):
    (tree / "analyzer" / "extra").mkdir()
    (tree / "analyzer" / "extra" / "__init__.py").touch()
    assert package_complaints(tree) == [
        "neural_cost.analyzer.extra holds Python files and is not listed in pyproject.toml"
    ]


def test_folder_without_init_is_found(tree):
    (tree / "runtime" / "__init__.py").rename(tree / "runtime" / "timing.py")
    assert package_complaints(tree) == ["neural_cost.runtime has no __init__.py"]


def test_listed_package_that_is_gone_is_found(tree):
    shutil.rmtree(tree / "analyzer" / "rules")
    assert package_complaints(tree) == ["neural_cost.analyzer.rules is listed in pyproject.toml and is not there"]


def test_data_that_a_wheel_would_lack_is_found(tree):
    (tree / "models" / "dnn.onnx").touch()
    (tree / "runtime" / "kernel.c").touch()
    assert data_complaints(tree) == ["kernel.c in neural_cost.runtime is no package data in pyproject.toml"]


def test_missing_and_wrong_links_are_found(tree):
    links = tree / "src" / "neural_cost"
    (links / "analyzer").unlink()
    (links / "models").unlink()
    (links / "models").symlink_to(tree / "models")
    assert link_complaints(tree) == [
        "src/neural_cost/analyzer is no link to analyzer/",
        "src/neural_cost/models is no link to models/",
    ]
