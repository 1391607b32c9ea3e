"""What is left of an account once it is erased: books without a name, and nothing to pay."""

from typing import Any

from marketplace import clock
from marketplace.models import PaymentReport, Worker
from marketplace.money.payments_made import report_payment
from marketplace.money.payout_lists import make_list, owed_by_worker
from marketplace.people.account_merge import merge
from marketplace.people.erasure import erase
from marketplace.tests.visitor import Visitor


def test_what_was_waived_is_on_no_list(rita: Any, ada: Visitor, make_hit: Any, later: Any) -> None:
    ada.submit(make_hit(rita))
    later(days=6)
    assert ada.get("/earnings/").status_code == 200
    report_payment(ada.worker, "My account is DE02 1203 0000 0000 2020 51.", clock.now())
    assert sum(owed_by_worker().values()) == 450
    erase(ada.worker, clock.now())
    assert owed_by_worker() == {}
    assert make_list("Ida", clock.now()) is None
    assert not PaymentReport.objects.exists()


def test_an_account_erased_while_it_is_merged_goes_on_naming_the_open_one(
    ada: Visitor, grace: Visitor
) -> None:
    read_before = ada.worker
    merge(grace.worker, read_before, clock.now())
    erase(read_before, clock.now())
    row = Worker.objects.get(pk=read_before.pk)
    assert (row.merged_into, row.display_name) == (grace.worker, "–")
