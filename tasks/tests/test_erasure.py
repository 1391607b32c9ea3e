"""A person is forgotten when they ask, but never while they work or are owed money."""

import pytest
from django.core.management import CommandError, call_command

from common.actions import ActionError
from tasks.management.commands.erase_worker import Command
from tasks.models import Identity, Lease, Payment, Submission
from tasks.people.erasure import forget
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db


@pytest.fixture
def lease():
    stage = stage_of(make_collection(seeds=2), "question")
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)
    leases.save_draft(lease, {"data": {}}, 0, NOW)
    return lease


def test_it_refuses_while_the_person_is_at_work(lease):
    with pytest.raises(ActionError, match="at work"):
        forget(lease.worker, NOW, withdraw=False)


def test_it_refuses_while_money_is_owed(lease):
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    with pytest.raises(ActionError, match="Pay what waits on the page Work and pay"):
        forget(lease.worker, NOW, withdraw=False)
    assert Identity.objects.exists()


def test_identity_and_drafts_go_and_payments_keep_the_internal_id(lease):
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    Payment.objects.update(state="confirmed")
    Submission.objects.update(state="approved")
    call_command("erase_worker", "AADA", "--withdraw")
    assert not Identity.objects.exists()
    assert Lease.objects.get().draft is None
    assert Lease.objects.get().session.person != "AADA"
    assert Payment.objects.get().worker == lease.worker
    lease.worker.refresh_from_db()
    assert lease.worker.withdrawn_at is not None


def test_nobody_unknown_can_be_forgotten():
    with pytest.raises(CommandError, match="Nobody here"):
        call_command("erase_worker", "AMALLORY")


def test_the_help_says_what_a_forgotten_person_who_comes_back_may_be_handed():
    words = " ".join(Command().create_parser("manage.py", "erase_worker").format_help().split())
    assert "Whoever comes back is a new worker" in words
    assert "they may be handed those to answer" in words
