"""Money between the wire's strings and integer cents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.amounts import amount_of, cents_of


@pytest.mark.parametrize(
    ("amount", "cents"), [("4", 400), ("4.", 400), ("4.5", 450), ("4.05", 405), ("0", 0)]
)
def test_every_form_of_the_model_is_read(amount: str, cents: int) -> None:
    assert cents_of(amount) == cents


@given(st.integers(min_value=0, max_value=10**12))
def test_cents_come_back_as_they_were(cents: int) -> None:
    assert cents_of(amount_of(cents)) == cents
