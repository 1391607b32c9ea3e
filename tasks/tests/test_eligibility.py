"""What a worker cannot take is known before they are offered it, and told to the marketplace."""

from datetime import timedelta
from urllib.parse import unquote

import pytest
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from collector.models import Stage
from collector.protocols.creation import parameters_of
from tasks import hits
from tasks.crowd import marketplace
from tasks.models import Consent, Eligibility, Grant, Lease, LeaseState, Worker, WorkerBlock
from tasks.people import eligibility, qualifications, trusted
from tasks.tests.making import (
    NOW,
    consent,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    name_qualification,
    stage_of,
)
from tasks.tests.visiting import at_work, open_page
from tasks.work import due_work, leases
from tasks.work.kinds import registry
from tasks.work.kinds.hit_words import title_of
from tasks.work.leases import has_suitable

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def told(monkeypatch):
    """Return who holds which qualification at a marketplace that takes everything."""
    held = {}
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    monkeypatch.setattr(
        marketplace, "grant", lambda known, person, **how: held.update({(known, person): how})
    )
    monkeypatch.setattr(
        marketplace, "revoke", lambda known, person, reason: held.pop((known, person), None)
    )
    return held


def closed_to(told, stage):
    """Return for whom the marketplace shows no HIT of the stage."""
    return {person for known, person in told if known == qualifications.closed_id(stage)}


def look(collection):
    stages = list(collection.stages.select_related("collection"))
    eligibility.update_eligibility(collection, stages)
    eligibility.tell_marketplace(collection)


def holding(stage, worker):
    return leases.claim(make_session(worker, make_posting(stage)), stage, NOW)


def test_what_is_done_once_is_closed_to_whoever_has_done_it(collection, told):
    stage, ada = stage_of(collection, "question_qualification"), make_worker("AADA")
    lease = holding(stage, ada)
    look(collection)
    assert closed_to(told, stage) == set(), "who returns it may take it again at once"
    assert leases.submit(lease, NOW)
    look(collection)
    assert closed_to(told, stage) == {"AADA"}


def test_the_last_unit_that_somebody_may_take_closes_the_stage_while_they_hold_it(collection, told):
    stage = stage_of(collection, "question")
    stage.units.exclude(pk=stage.units.first().pk).update(closed=True)
    stage.units.update(redundancy=3)
    lease = holding(stage, make_worker("AADA"))
    look(collection)
    assert closed_to(told, stage) == {"AADA"}
    leases.end(lease, LeaseState.RETURNED, NOW)
    look(collection)
    assert closed_to(told, stage) == set()


def test_who_returns_work_while_somebody_else_takes_it_is_offered_it_again(collection, told):
    stage = stage_of(collection, "question")
    stage.units.exclude(pk=stage.units.first().pk).update(closed=True)
    stage.units.update(redundancy=3)
    lease = holding(stage, make_worker("AADA"))
    look(collection)
    assert closed_to(told, stage) == {"AADA"}
    leases.end(lease, LeaseState.RETURNED, NOW)
    assert holding(stage, make_worker("AGRACE"))
    look(collection)
    assert closed_to(told, stage) == {"AGRACE"}


def test_a_look_in_which_nothing_has_changed_costs_nothing(
    collection, told, django_assert_max_num_queries
):
    holding(stage_of(collection, "question"), make_worker("AADA"))
    look(collection)
    with django_assert_max_num_queries(6):
        assert eligibility.update_eligibility(collection, list(collection.stages.all())) == 0


def test_a_place_that_came_back_after_a_visit_in_vain_is_offered_again(collection, told):
    stage = stage_of(collection, "question")
    stage.units.exclude(pk=stage.units.first().pk).update(closed=True)
    stage.units.update(redundancy=1)
    make_session(ada := make_worker("AADA"), make_posting(stage))
    look(collection)
    lease = holding(stage, make_worker("AGRACE"))
    eligibility.close_for_now(ada, stage)
    assert closed_to(told, stage) == {"AADA"}
    leases.end(lease, LeaseState.RETURNED, NOW)
    look(collection)
    assert closed_to(told, stage) == set()


def test_what_another_process_closed_in_vain_is_looked_at_by_whoever_comes_next(collection, told):
    """The page saw no place before one came back, and says so after a round has looked."""
    stage, ada = stage_of(collection, "question"), make_worker("AADA")
    make_session(ada, make_posting(stage))
    look(collection)
    with_places = stage.units.filter(closed=False)
    pks = list(with_places.values_list("pk", flat=True))
    with_places.update(closed=True)
    eligibility.close_for_now(ada, stage)
    stage.units.filter(pk__in=pks).update(closed=False)
    assert closed_to(told, stage) == {"AADA"}
    look(collection)
    assert closed_to(told, stage) == set()


def test_a_round_that_began_before_another_one_looked_has_all_looked_at_again(
    collection, told, monkeypatch
):
    stage, ada = stage_of(collection, "question"), make_worker("AADA")
    make_session(ada, make_posting(stage))
    record = eligibility._record

    def slow(workers, stages):
        monkeypatch.setattr(eligibility, "_record", record)
        # What it saw before others looked.
        changed = record(workers, stages)
        look(collection)
        Eligibility.objects.update_or_create(stage=stage, worker=ada)
        return changed

    monkeypatch.setattr(eligibility, "_record", slow)
    eligibility.update_eligibility(collection, list(collection.stages.all()))
    assert Eligibility.objects.filter(stage=stage, worker=ada, is_closed=True).exists()
    look(collection)
    assert closed_to(told, stage) == set()


def test_who_declined_is_offered_work_again_under_a_new_consent_text(collection, told):
    stage, ada = stage_of(collection, "question"), make_worker("AADA")
    make_session(ada, make_posting(stage))
    consent(ada, collection)
    Consent.objects.update(agreed=False)
    look(collection)
    assert closed_to(told, stage) == {"AADA"}
    collection.texts.create(
        name="consent", version=2, markdown="What you make is published.", created_at=NOW
    )
    look(collection)
    assert closed_to(told, stage) == set()


def test_who_agrees_while_somebody_else_declines_is_offered_work(collection, told):
    stage = stage_of(collection, "question")
    for person in ("AADA", "AGRACE"):
        make_session(worker := make_worker(person), make_posting(stage))
        consent(worker, collection)
    ada = Consent.objects.filter(worker__identity__person="AADA")
    grace = Consent.objects.exclude(pk__in=ada)
    ada.update(agreed=False)
    look(collection)
    assert closed_to(told, stage) == {"AADA"}
    ada.update(agreed=True, at=NOW + timedelta(minutes=1))
    grace.update(agreed=False, at=NOW + timedelta(minutes=1))
    look(collection)
    assert closed_to(told, stage) == {"AGRACE"}


def test_who_was_let_in_and_is_declined_after_all_may_take_the_test(collection, told):
    test = stage_of(collection, "question_qualification")
    trusted.let_in(collection, [test], ["AADA"], "rita", NOW)
    # They are known by their work elsewhere, and were never here.
    Grant.objects.update(submitted_at=NOW)
    look(collection)
    assert closed_to(told, test) == {"AADA"}
    later = NOW + timedelta(minutes=1)
    qualifications.decide(Grant.objects.get(), granted=False, note="", by="rita", now=later)
    look(collection)
    assert closed_to(told, test) == set()


def test_a_look_at_more_people_writes_no_more_statements(collection, told, monkeypatch):
    stages = list(collection.stages.select_related("collection"))
    written, write = [], SQLCompiler.as_sql

    def as_sql(self, *arguments, **options):
        written.append(self.query.model)
        return write(self, *arguments, **options)

    monkeypatch.setattr(SQLCompiler, "as_sql", as_sql)
    numbers = []
    for each in range(2):
        workers = [make_worker(f"A{each}{number}") for number in range(1 + 4 * each)]
        eligibility.record_eligibility(workers, stages)
        written.clear()
        eligibility.record_eligibility(workers, stages)
        numbers.append(len(written))
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("kind", registry._KINDS)
@pytest.mark.parametrize("one_at_a_time", [True, False])
def test_of_every_kind_of_stage_nothing_is_left_where_there_is_nothing(kind, one_at_a_time):
    nobody, stage = Worker(pk="nobody"), Stage(pk=0, kind=kind)
    assert not has_suitable(stage, nobody, one_at_a_time=one_at_a_time)


def test_whoever_does_not_agree_is_offered_nothing_more(client, collection, soon, told):
    stage, ada = stage_of(collection, "question_qualification"), make_worker("AADA")
    consent(ada, collection)
    Consent.objects.update(agreed=False)
    page = open_page(client, make_posting(stage), "AADA", soon)
    assert "You decided not to take part" in page.content.decode()
    assert closed_to(told, stage) == {"AADA"}


def test_whoever_found_nothing_is_not_offered_it_again(client, collection, soon, told):
    at_work(client, collection, soon)
    stage = stage_of(collection, "question")
    stage.units.exclude(leases__state=LeaseState.LIVE).update(closed=True)
    stage.units.update(redundancy=2)
    page = open_page(client, make_posting(stage), "AADA", soon)
    assert "Nothing here for you right now" in page.content.decode()
    assert closed_to(told, stage) == {"AADA"}


def test_whoever_takes_work_is_looked_at_in_the_next_round(client, collection, soon, told):
    stage = stage_of(collection, "question")
    stage.units.exclude(pk=stage.units.first().pk).update(closed=True)
    stage.units.update(redundancy=2)
    look(collection)
    at_work(client, collection, soon)
    assert due_work.due(timezone.now()) == [collection.pk]
    look(collection)
    assert closed_to(told, stage) == {"AADA"}


def test_silence_of_the_marketplace_is_no_obstacle(collection, told, monkeypatch, caplog):
    stage, ada = stage_of(collection, "question_qualification"), make_worker("AADA")
    lease = holding(stage, ada)
    assert leases.submit(lease, NOW)

    def silent(*_given, **_how):
        raise marketplace.MarketplaceError("It does not answer.", permanent=False)

    with monkeypatch.context() as patch:
        patch.setattr(marketplace, "grant", silent)
        eligibility.close_for_now(ada, stage)
    assert "Nobody can be told" in caplog.text
    assert Eligibility.objects.filter(is_closed=True, told_closed=False).count() == 1
    assert eligibility.tell_marketplace(collection) == 1
    assert closed_to(told, stage) == {"AADA"}


def test_a_hit_states_what_the_marketplace_cannot_know(collection, told):
    parameters = parameters_of(collection)
    words = hits.keywords(stage_of(collection, "question_qualification"), parameters).split(", ")
    earned = qualifications.external_id(stage_of(collection, "question_qualification"))
    assert {"once", "keeps-work", f"earns:{earned}", "expected-minutes:8"} <= set(words)
    assert f"part-of:{collection.title}" in words
    assert f"asked-by:{collection.requester_name}" in words
    assert "extension-minutes:30" in words
    main = hits.keywords(stage_of(collection, "question"), parameters)
    assert "once" not in main.split(", ")
    assert "earns:" not in main
    assert Worker.objects.count() == Lease.objects.count() == 0


def test_the_name_of_a_collection_keeps_its_commas_among_the_keywords(collection):
    collection.title = "Rivers, lakes and 100% of the sea"
    collection.requester_name = "Lab for Reading, Kiel"
    collection.save()
    words = hits.keywords(stage_of(collection, "question"), parameters_of(collection))
    assert "part-of:Rivers, lakes" not in words
    [stated] = (word for word in words.split(", ") if word.startswith("part-of:"))
    assert unquote(stated) == f"part-of:{collection.title}"
    assert "asked-by:Lab for Reading%2C Kiel" in words.split(", ")


def test_a_qualification_is_named_for_workers_by_what_its_collection_is_called(
    collection, monkeypatch
):
    names = []

    def made(name, **values):
        names.append(name)
        return name_qualification(name, **values)

    monkeypatch.setattr(marketplace, "create_qualification", made)
    first = stage_of(collection, "question_qualification")
    twin = stage_of(make_collection(collection.corpus, slug="again"), "question_qualification")
    for _ in range(2):
        assert qualifications.external_id(first) != qualifications.external_id(twin)
    title = title_of(parameters_of(collection).stages()["question_qualification"])
    plain = f"{title} ({collection.title})"
    assert names == [plain, plain, f"{plain} (again)"]


@pytest.mark.parametrize("known_as", [qualifications.external_id, qualifications.closed_id])
def test_processes_that_publish_at_once_know_a_stage_by_one_qualification(
    collection, monkeypatch, known_as
):
    stage, others = stage_of(collection, "question_qualification"), []

    def made_by_another_first(name, **values):
        monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
        others.append(known_as(stage))
        return name_qualification(name, **values)

    monkeypatch.setattr(marketplace, "create_qualification", made_by_another_first)
    assert [known_as(stage)] == others
    assert [known_as(stage)] == others


def test_whoever_is_given_no_more_work_of_a_collection_is_shown_none_of_it(collection, told):
    stage, ada = stage_of(collection, "question"), make_worker("AADA")
    lease = holding(stage, ada)
    look(collection)
    block = WorkerBlock.objects.create(collection=collection, worker=ada)
    look(collection)
    assert closed_to(told, stage) == {"AADA"}
    assert leases.submit(lease, NOW), "what they hold they may finish"
    assert holding(stage, ada) is None
    other = make_collection(collection.corpus, slug="other")
    assert holding(stage_of(other, "question"), ada)
    block.delete()
    look(collection)
    assert closed_to(told, stage) == set()
