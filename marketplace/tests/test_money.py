"""Bonuses, payouts, and that no cent is made or lost."""

from datetime import date
from typing import Any

import pytest
from django.db.models import Sum

from marketplace import clock
from marketplace.models import HIT, LedgerEntry, LedgerKind, Requester
from marketplace.payouts import PayoutError, record_payout
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


def books_balance(requester: Requester) -> bool:
    """Return whether credits equal what is free, held and earned."""
    requester.refresh_from_db()
    sums = dict(
        LedgerEntry.objects.filter(requester=requester)
        .values_list("kind")
        .annotate(total=Sum("amount_cents"))
    )
    earned = sums.get(LedgerKind.REWARD, 0) + sums.get(LedgerKind.BONUS, 0)
    held = HIT.objects.filter(requester=requester).aggregate(n=Sum("held_cents", default=0))["n"]
    total = requester.balance_cents + requester.held_cents + earned
    return bool(held == requester.held_cents and sums[LedgerKind.CREDIT] == total)


def bonus_for(client: Any, hit: dict[str, Any], **changes: Any) -> dict[str, Any]:
    [assignment] = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    return {
        "WorkerId": assignment["WorkerId"],
        "AssignmentId": assignment["AssignmentId"],
        "BonusAmount": "0.75",
        "Reason": "Two links.",
    } | changes


def test_a_bonus_is_sent_once_per_token(rita: Any, ada: Visitor, make_hit: Any, later: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    bonus = bonus_for(rita, hit, UniqueRequestToken="b")
    rita.send_bonus(**bonus)
    with refused("DuplicateRequest"):
        rita.send_bonus(**bonus)
    assert rita.list_bonus_payments(HITId=hit["HITId"])["NumResults"] == 1
    rita.send_bonus(**bonus | {"UniqueRequestToken": "c"})
    listed = rita.list_bonus_payments(AssignmentId=bonus["AssignmentId"])["BonusPayments"]
    assert [one["BonusAmount"] for one in listed] == ["0.75", "0.75"]
    assert books_balance(Requester.objects.get(name="Rita"))
    later(days=200)
    with refused("InvalidParameterValue", "six months"):
        rita.send_bonus(**bonus | {"UniqueRequestToken": "d"})


def test_a_bonus_needs_work_a_reason_and_money(
    rita: Any, other_requester: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    bonus = bonus_for(rita, hit)
    with refused("AssignmentDoesNotExist"):
        rita.send_bonus(**bonus | {"WorkerId": grace.worker.worker_id})
    with refused("AssignmentDoesNotExist"):
        other_requester.send_bonus(**bonus)
    with refused("InvalidParameterValue"):
        rita.send_bonus(**bonus | {"Reason": " "})
    with refused("InvalidParameterValue"):
        rita.send_bonus(**bonus | {"BonusAmount": "0.00"})
    with refused("InsufficientFunds"):
        rita.send_bonus(**bonus | {"BonusAmount": "9999.99"})
    with refused("InvalidParameterValue"):
        rita.list_bonus_payments()
    assert books_balance(Requester.objects.get(name="Rita"))


def test_a_payout_settles_what_is_owed_and_no_more(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    pay = (ada.worker.worker_id, 300, date(2026, 11, 20), "bank transfer", "no. 1", clock.now())
    with pytest.raises(PayoutError, match=r"is owed \$0\.00"):
        record_payout(*pay)
    rita.approve_assignment(AssignmentId=assignment["AssignmentId"])
    first = record_payout(*pay)
    assert record_payout(*pay) == first
    with pytest.raises(PayoutError, match="another payment"):
        record_payout(ada.worker.worker_id, 100, *pay[2:])
    with pytest.raises(PayoutError, match=r"is owed \$1\.50"):
        record_payout(ada.worker.worker_id, 151, *pay[2:4], "no. 2", clock.now())
    page = ada.get("/earnings/").content.decode()
    for words in ("$4.50", "$1.50", "$3.00", "bank transfer", "no. 1", "20 Nov 2026"):
        assert words in page


def test_approved_in_all_is_rewards_and_bonuses_and_the_other_amounts_are_apart(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    decided, waiting = make_hit(rita), make_hit(rita, Reward="1.11")
    ada.submit(decided)
    ada.submit(waiting)
    [assignment] = rita.list_assignments_for_hit(HITId=decided["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=assignment["AssignmentId"])
    rita.send_bonus(**bonus_for(rita, decided))
    context = ada.get("/earnings/").context
    amounts = ("pending_cents", "reward_cents", "bonus_cents", "approved_cents", "owed_cents")
    assert [context[name] for name in amounts] == [111, 450, 75, 525, 525]
    assert context["paid_cents"] == 0
    assert books_balance(Requester.objects.get(name="Rita"))
