"""Whoever was let in without a test is told apart in the report and in the release's card."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.dashboard.tests.making import make_attempt, make_lines, make_submission
from annotation.release.facts import left_out
from annotation.reports.collection import tables_of
from collector.models import Collection
from common.actions import ActionError
from tasks.models import Submission
from tasks.people import qualifications, trusted
from tasks.tests.making import make_collection, make_worker, stage_of

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
    trusted.take_back(collection, qualifications.untested(collection), "grace", timezone.now())
    (table,) = [one for one in tables_of(collection) if one.name == "let_in"]
    assert [list(row)[1:] for row in table.rows] == [[1, 1, 0, 2]]


def test_the_card_says_so_where_it_affects_data(collection: Collection) -> None:
    said = "1 of the 2 people whose work counts were let in without the qualification test"
    assert said in " ".join(left_out(collection))
    Submission.objects.filter(lease__worker__identity__person="AADA").update(counts=False)
    assert "without the qualification test" not in " ".join(left_out(collection))


def test_who_was_let_in_takes_the_test_like_anybody_once_it_is_taken_back(
    collection: Collection,
) -> None:
    test, ida = stage_of(collection, "question_qualification"), "AIDA"
    trusted.take_back(collection, qualifications.untested(collection), "rita", timezone.now())
    grant = qualifications.untested(collection).get(worker__identity__person=ida)
    qualifications.record_attempt(make_submission(test, grant.worker))
    grant.refresh_from_db()
    assert (grant.state, grant.decided_by, grant.note) == ("submitted", "", "")
    assert grant.submitted_at is not None


def test_where_nothing_is_tested_nobody_is_let_in(settings: Any) -> None:
    lines = make_lines(settings)
    with pytest.raises(ActionError, match="no qualification: everybody may take its work"):
        trusted.qualifying(lines)
