"""Whoever took a HIT then gets one, whatever else is up while the log is done again."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import F

from annotation.release.log import LogError
from annotation.replay import recreation
from annotation.replay.recreation import ReplayedPlaces
from annotation.replay.rerun import Rerun
from collector.models import Collection
from tasks import hits
from tasks.crowd import marketplace
from tasks.models import LeaseState, Posting, Unit
from tasks.tests.making import NOW, make_collection, make_posting, stage_of
from tasks.work import leases

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _marketplace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marketplace, "create_hit", lambda *_, **__: marketplace.Hit("HNEW", "T"))
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **_: "T")
    monkeypatch.setattr(marketplace, "create_qualification", lambda **_: "Q")


def test_a_test_is_taken_though_all_it_leads_to_is_handed_in_so_far() -> None:
    stage = stage_of(make_collection(), "question_qualification")
    Unit.objects.exclude(stage=stage).update(taken=F("redundancy"), submitted=F("redundancy"))
    for other in stage.collection.stages.all():
        if not other.units.exists():
            Unit.objects.create(stage=other, position=0, redundancy=1, taken=1, submitted=1)
    assert hits.plan_postings(stage, NOW) == 0
    assert _vacant_hit(stage, 400) == "HNEW"


def test_a_hit_is_taken_for_its_pay_though_those_that_are_up_pay_another() -> None:
    stage = stage_of(make_collection(), "question_qualification")
    for _ in range(hits.places_left(stage)):
        make_posting(stage, 300, 300)
    assert hits.plan_postings(stage, NOW) == 0
    assert _vacant_hit(stage, 400) == "HNEW"
    assert Posting.objects.get(external_id="HNEW").reward_cents == 400


def test_a_hit_is_taken_above_the_first_maximum_which_what_was_asked_for_again_had_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collection = make_collection()
    collection.stages.update(state="draft")

    def published(collection: Collection, name: str) -> None:
        collection.stages.filter(name=name).update(state="open")
        Collection.objects.update(maximum_cents=100)

    monkeypatch.setattr(recreation, "publish", published)
    places = ReplayedPlaces(collection, SimpleNamespace(units={}))
    assert _vacant_hit(places.stage("question_qualification"), 400) == "HNEW"


@pytest.mark.parametrize(
    ("name", "ended"), [("question_qualification", ["expired"]), ("question", [])]
)
def test_the_time_of_a_test_runs_out_before_its_worker_takes_another(
    monkeypatch: pytest.MonkeyPatch, name: str, ended: list[str]
) -> None:
    stage = stage_of(make_collection(), name)
    line = SimpleNamespace(unit="u", worker="w", taken=1)
    log: Any = SimpleNamespace(
        texts=[], decisions=[], dialogs={}, units={"u": SimpleNamespace(stage=name)}
    )
    rerun = Rerun(stage.collection, log)
    rerun._holds[1] = SimpleNamespace(one=line, page="open")
    told: list[str] = []
    monkeypatch.setattr(rerun, "_give_back", lambda hold, state: told.append(state))
    rerun._end_earlier(line, stage)
    assert told == ended


def test_a_place_of_work_that_was_left_out_for_a_while_is_there_as_long_as_somebody_held_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = stage_of(make_collection(), "question")
    unit = stage.units.create(position=99, redundancy=1, taken=1, submitted=1)
    told = {"u": SimpleNamespace(redundancy=1)}
    log: Any = SimpleNamespace(texts=[], decisions=[], dialogs={}, units=told)
    rerun = Rerun(stage.collection, log)
    line: Any = SimpleNamespace(unit="u", worker="w", taken=3, counts=None)
    rerun._make_room(line, unit)
    unit.refresh_from_db()
    assert (unit.taken, unit.redundancy) == (1, 2)
    monkeypatch.setattr(rerun, "_worker", lambda one: SimpleNamespace(give_back=lambda page: None))
    monkeypatch.setattr(leases, "end", lambda *_: None)
    held: Any = SimpleNamespace(one=line, page="open", lease=SimpleNamespace(unit_id=unit.pk))
    rerun._give_back(held, LeaseState.EXPIRED)
    unit.refresh_from_db()
    assert unit.redundancy == 1
    line.counts = True
    with pytest.raises(LogError, match="More people took a unit than it has assignments"):
        rerun._make_room(line, unit)


def _vacant_hit(stage, reward_cents: int) -> str:
    places = ReplayedPlaces(stage.collection, SimpleNamespace(units={}))
    return places.vacant_hit(SimpleNamespace(reward_cents=reward_cents), stage)
