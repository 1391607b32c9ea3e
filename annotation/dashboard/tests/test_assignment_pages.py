"""Tests of the pages on which people decide about pay."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import (
    make_browser,
    make_confirmed,
    make_empty_submission,
    send,
)
from collector.models import Collection, User
from tasks.crowd import marketplace
from tasks.models import (
    EmptySubmission,
    Payment,
    PaymentState,
    Posting,
    ReceiptState,
    Rejection,
    RejectionState,
    Submission,
)
from tasks.paying import empty_submissions
from tasks.tests.making import make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db
LIST = "/collections/pilot/money/work/"
MONEY = "/collections/pilot/money/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection that pays two days after the marketplace has confirmed."""
    return make_collection(slug="pilot", pay__approve_after_hours=48.0)


@pytest.fixture
def grace(db: None) -> Client:
    """Return the browser of a second requester."""
    browser = make_browser()
    browser.force_login(User.objects.create_user("grace", password="a good one"))
    return browser


def decide(browser: Client, work: Any, decision: str, words: str = "") -> str:
    """Return the page after a button was pressed."""
    form = {"decision": decision, "words": words}
    page = f"{LIST}{work.session.pk}/"
    reply = send(browser, page, f"{page}decide/", form, follow=True)
    return str(reply.content.decode())


def see(browser: Client, work: Any) -> str:
    """Return the page of one assignment."""
    return str(browser.get(f"{LIST}{work.session.pk}/").content.decode())


def test_two_people_reject_with_the_words_on_the_screen(
    rita: Client, grace: Client, pilot: Collection
) -> None:
    work = make_confirmed(pilot)
    page = see(rita, work)
    assert work.questions.get().text in page
    assert "Paid by itself on" in page
    assert "Proposed. Somebody else can confirm it now" in decide(
        rita, work, "propose", "Every answer is copied."
    )
    page = see(rita, work)
    assert "Somebody else can confirm it now, signed in with" in page
    assert ", you yourself from" in page
    assert 'value="confirm"' not in page
    page = see(grace, work)
    assert work.questions.get().text in page
    assert "Every answer is copied." in page
    assert 'value="confirm"' in page
    assert "Confirmed. The marketplace is told" in decide(grace, work, "confirm", "I agree.")
    page = see(rita, work)
    assert "I agree." in page
    row = Rejection.objects.get()
    assert (row.state, row.proposed_by, row.confirmed_by) == ("agreed", "owner", "grace")


@pytest.mark.parametrize("hours", [0.0, 48.0])
@pytest.mark.parametrize("make", [make_confirmed, make_empty_submission])
def test_the_page_offers_a_rejection_only_where_work_can_be_rejected(
    rita: Client, make: Any, hours: float
) -> None:
    work = make(make_collection(slug="pilot", pay__approve_after_hours=hours))
    page = see(rita, work)
    assert page.count('value="pay"') == 1
    assert ('value="propose"' in page) == (hours > 0)
    assert ("It cannot be rejected" in page) == (hours == 0)
    assert "or not at all" not in page or hours > 0
    assert "&lt;&lt;" not in page
    assert "<<<" not in page


def test_whoever_proposed_it_cannot_confirm_by_hand_either(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot)
    decide(rita, work, "propose", "Copied.")
    page = decide(rita, work, "confirm", "Because I say so.")
    assert "somebody else has to confirm it" in page
    assert "Because I say so." in page
    Rejection.objects.update(
        alone_from=timezone.now(), proposed_at=timezone.now() - timedelta(days=1)
    )
    assert 'value="confirm"' in see(rita, work)
    assert "Confirmed." in decide(rita, work, "confirm", "A day has passed.")


def test_a_refused_decision_keeps_what_was_typed(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot)
    page = decide(rita, work, "propose", "so many words " * 80)
    assert "shorten the reason by" in page
    assert "so many words so many words" in page
    assert '<details class="propose" open>' in page
    assert not Rejection.objects.exists()
    assert "so many words" not in see(rita, work)


def test_a_proposal_is_withdrawn(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot)
    decide(rita, work, "propose", "Copied.")
    assert "Withdrawn: nobody is rejected." in decide(rita, work, "withdraw", "I misread it.")
    assert Submission.objects.get(pk=work.pk).state == ReceiptState.CONFIRMED
    page = rita.get(f"{LIST}?show=past").content.decode()
    assert page.count(">Read<") == 1


def test_a_rejection_is_taken_back_where_the_budget_holds_it(
    rita: Client, grace: Client, pilot: Collection
) -> None:
    work = make_confirmed(pilot)
    decide(rita, work, "propose", "Copied.")
    decide(grace, work, "confirm", "I agree.")
    Rejection.objects.update(state=RejectionState.REJECTED)
    Submission.objects.update(state=ReceiptState.REJECTED)
    Payment.objects.update(state=PaymentState.WITHHELD)
    Collection.objects.update(spent_cents=0, reserved_cents=0, budget_cents=399)
    page = see(grace, work)
    assert "The worker was told:" in page
    assert "raise it, then take" in decide(grace, work, "take_back", "She was right.")
    Collection.objects.update(budget_cents=400)
    assert "the reward is owed again" in decide(grace, work, "take_back", "She was right.")
    assert "It is being taken back" in see(grace, work)
    Rejection.objects.update(
        state=RejectionState.REJECTED, take_back_until=timezone.now() - timedelta(days=1)
    )
    assert "takes it back no longer" in see(grace, work)


@pytest.mark.parametrize("state", ["rejected", "restoring", "final"])
def test_every_end_of_a_rejection_is_told(rita: Client, pilot: Collection, state: str) -> None:
    work = make_confirmed(pilot)
    decide(rita, work, "propose", "Copied.")
    Rejection.objects.update(
        state=state, confirmed_by="grace", confirmed_at=timezone.now(), proposed_by="ada"
    )
    Submission.objects.update(state=ReceiptState.REJECTED)
    assert ('value="take_back"' in see(rita, work)) == (state == "rejected")


def test_what_workers_were_promised_to_be_paid_for_is_offered_no_rejection(
    rita: Client, pilot: Collection
) -> None:
    at_once = make_collection(pilot.corpus, slug="at-once", pay__approve_after_hours=0.0)
    for collection, can_be_rejected in ((pilot, True), (at_once, False)):
        key = make_confirmed(collection).session.pk
        page = rita.get(f"/collections/{collection.slug}/money/work/{key}/").content.decode()
        assert ("Propose the rejection" in page) is can_be_rejected
        assert ("was promised that all is paid" in page) is not can_be_rejected
        assert (page.count("Paid by itself"), page.count('value="pay"')) == (1, 1)


def test_what_came_without_work_shows_what_there_is(rita: Client, pilot: Collection) -> None:
    work = make_empty_submission(pilot)
    EmptySubmission.objects.update(fields={"words": "<script>alert(1)</script>", "code": ""})
    work.session.leases.create(
        unit=stage_of(pilot, "question").units.first(),
        worker=work.session.worker,
        taken_at=timezone.now(),
        expires_at=timezone.now(),
        state="returned",
        draft={"data": {"questions": [{"text": "Which one is older?"}]}},
    )
    page = see(rita, work)
    assert "nothing reached Collector" in page
    assert "&lt;script&gt;" in page
    assert "Which one is older?" in page
    assert work.session.person not in page


def test_another_program_s_rejection_is_told_and_can_be_taken_back(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = make_empty_submission(pilot)
    monkeypatch.setattr(marketplace, "status_of", lambda _: "Rejected")
    empty_submissions.find_decided(pilot, work.auto_approval_at)
    page = see(rita, work)
    assert "Another program rejected it on the marketplace" in page
    assert "The worker was told" not in page
    assert 'value="take_back"' in page


def test_late_work_that_does_not_count_is_shown_as_it_came(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot, counts=False, raw={"questions": [{"text": "Where is it?"}]})
    work.questions.all().delete()
    page = see(rita, work)
    assert "questions 1 text" in page
    assert "Where is it?" in page


def test_what_the_marketplace_refused_is_asked_again_or_paid_apart(
    rita: Client, pilot: Collection
) -> None:
    work = make_confirmed(pilot, state=ReceiptState.REFUSED, refusal="No such assignment.")
    page = rita.get("/collections/pilot/").content.decode()
    assert "1 payment was refused by the marketplace: ask again or pay it apart" in page
    assert "No such assignment." in see(rita, work)
    assert "asked again within a minute" in decide(rita, work, "try_again")
    assert "refuses it no longer" in decide(rita, work, "try_again")
    assert "nothing left to pay apart" in decide(rita, work, "pay_apart")
    Submission.objects.update(state=ReceiptState.REFUSED)
    assert "only this worker can take" in decide(rita, work, "pay_apart")
    posting = Posting.objects.get(worker__isnull=False)
    assert (posting.worker_id, posting.reward_cents) == (work.lease.worker_id, 400)
    assert "payment was refused" not in rita.get("/collections/pilot/").content.decode()
    assert "nothing left to pay apart" in decide(rita, work, "pay_apart")


def test_what_a_hit_of_their_own_pays_is_not_asked_for_again(
    rita: Client, pilot: Collection
) -> None:
    work = make_confirmed(pilot, state=ReceiptState.REFUSED, refusal="No such assignment.")
    decide(rita, work, "pay_apart")
    page = see(rita, work)
    assert "as soon as they take it" in page
    assert 'value="try_again"' not in page
    assert 'value="pay_apart"' not in page
    assert "it would be paid twice" in decide(rita, work, "try_again")
    assert Submission.objects.get(pk=work.pk).state == ReceiptState.REFUSED


@pytest.mark.parametrize("decision", ["", "approve", "reject"])
def test_an_unknown_decision_is_none(rita: Client, pilot: Collection, decision: str) -> None:
    work = make_confirmed(pilot)
    assert "with one of the buttons" in decide(rita, work, decision)
    assert not Rejection.objects.exists()


@pytest.mark.parametrize("decision", ["confirm", "withdraw", "take_back"])
def test_nothing_can_be_decided_that_nobody_proposed(
    rita: Client, pilot: Collection, decision: str
) -> None:
    page = decide(rita, make_confirmed(pilot), decision, "Because.")
    assert "Nobody has proposed to reject it." in page


def test_another_collection_s_work_is_nowhere(rita: Client, pilot: Collection) -> None:
    other = make_collection(pilot.corpus, slug="other")
    work = make_confirmed(other)
    assert rita.get(f"{LIST}{work.session.pk}/").status_code == 404
    form = {"decision": "propose", "words": "Copied."}
    assert rita.post(f"{LIST}{work.session.pk}/decide/", form).status_code == 404
    posting = make_posting(stage_of(pilot, "question"))
    work.lease.session.posting = posting
    empty = posting.sessions.create(
        provider="mturk",
        environment="e",
        person="P",
        session_id="S",
        worker=work.lease.worker,
        submit_url="",
        started_at=timezone.now(),
    )
    assert rita.get(f"{LIST}{empty.pk}/").status_code == 404
    assert rita.post(f"{LIST}{empty.pk}/decide/", form).status_code == 404
