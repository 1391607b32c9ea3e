"""At the desk a requester sends bonuses: looked at first, and each of them once."""

import re
from typing import Any

import pytest

from marketplace import clock
from marketplace.desk import work_views
from marketplace.models import HIT, Assignment, BonusPayment, Requester
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.visitor import Visitor


@pytest.fixture
def desk(rita: Any, settings: Any) -> DeskVisitor:
    """Rita's person at the desk."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Rita", Requester.objects.get(name="Rita"))


@pytest.fixture
def address(rita: Any, ada: Visitor, grace: Visitor, make_hit: Any) -> str:
    """Where bonuses are sent for a HIT that Ada and Grace have done."""
    hit = make_hit(rita, MaxAssignments=2)
    ada.submit(hit, note="<i>mine</i>")
    grace.submit(hit)
    return f"/desk/hits/{HIT.objects.get().pk}/bonuses/"


def look(desk: DeskVisitor, address: str, **fields: Any) -> Any:
    values = {"who": "ticked", "per": "work", "amount": "0,50", "reason": "Well done."}
    return desk.send(desk.html(address), address, **values | fields)


def order_on(page: Any) -> str:
    found = re.search(r'name="order" value="([^"]+)"', page.content.decode())
    assert found, page.content.decode()
    return found[1]


def test_a_bonus_is_looked_at_first_and_sent_once(
    rita: Any, desk: DeskVisitor, ada: Visitor, address: str
) -> None:
    page = desk.html(address)
    assert "&lt;i&gt;mine&lt;/i&gt;" in page
    keys = re.findall(r'name="work" value="(\d+)"', page)
    seen = look(desk, address, work=keys)
    html = seen.content.decode()
    assert "2 of $0.50 each" in html
    assert "Send 2 bonuses: $1.00" in html
    assert not BonusPayment.objects.exists()
    before = Requester.objects.get(name="Rita").balance_cents
    for _ in range(2):
        told = desk.send(html, address, order=order_on(seen)).content.decode()
        assert "All 2 bonuses are sent: $1.00." in told
    assert BonusPayment.objects.count() == 2
    assert Requester.objects.get(name="Rita").balance_cents == before - 100
    again = look(desk, address, work=keys[:1]).content.decode()
    assert "1 of these had a bonus for the same work before, $0.50 in all." in again


def test_each_worker_gets_one_however_much_they_did(
    rita: Any, desk: DeskVisitor, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    for title in ("One", "Two"):
        ada.submit(make_hit(rita, Title=title))
    rows = work_views.rewardable(Assignment.objects.all(), clock.now())
    requester = Requester.objects.get(name="Rita")
    order = work_views.make_order(requester, rows, 5, "r", clock.now(), is_per_worker=True)
    assert order.work == (max(row.pk for row in rows),)


def test_what_cannot_be_paid_or_meant_is_refused_whole(desk: DeskVisitor, address: str) -> None:
    Requester.objects.filter(name="Rita").update(balance_cents=150)
    seen = look(desk, address, who="all", amount="1.00")
    assert "which is too little" in seen.content.decode()
    with pytest.raises(AssertionError):
        order_on(seen)
    fine = look(desk, address, who="all", amount="0.75")
    Requester.objects.filter(name="Rita").update(balance_cents=100)
    short = desk.send(fine.content.decode(), address, order=order_on(fine))
    assert short.status_code == 400
    assert not BonusPayment.objects.exists()
    for fields, sentence in (
        ({}, "Choose at least one piece of work."),
        ({"who": "approved"}, "Choose at least one piece of work."),
        ({"amount": "much"}, "Write the amount"),
        ({"amount": "0"}, "One bonus can be $0.01 to"),
        ({"reason": " "}, "Write the reason"),
        ({"order": "forged"}, "This page was changed on its way."),
    ):
        assert sentence in look(desk, address, **fields).content.decode()


def test_an_order_is_its_requesters_and_goes_on_where_it_stopped(
    desk: DeskVisitor, address: str, later: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(work_views, "MOST_AT_ONCE", 1)
    seen = look(desk, address, who="all")
    going = desk.send(seen.content.decode(), address, order=order_on(seen))
    assert "1 of 2 are still to be sent" in going.content.decode()
    olive = DeskVisitor("Olive", Requester.objects.create(name="Olive", created_at=clock.now()))
    assert olive.send(olive.html("/desk/hits/"), address, order=order_on(seen)).status_code == 404
    stranger = Requester.objects.get(name="Olive")
    with pytest.raises(work_views.BonusOrderError, match="too old"):
        work_views.order_signed(order_on(seen), stranger, clock.now())
    desk.send(going.content.decode(), address, order=order_on(going))
    assert BonusPayment.objects.count() == 2
    later(hours=13)
    assert desk.send(seen.content.decode(), address, order=order_on(seen)).status_code == 400
    assert BonusPayment.objects.count() == 2
