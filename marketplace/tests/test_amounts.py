"""Money between the wire's strings and integer cents."""

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from marketplace.amounts import amount_of, cents_of, price_of, typed_cents

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("amount", "cents"), [("4", 400), ("4.", 400), ("4.5", 450), ("4.05", 405), ("0", 0)]
)
def test_every_form_of_the_model_is_read(amount: str, cents: int) -> None:
    assert cents_of(amount) == cents


@given(st.integers(min_value=0, max_value=10**12))
def test_cents_come_back_as_they_were(cents: int) -> None:
    assert cents_of(amount_of(cents)) == cents


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("4", 400),
        ("4.5", 450),
        ("4,50 €", 450),
        ("$1,234.50", 123_450),
        ("1.234,50", 123_450),
        ("1\u202f234,50", 123_450),
        ("1,234", 123_400),
        ("1.234.567", 123_456_700),
        ("0.05", 5),
    ],
)
def test_people_write_amounts_in_many_ways(text: str, cents: int) -> None:
    assert typed_cents(text) == cents


@pytest.mark.parametrize("text", ["", "four", "-4", "1.2.3", "12,34.5", "1e3", "4.5055", "nan"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no amount"):
        typed_cents(text)


@given(st.integers(min_value=0, max_value=10**12))
def test_what_we_write_is_read_as_it_was(cents: int) -> None:
    assert typed_cents(amount_of(cents)) == cents


@pytest.mark.parametrize(("language", "price"), [("en", "$8,912.80"), ("de", "8.912,80\u00a0$")])
def test_people_read_thousands_parted_as_their_language_has_it(language: str, price: str) -> None:
    with translation.override(language):
        assert price_of(891_280) == price
        assert price_of(-891_280) == f"−{price}"
    assert typed_cents(price) == 891_280
