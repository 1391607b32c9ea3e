"""Two databases of two moments are told from two of one: by HITs, by work and by pay, both ways."""

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from django.utils import timezone

from common import checkup
from common.checkup import checks_named, examine
from marketplace.hits.acceptance import accept, submit
from marketplace.models import HIT, Assignment, BonusPayment, LedgerEntry, Message
from marketplace.models import Worker as MarketWorker
from marketplace.people.accounts import keys_of, open_requester
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.conftest import QUESTION
from tasks import hits
from tasks.crowd import marketplace, requester_api
from tasks.ledger import payments as ledger_payments
from tasks.lifecycle.maintenance import maintain
from tasks.models import Lease, Posting, Session
from tasks.paying import reconcile
from tasks.people import qualifications
from tasks.tests.making import make_collection, make_session, make_worker, questions_for, stage_of
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])
HERE, THERE = "HITs here alone", "HITs on the marketplace alone"
ONCE = UUID(int=7)
WORK, PAID = "work on the marketplace alone", "payments here alone"


@pytest.fixture(autouse=True)
def _marketplace(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """Ask the real marketplace, in this process."""
    monkeypatch.setattr(checkup.time, "sleep", lambda seconds: None)
    keys = keys_of(open_requester("Rita", "", 100_000, timezone.now()), ENDPOINT, timezone.now())
    settings.MTURK_KEYS_FILE = tmp_path / "requester.json"
    names = ("access_key_id", "secret_access_key", "entry_secret")
    settings.MTURK_KEYS_FILE.write_text(json.dumps({name: getattr(keys, name) for name in names}))
    monkeypatch.setattr(requester_api, "_client", Mock(return_value=mturk_client(keys)))


class Halves:
    """A collection as its databases have it, one of which can go back to an earlier moment."""

    def __init__(self) -> None:
        self.stage = stage_of(make_collection(seeds=8), "question")
        self.moments: dict[tuple[str, str], Any] = {}

    def note(self, moment: str) -> None:
        """Keep this moment of both."""
        for alias in ("default", "marketplace"):
            self.moments[alias, moment] = transaction.savepoint(using=alias)

    def go_back(self, alias: str, moment: str) -> None:
        """Bring one to an earlier moment."""
        transaction.savepoint_rollback(self.moments[alias, moment], using=alias)

    def live(self) -> None:
        """Put three HITs up; Ada hands one in, and is paid for it."""
        stage, now = self.stage, timezone.now()
        self.note("before the HITs")
        hits.plan_postings(stage, now, 3)
        assert hits.publish_pending(stage, now) == 3
        ada = MarketWorker.objects.create(display_name="Ada", created_at=now)
        gate = stage_of(stage.collection, "question_qualification")
        worker = make_worker(ada.worker_id, qualified=(gate,))
        marketplace.grant(qualifications.external_id(gate), ada.worker_id)
        self.note("before the work")
        posting = stage.postings.earliest("pk")
        assignment = accept(ada, posting.external_id, now)
        session = make_session(worker, posting)
        Session.objects.filter(pk=session.pk).update(session_id=assignment.assignment_id)
        session.refresh_from_db()
        lease = leases.claim(session, stage, now)
        assert lease
        self.note("before it is handed in")
        submissions.hand_in(lease, questions_for(lease), now, synthetic=False)
        submit(assignment, "answer", now)
        assert reconcile.confirm_submissions(stage.collection, timezone.now()) == 1
        self.note("before it is paid")
        later = timezone.now() + timedelta(hours=1)
        assert reconcile.approve_confirmed(stage.collection, later) == 1

    def give(self) -> None:
        """Give a bonus for the work, as a page does: sent again, it is the same."""
        lease = Lease.objects.get()
        ledger_payments.give_bonus(lease, 250, "Well told.", "rita", ONCE, timezone.now())


@pytest.fixture
def halves() -> Halves:
    """Return what has lived a little."""
    made = Halves()
    made.live()
    return made


def found() -> dict[str, list[str]]:
    """Return what the checks of both halves find."""
    seen = examine(checks_named(django_settings.CHECKUPS))
    assert not any(each.why for each in seen), seen
    return {each.check.name: each.found for each in seen}


@pytest.mark.usefixtures("halves")
def test_halves_of_one_moment_are_found_to_agree() -> None:
    assert found() == {}


@pytest.mark.parametrize(
    ("alias", "moment", "numbers"),
    [
        ("marketplace", "before the HITs", {HERE: 2, PAID: 1}),
        ("marketplace", "before the work", {PAID: 1}),
        ("marketplace", "before it is handed in", {PAID: 1}),
        ("marketplace", "before it is paid", {PAID: 1}),
        # What is paid has left the marketplace's list: it is known by the work on it alone.
        ("default", "before the HITs", {THERE: 2}),
        ("default", "before the work", {WORK: 1}),
        ("default", "before it is handed in", {WORK: 1}),
    ],
)
def test_a_half_of_an_earlier_moment_is_found_out(
    halves: Halves, alias: str, moment: str, numbers: dict[str, int]
) -> None:
    halves.go_back(alias, moment)
    assert {name: len(lines) for name, lines in found().items()} == numbers


def test_what_was_paid_a_moment_later_there_is_paid_here_too(halves: Halves) -> None:
    """That is what a cut-off call leaves as well: the next round approves again, for nothing."""
    halves.go_back("default", "before it is paid")
    assert found() == {}
    later = timezone.now() + timedelta(hours=1)
    assert reconcile.approve_confirmed(halves.stage.collection, later) == 1
    assert LedgerEntry.objects.filter(kind="reward").count() == 1


@pytest.mark.parametrize(
    "moment",
    ["before it is handed in", "before it is paid", "before the bonus is sent", "after the bonus"],
)
def test_both_of_an_earlier_moment_post_pay_and_report_once(halves: Halves, moment: str) -> None:
    """As a restored copy has them: both are of one moment, and the jobs go on from there."""
    stage, later = halves.stage, timezone.now() + timedelta(hours=1)
    halves.note("before the bonus is sent")
    halves.give()
    maintain(stage.collection, later)
    halves.note("after the bonus")
    assert BonusPayment.objects.count() == 1
    for alias in ("default", "marketplace"):
        halves.go_back(alias, moment)
    assert found() == {}
    if moment == "before it is handed in":
        lease = Lease.objects.get()
        submissions.hand_in(lease, questions_for(lease), timezone.now(), synthetic=False)
        submit(Assignment.objects.get(), "answer", timezone.now())
    halves.give()
    for _ in range(3):
        maintain(stage.collection, later)
    halves.give()
    maintain(stage.collection, later)
    assert found() == {}
    kinds = Counter(LedgerEntry.objects.values_list("kind", flat=True))
    assert kinds == {"credit": 1, "reward": 1, "bonus": 1}
    assert BonusPayment.objects.count() == 1
    posted = Posting.objects.exclude(external_id="").values_list("external_id", flat=True)
    assert sorted(posted) == sorted(HIT.objects.values_list("hit_id", flat=True))
    told = Message.objects.values_list("worker", "subject", "text")
    assert len(told) == len({*told})


@pytest.mark.usefixtures("halves")
def test_what_another_program_makes_with_the_same_account_is_no_half_of_ours() -> None:
    requester_api.call(
        "create_hit",
        Title="t",
        Description="d",
        Reward="0.50",
        AssignmentDurationInSeconds=600,
        LifetimeInSeconds=3600,
        Question=QUESTION,
        RequesterAnnotation="0b1e5e9c-3d51-4c5a-9c0e-6a1f3f0f7a11 ours",
    )
    assert found() == {}
