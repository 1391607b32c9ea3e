"""A place is put up once, however late the marketplace is asked again."""

from datetime import timedelta

import pytest
from django.db.models import F

from tasks import hits
from tasks.crowd import marketplace
from tasks.lifecycle import publication
from tasks.models import Posting, PostingState, Unit
from tasks.paying import compensation
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
)
from tasks.work import leases

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def stage():
    return stage_of(make_collection(), "question_qualification")


@pytest.fixture
def created(monkeypatch):
    """Return the tokens and lifetimes of the HITs that the marketplace makes."""
    made = []

    def create(type_id, *, token, lifetime, page):
        made.append((token, lifetime))
        return marketplace.Hit(f"HNEW{len(made)}", type_id)

    monkeypatch.setattr(marketplace, "create_hit", create)
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **_: "T")
    monkeypatch.setattr(marketplace, "create_qualification", lambda **_: "Q")
    monkeypatch.setattr(marketplace, "grant", lambda *_, **__: None)
    return made


@pytest.fixture
def listed(monkeypatch):
    """Return the HITs that the marketplace lists."""
    found = []
    monkeypatch.setattr(marketplace, "pages", lambda *_, **__: iter(found))
    return found


def planned(stage):
    """Return a place that has no HIT as far as we know."""
    posting = make_posting(stage)
    posting.state, posting.external_id = PostingState.PUBLISHING, ""
    posting.save()
    return posting


def told_of(posting):
    """Return how the marketplace lists the HIT made for a posting."""
    return {"HITId": "HOLD", "HITTypeId": "T0", "RequesterAnnotation": str(posting.token)}


def test_a_hit_made_the_day_before_yesterday_is_found_and_not_made_again(stage, created, listed):
    posting, other = planned(stage), planned(stage)
    listed.append(told_of(posting))
    assert hits.publish_pending(stage, NOW + 2 * DAY) == 2
    posting.refresh_from_db()
    assert (posting.external_id, posting.external_type) == ("HOLD", "T0")
    assert created == [(str(other.token), 12 * DAY)]


def test_what_was_planned_today_needs_no_look(stage, created, monkeypatch):
    planned(stage)
    monkeypatch.setattr(marketplace, "pages", None)
    assert hits.publish_pending(stage, NOW + timedelta(hours=1)) == 1
    assert created[0][1] == 14 * DAY - timedelta(hours=1)


def test_a_compensation_made_the_day_before_yesterday_is_not_made_again(stage, created, listed):
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)
    posting = compensation.compensate(lease, 100, "Cut off.", NOW).posting
    listed.append(told_of(posting))
    assert compensation.publish_pending(stage.collection, NOW + 2 * DAY) == 1
    assert Posting.objects.get(pk=posting.pk).external_id == "HOLD"
    assert created == []


def test_a_qualification_that_opens_nothing_any_more_is_not_offered(stage, created, monkeypatch):
    monkeypatch.setattr(marketplace, "expire_hit", lambda _: None)
    monkeypatch.setattr(marketplace, "is_vacant", lambda _: True)
    stages = list(stage.collection.stages.all())
    assert stage in hits.with_room(stages)
    posting = make_posting(stage)
    Unit.objects.exclude(stage=stage).update(taken=F("redundancy"), submitted=F("redundancy"))
    assert stage in hits.with_room(stages), "answers to what is written here are to come"
    for other in stages:
        if not other.units.exists():
            Unit.objects.create(stage=other, position=0, redundancy=1, taken=1, submitted=1)
    assert stage not in hits.with_room(stages)
    assert hits.plan_postings(stage, NOW) == 0
    assert hits.with_surplus(stages) == [stage]
    assert hits.close_surplus(stage) == 1
    posting.refresh_from_db()
    assert posting.state == PostingState.EXPIRED
    Unit.objects.filter(stage__name="question").update(taken=0, submitted=0)
    assert stage in hits.with_room(stages), "a place that is free again is worth qualifying for"


def test_no_test_is_offered_for_stages_that_are_closed(stage):
    closed = [stage_of(stage.collection, name) for name in ("question", "answer_qualification")]
    make_posting(stage)
    for each in closed:
        publication.close_stage(each)
    stages = list(stage.collection.stages.select_related("collection"))
    assert hits.with_surplus(stages) == [stage]
    assert hits.plan_postings(stage, NOW) == 0
    closed[0].collection.stages.filter(pk=closed[0].pk).update(state="open")
    stages = list(stage.collection.stages.select_related("collection"))
    assert hits.with_surplus(stages) == []
    assert hits.places_left(stage) > 0, "it is opened again: there is something to qualify for"
