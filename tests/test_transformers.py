"""PyTorch exports of BERT, GPT-2, Llama, ViT and Whisper's encoder: against a run, and torch's own counter."""

from functools import cache

import pytest

import neural_cost
from tests.transformer_models import MODELS, VOCABULARY, WIDTH, parameters_of, torch_macs
from tests.truth import truth_of

pytestmark = pytest.mark.long  # about two minutes, most of them in torch's exporter

CASES = [(name, 20) for name in MODELS] + [("bert", 23), ("gpt2", 23)]  # 23 has the Attention operator
each_case = pytest.mark.parametrize(("name", "form"), CASES)
# the older exporter's graphs too; what they leave out of the module (BERT's pooler) torch would count
every_form = pytest.mark.parametrize(("name", "form"), [*CASES, ("bert", "traced"), ("gpt2", "traced")])


@pytest.fixture(scope="session")
def case(exported, traced):
    """Export, report and truth at the example's dimensions, and the report with dimensions left open."""

    @cache
    def of(name, form):
        model = traced(name) if form == "traced" else exported(name, form)
        bound = neural_cost.analyze(model.file, dims=model.dims)
        return model, bound, neural_cost.analyze(model.file), truth_of(model.file, feeds=model.feeds)

    return of


@every_form
def test_macs_are_those_of_a_run(name, form, case):
    _, report, _, truth = case(name, form)
    assert report.totals.complete
    assert truth.unseen == ()
    assert {node.index: node.macs for node in report.nodes if node.macs} == truth.macs
    assert report.totals.macs == truth.total_macs


@each_case
def test_macs_are_those_of_torch(name, form, case):
    model, report, _, _ = case(name, form)
    assert report.totals.macs == torch_macs(model)


@each_case
def test_every_parameter_counts_once(name, form, case):
    model, report, open_report, _ = case(name, form)
    parameters = parameters_of(model)
    if name == "gpt2":
        parameters += (
            VOCABULARY * WIDTH
        )  # the exporter stores the shared matrix twice: embedding, and turned for the head
    assert report.totals.parameters == parameters
    assert report.totals.parameter_bytes == 4 * parameters  # float32
    assert open_report.totals.parameters == parameters


@every_form
def test_every_shape_is_true(name, form, case):
    _, report, _, truth = case(name, form)
    found = {tensor.name: (tensor.dtype, tensor.dims) for node in report.nodes for tensor in node.outputs}
    assert found == {name: (truth.tensors[name].dtype, truth.tensors[name].shape) for name in found}


@every_form
def test_open_dimensions_give_the_same_shapes(name, form, case):
    """Symbols are known everywhere, and with the numbers in their place they are the true shapes."""
    model, _, report, truth = case(name, form)
    assert report.model.assumed_dims == list(model.dims)
    symbolic = {tensor.name: tensor.symbols or tensor.dims for node in report.nodes for tensor in node.outputs}
    found = {name: tuple(at(dim, model.dims) for dim in dims) for name, dims in symbolic.items()}
    assert found == {name: truth.tensors[name].shape for name in symbolic}
    assert any(tensor.symbols for node in report.nodes for tensor in node.outputs)


@every_form
def test_formulas_give_the_same_counts(name, form, case):
    model, report, open_report, _ = case(name, form)
    assert open_report.formulas.totals
    assert open_report.at(model.dims) == report.totals


def at(dim, dims):
    return (
        dim
        if isinstance(dim, int | None)
        else int(dim.subs({symbol: dims[symbol.name] for symbol in dim.free_symbols}))
    )
