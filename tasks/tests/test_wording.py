"""Amounts are read by people as they write them."""

from types import SimpleNamespace

import pytest

from tasks.pages.wording import price


@pytest.mark.parametrize(
    ("cents", "currency", "minor_units", "shown"),
    [
        (400, "USD", 2, "$4.00"),
        (99_999, "USD", 2, "$999.99"),
        (125_000, "USD", 2, "$1,250.00"),
        (123_456_789, "EUR", 2, "€1,234,567.89"),
        (12_500, "JPY", 0, "12,500 JPY"),
    ],
)
def test_thousands_of_an_amount_are_set_apart(cents, currency, minor_units, shown):
    pay = SimpleNamespace(currency=currency, minor_units=minor_units)
    assert price(cents, SimpleNamespace(pay=pay)) == shown
