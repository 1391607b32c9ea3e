"""A person is forgotten when they ask, but never while they work or are owed money."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.reports.attention import refused_submissions
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.ledger import payments
from tasks.management.commands.erase_worker import Command
from tasks.models import Identity, Lease, Payment, Posting, Question, Submission
from tasks.paying import decisions as pay_decisions
from tasks.people.erasure import forget
from tasks.people.trusted import name_worker
from tasks.tests.deciding import DAY, money
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


def test_words_about_the_person_are_gone_and_what_they_made_stays(lease):
    work = submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    Payment.objects.update(state="confirmed", reason="planted", refusal="planted: AADA is closed")
    Submission.objects.update(
        state="rejected",
        refusal="planted",
        raw={**work.raw, "archive": {"feedback": "planted: Ada copied"}},
    )
    times = {"alone_from": NOW, "holds_until": NOW + DAY, "take_back_until": NOW + DAY}
    row = lease.session.rejections.create(
        reason="planted: Ada copied",
        state="rejected",
        proposed_by="rita",
        proposed_at=NOW,
        confirmed_by="grace",
        confirmed_at=NOW,
        **times,
    )
    row.steps.create(state="proposed", by="rita", at=NOW, why="planted: Ada Smith")
    kept = [Submission.objects.values_list("raw__questions"), Question.objects.values_list("text")]
    before = [list(rows) for rows in kept]
    exclude = {"collection": row.session.posting.stage.collection, "worker": lease.worker}
    apps.get_model("annotation.Exclusion").objects.create(
        **exclude, why="planted", by="rita", at=NOW, back_why="planted", back_at=NOW
    )
    assert planted() == 8
    forget(lease.worker, NOW, withdraw=False)
    assert planted() == 0
    assert [list(rows.all()) for rows in kept] == before


def planted():
    """Return how many fields of our rows hold planted words."""
    configs = [apps.get_app_config(app) for app in ("tasks", "annotation")]
    rows = [row for app in configs for model in app.get_models() for row in model.objects.values()]
    return sum("planted" in str(value) for row in rows for value in row.values())


@pytest.fixture
def refused(lease, fake_marketplace):
    """Return work, and a bonus that a rule promised, which the marketplace refuses to pay."""
    work = submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    Submission.objects.update(state="refused", refusal="This account is closed.")
    bonus = payments.give_bonus(lease, 70, "Ten good ones.", "rita", uuid4(), NOW)
    Payment.objects.filter(pk=bonus.pk).update(state="refused")
    return work


def test_what_a_closed_account_cannot_be_paid_is_waived_and_the_budget_has_it_back(refused):
    collection = refused.lease.unit.stage.collection
    owed = refused_submissions().filter(pk=refused.pk)
    assert owed.exists()
    with pytest.raises(CommandError, match="let go by --waive"):
        call_command("erase_worker", "AADA")
    call_command("erase_worker", "AADA", "--waive")
    assert not Identity.objects.exists()
    assert set(Payment.objects.values_list("state", flat=True)) == {"withheld"}
    assert money(collection)[1] == 0
    assert not owed.exists()
    with pytest.raises(ActionError, match="has waived it"):
        pay_decisions.try_again(refused, "", "rita", NOW)


def test_a_hit_that_pays_the_person_alone_is_taken_down_before_it_is_waived(
    refused, fake_marketplace, monkeypatch
):
    monkeypatch.setattr(marketplace, "assignments_of", lambda hit: iter(listed_there))
    listed_there = ["handed in"]
    pay_decisions.pay_apart(refused, "", "rita", NOW)
    Posting.objects.filter(worker=refused.lease.worker).update(state="live", external_id="HIT-OWN")
    fake_marketplace.pending["HIT-OWN"] = 0
    with pytest.raises(CommandError, match="wait until it is paid"):
        call_command("erase_worker", "AADA", "--waive")
    assert Payment.objects.filter(state="due").exists()
    listed_there.clear()
    call_command("erase_worker", "AADA", "--waive")
    assert ("update_expiration_for_hit", "HIT-OWN") in fake_marketplace.told
    assert not Payment.objects.filter(state="due").exists()
    assert not Identity.objects.exists()


def test_nobody_unknown_can_be_forgotten():
    with pytest.raises(CommandError, match="Nobody here"):
        call_command("erase_worker", "AMALLORY")


def test_the_help_says_what_a_forgotten_person_who_comes_back_may_be_handed():
    words = " ".join(Command().create_parser("manage.py", "erase_worker").format_help().split())
    assert "Whoever comes back is a new worker" in words
    assert "they may be handed those to answer" in words


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="a server keeps its own files")
def test_of_whom_is_forgotten_no_byte_stays_in_the_files_of_the_database():
    worker = make_worker()
    for name in ("planted before", "planted"):
        name_worker(worker, name)
    place = Path(connection.settings_dict["NAME"])

    def files():
        return b"".join(each.read_bytes() for each in place.parent.glob(f"{place.name}*"))

    assert b"planted" in files()
    forget(worker, NOW, withdraw=False)
    assert b"planted" not in files()
