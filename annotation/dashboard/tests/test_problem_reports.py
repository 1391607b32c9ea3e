"""Tests of the workers' reports."""

import pytest
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import (
    make_answer,
    make_lease,
    make_question,
    make_submission,
)
from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection
from tasks.models import Lease, LeaseState, ProblemReport
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/problems/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection about which nobody complains."""
    return make_collection(slug="pilot")


def report(collection: Collection, message: str = "The link opens nothing.") -> ProblemReport:
    """Return a worker's report."""
    lease = make_lease(stage_of(collection, "question"))
    return ProblemReport.objects.create(lease=lease, message=message, at=timezone.now())


def test_without_reports_it_says_where_they_come_from(rita: Client, pilot: Collection) -> None:
    assert "No worker has reported a problem" in rita.get(PAGE).content.decode()


def test_a_report_shows_what_was_written_and_nobody_s_name(rita: Client, pilot: Collection) -> None:
    row = report(pilot, "The <b>link</b> opens nothing.")
    page = rita.get(PAGE).content.decode()
    assert "The &lt;b&gt;link&lt;/b&gt; opens nothing." in page
    assert "Worker 1" in page
    assert row.lease.worker_id not in page
    assert row.lease.worker.identity.person not in page


def test_it_is_resolved_and_can_be_opened_again(rita: Client, pilot: Collection) -> None:
    row = report(pilot)
    form = {"report": str(row.pk)}
    page = rita.post(f"{PAGE}resolve/", form, follow=True).content.decode()
    assert "Marked as resolved." in page
    assert "Every report is resolved." in page
    assert row.message in rita.get(PAGE + "?show=resolved").content.decode()
    rita.post(f"{PAGE}resolve/", {**form, "again": "yes"})
    row.refresh_from_db()
    assert row.resolved_at is None


def test_nothing_resolved_is_said_to_be_so(rita: Client, pilot: Collection) -> None:
    report(pilot)
    page = rita.get(PAGE + "?show=resolved").content.decode()
    assert "Nothing has been resolved yet." in page


@pytest.mark.parametrize("key", ["", "0", "x", "99999999999999999999"])
def test_an_unknown_report_is_nowhere(rita: Client, pilot: Collection, key: str) -> None:
    assert rita.post(f"{PAGE}resolve/", {"report": key}).status_code == 404


def test_another_collection_s_report_is_nowhere(rita: Client, pilot: Collection) -> None:
    row = report(make_collection(pilot.corpus, slug="other"))
    assert rita.post(f"{PAGE}resolve/", {"report": str(row.pk)}).status_code == 404


def test_its_queries_do_not_follow_the_reports(rita: Client, pilot: Collection) -> None:
    report(pilot)
    one = queries(lambda: rita.get(PAGE))
    for _ in range(30):
        report(pilot)
    assert queries(lambda: rita.get(PAGE)) <= one + 1
    assert "Page 1 of 2" in rita.get(PAGE).content.decode()


def test_a_report_leads_to_the_item_the_worker_and_what_was_handed_in(
    rita: Client, pilot: Collection
) -> None:
    question = make_question(stage_of(pilot, "question"))
    answer = make_answer(question, stage_of(pilot, "answer"))
    lease = answer.submission.lease
    lease.unit.items.create(position=0, question=question)
    tried = make_question(stage_of(pilot, "question_qualification"))
    lease.unit.items.create(position=1, question=tried)
    ProblemReport.objects.create(lease=lease, message="Dead.", at=timezone.now())
    page = rita.get(PAGE).content.decode()
    # No vote decides on a question of a qualification, so it has no page.
    assert tried.key not in page
    assert f'href="/collections/pilot/questions/{question.key}/"' in page
    assert f'href="/collections/pilot/money/work/{lease.session_id}/"' in page
    assert 'href="/collections/pilot/workers/2/"' in page


def test_it_is_answered_and_paid_and_a_refused_answer_is_kept(
    rita: Client, pilot: Collection
) -> None:
    lease = make_submission(stage_of(pilot, "question")).lease
    row = ProblemReport.objects.create(lease=lease, message="Dead.", at=timezone.now())
    form = {"report": str(row.pk), "words": "Mended, <b>thank</b> you.", "amount": "much"}
    page = rita.post(f"{PAGE}answer/", form, follow=True).content.decode()
    assert "Write the amount as a number" in page
    assert "Mended, &lt;b&gt;thank&lt;/b&gt; you.</textarea>" in page
    page = rita.post(f"{PAGE}answer/", {**form, "amount": "0.50"}, follow=True).content.decode()
    assert "Answered and resolved. The worker is told by a letter. They are given $0.50." in page
    page = rita.get(PAGE + "?show=resolved").content.decode()
    assert (
        "<b>owner</b> answered: <q>Mended, &lt;b&gt;thank&lt;/b&gt; you.</q> and gave $0.50" in page
    )
    for key in ("", "0", "99999999999999999999"):
        assert rita.post(f"{PAGE}answer/", {**form, "report": key}).status_code == 404


@pytest.mark.parametrize("state", [LeaseState.LIVE, LeaseState.RETURNED, LeaseState.EXPIRED])
def test_an_amount_is_offered_wherever_the_work_stands(
    rita: Client, pilot: Collection, state: LeaseState
) -> None:
    row = report(pilot)
    Lease.objects.update(state=state)
    assert 'name="amount"' in rita.get(PAGE).content.decode()
    form = {"report": str(row.pk), "words": "Mended.", "amount": "0.50"}
    assert "They are given $0.50" in rita.post(f"{PAGE}answer/", form, follow=True).content.decode()
    ledger = rita.get("/collections/pilot/money/").content.decode()
    assert "$0.50" in ledger
    assert f"/money/work/{row.lease.session_id}/" not in ledger, "nothing was handed in to look at"
