"""Who did all that a person can do here asks to be forgotten: of their words only work stays."""

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connections, models
from django.utils import timezone

from annotation.decisions.by_hand import exclude_worker, include_again
from annotation.models import Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.release.publish_release import publish_release
from collector.models import Collection
from common.erasure import Rows
from marketplace import clock
from marketplace import erasure as at_marketplace
from marketplace.hits.acceptance import keep_rejection, raise_contest
from marketplace.models import Assignment, Contest, Invitation, Message, QualificationRequest
from marketplace.models import Worker as Account
from marketplace.payouts import answer_report, choose_way, make_list, report_payment
from marketplace.people.worker_import import import_workers
from marketplace.tests.conftest import QUESTION
from marketplace.tests.visitor import Visitor
from tasks.crowd import marketplace
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.dialog.tests.talking import pair, talk
from tasks.models import (
    Dialog,
    EmptySubmission,
    Grant,
    Identity,
    Lease,
    LockedAnswer,
    Payment,
    Question,
    Rejection,
    Session,
    Submission,
    Ticket,
    Worker,
)
from tasks.people import erasure as at_collector
from tasks.people.trusted import name_worker
from tests.test_erasure_map import fields_with_words
from tests.whole_world import World, whole_world

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])
DATABASES = ("default", "marketplace")
PASSWORD = "a long enough one"


class Planted:
    """Words that stand nowhere else, each planted once."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def word(self) -> str:
        """Return one more."""
        self.words.append(f"plant{len(self.words):03}ed")
        return self.words[-1]

    def left_in(self, place: bytes) -> list[str]:
        """Return those that stand in a place, in any case."""
        small = place.lower()
        return [word for word in self.words if word.encode() in small]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[World]:
    settings.HOME = tmp_path / "home"
    settings.HOME.mkdir()
    with whole_world(monkeypatch, settings) as found:
        yield found


def bytes_of(database: str) -> bytes:
    """Return a database as it stands on the disk, with what is free in it; of a server the rows."""
    connection = connections[database]
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        return bytes(connection.connection.serialize())
    found = [
        str(row)
        for model in apps.get_models()
        if (model._meta.app_label == "marketplace") == (database == "marketplace")
        for row in model._default_manager.using(database).values()
    ]
    return "\n".join(found).encode()


def test_nothing_is_left_of_who_did_everything_but_what_they_handed_in(
    world: World, tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    planted, handed_in = Planted(), "a kingfisher above the weir"
    account = live_at_the_marketplace(world, planted, handed_in)
    collection, worker = live_at_collector(account.worker_id, planted)
    plant_in_all(at_marketplace.ERASING, account.pk, planted)
    plant_in_all(at_collector.ERASING, worker.pk, planted)
    # By these they are found.
    Identity.objects.filter(worker=worker).update(
        person=account.worker_id,
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
    )
    assert len(planted.words) >= 50
    before = planted.left_in(b"".join(bytes_of(each) for each in DATABASES))
    assert len(before) >= 50
    at_marketplace.erase(account, clock.now())
    call_command("erase_worker", account.worker_id, "--withdraw", "--waive", verbosity=0)
    Verdict.objects.all().delete()
    call_command("validate_answers", collection.slug, verbosity=0)
    call_command("make_splits", collection.slug, verbosity=0)
    publish_release(collection, tmp_path / "release", timezone.now())
    for database in DATABASES:
        assert planted.left_in(bytes_of(database)) == []
    assert handed_in.encode() in bytes_of("marketplace")
    assert account.worker_id.encode() not in bytes_of("default")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        found = path.read_bytes()
        assert planted.left_in(found) == [], path
        assert b"written by the person" not in found, path
    assert planted.left_in(caplog.text.encode()) == []


def live_at_the_marketplace(world: World, planted: Planted, handed_in: str) -> Account:
    """Return the account of somebody who did all that the site offers."""
    word, rita = planted.word, world.wire
    ada = Visitor(word())
    name = word()
    ada.post("/account/", "/account/password/", name=name, password=PASSWORD)
    ada.name = name
    ada.get(f"/hits/?q={word()}")
    hits = [
        rita.create_hit(
            Title=f"Birds {number}",
            Description="Say which.",
            Reward="4.50",
            AssignmentDurationInSeconds=3600,
            LifetimeInSeconds=864_000,
            Question=QUESTION,
        )["HIT"]
        for number in range(3)
    ]
    ada.submit(hits[0], answer=handed_in)
    frame = ada.accept(hits[1])
    late = Assignment.objects.get(hit__hit_id=hits[1]["HITId"])
    ada.send(f"/work/{late.pk}/return/")
    frame.submit(answer=word())
    ada.accept(hits[2])
    work = Assignment.objects.get(hit__hit_id=hits[0]["HITId"])
    ada.send(f"/work/{work.pk}/write/", subject=word(), text=word())
    who = {"WorkerId": ada.worker.worker_id}
    this = {"AssignmentId": work.assignment_id}
    rita.send_bonus(**who, **this, BonusAmount="0.50", Reason=word())
    rita.reject_assignment(**this, RequesterFeedback=word())
    work.refresh_from_db()
    raise_contest(work, word(), clock.now())
    keep_rejection(Contest.objects.get(), word(), clock.now())
    rita.notify_workers(Subject=word(), MessageText=word(), WorkerIds=[who["WorkerId"]])
    made = [
        rita.create_qualification_type(
            Name=f"Q{number}", Description="d", QualificationTypeStatus="Active"
        )["QualificationType"]["QualificationTypeId"]
        for number in range(2)
    ]
    given = {**who, "QualificationTypeId": made[0]}
    rita.associate_qualification_with_worker(**given, SendNotification=True)
    rita.disassociate_qualification_from_worker(**given, Reason=word())
    ada.send(f"/qualifications/{made[1]}/ask/")
    rita.reject_qualification_request(
        QualificationRequestId=QualificationRequest.objects.get().request_id, Reason=word()
    )
    rita.create_worker_block(**who, Reason=word())
    account = ada.worker
    choose_way(account, "paypal", f"{word()}@mail.example", word(), clock.now())
    table = f"worker_id,mail,notes\n{account.worker_id},{word()}@mail.example,{word()}\n"
    import_workers(table, clock.now(), is_dry=False, by="Ida")
    make_list("Ida", clock.now())
    report = report_payment(account, word(), clock.now())
    answer_report(report, word(), clock.now())
    Invitation.objects.create(
        worker=account, delivery="mail", made_at=clock.now(), made_by="Ida", failure=word()
    )
    assert Message.objects.filter(worker=account).count() > 3
    return account


def live_at_collector(person: str, planted: Planted) -> tuple[Collection, Worker]:
    """Return a decided collection, and who wrote, answered, talked and complained in it."""
    now = timezone.now()
    talks = make_dialogs()
    stage = talks.stages.get(name="dialog")
    make_waiting(stage, "AGRACE")
    dialog: Dialog = pair(make_waiting(stage, person))
    talk(dialog, 2)
    worker = Identity.objects.get(person=person).worker
    other = dialog.student if dialog.teacher == worker else dialog.teacher
    for reporter, reported in ((worker, other), (other, worker)):
        dialog.reports.create(
            reporter=reporter, reported=reported, reason="rude", note=planted.word(), at=now
        )
    lease = Lease.objects.get(worker=worker)
    lease.problem_reports.create(message=planted.word(), at=now, answer=planted.word())
    LockedAnswer.objects.create(
        unit=lease.unit, worker=worker, position=0, answer={"words": planted.word()}, at=now
    )
    name_worker(worker, planted.word())
    collection = island()
    for relation in Worker._meta.related_objects:
        name = relation.field.name
        relation.related_model._default_manager.filter(**{name: "hedy"}).update(**{name: worker.pk})
    exclude_worker(collection, worker, planted.word(), "rita", now)
    include_again(worker.exclusions.get(), planted.word(), "rita", now)
    mine = Session.objects.filter(worker=worker)
    times = {"alone_from": now, "holds_until": now + timedelta(days=1), "take_back_until": now}
    rejection = Rejection.objects.create(
        session=mine.first(), reason=planted.word(), proposed_by="rita", proposed_at=now, **times
    )
    rejection.steps.create(state="proposed", by="rita", at=now, why=planted.word())
    EmptySubmission.objects.create(
        session=mine.last(),
        fields={"words": planted.word()},
        state="approved",
        received_at=now,
        auto_approval_at=now,
        found_at=now,
    )
    assert Grant.objects.filter(worker=worker).exists()
    Ticket.objects.update(state="done")
    Dialog.objects.update(state="over", ending="long_enough", settled=True)
    Lease.objects.update(state="returned", compensated=True)
    Submission.objects.update(state="approved")
    Payment.objects.update(state="confirmed")
    assert worker.answers.exists()
    for row in Question.objects.exclude(answers__worker=worker)[:1]:
        row.answers.update(writer=worker)
        row.worker, row.text = worker, f"{row.text} written by the person"
        row.save()
    assert worker.questions.exists()
    return collection, worker


def plant_in_all(erasing: Iterable[Rows], key: object, planted: Planted) -> None:
    """Plant a word in every field of the person's rows that a map erases."""
    for rows in erasing:
        model = apps.get_model(rows.model)
        names = fields_with_words(model) if rows.fields is None else rows.fields
        for row in model._default_manager.filter(rows.only, **{rows.of: key}):
            for name in names:
                field = model._meta.get_field(name)
                word = planted.word()
                value = {"words": word} if isinstance(field, models.JSONField) else word
                model._default_manager.filter(pk=row.pk).update(
                    **{name: value[: field.max_length] if isinstance(value, str) else value}
                )
