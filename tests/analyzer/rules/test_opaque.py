import pytest

from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.rules.opaque import REASONS
from tests.analyzer.rules.make import cost_of


@pytest.mark.parametrize(("domain", "op_type"), REASONS)
def test_refused_with_its_reason(domain: str, op_type: str) -> None:
    with pytest.raises(Unknown) as refused:
        cost_of(op_type, [(2, 3)], [(2, 3)], domain=domain)
    assert refused.value.why == REASONS[domain, op_type]
