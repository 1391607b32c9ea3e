"""Amounts as the wire wants them, as people read them, and as they type them."""

import pytest

from common.money import amount_of, cents_of, price_of


@pytest.mark.parametrize(("cents", "amount"), [(400, "4.00"), (5, "0.05"), (125000, "1250.00")])
def test_the_wire_has_two_decimals_always(cents: int, amount: str) -> None:
    assert amount_of(cents, 2) == amount


def test_people_read_a_symbol_where_there_is_one() -> None:
    assert price_of(125000, 2, "USD") == "$1,250.00"
    assert price_of(125000, 2, "CHF") == "1,250.00 CHF"


@pytest.mark.parametrize(("text", "cents"), [(" $1,250.50", 125050), ("0.5", 50), ("7", 700)])
def test_what_people_type_is_read(text: str, cents: int) -> None:
    assert cents_of(text, 2) == cents


@pytest.mark.parametrize("text", ["", "-1", "0.005", "NaN", "much", "1e30"])
def test_what_is_no_amount_is_none(text: str) -> None:
    assert cents_of(text, 2) is None
