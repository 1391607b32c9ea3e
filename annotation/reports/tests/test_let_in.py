"""Whoever was let in without passing is told apart wherever people are counted."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.dashboard.tests.making import (
    make_attempt,
    make_browser,
    make_lines,
    make_submission,
)
from annotation.release.facts import left_out
from annotation.release.write_log import _decisions, assignments
from annotation.reports.collection import tables_of
from collector.models import Collection
from common.actions import ActionError
from tasks.models import Submission
from tasks.people import qualifications, trusted
from tasks.people.audience import audience_of
from tasks.tests.making import make_collection, make_worker, stage_of
from tasks.work import submissions

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Return a collection with work by Ada, who was let in, and by Grace, who passed."""
    made = make_collection()
    test, work = stage_of(made, "question_qualification"), stage_of(made, "question")
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    passed = make_attempt(test, grace)
    now = timezone.now()
    qualifications.decide(passed, granted=True, note="", by="rita", now=now)
    assert trusted.let_in(made, [test], ["AADA", "AIDA"], "rita", now) == 2
    for worker in (ada, grace):
        make_submission(work, worker)
    return made


def test_the_report_counts_them_apart(collection: Collection) -> None:
    (table,) = [one for one in tables_of(collection) if one.name == "let_in"]
    assert [list(row)[1:] for row in table.rows] == [[1, 1, 2, 0]]
    trusted.take_back(
        collection, qualifications.trusted_grants(collection), "grace", timezone.now()
    )
    (table,) = [one for one in tables_of(collection) if one.name == "let_in"]
    assert [list(row)[1:] for row in table.rows] == [[1, 1, 0, 2]]


def test_the_card_says_so_where_it_affects_data(collection: Collection) -> None:
    said = "1 of the 2 people whose work counts were let in without passing the "
    said += "qualification test"
    assert said in " ".join(left_out(collection))
    Submission.objects.filter(lease__worker__identity__person="AADA").update(counts=False)
    assert "without passing" not in " ".join(left_out(collection))


def test_who_was_let_in_takes_the_test_like_anybody_once_it_is_taken_back(
    collection: Collection,
) -> None:
    test, ida = stage_of(collection, "question_qualification"), "AIDA"
    trusted.take_back(collection, qualifications.trusted_grants(collection), "rita", timezone.now())
    grant = qualifications.trusted_grants(collection).get(worker__identity__person=ida)
    submissions.record_attempt(make_submission(test, grant.worker))
    grant.refresh_from_db()
    assert (grant.state, grant.decided_by, grant.note) == ("submitted", "", "")
    assert grant.submitted_at is not None


def test_who_failed_the_test_and_was_let_in_has_not_passed(
    collection: Collection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    test, now = stage_of(collection, "question_qualification"), timezone.now()
    failed, unread = (
        make_attempt(test, make_worker("AEVE")),
        make_attempt(test, make_worker("AUNA")),
    )
    qualifications.decide(failed, granted=False, note="Too vague.", by="rita", now=now)
    assert trusted.let_in(collection, [test], ["AEVE", "AUNA", "AGRACE"], "rita", now) == 2
    (table,) = [one for one in tables_of(collection) if one.name == "let_in"]
    assert [list(row)[1:] for row in table.rows] == [[3, 1, 4, 0]]
    monkeypatch.setattr("tasks.crowd.groups.listed", list)
    Collection.objects.update(state="collecting")
    collection.stages.update(state="open")
    settings.PASSWORDLESS_SIGN_IN = True
    page = make_browser().get(f"/collections/{collection.slug}/").content.decode()
    assert "<b>1</b> passed" in page
    assert "<b>4</b> <a" in page
    work = next(one for one in audience_of(collection).stages if one.tests)
    assert (work.passed, work.let_in) == (1, 4)
    judged = {one.lease.worker_id: one.granted for one in assignments(collection)}
    assert [judged[one.worker_id] for one in (failed, unread)] == [None, None]
    decisions = [line for line in _decisions(collection) if line.worker == failed.worker_id]
    assert [(line.granted, line.let_in) for line in decisions] == [(True, True)]
    trusted.take_back(collection, [failed], "rita", now)
    failed.refresh_from_db()
    assert (failed.state, failed.note) == ("declined", trusted.TESTED)
    # The newest decision holds: whoever reads the test after all makes it one of the test.
    qualifications.decide(failed, granted=True, note="", by="rita", now=now)
    (table,) = [one for one in tables_of(collection) if one.name == "let_in"]
    assert [list(row)[1:] for row in table.rows] == [[3, 2, 3, 0]]


def test_where_nothing_is_tested_nobody_is_let_in(settings: Any) -> None:
    lines = make_lines(settings)
    with pytest.raises(ActionError, match="no qualification: everybody may take its work"):
        trusted.qualifying(lines)
