"""What the marketplace refuses for one row is put aside, and the rows behind it go on."""

import pytest

from tasks import hits
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.maintenance import maintain
from tasks.models import Grant, GrantState, PostingState
from tasks.people import qualifications
from tasks.tests.deciding import state_of
from tasks.tests.making import NOW, make_collection, make_posting, make_worker, stage_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    return stage_of(make_collection(), "question_qualification")


def refuse(monkeypatch, operation, hopeless, *, permanent=True):
    """Let one operation succeed for everybody but the `hopeless`; return for whom it did."""
    done = []

    def carried_out(*given):
        if hopeless in given:
            raise MarketplaceError("It is not known.", permanent=permanent)
        done.append(given)

    monkeypatch.setattr(marketplace, operation, carried_out)
    return done


@pytest.fixture
def granted(stage, monkeypatch):
    monkeypatch.setattr(marketplace, "create_qualification", lambda **_: "Q1")
    for person in ("AMALLORY", "AADA"):
        make_worker(person, qualified=(stage,))


def test_one_worker_it_does_not_know_keeps_nobody_from_their_qualification(
    stage, granted, monkeypatch
):
    told = refuse(monkeypatch, "grant", "AMALLORY")
    assert qualifications.tell_marketplace(stage) == 1
    assert told == [("Q1", "AADA")]
    assert Grant.objects.get(told_state="").worker.identity.person == "AMALLORY"
    assert qualifications.tell_marketplace(stage) == 0


def test_what_is_refused_in_each_round_is_said_once(stage, granted, monkeypatch, caplog):
    told = refuse(monkeypatch, "grant", "AMALLORY")
    for _ in range(3):
        qualifications.tell_marketplace(stage)
    assert caplog.messages == ["Put aside: It is not known."]
    monkeypatch.setattr(marketplace, "grant", lambda *given, **_: told.append(given))
    assert qualifications.tell_marketplace(stage) == 1
    Grant.objects.update(told_state="")
    refuse(monkeypatch, "grant", "AMALLORY")
    qualifications.tell_marketplace(stage)
    assert len(caplog.messages) == 2


def test_what_was_said_of_a_row_that_is_settled_otherwise_is_forgotten(monkeypatch):
    def refused(row):
        raise MarketplaceError("It is not known.", permanent=True)

    now = [0.0]
    monkeypatch.setattr(marketplace, "monotonic", lambda: now[0])
    monkeypatch.setattr(marketplace, "_said", {})
    marketplace.one_by_one(["settled soon", "refused for good"], refused)
    for _ in range(5):
        now[0] += 6 * 3600.0
        marketplace.one_by_one(["refused for good"], refused)
    marketplace.one_by_one(["new"], refused)
    assert {row for _, row in marketplace._said} == {"refused for good", "new"}


def test_silence_ends_the_step(stage, granted, monkeypatch):
    told = refuse(monkeypatch, "grant", "AMALLORY", permanent=False)
    with pytest.raises(MarketplaceError):
        qualifications.tell_marketplace(stage)
    assert told == []


def test_whoever_did_not_pass_is_told_so_with_the_note(stage, monkeypatch):
    make_worker(qualified=(stage,))
    told = []
    monkeypatch.setattr(marketplace, "create_qualification", lambda **_: "Q1")
    monkeypatch.setattr(marketplace, "grant", lambda *given, **how: told.append((given, how)))
    monkeypatch.setattr(marketplace, "revoke", lambda *given: told.append(given))
    Grant.objects.update(state=GrantState.DECLINED, note="No links at all.")
    assert qualifications.tell_marketplace(stage) == 1
    assert Grant.objects.get().told_state == GrantState.DECLINED
    assert told == [
        (("Q1", "AADA"), {"value": 0, "silently": True}),
        ("Q1", "AADA", "No links at all."),
    ]


@pytest.mark.parametrize("decided", [GrantState.GRANTED, GrantState.DECLINED])
def test_nobody_is_told_of_a_decision_before_all_else_of_it_is_done(stage, monkeypatch, decided):
    make_worker(qualified=(stage,))
    Grant.objects.update(state=decided)
    told = []

    def grant(qualification, person, value=1, *, silently=False):
        if qualification == "entry":
            raise MarketplaceError("It is not known.", permanent=True)
        told.extend([] if silently else [person])

    monkeypatch.setattr(marketplace, "create_qualification", lambda **_: "Q1")
    monkeypatch.setattr(qualifications, "stages_opened_by", lambda _: [stage])
    monkeypatch.setattr(qualifications, "has_role", lambda *_: True)
    monkeypatch.setattr(qualifications, "entry_id", lambda _: "entry")
    monkeypatch.setattr(marketplace, "grant", grant)
    monkeypatch.setattr(marketplace, "revoke", lambda _, person, why: told.append(person))
    for _ in range(2):
        assert qualifications.tell_marketplace(stage) == 0
    assert told == []


def test_one_hit_that_cannot_be_closed_does_not_keep_the_others_up(stage, monkeypatch):
    first, hopeless = make_posting(stage), make_posting(stage)
    stage.units.update(submitted=0, redundancy=1)
    stage.units.exclude(pk=stage.units.first().pk).update(closed=True)
    told = refuse(monkeypatch, "expire_hit", hopeless.external_id)
    monkeypatch.setattr(marketplace, "is_vacant", lambda hit_id: True)
    assert hits.close_surplus(stage) == 1
    assert told == [(first.external_id,)]
    assert (state_of(first), state_of(hopeless)) == (PostingState.EXPIRED, PostingState.LIVE)


def test_a_stage_that_is_refused_leaves_the_next_one_alone(stage, monkeypatch):
    def refused(each, *_):
        if each.pk == stage.pk:
            raise MarketplaceError("No such thing.", permanent=True)
        return 1

    monkeypatch.setattr(hits, "with_plans", list)
    monkeypatch.setattr(hits, "publish_pending", refused)
    others = stage.collection.stages.count() - 1
    assert maintain(stage.collection, NOW)["HITs published"] == others
