"""Many come to the waiting room at once, in several processes: each is paired once, none twice."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F, Sum
from django.utils import timezone

from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.models import Dialog, Exposure, Payment, Posting, Ticket, TicketState, Topic
from tasks.tests.making import stage_of, write_keys
from tests.processes import soon, together

pytestmark = [
    pytest.mark.once,
    pytest.mark.django_db(transaction=True, databases=["default", "marketplace"]),
]
RACING = "tests.racing_talk"
PEOPLE = 24
PROCESSES = 3


@pytest.fixture
def stage(tmp_path, settings):
    write_keys(tmp_path, settings)
    return stage_of(make_dialogs(PEOPLE), "dialog")


def waiting(stage):
    """Return the tickets of people who wait, all there; nobody is paired yet."""
    now = timezone.now() + timedelta(seconds=30)
    return [make_waiting(stage, f"A{number}", now=now).pk for number in range(PEOPLE)]


def check_pairs():
    """Assert that everybody is in one dialog, with somebody else, about something new."""
    dialogs = list(Dialog.objects.exclude(state="over"))
    people = Counter(ticket for row in dialogs for ticket in (row.student_id, row.teacher_id))
    assert set(people.values()) <= {1}
    assert all(row.student_id != row.teacher_id for row in dialogs)
    shown = Exposure.objects.filter(kind="dialog").count()
    assert shown == 2 * Dialog.objects.count()
    for topic in Topic.objects.all():
        kept = topic.dialogs.exclude(state="over").count()
        assert topic.taken == kept <= topic.wanted


def check_money(stage):
    """Assert that the budget holds what the rows say, and has spent what the ledger says."""
    collection = stage.collection
    collection.refresh_from_db()
    held = sum(
        rows.objects.aggregate(cents=Sum("reserved_cents", default=0))["cents"]
        for rows in (Posting, Ticket, Dialog)
    )
    cost = Sum(F("amount_cents") + F("fee_cents"), default=0)
    assert collection.reserved_cents == held
    assert collection.spent_cents == Payment.objects.aggregate(cents=cost)["cents"]


def test_everybody_who_comes_is_paired_once(stage):
    tickets = waiting(stage)
    start = soon()
    groups = [[part, start] for part in (tickets[start::PROCESSES] for start in range(PROCESSES))]
    together(RACING, "come", groups)
    together(RACING, "sweep", [[stage.pk, 2, soon()]] * 2)
    assert Ticket.objects.filter(state=TicketState.CHECKING).count() == PEOPLE
    assert Dialog.objects.count() == PEOPLE // 2
    check_pairs()
    check_money(stage)


def test_sections_that_everybody_wants_are_not_given_away_twice(stage):
    Topic.objects.exclude(pk__in=Topic.objects.order_by("pk")[:4]).update(wanted=0)
    waiting(stage)
    assert sum(together(RACING, "sweep", [[stage.pk, 2, soon()]] * PROCESSES)) <= 4
    together(RACING, "sweep", [[stage.pk, 1, soon()]])
    assert Dialog.objects.count() == 4
    check_pairs()


def test_ending_settling_pairing_and_coming_back_never_lock_each_other_out(stage):
    waiting(stage)
    assert together(RACING, "sweep", [[stage.pk, 1, soon()]]) == [PEOPLE // 2]
    dialogs = list(Dialog.objects.values_list("pk", flat=True))
    start = soon()
    settled = together(RACING, "end_it", [[dialogs, start], [dialogs[::-1], start]])
    assert sum(settled) <= len(dialogs)
    assert not Dialog.objects.filter(pk__in=dialogs, settled=False).exists()
    check_pairs()
    check_money(stage)
