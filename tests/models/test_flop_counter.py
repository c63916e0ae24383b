"""The closed forms against torch's own counter. It sees neither mkldnn's kernels nor fused attention: both are off."""

from __future__ import annotations

import pytest

from neural_cost.models import zoo
from tests.models.families import BATCH
from tests.models.forms import FORMS

torch = pytest.importorskip("torch")


@pytest.fixture
def countable():
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        yield
    torch.backends.mha.set_fastpath_enabled(fast)


@pytest.mark.filterwarnings("ignore:TF32 acceleration")
@pytest.mark.usefixtures("countable")
@pytest.mark.parametrize("name", zoo.FAMILIES)
def test_torch_counts_the_closed_form(name):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    module, (example,) = zoo.family(name)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        module(example[:1].expand(BATCH, *example.shape[1:]).contiguous())
    assert counter.get_total_flops() == 2 * FORMS[name][1]
