"""A slot is held by one worker at a time, and nobody meets their own work."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from collector.protocols.creation import parameters_of
from tasks.lifecycle import publication
from tasks.models import Exposure, Lease, LeaseEnded, LeaseState, Session, Unit, UnitItem
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions, units

pytestmark = pytest.mark.django_db


def claim(stage, worker, now=NOW):
    return leases.claim(make_session(worker, make_posting(stage)), stage, now)


def written(stage, worker):
    lease = claim(stage, worker)
    data = questions_for(lease)
    submissions.hand_in(lease, data, NOW, synthetic=False)
    return lease


def test_it_hands_each_unit_to_one_worker_and_then_has_no_more():
    stage = stage_of(make_collection(), "question")
    first, second, third = (claim(stage, make_worker(person)) for person in ("A1", "A2", "A3"))
    assert {first.unit.position, second.unit.position} == {0, 1}
    assert third is None


def test_the_same_session_keeps_its_lease():
    stage = stage_of(make_collection(), "question")
    session = make_session(make_worker(), make_posting(stage))
    assert leases.claim(session, stage, NOW) == leases.claim(session, stage, NOW)


def test_people_at_work_on_a_closed_stage_are_waited_for_before_a_small_unit_is_made():
    collection = make_collection(seeds=10, answer__items_per_hit=10)
    stage, answer = stage_of(collection, "question"), stage_of(collection, "answer")
    parameters = parameters_of(collection)
    at_work = [claim(stage, make_worker(f"A{number}")) for number in range(5)]
    publication.close_stage(stage)
    for lease in at_work:
        stage.refresh_from_db()
        assert not units.is_over(stage, parameters)
        assert units.bundle(answer, parameters) == 0
        submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    units.bundle(answer, parameters)
    stage.refresh_from_db()
    assert units.is_over(stage, parameters)
    redundancies = list(answer.units.values_list("redundancy", flat=True))
    assert len(redundancies) == len(set(redundancies)), "one HIT of ten, not five of two"


def test_work_of_a_closed_stage_that_can_come_late_is_waited_for_as_long_as_it_can():
    collection = make_collection(seeds=10, answer__items_per_hit=10)
    stage, answer = stage_of(collection, "question"), stage_of(collection, "answer")
    parameters, now = parameters_of(collection), timezone.now()
    out = [claim(stage, make_worker(f"A{number}")) for number in range(3)]
    for lease in out:
        leases.save_draft(lease, {"data": questions_for(lease)}, 0, NOW)
    until = now + timedelta(minutes=10)
    Session.objects.update(signed_until=until)
    leases.expire_overdue(now)
    publication.close_stage(stage)
    for lease in out[:2]:
        stage.refresh_from_db()
        assert not units.is_over(stage, parameters)
        assert units.bundle(answer, parameters) == 0
        lease.refresh_from_db()
        assert submissions.hand_in(lease, questions_for(lease), now, synthetic=False).counts
    assert units.bundle(answer, parameters) == 0
    Session.objects.update(signed_until=now - timedelta(minutes=1))
    assert units.is_over(stage, parameters)
    assert units.bundle(answer, parameters) == 1


def test_a_unit_can_never_be_overbooked_by_the_database_itself():
    unit = stage_of(make_collection(), "question").units.first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Unit.objects.filter(pk=unit.pk).update(taken=F("redundancy") + 1)


def test_an_expired_lease_frees_its_place_and_its_draft_comes_back():
    stage = stage_of(make_collection(seeds=2), "question")
    worker = make_worker()
    lease = claim(stage, worker)
    leases.save_draft(lease, {"data": {"questions": []}}, 0, NOW + timedelta(seconds=40))
    late = NOW + timedelta(hours=5)
    assert leases.expire_overdue(late) == 1
    lease.unit.refresh_from_db()
    assert lease.unit.taken == 0
    again = claim(stage, worker, late)
    assert again.unit == lease.unit
    assert again.draft == {"data": {"questions": []}}
    assert again.active_seconds == 40


def test_late_work_that_was_paid_without_counting_is_not_handed_out_to_its_worker_again():
    stage = stage_of(make_collection(seeds=2), "question")
    worker = make_worker()
    first = claim(stage, worker)
    leases.save_draft(first, {"data": questions_for(first)}, 0, NOW)
    late = NOW + timedelta(hours=5)
    leases.expire_overdue(late)
    other = claim(stage, make_worker("AGRACE"), late)
    first.refresh_from_db()
    assert not submissions.hand_in(first, questions_for(first), late, synthetic=False).counts
    leases.end(other, LeaseState.RETURNED, late)
    assert claim(stage, worker, late) is None
    assert not leases.has_suitable(stage, worker, one_at_a_time=False)
    assert claim(stage, make_worker("AMALLORY"), late).unit == first.unit


def test_a_draft_saved_in_another_tab_is_not_overwritten():
    stage = stage_of(make_collection(), "question")
    lease = claim(stage, make_worker())
    assert leases.save_draft(lease, {"data": 1}, 0, NOW) == 1
    with pytest.raises(leases.StaleDraft):
        leases.save_draft(lease, {"data": 2}, 0, NOW)
    lease.refresh_from_db()
    assert lease.draft == {"data": 1}


def saved_by(tab, turn, data):
    return {"data": data, "ui": {}, "saved_by": {"tab": tab, "turn": turn}}


def test_a_tab_that_was_not_told_of_its_save_goes_on_saving_and_an_earlier_turn_comes_too_late():
    stage = stage_of(make_collection(), "question")
    lease = claim(stage, make_worker())
    assert leases.save_draft(lease, saved_by("one", 1, "a"), 0, NOW) == 1
    assert leases.save_draft(lease, saved_by("one", 3, "abc"), 0, NOW) == 2
    assert leases.save_draft(lease, saved_by("one", 3, "abc"), 0, NOW) == 2
    assert leases.save_draft(lease, saved_by("one", 2, "ab"), 0, NOW) == 2
    with pytest.raises(leases.StaleDraft):
        leases.save_draft(lease, saved_by("other", 9, "x"), 0, NOW)
    assert leases.save_draft(lease, saved_by("other", 9, "x"), 2, NOW) == 3
    with pytest.raises(leases.StaleDraft):
        leases.save_draft(lease, saved_by("one", 4, "abcd"), 2, NOW)
    lease.refresh_from_db()
    assert lease.draft["data"] == "x"


@pytest.mark.parametrize("junk", ["one", {"tab": "one"}, {"tab": None, "turn": 2}, [1, 2]])
def test_a_draft_that_does_not_say_of_which_tab_it_is_overwrites_no_other(junk):
    stage = stage_of(make_collection(), "question")
    lease = claim(stage, make_worker())
    for draft in ({"data": 1, "saved_by": junk}, saved_by("one", 1, 1)):
        version = lease.draft_version
        leases.save_draft(lease, draft, version, NOW)
        with pytest.raises(leases.StaleDraft):
            leases.save_draft(lease, {"data": 2, "saved_by": junk}, version, NOW)


def test_a_draft_of_a_submitted_hit_cannot_be_changed():
    stage = stage_of(make_collection(), "question")
    lease = written(stage, make_worker())
    with pytest.raises(LeaseEnded):
        leases.save_draft(lease, {"data": 2}, lease.draft_version, NOW)


def at_the_marketplace(hours):
    stage = stage_of(make_collection(), "question")
    session = make_session(make_worker(), make_posting(stage))
    session.signed_until = NOW + timedelta(hours=hours) + leases.LATE_WORK
    session.save()
    return leases.claim(session, stage, NOW)


def test_the_deadline_is_the_marketplaces_and_moves_with_it():
    lease = at_the_marketplace(hours=3)
    assert lease.expires_at == NOW + timedelta(hours=3)
    later = NOW + timedelta(hours=4) + leases.LATE_WORK
    assert leases.follow(lease, later) == NOW + timedelta(hours=4)
    lease.refresh_from_db()
    assert lease.expires_at == NOW + timedelta(hours=4)
    assert leases.follow(lease, NOW) == NOW + timedelta(hours=4), "it never moves back"


def test_a_lease_that_is_over_follows_nobody():
    lease = at_the_marketplace(hours=3)
    leases.end(lease, leases.LeaseState.RETURNED, NOW)
    with pytest.raises(LeaseEnded):
        leases.follow(lease, NOW + timedelta(hours=9))


def test_with_three_workers_nobody_answers_their_own_questions_and_work_waits():
    collection = make_collection(seeds=6, splits__train=0, splits__dev=100, splits__test=0)
    stage, answering = stage_of(collection, "question"), stage_of(collection, "answer")
    people = [make_worker(person) for person in ("A1", "A2", "A3")]
    for person in people:
        written(stage, person)
    parameters = collection.parameters
    from collector.protocols.loading import get_protocol

    units.bundle(answering, get_protocol("iirc").resolved(parameters))
    assert answering.units.count() == 3
    taken = [(person, claim(answering, person)) for person in people for _ in range(3)]
    held = [(person, lease) for person, lease in taken if lease]
    assert len(held) == 6
    for person, lease in held:
        writers = set(lease.unit.items.values_list("question__worker", flat=True))
        assert person.pk not in writers
    assert all(unit.taken == 2 for unit in answering.units.all())


def test_who_has_seen_answers_about_a_paragraph_never_writes_about_it():
    collection = make_collection(seeds=2)
    stage = stage_of(collection, "question")
    worker = make_worker()
    seed = UnitItem.objects.filter(unit__stage=stage).first().seed
    Exposure.objects.create(worker=worker, seed=seed, kind="answer", at=NOW)
    assert claim(stage, worker) is None


def test_a_qualification_is_taken_once_per_person():
    stage = stage_of(make_collection(), "question_qualification")
    worker = make_worker()
    lease = claim(stage, worker)
    submissions.hand_in(lease, questions_for(lease, number=1), NOW, synthetic=False)
    assert claim(stage, worker) is None


def test_a_returned_hit_frees_its_place_once():
    stage = stage_of(make_collection(), "question")
    lease = claim(stage, make_worker())
    assert leases.end(lease, LeaseState.RETURNED, NOW) is True
    assert leases.end(lease, LeaseState.RETURNED, NOW) is False
    assert Lease.objects.get(pk=lease.pk).unit.taken == 0
