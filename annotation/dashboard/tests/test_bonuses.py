"""Tests of giving a bonus and of the list of what is paid beside the rewards."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from annotation.dashboard.tests.making import (
    make_confirmed,
    make_empty_submission,
    make_refused_bonus,
)
from collector.models import Collection
from tasks.models import ON_MARKETPLACE, Payment, PaymentKind, PaymentState
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db
MONEY = "/collections/pilot/money/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection with money left."""
    return make_collection(slug="pilot")


def give(rita: Client, work: Any, amount: str = "0.50", **fields: str) -> str:
    """Return the page after the button was pressed."""
    form = {"amount": amount, "reason": "Clear.", "once": str(uuid4()), **fields}
    reply = rita.post(f"{MONEY}work/{work.session.pk}/bonus/", form, follow=True)
    return str(reply.content.decode())


def given() -> list[Payment]:
    """Return the bonuses in the ledger."""
    return list(Payment.objects.filter(kind=PaymentKind.BONUS))


def test_a_bonus_is_given_on_the_page_of_the_work_and_shown_in_the_ledger(
    rita: Client, pilot: Collection
) -> None:
    work = make_confirmed(pilot)
    once = str(uuid4())
    assert "A bonus of $0.50 is given." in give(rita, work, once=once)
    page = give(rita, work, once=once)
    (row,) = given()
    assert (row.amount_cents, row.by, row.lease_id) == (50, "owner", work.lease_id)
    assert page.count("<b>$0.50</b> by owner · Due") == 1
    ledger = rita.get(MONEY).content.decode()
    assert "$0.50 in bonuses" in ledger
    assert '<small dir="auto">Clear.</small>' in ledger
    assert "$4.50</b> of" in ledger
    overview = rita.get("/collections/pilot/").content.decode()
    assert "owner gave Worker 1 a bonus of $0.50." in overview


@pytest.mark.parametrize(
    ("amount", "reason", "sentence"),
    [
        ("", "Clear.", "Write an amount above zero"),
        ("much", "Clear.", "Write an amount above zero"),
        ("1", "", "Say what it is for"),
        ("9999", "A <b>try</b>", "raise the budget, then give the bonus"),
    ],
)
def test_a_refused_one_keeps_what_was_typed(
    rita: Client, pilot: Collection, amount: str, reason: str, sentence: str
) -> None:
    page = give(rita, make_confirmed(pilot), amount, reason=reason)
    assert sentence in page
    assert f'value="{amount}"' in page
    assert "A &lt;b&gt;try&lt;/b&gt;</textarea>" in page or reason != "A <b>try</b>"
    assert given() == []


def test_a_form_without_its_mark_gives_nothing(rita: Client, pilot: Collection) -> None:
    assert "with the button on this page" in give(rita, make_confirmed(pilot), once="twice")
    assert given() == []


def test_nothing_can_be_given_for_what_is_not_ours_or_came_without_work(
    rita: Client, pilot: Collection
) -> None:
    other = make_confirmed(make_collection(pilot.corpus, slug="other"))
    for key in (other.session.pk, make_empty_submission(pilot).session.pk, 0, "9" * 30):
        form = {"amount": "1", "reason": "Clear.", "once": str(uuid4())}
        assert rita.post(f"{MONEY}work/{key}/bonus/", form).status_code == 404


def test_the_list_tells_who_decided_each(rita: Client, pilot: Collection) -> None:
    give(rita, make_confirmed(pilot))
    found = make_refused_bonus(pilot, "No.")
    Payment.objects.filter(pk=found.pk).update(by=ON_MARKETPLACE, state=PaymentState.CONFIRMED)
    assert "$0.50" in (mine := rita.get(f"{MONEY}?show=given").content.decode())
    assert '<td data-of="By">owner</td>' in mine
    assert '<td data-of="By">the marketplace</td>' not in mine
    assert "$1.50</td>" in (theirs := rita.get(f"{MONEY}?show=elsewhere").content.decode())
    assert '<td data-of="By">the marketplace</td>' in theirs
    assert "None so far of this kind" in rita.get(f"{MONEY}?show=rules").content.decode()


def test_what_was_given_and_refused_can_be_dropped_what_was_promised_not(
    rita: Client, pilot: Collection
) -> None:
    row = make_refused_bonus(pilot, "Six months have passed.")
    form = {"bonus": str(row.pk), "how": "drop"}
    assert "Drop it" not in rita.get(MONEY).content.decode()
    assert "refused no longer" in rita.post(f"{MONEY}bonus/", form, follow=True).content.decode()
    Payment.objects.filter(pk=row.pk).update(by="rita")
    Collection.objects.filter(pk=pilot.pk).update(spent_cents=150)
    assert "Drop it" in rita.get(MONEY).content.decode()
    assert "budget has the money" in rita.post(f"{MONEY}bonus/", form, follow=True).content.decode()
    pilot.refresh_from_db()
    assert pilot.spent_cents == 0


def test_the_marketplace_is_asked_when_one_wants_to_know(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot)
    type(work.session.posting).objects.update(state="submitted")
    page = rita.post(f"{MONEY}find/", follow=True).content.decode()
    assert "asked about 1 HIT in the next minutes" in page
    work.session.posting.refresh_from_db()
    assert work.session.posting.ask_bonuses_at is not None
